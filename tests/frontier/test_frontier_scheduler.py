"""Real Scrapy crawls of a real local site through the scheduler, each worker a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.frontier.web import Web

ROOT = Path(__file__).parents[2]


class Worker:
    """One `scrapy crawl` process."""

    def __init__(self, folder: Path, web: Web, name: str = "w", *, broken: str = "", **settings: object) -> None:
        self.record = folder / f"{name}.txt"
        settings.setdefault("CORPUS_DIR", str(folder / "corpus"))
        job = {
            "settings": settings,
            "spider": {"seeds": [f"{web.url}/0"], "record": str(self.record), "broken": broken},
        }
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/frontier/frontier_spider.py"), json.dumps(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.log = ""

    def wait(self, seconds: float = 60.0) -> dict[str, object]:
        """Exit code 0 expected; returns the stats."""
        out, self.log = self.process.communicate(timeout=seconds)
        assert self.process.returncode == 0, self.log
        return json.loads(out.splitlines()[-1])

    def kept(self) -> list[str]:
        return self.noted("kept")

    def noted(self, kind: str) -> list[str]:
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        return [line.split(" ", 1)[1] for line in lines if line.startswith(kind + " ")]

    def until_kept(self, n: int, seconds: float = 30.0) -> None:
        deadline = time.monotonic() + seconds
        while len(self.kept()) < n:
            assert time.monotonic() < deadline, "the worker makes no progress"
            assert self.process.poll() is None, self.process.communicate()[1]
            time.sleep(0.02)


def assert_every_page_once(web: Web, pages: int, *workers: Worker) -> None:
    kept = Counter(url for worker in workers for url in worker.kept())
    assert kept == Counter(f"{web.url}/{i}" for i in range(pages))


def test_a_crawl_fetches_every_page_once_and_ends(tmp_path):
    with Web(30) as web:
        worker = Worker(tmp_path, web)
        stats = worker.wait()
        assert_every_page_once(web, 30, worker)
        assert sorted(web.paths()) == sorted(f"/{i}" for i in range(30))
        assert stats["finish_reason"] == "finished"
        assert "Traceback" not in worker.log


def test_run_again_it_fetches_nothing(tmp_path):
    with Web(5) as web:
        Worker(tmp_path, web).wait()
        again = Worker(tmp_path, web, "again")
        again.wait()
        assert len(web.log) == 5
        assert again.kept() == []
