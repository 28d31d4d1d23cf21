"""Every command of docs/operations.md: it runs on a real crawl, or what it names is in the manifests and in compose."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
import yaml

from crawler.server.embedded import find_binary
from tests.docs.conftest import Desk
from tests.support.kustomize import K8S, Objects, objects, pods
from tests.support.places import PROJECT
from tests.support.process import scrapy
from tests.support.serving import DEADLINE

PAGE = (PROJECT / "docs/operations.md").read_text("utf-8")
PROGRAMS = ("gristmill", "kubectl", "docker")
CRAWL = (
    "gristmill seed -a seeds=seeds.txt",
    "gristmill work corpus -s FRONTIER_IDLE_SECONDS=0",
    "gristmill frontier status --top 20",
    "gristmill frontier pause --domain example.org",
    "gristmill frontier drain",
    "gristmill frontier resume",
    "gristmill seed -a seeds=more.txt",
    "gristmill dataset verify CORPUS_DIR",
    "gristmill dataset verify --fix CORPUS_DIR",
    "gristmill report --by domain CORPUS_DIR",
    "gristmill quarantine",
    "gristmill frontier purge --domain example.org --yes",
    "gristmill dataset exclude --domain example.org --reason trap --yes CORPUS_DIR",
)
"""What the crawl below runs."""
SHORTENED = {"gristmill dataset verify --fix"}
KINDS = {"hpa": "HorizontalPodAutoscaler", "scaledobject": "ScaledObject", "statefulset": "StatefulSet",
         "deployment": "Deployment", "pods": "Pod"}  # fmt: skip


def commands() -> list[str]:
    """Every command of the page, continued lines joined, without the variables that stand before it."""
    blocks = re.findall(r"^ *```\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    text = re.sub(r"^ *```\n.*?^ *```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]
    return [line for line in lines + spans if _words(line)[:1] and _words(line)[0] in PROGRAMS]


def _words(command: str) -> list[str]:
    """Words of a command; variables before it and the file behind it are left out."""
    words = shlex.split(command.partition(" > ")[0])
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words = words[1:]
    return words


def of(program: str) -> list[str]:
    return [command for command in commands() if _words(command)[0] == program]


def prompted() -> list[str]:
    """What the page types into valkey-cli."""
    lines = re.findall(r"^> (.+)$", PAGE, re.MULTILINE)
    return [line.partition("  ")[0] for line in lines]


# --- on one machine ------------------------------------------------------------------------------------------------


def test_every_gristmill_command_of_the_page_is_run_below():
    assert set(of("gristmill")) - SHORTENED == set(CRAWL)


@contextmanager
def valkey(folder: Path, *options: str) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    command = [str(find_binary()), *options, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _until(lambda: _listens(port))
        yield port
    finally:
        process.terminate()
        process.wait(60)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _until(look: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not look():
        assert time.monotonic() < end
        time.sleep(0.1)


class Shift:
    """A person at a desk who types the commands of the page."""

    def __init__(self, desk: Desk, port: int) -> None:
        self.desk = desk
        exports = "\n".join(re.findall(r"^export .+$", PAGE, re.MULTILINE))
        assert "CRAWLER_CRAWLER_CONTACT" in exports and "CRAWLER_REDIS_URL" in exports
        self.exports = exports.replace("10.0.0.1:6379", f"127.0.0.1:{port}").replace("…", "secret")
        self._before = len(desk.web.hits)

    def types(self, command: str) -> str:
        assert command in CRAWL
        return self.desk.block("sh", f"{self.exports}\n{command.replace('CORPUS_DIR', 'corpus')}")

    def starts(self, command: str) -> subprocess.Popen[str]:
        text = self.desk.here(f"{self.exports}\nexec {command} --workers 1")
        return subprocess.Popen(["bash", "-euc", text], cwd=self.desk.folder, env=self.desk.environment(),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)  # fmt: skip

    def pages_of(self, name: str) -> set[str]:
        """Of its kept pages, those that were fetched."""
        return set(self.desk.web.hits[self._before :]) & self.desk.web.urls(name)


def test_a_crawl_is_paused_resumed_drained_checked_and_rid_of_a_domain_as_the_page_says(desk, tmp_path):
    (desk.folder / "seeds.txt").write_text(f"{min(desk.web.urls('example.org'))}\n")
    (desk.folder / "more.txt").write_text(f"{min(desk.web.urls('example.net'))}\n")
    with valkey(tmp_path, "--appendonly", "yes", "--maxmemory-policy", "noeviction", "--requirepass", "secret") as port:
        shift = Shift(desk, port)
        working = shift.starts("gristmill work corpus -s FRONTIER_IDLE_SECONDS=0")
        try:
            a_domain_is_left_alone_until_it_is_resumed(shift)
            shift.types("gristmill frontier drain")
            assert working.wait(DEADLINE) == 0, "workers finish and end"
        finally:
            working.terminate()
            working.wait(60)
        shift.types("gristmill frontier resume")
        assert set(desk.urls("corpus")) == desk.web.urls("example.org") | desk.web.urls("example.net")
        shift.types("gristmill dataset verify CORPUS_DIR")
        a_domain_does_harm(shift)
    assert set(desk.urls("corpus")) == desk.web.urls("example.net")
    shift.types("gristmill dataset verify --fix CORPUS_DIR")


def a_domain_is_left_alone_until_it_is_resumed(shift: Shift) -> None:
    everything = shift.desk.web.urls
    shift.types("gristmill frontier pause --domain example.org")
    shift.types("gristmill seed -a seeds=seeds.txt")
    shift.types("gristmill seed -a seeds=more.txt")
    _until(lambda: shift.pages_of("example.net") == everything("example.net"))
    assert shift.pages_of("example.org") == set()
    assert "`gristmill frontier pause --domain example.org`, later `resume`" in PAGE
    shift.desk.block("sh", f"{shift.exports}\ngristmill frontier resume --domain example.org")
    _until(lambda: shift.pages_of("example.org") == everything("example.org"))


def a_domain_does_harm(shift: Shift) -> None:
    status = shift.types("gristmill frontier status --top 20")
    assert all(word in status.split() for word in ("queued", "failed", *shift.desk.web.bases.values()))
    accounts = shift.types("gristmill report --by domain CORPUS_DIR")
    assert all(word in accounts.split() for word in ("kept", *shift.desk.web.bases.values()))
    shift.types("gristmill quarantine")
    shift.types("gristmill frontier purge --domain example.org --yes")
    (shift.desk.folder / "seeds.txt").write_text(shift.desk.here("https://example.org/new\nhttps://example.net/new\n"))
    with pytest.raises(AssertionError, match="1 added, 0 known before, 1 refused"):  # the command fails
        shift.types("gristmill seed -a seeds=seeds.txt")
    assert "a seeding that still names it seeds the rest and fails" in PAGE
    shift.types("gristmill dataset exclude --domain example.org --reason trap --yes CORPUS_DIR")


# --- containers ----------------------------------------------------------------------------------------------------


def test_the_commands_of_compose_give_every_variable_that_it_needs_and_name_a_service():
    text = (PROJECT / "compose.yaml").read_text("utf-8")
    services = yaml.safe_load(text)["services"]
    needed, known = set(re.findall(r"\$\{(\w+):\?", text)), set(re.findall(r"\$\{(\w+)", text))
    lines = [line for line in of("docker") if "compose" in line]
    assert len(lines) == 2
    for line in lines:
        given = set(re.findall(r"(\w+)=\S+ ", line.partition("docker")[0]))
        assert needed <= given <= known
        assert set(_words(line)[_words(line).index("-d") + 1 :]) <= {"--no-deps", *services}
    assert "write `seeds/allowlist.yaml`" in PAGE
    assert services["seed"]["volumes"] == ["./seeds:/seeds:ro"]
    assert "allowlist=/seeds/allowlist.yaml" in services["seed"]["command"]


def test_the_image_is_built_with_an_argument_that_the_dockerfile_has():
    (line,) = (line for line in of("docker") if " build " in line)
    (given,) = re.findall(r"--build-arg (\w+)=", line)
    assert f"\nARG {given}=" in (PROJECT / "Dockerfile").read_text("utf-8")


# --- Kubernetes ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything() -> Objects:
    """What both overlays with a scaler send."""
    return objects(K8S / "overlays/keda") | objects(K8S / "overlays/prod")


def containers(found: Objects) -> list[dict[str, Any]]:
    return [container for pod in pods(found).values() for container in pod["containers"]]


@pytest.mark.parametrize("command", sorted(set(of("kubectl"))))
def test_what_a_kubectl_command_names_is_in_the_manifests(everything, command):
    words = _words(command)[1:]
    if words[0] == "-n":
        assert ("Namespace", words[1]) in everything
        assert {one["metadata"].get("namespace", words[1]) for one in everything.values()} == {words[1]}
        words = words[2:]
    CHECKS[words[0]](everything, [word for word in words[1:] if word not in ("-it", "--")])


def applies(_: Objects, words: list[str]) -> None:
    folder = words[words.index("-k") + 1]
    assert f"# {folder}kustomization.yaml" in (PROJECT / "docs/kubernetes.md").read_text("utf-8")


def creates(found: Objects, words: list[str]) -> None:
    if words[0] == "namespace":
        assert ("Namespace", words[1]) in found
        return
    name, given = words[2], dict(word.removeprefix("--from-literal=").split("=", 1) for word in words[3:])
    wanted = [e["valueFrom"]["secretKeyRef"] for c in containers(found) for e in c["env"] if "secretKeyRef" in
              e.get("valueFrom", {})]  # fmt: skip
    assert {(ref["name"], ref["key"]) for ref in wanted} == {(name, key) for key in given}
    url = urlsplit(given["redis-url"])
    assert url.port in [port["port"] for port in found["Service", str(url.hostname)]["spec"]["ports"]]


def gets(found: Objects, words: list[str]) -> None:
    kinds = {kind for kind, _ in found} | {"Pod"}
    assert {KINDS[word] for word in words[0].split(",")} <= kinds


def deletes(found: Objects, words: list[str]) -> None:
    assert (KINDS[words[0]], words[1]) in found


def scales(found: Objects, words: list[str]) -> None:
    kind, name = words[0].split("/")
    assert "replicas" not in found[KINDS[kind], name]["spec"], "an apply would set it back"


def executes(found: Objects, words: list[str]) -> None:
    """In the pod of a deployment, or the first one of a set, with what its container has."""
    kind, _, name = words[0].rpartition("/")
    pod = pods(found)[f"{KINDS[kind]}/{name}" if kind else f"StatefulSet/{name.removesuffix('-0')}"]
    (container,) = pod["containers"]
    if "tar" in words:
        folder = words[words.index("-C") + 1]
        assert folder in [mount["mountPath"] for mount in container["volumeMounts"]]
        assert f"dir {folder}\n" in found["ConfigMap", "redis-config"]["data"]["valkey.conf"]
    for variable in re.findall(r"\$(\w+)", " ".join(words)):
        assert variable in [entry["name"] for entry in container["env"]]


CHECKS = {"apply": applies, "create": creates, "get": gets, "delete": deletes, "scale": scales, "exec": executes}


def test_the_status_is_shown_by_the_pod_of_the_exporter(everything, redis_url, tmp_path):
    """With its environment and nothing else."""
    assert "exec deployment/exporter -- gristmill frontier status" in PAGE
    (container,) = pods(everything)["Deployment/exporter"]["containers"]
    environment = {
        f"CRAWLER_{name}": value for name, value in everything["ConfigMap", "crawler-config"]["data"].items()
    }
    environment |= {e["name"]: e["value"] for e in container["env"] if "value" in e}
    done = scrapy("frontier", "status", cwd=tmp_path, SCRAPY_SETTINGS_MODULE="crawler.settings",
                  **environment | {"CRAWLER_REDIS_URL": redis_url})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "main" in done.stdout


def test_a_set_of_no_workers_is_scaled_up_by_hand():
    """Autoscalers leave a set of 0 alone, and the manifests name no number: nobody else would."""
    upgrade = PAGE.partition("## Upgrade")[2].partition("\n## ")[0]
    restore = PAGE.partition("Restore into an empty volume")[2].partition("\n\n")[0]
    assert upgrade.index("--replicas=0") < upgrade.index("kubectl apply -k") < upgrade.index("--replicas=1")
    assert restore.index("scale the workers to 0") < restore.index("scale the workers to 1")


def test_what_is_typed_into_the_server_is_taken_under_the_configuration_of_the_manifests(everything, tmp_path):
    data = everything["ConfigMap", "redis-config"]["data"]
    (tmp_path / "limits.conf").write_text(data["limits.conf"])
    text = data["valkey.conf"].replace("/etc/valkey", str(tmp_path)).replace("dir /data", f"dir {tmp_path}")
    (tmp_path / "valkey.conf").write_text(text)
    with valkey(tmp_path, str(tmp_path / "valkey.conf")) as port, redis.Redis(port=port) as client:
        before = client.config_get("auto-aof-rewrite-percentage")
        typed = [(*line.split(),) for line in prompted()]
        assert [words[:2] for words in typed] == [("CONFIG", "SET"), ("INFO", "persistence"), ("CONFIG", "SET")]
        for words in typed:
            client.execute_command(*words)
        assert client.config_get("auto-aof-rewrite-percentage") == before, "the last line undoes the first"
        assert "aof_rewrite_in_progress" in client.info("persistence") and "aof_rewrite_in_progress" in PAGE
        client.execute_command("CONFIG", "SET", "maxmemory", "4gb")
        assert (tmp_path / "appendonlydir").is_dir(), "what the page copies"


def test_prometheus_may_ask_from_the_namespace_that_the_page_names(everything):
    assert "namespace `monitoring`" in PAGE
    assert "maxmemory" in everything["ConfigMap", "redis-config"]["data"]["limits.conf"]
    (rule,) = everything["NetworkPolicy", "metrics"]["spec"]["ingress"]
    (source,) = rule["from"]
    assert source["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}


def test_a_pod_has_the_time_to_stop_that_the_page_says(everything):
    seconds = pods(everything)["StatefulSet/worker"]["terminationGracePeriodSeconds"]
    assert re.search(rf"In a pod it\s+has {seconds} seconds", PAGE)
