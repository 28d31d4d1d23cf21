"""A folder in which the recipes' commands run as a reader types them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.server.embedded import find_binary
from crawler.storage.files.shards import read_lines
from tests.docs.recipes import ROOT, SmallWeb, recipes
from tests.support.ports import free_port


@dataclass
class Desk:
    """A working folder with the small web, `gristmill` and `valkey-server` on the PATH."""

    folder: Path
    web: SmallWeb
    port: int

    def here(self, text: str) -> str:
        """The recipe with addresses and ports of this machine."""
        return self.web.here(text).replace("127.0.0.1:6379", f"127.0.0.1:{self.port}").replace(
            "--port 6379", f"--port {self.port}"
        )  # fmt: skip

    def run(self, heading: str) -> list[str]:
        """Every block of a recipe, in order; what each wrote to standard output."""
        return [self.block(block.language, block.text) for block in recipes()[heading]]

    def block(self, language: str, text: str) -> str:
        program = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}[language]
        done = subprocess.run(
            [*program, self.here(text)], cwd=self.folder, env=self.environment(), capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{self.folder.parent / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "SCRAPY_SETTINGS_MODULE": "tests.docs.howto_settings",
            "RECIPE_PORTS": ",".join(base.partition(":")[2] for base in self.web.bases.values()),
            "COLUMNS": "120",
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(self.folder.parent / "hf"),
        }

    def records(self, corpus: str, kind: str = "shards") -> list[dict[str, Any]]:
        files = sorted((self.folder / corpus / kind).glob("*.jsonl*"))
        return [json.loads(line) for file in files for line in read_lines(file)]

    def urls(self, corpus: str, kind: str = "shards") -> list[str]:
        return sorted(record["url"] for record in self.records(corpus, kind))


def _programs(folder: Path) -> None:
    folder.mkdir()
    gristmill = folder / "gristmill"
    gristmill.write_text(f'#!/bin/sh\nexec {sys.executable} -m crawler.commands.gristmill "$@"\n')
    gristmill.chmod(0o755)
    (folder / "valkey-server").symlink_to(find_binary())


@pytest.fixture(scope="session")
def small_web() -> Iterator[SmallWeb]:
    web = SmallWeb().start()
    yield web
    web.stop()


@pytest.fixture
def desk(tmp_path: Path, small_web: SmallWeb) -> Iterator[Desk]:
    _programs(tmp_path / "bin")
    (tmp_path / "work").mkdir()
    made = Desk(tmp_path / "work", small_web, free_port())
    yield made
    once = Retry(NoBackoff(), 0)  # most recipes start no server: redis-py would look for it for four seconds
    with (
        contextlib.suppress(redis.ConnectionError),
        redis.Redis(port=made.port, password="secret", retry=once) as server,
    ):
        server.shutdown(nosave=True)


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory, small_web: SmallWeb) -> Path:
    """The corpus of the first recipe, made once by its own commands."""
    folder = tmp_path_factory.mktemp("recipes")
    _programs(folder / "bin")
    (folder / "work").mkdir()
    made = Desk(folder / "work", small_web, free_port())
    made.block(*recipes()["Crawl a list of URLs"][0])
    return folder / "work" / "corpus"


@pytest.fixture
def with_corpus(desk: Desk, crawled: Path) -> Desk:
    """A desk on which the first recipe has left its corpus."""
    shutil.copytree(crawled, desk.folder / "corpus")
    return desk
