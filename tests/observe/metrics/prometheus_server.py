"""A real Prometheus with a folder of its own, asked over its own interface."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from tests.support.ports import free_port
from tests.support.serving import DEADLINE

T = TypeVar("T")


def installed() -> str:
    """The program; skips the test where there is none."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("no prometheus (Debian: the package prometheus)")
    return program


def job(name: str, ports: Sequence[int], namespace: str = "crawler", every: str = "1s") -> dict[str, Any]:
    """What is scraped, how often; the namespace is the label that a PodMonitor would give."""
    targets = {"targets": [f"127.0.0.1:{port}" for port in ports], "labels": {"namespace": namespace}}
    return {"job_name": name, "scrape_interval": every, "scrape_timeout": every, "static_configs": [targets]}


class Prometheus:
    """One server; `ask` gives the result of an instant query. rules: the text of a rule file."""

    def __init__(self, folder: Path, jobs: list[dict[str, Any]], rules: str = "") -> None:
        config: dict[str, Any] = {"global": {"evaluation_interval": "500ms"}, "scrape_configs": jobs}
        if rules:
            (folder / "rules.yml").write_text(rules)
            config["rule_files"] = ["rules.yml"]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._port = free_port()
        self._process = subprocess.Popen(
            [installed(), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self._port}", "--log.level=error"],
        )  # fmt: skip

    def get(self, path: str) -> Any:
        """The data of one answer of its interface. Raises: OSError while it starts."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/api/v1/{path}", timeout=30) as answer:
            found = json.load(answer)
        assert found["status"] == "success", (path, found)
        return found["data"]

    def ask(self, expression: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"query?{urllib.parse.urlencode({'query': expression})}")["result"]
        return found

    def await_some(self, expression: str) -> list[dict[str, Any]]:
        return until(lambda: self.ask(expression), lambda: f"no answer to {expression}")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)


def until(look: Callable[[], T], failed: Callable[[], str]) -> T:
    """What `look` finds, once it finds something; a server that does not listen yet is asked again."""
    end = time.monotonic() + DEADLINE
    while True:
        try:
            if found := look():
                return found
        except OSError:
            pass
        assert time.monotonic() < end, failed()
        time.sleep(0.2)
