"""The manifests hold the promises that the crawl depends on: nothing is lost, nobody is pressed, nothing is trusted."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from crawler import config
from crawler.botauth.key import make_key, read_key
from crawler.config.environment import problems_of_environment
from crawler.observe.metrics.frontier import GAUGES
from crawler.seeds.allowlist import read_allowlist
from crawler.server.client import LOADING_SECONDS
from crawler.server.embedded import find_binary
from tests.support import warm
from tests.support.kustomize import K8S, Objects, built, objects, pods
from tests.support.places import PROJECT

SCRAPY_SETTINGS: set[str] = set()  # settings of Scrapy's own that the manifests use, next to config.declared()
SIGNATURE = K8S / "components/signature/kustomization.yaml"
OVERLAYS = [K8S / "overlays" / name for name in ("dev", "prod", "keda")]


@pytest.fixture(scope="module")
def everything() -> Objects:
    """What `kubectl apply -k k8s/` sends."""
    return objects()


@pytest.fixture(scope="module")
def settings(everything: Objects) -> dict[str, str]:
    return everything["ConfigMap", "crawler-config"]["data"]


@pytest.fixture(scope="module")
def worker(everything: Objects) -> dict[str, Any]:
    return pods(everything)["StatefulSet/worker"]


def environment(spec: dict[str, Any], found: Objects) -> dict[str, str]:
    """What the container of a pod sees, as Kubernetes composes it; references stand as "<kind>"."""
    container = spec["containers"][0]
    made: dict[str, str] = {}
    for source in container.get("envFrom", []):
        data = found["ConfigMap", source["configMapRef"]["name"]]["data"]
        made |= {source.get("prefix", "") + name: value for name, value in data.items()}
    return made | {e["name"]: e.get("value") or f"<{next(iter(e['valueFrom']))}>" for e in container["env"]}


def settings_in(environment: dict[str, str], folder: Path) -> dict[str, Any]:
    """What `gristmill settings` of a worker with this environment says of every declared setting."""
    code = (
        "import json; from scrapy.utils.project import get_project_settings; from crawler.config import declared;"
        "s = get_project_settings(); print(json.dumps({n: s.get(n) for n in declared()}, default=str))"
    )
    env = {**environment, "PYTHONPATH": str(PROJECT), "SCRAPY_SETTINGS_MODULE": "crawler.settings", "PATH": os.defpath}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


TASKS = ["Job/seed", "CronJob/seed-again", "CronJob/expire", "CronJob/verify"]
OURS = ["StatefulSet/worker", "Deployment/exporter", *TASKS]


def test_the_folder_itself_is_the_overlay_for_production() -> None:
    assert built(K8S) == built(K8S / "overlays/prod")


def test_every_file_belongs_to_an_overlay_or_a_component() -> None:
    listed = set()
    for page in K8S.rglob("kustomization.yaml"):
        said = yaml.safe_load(page.read_text())
        paths = [*said.get("resources", []), *(p["path"] for p in said.get("patches", []) if "path" in p)]
        paths += [file for made in said.get("configMapGenerator", []) for file in made["files"]]
        listed |= {(page.parent / path).resolve() for path in paths} | {page.resolve()}
    loose = {file.resolve() for file in K8S.rglob("*") if file.is_file()} - listed
    assert loose == {(K8S / "components/hpa/adapter-values.yaml").resolve()}


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_every_setting_exists_and_has_a_usable_value(overlay: Path) -> None:
    data = objects(overlay)["ConfigMap", "crawler-config"]["data"]
    assert set(data) - SCRAPY_SETTINGS <= set(config.declared())
    config.from_mapping(data)


@pytest.mark.parametrize("name", OURS)
def test_every_setting_of_the_config_map_reaches_every_pod(everything, settings, name, tmp_path: Path) -> None:
    found = settings_in(environment(pods(everything)[name], everything), tmp_path)
    assert {name: found[name] for name in settings} == settings


def test_every_declared_setting_would_reach_a_worker_from_the_config_map(worker, tmp_path: Path) -> None:
    (source,) = worker["containers"][0]["envFrom"]
    values = {name: f"value of {name}" for name in config.declared()}
    found = settings_in({source["prefix"] + name: value for name, value in values.items()}, tmp_path)
    assert found == values


def test_a_worker_has_its_own_name_and_the_secret_address_of_the_server(everything, worker, tmp_path: Path) -> None:
    found = settings_in(environment(worker, everything), tmp_path)
    assert (found["WORKER_ID"], found["REDIS_URL"]) == ("<fieldRef>", "<secretKeyRef>")


@pytest.mark.parametrize("name", OURS)
def test_nothing_of_the_environment_looks_like_a_setting_and_is_none(everything, name) -> None:
    spec = pods(everything)[name]
    assert problems_of_environment(environment(spec, everything), config.declared()) == []
    assert spec["enableServiceLinks"] is False


def test_a_worker_has_more_time_to_stop_than_a_lease_and_its_slowest_page_need(settings, worker) -> None:
    made = config.from_mapping(settings)
    slowest = made.policy.download_timeout_seconds + made.crawl.stage_timeout_seconds
    grace = worker["terminationGracePeriodSeconds"]
    assert grace > made.frontier.lease_seconds
    assert grace > slowest


def test_a_signal_reaches_a_worker_that_does_not_listen_yet(worker) -> None:
    """Process 1 of a namespace sees no signal without a handler; the first process of such a pod is the pause."""
    assert worker["shareProcessNamespace"] is True


def test_only_workers_share_their_process_namespace_because_others_have_nothing_to_lose(everything) -> None:
    sharing = {name for name, pod in pods(everything).items() if pod.get("shareProcessNamespace")}
    assert sharing == {"StatefulSet/worker"}


def test_a_worker_keeps_its_name_and_its_spool_when_it_is_replaced(everything, settings, worker) -> None:
    spec = everything["StatefulSet", "worker"]["spec"]
    spool = spec["volumeClaimTemplates"][0]["metadata"]["name"]
    mounts = {m["name"]: m["mountPath"] for m in worker["containers"][0]["volumeMounts"]}
    assert mounts[spool] == settings["CORPUS_SPOOL_DIR"]
    name = next(e for e in worker["containers"][0]["env"] if e["name"] == "CRAWLER_WORKER_ID")
    assert name["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name"
    assert spec["persistentVolumeClaimRetentionPolicy"]["whenScaled"] == "Retain"


def test_workers_wait_for_work_and_for_pages_that_become_due(settings) -> None:
    made = config.from_mapping(settings)
    assert made.frontier.idle_seconds == 0
    assert made.frontier.recrawl is True


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_redis_refuses_writes_rather_than_forgetting_pages(overlay: Path) -> None:
    found = objects(overlay)
    data = found["ConfigMap", "redis-config"]["data"]
    conf = dict(
        line.split(maxsplit=1)
        for line in f"{data['valkey.conf']}\n{data['limits.conf']}".splitlines()
        if line and not line.startswith("#")
    )
    assert conf["maxmemory-policy"] == "noeviction"
    assert conf["appendonly"] == "yes"
    assert {"maxmemory", "dir"} <= set(conf)
    assert found["StatefulSet", "redis"]["spec"]["volumeClaimTemplates"]
    limit = pods(found)["StatefulSet/redis"]["containers"][0]["resources"]["limits"]["memory"]
    assert size(conf["maxmemory"]) <= 0.75 * size(limit), "the rest is for the rewrite of the append-only file"


def test_a_real_valkey_takes_its_configuration(everything, tmp_path: Path) -> None:
    data = everything["ConfigMap", "redis-config"]["data"]
    for name, text in data.items():
        (tmp_path / name).write_text(text.replace("/etc/valkey", str(tmp_path)).replace("dir /data", f"dir {tmp_path}"))
    process = subprocess.Popen([find_binary(), str(tmp_path / "valkey.conf"), "--port", "0", "--requirepass", "secret",
                                "--unixsocket", str(tmp_path / "s")], stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "ready to accept connections" in line.lower():
                break
        client = redis.Redis(unix_socket_path=str(tmp_path / "s"), password="secret")
        told = client.config_get("maxmemory*")
        assert (told["maxmemory-policy"], int(told["maxmemory"])) == ("noeviction", 3 * 2**30)
        assert client.config_get("appendonly") == {"appendonly": "yes"}
        with pytest.raises(redis.ResponseError, match="unknown command"):
            client.flushall()
        client.close()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_redis_is_not_evicted_by_a_node_drain(everything) -> None:
    assert everything["PodDisruptionBudget", "redis"]["spec"]["maxUnavailable"] == 0
    assert everything["PodDisruptionBudget", "worker"]["spec"]["maxUnavailable"] == 1


def test_no_secret_is_written_down(everything) -> None:
    assert not [key for key in everything if key[0] == "Secret"]
    for name, spec in pods(everything).items():
        assert yaml.safe_dump(spec).count("crawler-secrets") == 1, name


# --- probes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["StatefulSet/worker", "Deployment/exporter"])
def test_probes_ask_what_the_endpoint_answers_on_the_port_it_listens_on(everything, settings, name) -> None:
    container = pods(everything)[name]["containers"][0]
    paths = {kind: container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")}
    assert {kind: (get["path"], get["port"]) for kind, get in paths.items()} == {
        "startup": ("/live", "metrics"), "liveness": ("/live", "metrics"), "readiness": ("/ready", "metrics"),
    }  # fmt: skip
    said = settings["METRICS_PORT"] if name == "StatefulSet/worker" else container["args"][-1]
    assert container["ports"] == [{"name": "metrics", "containerPort": int(said)}]
    assert settings["METRICS_HOST"] == "0.0.0.0"  # the pod's own; network.yaml says who may ask


def test_a_restarted_server_may_read_its_file_before_a_probe_ends_a_worker(worker) -> None:
    probe = worker["containers"][0]["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 2 * LOADING_SECONDS


# --- who may talk to whom --------------------------------------------------------------------------------------------


def rules(found: Objects, app: str, direction: str) -> list[dict[str, Any]]:
    """What the policies that select this pod allow, together."""
    allowed: list[dict[str, Any]] = []
    chosen = [one["spec"] for (kind, _), one in found.items() if kind == "NetworkPolicy" and selects(one["spec"], app)]
    assert any(direction.title() in spec["policyTypes"] for spec in chosen), "nobody would hold it back"
    for spec in chosen:
        allowed += spec.get(direction, [])
    return allowed


def selects(spec: dict[str, Any], app: str) -> bool:
    chooser = spec["podSelector"]
    names = [word["values"] for word in chooser.get("matchExpressions", [])]
    names += [[label] for label in chooser.get("matchLabels", {}).values()]
    return all(app in values for values in names)


@pytest.mark.parametrize("app", ["worker", "exporter"])
def test_only_prometheus_reaches_a_worker_or_the_exporter_and_only_their_metrics(everything, app) -> None:
    (rule,) = rules(everything, app, "ingress")
    assert rule["ports"] == [{"port": "metrics"}]
    (peer,) = rule["from"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}


def test_nobody_reaches_a_task_and_redis_reaches_nobody(everything) -> None:
    assert rules(everything, "task", "ingress") == []
    assert rules(everything, "redis", "egress") == []


@pytest.mark.parametrize("app", ["worker", "task", "exporter"])
@pytest.mark.parametrize("address", ["10.1.2.3", "169.254.169.254", "100.100.100.200", "192.168.0.1", "127.0.0.1"])
def test_pods_cannot_reach_private_networks_or_cloud_metadata(everything, app: str, address: str) -> None:
    assert not reaches(everything, app, address)


@pytest.mark.parametrize(("app", "may"), [("worker", True), ("task", True), ("exporter", False), ("redis", False)])
def test_workers_and_tasks_reach_the_public_web_and_no_other_pod_does(everything, app: str, may: bool) -> None:
    assert reaches(everything, app, "93.184.216.34") is may


def reaches(found: Objects, app: str, address: str) -> bool:
    ip = ipaddress.ip_address(address)
    for rule in rules(found, app, "egress"):
        for block in (peer["ipBlock"] for peer in rule["to"] if "ipBlock" in peer):
            inside = ip in ipaddress.ip_network(block["cidr"]) if ":" not in block["cidr"] else False
            if inside and not any(ip in ipaddress.ip_network(hole) for hole in block["except"]):
                return True
    return False


# --- who says how many workers there are -----------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", [K8S / "base", *OVERLAYS], ids=lambda path: path.name)
def test_no_number_of_workers_is_written_where_a_scaler_or_a_person_owns_it(overlay: Path) -> None:
    assert "replicas" not in objects(overlay)["StatefulSet", "worker"]["spec"]


def test_the_autoscaler_reads_the_figure_that_the_exporter_shows_and_the_adapter_passes_on(
    everything, settings
) -> None:
    spec = everything["HorizontalPodAutoscaler", "worker"]["spec"]
    assert (spec["scaleTargetRef"]["kind"], spec["scaleTargetRef"]["name"]) == ("StatefulSet", "worker")
    (metric,) = spec["metrics"]
    named = metric["external"]["metric"]
    assert named["name"] in {f"corpus_frontier_{name}" for name in GAUGES}
    assert named["name"] == "corpus_frontier_fetchable"
    assert named["selector"]["matchLabels"] == {"crawl": settings["CRAWL_ID"]}
    (rule,) = yaml.safe_load((K8S / "components/hpa/adapter-values.yaml").read_text())["rules"]["external"]
    assert rule["name"]["as"] == named["name"] == rule["seriesQuery"].partition("{")[0]


def test_keda_reads_the_same_figure_with_the_same_bounds(everything) -> None:
    plain = everything["HorizontalPodAutoscaler", "worker"]["spec"]
    scaled = objects(K8S / "overlays/keda")["ScaledObject", "worker"]["spec"]
    assert (scaled["minReplicaCount"], scaled["maxReplicaCount"]) == (plain["minReplicas"], plain["maxReplicas"])
    assert scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"] == plain["behavior"]
    (trigger,) = scaled["triggers"]
    metric = plain["metrics"][0]["external"]
    assert trigger["metadata"]["threshold"] == metric["target"]["averageValue"]
    assert trigger["metadata"]["query"] == f'max({metric["metric"]["name"]}{{crawl="main"}})'
    assert "cooldownPeriod" not in scaled, "it does nothing while one worker always stays"


def test_both_overlays_differ_in_the_scaler_alone() -> None:
    prod, keda = objects(K8S / "overlays/prod"), objects(K8S / "overlays/keda")
    assert set(prod) ^ set(keda) == {("HorizontalPodAutoscaler", "worker"), ("ScaledObject", "worker")}
    assert all(prod[key] == keda[key] for key in set(prod) & set(keda))


def test_a_worker_that_goes_has_its_grace_period_before_the_next_ones_go(everything, worker) -> None:
    down = everything["HorizontalPodAutoscaler", "worker"]["spec"]["behavior"]["scaleDown"]
    assert {policy["periodSeconds"] for policy in down["policies"]} == {worker["terminationGracePeriodSeconds"]}


def test_a_worker_is_asked_to_do_two_thirds_of_what_was_measured(everything) -> None:
    page = (PROJECT / "docs/scaling.md").read_text()
    rate = re.search(
        r"^\| one worker with two processes, all stages \| (\d+) pages/s, .* ([\d.]+) GiB", page, re.MULTILINE
    )
    assert rate is not None
    metric = everything["HorizontalPodAutoscaler", "worker"]["spec"]["metrics"][0]["external"]
    assert int(metric["target"]["averageValue"]) == int(rate[1]) * 60 * 2 / 3
    said = re.search(
        r"asked for ([\d,]+) of them\..*?are\s+([\d,]+) URLs a minute, hence (\d+) workers", page, re.DOTALL
    )
    assert said is not None
    target, work, workers = (int(number.replace(",", "")) for number in said.groups())
    assert (target, -(-work // target)) == (int(metric["target"]["averageValue"]), workers)
    resources = pods(everything)["StatefulSet/worker"]["containers"][0]["resources"]
    assert float(rate[2]) * 2**30 < size(resources["requests"]["memory"]) < size(resources["limits"]["memory"])


# --- tasks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_a_call_that_its_command_understands(everything, name, tmp_path: Path) -> None:
    """Without server and corpus it ends with 1; a wrong option or operation would end with 2."""
    spec = pods(everything)[name]
    (container,) = spec["containers"]
    paths = {"$(CRAWLER_CORPUS_DIR)": str(tmp_path / "corpus"), "/seeds": str(K8S / "base")}
    command = [re.sub("|".join(map(re.escape, paths)), lambda m: paths[m[0]], word) for word in container["args"]]
    own = {"CRAWLER_REDIS_URL": "redis://127.0.0.1:1/0", "CRAWLER_CORPUS_SPOOL_DIR": str(tmp_path / "spool")}
    env = os.environ | environment(spec, everything) | own
    done = warm.run([sys.executable, "-m", "scrapy", *command], cwd=PROJECT, env=env,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr or str(tmp_path) in done.stderr, done.stderr


def test_the_seeds_of_the_tasks_are_an_allowlist_that_is_read(everything) -> None:
    (file,) = everything["ConfigMap", "crawler-seeds"]["data"].items()
    assert read_allowlist(K8S / "base" / file[0])
    for name in ("Job/seed", "CronJob/seed-again"):
        (container,) = pods(everything)[name]["containers"]
        mount = next(m for m in container["volumeMounts"] if m["name"] == "seeds")
        assert f"allowlist={mount['mountPath']}/{file[0]}" in container["args"]


def test_what_expires_has_an_age(settings) -> None:
    assert config.from_mapping(settings).storage.archive_ttl_days > 0


# --- components ------------------------------------------------------------------------------------------------------


def test_a_worker_with_a_browser_has_memory_for_its_pages() -> None:
    patch = yaml.safe_load((K8S / "components/browser/workers.yaml").read_text())
    (container,) = patch["spec"]["template"]["spec"]["containers"]
    plain = pods(objects())["StatefulSet/worker"]["containers"][0]["resources"]
    browser = config.from_mapping({}).browser
    room = browser.concurrency * browser.memory_mb * 2**20
    assert size(container["resources"]["limits"]["memory"]) >= size(plain["limits"]["memory"]) + room
    assert size(container["resources"]["requests"]["memory"]) >= size(plain["requests"]["memory"]) + room // 2


@pytest.fixture
def signing(tmp_path: Path) -> Objects:
    """The overlay for production with the component that signs."""
    return _with(tmp_path, "signature")


def _with(tmp_path: Path, *components: str) -> Objects:
    """The overlay for production with these components."""
    base = Path("../" * len(tmp_path.parts[1:])) / K8S.relative_to("/")
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [str(base / "overlays/prod")],
        "components": [str(base / "components" / name) for name in components],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return objects(tmp_path)


def test_workers_that_sign_find_the_key_where_the_secret_is_mounted(signing, tmp_path: Path) -> None:
    spec = pods(signing)["StatefulSet/worker"]
    found = settings_in(environment(spec, signing), tmp_path)
    made = config.from_mapping(
        {name: found[name] for name in ("BOT_SIGNATURE_KEY_FILE", "BOT_SIGNATURE_AGENT")}
    ).signature
    (volume,) = [volume for volume in spec["volumes"] if "secret" in volume]
    (mount,) = [mount for mount in spec["containers"][0]["volumeMounts"] if mount["name"] == volume["name"]]
    (item,) = volume["secret"]["items"]
    assert made.key_file == f"{mount['mountPath']}/{item['path']}"
    assert made.agent is not None
    assert mount["readOnly"] is True
    assert spec["securityContext"]["fsGroup"]  # whose group may read it


def test_the_mode_in_which_kubernetes_mounts_the_key_is_one_that_the_crawler_accepts(signing, tmp_path: Path) -> None:
    (volume,) = [v for v in pods(signing)["StatefulSet/worker"]["volumes"] if "secret" in v]
    make_key(str(tmp_path / "key"))
    (tmp_path / "key").chmod(volume["secret"]["defaultMode"])
    (tmp_path / "..data").symlink_to(tmp_path)  # as the kubelet lays it out
    assert read_key(str(tmp_path / "..data" / "key"))


def test_nobody_but_workers_sees_the_key_and_without_the_component_nobody(everything, signing) -> None:
    assert [name for name, spec in pods(signing).items() if "bot-key" in yaml.safe_dump(spec)] == ["StatefulSet/worker"]
    assert [name for name, spec in pods(everything).items() if "bot-key" in yaml.safe_dump(spec)] == []
    assert not [key for key in signing if key[0] == "Secret"]
    (secret,) = re.findall(r"create secret generic (\S+) --from-file=(\S+)", SIGNATURE.read_text())
    (volume,) = [v["secret"] for v in pods(signing)["StatefulSet/worker"]["volumes"] if "secret" in v]
    assert (volume["secretName"], volume["items"][0]["key"]) == secret


@pytest.mark.parametrize("components", [("gates", "store-keys"), ("store-keys", "gates")])
def test_the_keys_of_the_store_reach_what_reads_or_writes_the_corpus_and_nobody_else(
    everything, tmp_path, components
) -> None:
    found = _with(tmp_path, *components)
    seen = {
        name
        for name, spec in pods(found).items()
        for source in spec["containers"][0].get("envFrom", [])
        if source.get("secretRef", {}).get("name") == "crawler-store"
    }
    assert seen == {"StatefulSet/worker", "CronJob/expire", "CronJob/verify", "CronJob/gates"}
    settings = [s["configMapRef"]["name"] for s in pods(found)["StatefulSet/worker"]["containers"][0]["envFrom"][:-1]]
    assert settings == ["crawler-config"]
    assert "crawler-store" not in yaml.safe_dump_all(list(everything.values()))
    page = (K8S / "components/store-keys/kustomization.yaml").read_text()
    assert re.findall(r"create secret generic (\S+)", page) == ["crawler-store"]


def size(text: str) -> int:
    """Bytes of "3Gi" or "512mb"."""
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]
    return int(number) * {"ki": 2**10, "mi": 2**20, "gi": 2**30, "mb": 2**20, "gb": 2**30}[unit.lower()]
