"""`python -m bench.stream.kills --kills N --seed S`: sender, consumer and server die, the corpus changes; still equal.

Each round changes the corpus (pages, a withdrawal, an operation, a recrawl) and kills one of the three while they work;
some rounds empty the server. At the end the consumer's table is compared with `gristmill dataset export`.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from bench.machine import commit, machine
from bench.places import PROJECT
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.rewrite import rewrite
from crawler.dataset.supersede import supersede
from crawler.dataset.versions import Cause
from crawler.server.embedded import EmbeddedServer
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import Folder, document
from tests.support.process import clean_environment
from tests.support.server import durable_server, kill
from tests.support.streaming import Line, exported, stream_at

NOW = 1_800_000_000.0
PAGES = 120
"""Pages that come in a round."""
LONGEST = 4.0
"""Seconds after which a victim dies at the latest."""


@dataclass(slots=True)
class Result:
    """What happened, and how it ended. table, export: pages in either."""

    kills: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    table: int = 0
    export: int = 0
    differ: int = 0
    lacks: str = ""
    seconds: float = 0.0


class Corpus:
    """A corpus that goes on changing. `random` decides what."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder, self._chance = Folder(folder), chance
        self._next = 0
        self._round = 0

    @property
    def place(self) -> Place:
        """Where it lies."""
        return Place(str(self._folder.path))

    def change(self) -> str:
        """Add pages; from the second round on often something else, too. Answers what."""
        self._round += 1
        self._add(range(self._next, self._next + PAGES), {})
        self._next += PAGES
        kind = self._chance.choice(["pages", "withdraw", "rewrite", "recrawl", "supersede"])
        gone = self._chance.randrange(self._next)
        if kind == "withdraw":
            url = f"https://example.org/{gone}"
            withdraw(self.place, Wish("asked", revoked=lambda record: record["url"] == url), now=NOW + self._round)
        elif kind == "rewrite":
            cause = Cause("bench", "why", NOW + self._round)
            rewrite(self.place, lambda record: self._changed(record, gone), cause)
        elif kind == "recrawl":
            self._add(range(max(0, gone - 20), gone), {"recrawl/changed": 20})
        elif kind == "supersede":
            supersede(self.place, now=NOW + self._round)
        return kind

    def _changed(self, record: dict[str, Any], gone: int) -> dict[str, Any] | None:
        if record["title"] == f"Page {gone}":
            return None
        return record | {"title": f"{record['title']}!"} if record["title"].endswith("7") else record

    def _add(self, numbers: range, counters: dict[str, int]) -> None:
        corpus = self._folder.opened(f"w{self._round}-{len(counters)}")
        for number in numbers:
            at = f"2026-01-02T00:{self._round // 60:02d}:{self._round % 60:02d}Z"
            corpus.keep(record_of(document(number, crawled_at=at)))
            if number % 10 == 0:
                corpus.commit()
        corpus.note(counters)
        corpus.close()


def run(folder: Path, kills: int, seed: int) -> Result:
    """Do it in this folder."""
    chance, result, began = random.Random(seed), Result(), time.monotonic()  # not for secrets
    with durable_server(folder / "server") as server:
        url = stream_at(server.url)
        line = Line(folder / "corpus", url, folder)
        corpus = Corpus(folder / "corpus", chance)
        result.changes[corpus.change()] += 1
        sender = [sys.executable, "-m", "crawler.commands.gristmill", "stream", str(line.corpus), "--to", url]
        sender += ["--follow", "--state", str(folder / "state")]
        consumer = [sys.executable, "-m", "crawler.stream.consumer", url, str(folder / "table.duckdb"), "--follow"]
        lives: dict[str, subprocess.Popen[bytes] | None] = {"sender": None, "consumer": None}
        logs = {name: (folder / f"{name}.log").open("ab") for name in lives}
        words = {"sender": sender, "consumer": [*consumer, "--group", "table"]}
        try:
            for _ in range(kills):
                for name, life in lives.items():
                    if life is None or life.poll() is not None:
                        lives[name] = started(words[name], logs[name])
                result.changes[corpus.change()] += 1
                time.sleep(chance.uniform(0.0, LONGEST))
                victim = chance.choice(["sender", "sender", "consumer", "server", "server", "emptied server"])
                result.kills[victim] += 1
                _kill(victim, lives, server)
        finally:
            for life in lives.values():
                if life is not None:
                    life.kill()
                    life.wait()
            for log in logs.values():
                log.close()
        line.send()
        result.lacks = line.read()
        table, export = line.table(), exported(line.corpus)
    result.table, result.export = len(table), len(export)
    result.differ = sum(table.get(key) != export.get(key) for key in table.keys() | export.keys())
    result.seconds = time.monotonic() - began
    return result


def started(words: list[str], log: Any) -> subprocess.Popen[bytes]:
    """A process of the project that says everything into a file."""
    return subprocess.Popen(words, cwd=PROJECT, env=clean_environment(), stdout=log, stderr=log)


def _kill(victim: str, lives: dict[str, subprocess.Popen[bytes] | None], server: EmbeddedServer) -> None:
    if victim == "emptied server":
        with contextlib.closing(redis.Redis.from_url(server.url)) as client:
            client.flushall()
    elif victim == "server":
        kill(server)
        server.ensure()
    elif (life := lives[victim]) is not None:
        life.kill()
        life.wait()


def main() -> int:
    """Print what happened; 1 where the table is not the export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    opts = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = run(Path(folder), opts.kills, opts.seed)
        said = Counter((Path(folder) / "sender.log").read_text().splitlines())
    print(f"{machine()}, commit {commit()}")
    print(f"{dict(result.kills)} in {result.seconds:.0f} s; changes of the corpus: {dict(result.changes)}")
    for sentence, count in said.most_common(8):
        print(f"  {count} × {sentence[:160]}")
    print(f"table {result.table}, export {result.export}, different {result.differ}, lacks {result.lacks or 'nothing'}")
    return int(bool(result.differ or result.lacks))


if __name__ == "__main__":
    sys.exit(main())
