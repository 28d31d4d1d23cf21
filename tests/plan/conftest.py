"""A folder with a plan, a small site on loopback, and `gristmill plan` as a person types it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.linked_web import Web
from tests.support.process import clean_environment
from tests.support.serving import DEADLINE

WORDS = (
    "the miller opens sluice at dawn and wheel turns slowly who brought sacks what flour was like nobody in valley has "
    "asked for more than that because stones are dressed every month bread of houses good river rises after rain "
    "children carry grain from farms over hill before harvest ends then rest under old trees near water"
)
"""Of which each page has sentences of its own."""
SETTINGS = {
    "NETWORK_ALLOW": "127.0.0.0/9",
    "DOWNLOAD_DELAY": "0",
    "ADDRESS_DELAY": "0",
    "DOWNLOAD_TIMEOUT": "300",
    "FRONTIER_IDLE_SECONDS": "0.3",
    "FRONTIER_LATENCY_FACTOR": "0",
    "FRONTIER_BARREN_PAGES": "0",
    "STAGE_WORKERS": "0",
    "QUALITY_RULES": "",
    "QUALITY_MIN_SCORE": "0",
    "LANGUAGE_MIN_SCORE": "0",
    "NEARDUP_THRESHOLD": "1",
    "PII_PERSON": "off",
    "PROGRESS": "off",
}


class Mill(Web):
    """A site of pages with a text of their own that link to each other."""

    def _page(self, times: int) -> tuple[int, bytes]:
        links = "".join(f'<a href="/{i}">{i}</a>' for i in range(self._pages))
        draw = random.Random(len(self.log))
        body = "".join(f"<p>{' '.join(draw.choices(WORDS.split(), k=60)).capitalize()}.</p>" for _ in range(4))
        return 200, f"<html lang=en><body>{links}<article>{body}</article></body></html>".encode()


class Call:
    """A command that runs; what it says goes into files, which an orphan of it may keep open."""

    def __init__(self, folder: Path, logs: Path, words: tuple[str, ...]) -> None:
        logs.mkdir(exist_ok=True)
        self._out, self._err = (logs / f"{len(list(logs.iterdir()))}-{name}" for name in ("out", "err"))
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "crawler.commands.gristmill", *words],
                cwd=folder, stdout=out, stderr=err, env=clean_environment(),
            )  # fmt: skip

    @property
    def err(self) -> str:
        return self._err.read_text()

    @property
    def out(self) -> str:
        return self._out.read_text()

    def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert self.process.poll() is None, self.err
            assert time.monotonic() < end, f"nothing happened in time: {self.err}"
            time.sleep(0.02)

    def end(self) -> Call:
        self.process.wait(DEADLINE)
        return self

    @property
    def code(self) -> int:
        return self.process.returncode


class Desk:
    """A folder in which `plan.yaml` lies."""

    def __init__(self, folder: Path, logs: Path) -> None:
        self.folder, self._logs = folder, logs
        self.calls: list[Call] = []

    def write(self, text: str) -> None:
        (self.folder / "plan.yaml").write_text(text, "utf-8")

    def begin(self, *words: str) -> Call:
        self.calls.append(Call(self.folder, self._logs, words))
        return self.calls[-1]

    def plan(self, operation: str, *words: str) -> Call:
        return self.begin("plan", operation, *words, "plan.yaml").end()

    def facts(self, operation: str, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.plan(operation, "--json", *words).out)
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "desk").mkdir()
    made = Desk(tmp_path / "desk", tmp_path / "logs")
    yield made
    for call in made.calls:
        if call.process.poll() is None:
            call.process.kill()
            call.process.wait()


@pytest.fixture
def mill() -> Iterator[Mill]:
    with Mill(6) as web:
        yield web


def crawl_of(mill: Web, **more: str) -> str:
    """YAML of a crawl of the site."""
    settings = SETTINGS | {"NETWORK_PORTS": str(mill.port)} | more
    lines = [f"  {name}: '{value}'" for name, value in settings.items()]
    return "\n".join(["name: mill", "corpus: corpus", f"seeds: [{mill.url}/0]", "settings:", *lines, ""])
