"""Real crawls: `gristmill crawl` in a process of its own, real Valkey, real HTTP servers on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from crawler.storage.files.shards import read_lines
from tests.support import warm
from tests.support.places import PROJECT


@dataclass
class Crawl:
    """One folder, one command line; `run` waits, `start` does not."""

    folder: Path
    settings: dict[str, object] = field(default_factory=dict)
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def command(self, arguments: dict[str, str], settings: dict[str, object], spider: str = "corpus") -> list[str]:
        merged = {
            "CORPUS_DIR": self.folder,
            "NETWORK_ALLOW": "127.0.0.0/8",
            "DOWNLOAD_DELAY": 0,
            "DOWNLOAD_TIMEOUT": 300,  # a site whose gate is shut answers late
            "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
            "FRONTIER_IDLE_SECONDS": 0.5,
            "STAGE_WORKERS": 1,
            "PII_PERSON": "off",
            "PROGRESS": "off",
            **self.settings,
            **settings,
        }
        command = [sys.executable, "-m", "scrapy", "crawl", spider]
        for name, value in arguments.items():
            command += ["-a", f"{name}={value}"]
        for name, value in merged.items():
            command += ["-s", f"{name}={value}"]
        return command

    def start(self, arguments: dict[str, str], spider: str = "corpus", **settings: object) -> subprocess.Popen[str]:
        process = warm.Popen(
            self.command(arguments, settings, spider),
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "COLUMNS": "120"},
        )
        self.processes.append(process)
        return process

    def run(
        self, arguments: dict[str, str], timeout: float = 300, **settings: object
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(arguments, **settings)
        out, err = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def records(self, kind: str = "shards") -> list[dict[str, object]]:
        found = []
        for path in sorted((self.folder / kind).glob("*.jsonl*")):
            found += [json.loads(line) for line in read_lines(path)]
        return found

    def accounted(self) -> list[str]:
        """Every URL that ended somewhere: kept, or rejected for its text (the made-up prose may look alike)."""
        rejected = self.records("rejected")
        assert {str(r["stage"]) for r in rejected} <= {"near", "quality", "language"}, rejected
        return sorted(self.urls() + [str(r["url"]) for r in rejected])

    def urls(self, kind: str = "shards") -> list[str]:
        return sorted(str(record["url"]) for record in self.records(kind))


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """The log of a crawl that runs, up to the line with these words; it must not end before."""
    seen = ""
    assert process.stderr is not None
    for line in process.stderr:
        seen += line
        if words in line:
            return seen
    raise AssertionError(f"the crawl ended without a word of {words!r}: {seen[-4000:]}")
