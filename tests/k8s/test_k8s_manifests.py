"""The manifests hold the promises that the crawl depends on: nothing is lost, nobody is pressed, nothing is trusted."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler import config
from crawler.config.environment import problems_of_environment
from tests.support.places import PROJECT

FOLDER = PROJECT / "k8s"
SCRAPY_SETTINGS: set[str] = set()  # settings of Scrapy's own that the manifests use, next to config.declared()


def manifests() -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for name in yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]:
        for manifest in yaml.safe_load_all((FOLDER / name).read_text()):
            found[manifest["kind"], manifest["metadata"]["name"]] = manifest
    return found


ALL = manifests()
SETTINGS: dict[str, str] = ALL["ConfigMap", "crawler-config"]["data"]


def pod(name: str) -> dict[str, Any]:
    return ALL["StatefulSet", name]["spec"]["template"]["spec"]


def worker_environment() -> dict[str, str]:
    """What a worker's container sees, as Kubernetes composes it; references stand as "<kind>"."""
    container = pod("worker")["containers"][0]
    found: dict[str, str] = {}
    for source in container["envFrom"]:
        data = ALL["ConfigMap", source["configMapRef"]["name"]]["data"]
        found |= {source.get("prefix", "") + name: value for name, value in data.items()}
    return found | {e["name"]: e.get("value") or f"<{next(iter(e['valueFrom']))}>" for e in container["env"]}


def settings_in(environment: dict[str, str], folder: Path) -> dict[str, Any]:
    """What `scrapy settings` of a worker with this environment says of every declared setting."""
    code = (
        "import json; from scrapy.utils.project import get_project_settings; from crawler.config import declared;"
        "s = get_project_settings(); print(json.dumps({n: s.get(n) for n in declared()}, default=str))"
    )
    env = {**environment, "PYTHONPATH": str(PROJECT), "SCRAPY_SETTINGS_MODULE": "crawler.settings", "PATH": os.defpath}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_every_file_of_the_folder_is_a_resource() -> None:
    listed = set(yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"])
    assert listed == {f.name for f in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}


def test_every_setting_exists_and_has_a_usable_value() -> None:
    assert set(SETTINGS) - SCRAPY_SETTINGS <= set(config.declared())
    config.from_mapping(SETTINGS)


def test_every_setting_of_the_config_map_reaches_a_worker(tmp_path: Path) -> None:
    found = settings_in(worker_environment(), tmp_path)
    assert {name: found[name] for name in SETTINGS} == SETTINGS


def test_every_declared_setting_would_reach_a_worker_from_the_config_map(tmp_path: Path) -> None:
    (source,) = pod("worker")["containers"][0]["envFrom"]
    values = {name: f"value of {name}" for name in config.declared()}
    found = settings_in({source["prefix"] + name: value for name, value in values.items()}, tmp_path)
    assert found == values


def test_a_worker_has_its_own_name_and_the_secret_address_of_the_server(tmp_path: Path) -> None:
    found = settings_in(worker_environment(), tmp_path)
    assert (found["WORKER_ID"], found["REDIS_URL"]) == ("<fieldRef>", "<secretKeyRef>")


def test_nothing_of_the_environment_looks_like_a_setting_and_is_none() -> None:
    assert problems_of_environment(worker_environment(), config.declared()) == []
    assert pod("worker")["enableServiceLinks"] is False


def test_a_worker_has_more_time_to_stop_than_a_lease_and_its_slowest_page_need() -> None:
    settings = config.from_mapping(SETTINGS)
    slowest = settings.policy.download_timeout_seconds + settings.crawl.stage_timeout_seconds
    grace = pod("worker")["terminationGracePeriodSeconds"]
    assert grace > settings.frontier.lease_seconds
    assert grace > slowest


def test_a_worker_keeps_its_name_and_its_spool_when_it_is_replaced() -> None:
    worker = ALL["StatefulSet", "worker"]["spec"]
    spool = worker["volumeClaimTemplates"][0]["metadata"]["name"]
    mounts = {m["name"]: m["mountPath"] for m in pod("worker")["containers"][0]["volumeMounts"]}
    assert mounts[spool] == SETTINGS["CORPUS_SPOOL_DIR"]
    name = next(e for e in pod("worker")["containers"][0]["env"] if e["name"] == "CRAWLER_WORKER_ID")
    assert name["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name"
    assert worker["persistentVolumeClaimRetentionPolicy"]["whenScaled"] == "Retain"


def test_workers_wait_for_work_instead_of_ending() -> None:
    assert float(SETTINGS["FRONTIER_IDLE_SECONDS"]) == 0


def test_redis_refuses_writes_rather_than_forgetting_pages() -> None:
    conf = dict(
        line.split(maxsplit=1)
        for line in ALL["ConfigMap", "redis-config"]["data"]["valkey.conf"].splitlines()
        if line and not line.startswith("#")
    )
    assert conf["maxmemory-policy"] == "noeviction"
    assert conf["appendonly"] == "yes"
    assert {"maxmemory", "dir"} <= set(conf)
    assert ALL["StatefulSet", "redis"]["spec"]["volumeClaimTemplates"]


def test_redis_is_not_evicted_by_a_node_drain() -> None:
    assert ALL["PodDisruptionBudget", "redis"]["spec"]["maxUnavailable"] == 0
    assert ALL["PodDisruptionBudget", "worker"]["spec"]["maxUnavailable"] == 1


def test_no_secret_is_written_down() -> None:
    assert not [key for key in ALL if key[0] == "Secret"]
    references = yaml.safe_dump([pod("worker"), pod("redis"), ALL["TriggerAuthentication", "redis"]])
    assert references.count("crawler-secrets") == 3


@pytest.mark.parametrize("name", ["worker", "redis"])
def test_pods_run_without_root_capabilities_or_a_token(name: str) -> None:
    spec = pod(name)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["automountServiceAccountToken"] is False
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"]["drop"] == ["ALL"]


def test_workers_accept_no_connections() -> None:
    policy = ALL["NetworkPolicy", "worker"]["spec"]
    assert policy["ingress"] == []
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}


@pytest.mark.parametrize("address", ["10.1.2.3", "169.254.169.254", "100.100.100.200", "192.168.0.1", "127.0.0.1"])
def test_workers_cannot_reach_private_networks_or_cloud_metadata(address: str) -> None:
    ip = ipaddress.ip_address(address)
    for rule in ALL["NetworkPolicy", "worker"]["spec"]["egress"]:
        for block in (peer["ipBlock"] for peer in rule["to"] if "ipBlock" in peer):
            network = ipaddress.ip_network(block["cidr"])
            inside = ip.version == network.version and ip in network
            assert not inside or any(ip in ipaddress.ip_network(hole) for hole in block["except"])


def test_the_autoscaler_counts_hosts_of_this_crawl_that_may_be_asked() -> None:
    scaled = ALL["ScaledObject", "worker"]["spec"]
    assert (scaled["scaleTargetRef"]["kind"], scaled["scaleTargetRef"]["name"]) == ("StatefulSet", "worker")
    assert scaled["minReplicaCount"] >= 1
    assert scaled["triggers"][0]["metadata"]["listName"] == f"{{{SETTINGS['CRAWL_ID']}.0}}:ready"


def test_the_documentation_names_the_figure_that_the_autoscaler_counts() -> None:
    (trigger,) = ALL["ScaledObject", "worker"]["spec"]["triggers"]
    page = (PROJECT / "docs" / "scaling.md").read_text()
    said = re.search(
        r"The autoscaler counts the members of `([^`]+)`.*?(\d+) of them\s+for each worker", page, re.DOTALL
    )
    assert said is not None
    name = trigger["metadata"]["listName"].replace(SETTINGS["CRAWL_ID"], "<CRAWL_ID>")
    assert said.groups() == (name, trigger["metadata"]["listLength"])


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
def test_kustomize_builds_the_folder_with_image_namespace_and_labels() -> None:
    built = subprocess.run(["kubectl", "kustomize", str(FOLDER)], capture_output=True, text=True, check=True)
    objects = {(o["kind"], o["metadata"]["name"]): o for o in yaml.safe_load_all(built.stdout)}
    worker = objects["StatefulSet", "worker"]
    assert worker["metadata"]["namespace"] == "crawler"
    template = worker["spec"]["template"]
    assert template["spec"]["containers"][0]["image"].startswith("registry.example.org/crawler:")
    assert template["metadata"]["labels"]["app.kubernetes.io/part-of"] == "crawler"
    assert set(objects) == set(ALL)
