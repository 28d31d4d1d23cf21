"""Runs `gristmill crawl corpus` over a web of loopback addresses and reads everything it left behind."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import zstandard
from pyarrow import parquet

from crawler.storage.files.shards import read_lines
from tests.support import warm
from tests.support.places import PROJECT

SETTINGS: dict[str, object] = {
    "NETWORK_ALLOW": "127.0.0.0/9",
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "FRONTIER_IDLE_SECONDS": 0.5,
    "FRONTIER_LATENCY_FACTOR": 0,
    "FRONTIER_RETRY_BACKOFF_SECONDS": 0.1,
    "STAGE_WORKERS": 1,
    "QUALITY_RULES": "",
    "QUALITY_MIN_SCORE": 0,
    "LANGUAGE_MIN_SCORE": 0,
    "NEARDUP_THRESHOLD": 1,
    "PII_PERSON": "off",
    "PROGRESS": "off",
    "LOG_LEVEL": "DEBUG",
}
"""Everything that could reject a page for its text is off: what is left is policy and the limits. The log is at its
most talkative."""


@dataclass
class CorpusCrawl:
    """One finished crawl: its folder and its log."""

    folder: Path
    log: str
    returncode: int

    @cached_property
    def kept(self) -> dict[str, dict[str, Any]]:
        """Kept records by URL."""
        return {record["url"]: record for record in self._records("shards")}

    @cached_property
    def rejected(self) -> dict[str, dict[str, Any]]:
        """Rejected records by URL."""
        return {record["url"]: record for record in self._records("rejected")}

    def _records(self, kind: str) -> Iterator[dict[str, Any]]:
        for path in sorted((self.folder / kind).glob("*.jsonl*")):
            yield from (json.loads(line) for line in read_lines(path))

    @cached_property
    def everything(self) -> bytes:
        """Every byte on the disk, compressed files unpacked, and the log."""
        files = [unpacked(path) for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return b"\n".join([self.log.encode(), *files])


def unpacked(path: Path) -> bytes:
    """The bytes of a file, decompressed where its name says that it is compressed."""
    raw = path.read_bytes()
    if path.suffix == ".parquet":  # of the index; its name is that of the shard and more
        return raw + str(parquet.read_table(path).to_pylist()).encode()
    if ".gz" in path.suffixes:
        return gzip.decompress(raw)
    if ".zst" in path.suffixes:
        return zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
    return raw


def start_crawl(folder: Path, seeds: list[str], port: int, **settings: object) -> subprocess.Popen[str]:
    """A crawl of exactly these URLs, running."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.parent / f"{folder.name}-seeds.txt"
    file.write_text("\n".join(seeds) + "\n")
    return _start("corpus", f"seeds={file}", {"CORPUS_DIR": folder, "NETWORK_PORTS": port, **SETTINGS, **settings})


def _start(spider: str, argument: str, settings: dict[str, object]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrapy", "crawl", spider, "-a", argument]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "COLUMNS": "200"}
    return warm.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def crawl(folder: Path, seeds: list[str], port: int, **settings: object) -> CorpusCrawl:
    """The same, finished."""
    return finished(folder, start_crawl(folder, seeds, port, **settings))


def replay(archive: Path, folder: Path, **settings: object) -> CorpusCrawl:
    """Everything that a crawl has archived, judged again without a network."""
    return finished(
        folder, _start("replay", f"archive={archive}/*.warc.gz", {"CORPUS_DIR": folder, **SETTINGS, **settings})
    )


def finished(folder: Path, process: subprocess.Popen[str]) -> CorpusCrawl:
    """What a crawl has left behind, once it has ended."""
    try:
        _, log = process.communicate(timeout=300)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    return CorpusCrawl(folder, log, process.returncode)
