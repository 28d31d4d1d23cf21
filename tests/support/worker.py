"""A worker that crawls a small real site through the scheduler, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.linked_web import Web
from tests.support.places import PROJECT
from tests.support.serving import DEADLINE


class Worker:
    """One `gristmill crawl` process."""

    def __init__(
        self,
        folder: Path,
        web: Web,
        name: str = "w",
        *,
        spider: dict[str, object] | None = None,
        heartbeat: float | None = None,  # seconds between two looks that Scrapy takes by itself
        **settings: object,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.record = folder / f"{name}.txt"
        settings.setdefault("CORPUS_DIR", str(folder / "corpus"))
        job = {
            "settings": settings,
            "spider": {"seeds": [f"{web.url}/0"], "record": str(self.record), **(spider or {})},
            **({} if heartbeat is None else {"heartbeat": heartbeat}),
        }
        self.web = web
        self.process = subprocess.Popen(
            [sys.executable, str(PROJECT / "tests/support/frontier_spider.py"), json.dumps(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
        self.log = ""

    def wait(self, seconds: float = DEADLINE) -> dict[str, object]:
        """Exit code 0 expected; returns the stats."""
        out, self.log = self.process.communicate(timeout=seconds)
        assert self.process.returncode == 0, self.log
        return json.loads(out.splitlines()[-1])

    def kept(self) -> list[str]:
        return self.noted("kept")

    def noted(self, kind: str) -> list[str]:
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        return [line.split(" ", 1)[1] for line in lines if line.startswith(kind + " ")]

    def until_kept(self, n: int) -> None:
        self.until_noted("kept", n)

    def until_noted(self, kind: str, n: int) -> None:
        self.until(lambda: len(self.noted(kind)) >= n, f"{n} of {kind}")

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for something that the worker brings about."""
        deadline = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < deadline, f"never saw: {what}"
            assert self.process.poll() is None, self.process.communicate()[1]
            time.sleep(0.02)  # polled: another process

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=DEADLINE)
