"""compose.yaml keeps the promises of the manifests on plain machines."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from crawler import config
from crawler.config.environment import problems_of_environment
from tests.support.places import PROJECT

FILE = PROJECT / "compose.yaml"
WHOLE: dict[str, Any] = yaml.safe_load(FILE.read_text())
SERVICES: dict[str, dict[str, Any]] = WHOLE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "crawler"}
CONFIGS = {name: config["content"] for name, config in WHOLE["configs"].items()}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting(name):
    found = OURS[name]["environment"]
    assert problems_of_environment(found, config.declared()) == []
    assert {"CRAWLER_REDIS_URL", "CRAWLER_CRAWL_ID", "CRAWLER_CRAWLER_CONTACT"} <= set(found)


@pytest.mark.parametrize("name", OURS)
def test_containers_have_no_rights_and_a_read_only_root(name):
    service = OURS[name]
    assert (service["user"], service["read_only"], service["cap_drop"]) == ("10001", True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_workers_wait_for_work_and_have_time_to_finish():
    worker = SERVICES["worker"]
    assert worker["environment"]["CRAWLER_FRONTIER_IDLE_SECONDS"] == "0"
    assert worker["stop_grace_period"] == "3m"
    assert config.from_mapping({}).frontier.lease_seconds < 180


@pytest.mark.parametrize("name", OURS)
def test_a_signal_reaches_a_crawler_that_does_not_listen_yet(name):
    assert OURS[name]["init"] is True, "as process 1 it would not see one"


def test_the_server_keeps_everything_and_is_not_open_to_the_world():
    command = SERVICES["redis"]["command"]
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
    assert command[command.index("--appendonly") + 1] == "yes"
    assert SERVICES["redis"]["ports"] == ["${REDIS_BIND:-127.0.0.1}:6379:6379"]
    assert "${REDIS_PASSWORD:?" in command[command.index("--requirepass") + 1]


def test_nobody_but_this_machine_sees_what_is_watched():
    for name in ("exporter", "prometheus", "grafana"):
        assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"])
    assert "ports" not in SERVICES["worker"]


def test_prometheus_asks_every_worker_and_the_exporter_where_they_answer(tmp_path):
    said = yaml.safe_load(CONFIGS["prometheus"])
    exporter, worker = said["scrape_configs"]
    port = SERVICES["exporter"]["ports"][0].rpartition(":")[2]
    assert exporter["static_configs"] == [{"targets": [f"exporter:{port}"]}]
    (found,) = worker["dns_sd_configs"]
    assert (found["names"], str(found["port"])) == (
        ["worker"],
        SERVICES["worker"]["environment"]["CRAWLER_METRICS_PORT"],
    )
    if (promtool := shutil.which("promtool")) is None:
        pytest.skip("no promtool (Debian: the package prometheus)")
    file = tmp_path / "prometheus.yml"
    file.write_text(CONFIGS["prometheus"])
    done = subprocess.run([promtool, "check", "config", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_grafana_finds_the_dashboard_and_prometheus():
    (volume,) = SERVICES["grafana"]["volumes"]
    source, target, _ = volume.split(":")
    dashboard = json.loads((PROJECT / source).read_text())
    assert "datasource" in {variable["type"] for variable in dashboard["templating"]["list"]}
    (provider,) = yaml.safe_load(CONFIGS["dashboards"])["providers"]
    assert target.startswith(provider["options"]["path"])
    (source,) = yaml.safe_load(CONFIGS["source"])["datasources"]
    assert (source["url"], source["isDefault"]) == ("http://prometheus:9090", True)
    taken = {each["source"]: each["target"] for name in ("prometheus", "grafana") for each in SERVICES[name]["configs"]}
    assert sorted(taken) == sorted(CONFIGS)


def test_the_folder_of_the_corpus_belongs_to_the_user_of_the_image():
    dockerfile = (PROJECT / "Dockerfile").read_text()
    (volume,) = SERVICES["worker"]["volumes"]
    assert f"install -d -o 10001 -g 10001 {volume.partition(':')[2]} " in dockerfile


def test_docker_compose_understands_it():
    if not shutil.which("docker") or subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:  # noqa: PLW1510
        pytest.skip("no docker compose")
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "REDIS_PASSWORD": "x", "CRAWLER_CONTACT": "https://example.org/bot"}
    command = ["docker", "compose", "-f", str(FILE), "config", "--quiet"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
