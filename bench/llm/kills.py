"""`python -m bench.llm.kills --kills 50 --seed 1 [--batch]`: SIGKILLs over `llm judge` and `llm extract`, against a
server that fails, too. Does the ledger say no less than the server charged, was the budget kept, is every answer used
once?

The server keeps an account of its own: every request that it began to answer with tokens is charged there, cut ones,
too. Exit code 1 where a promise of docs/language-models.md was broken.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from bench.llm import batch_kills
from crawler.dataset.annotate import Annotations
from crawler.dataset.verify import verify
from crawler.storage.corpus.answers import LEDGER
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder
from tests.support.models import Ask, ModelServer, Say, judged
from tests.support.places import PROJECT
from tests.support.process import clean_environment

PAGES, CONCURRENCY = 40, 3
PRICE = Decimal(100 * 1_000 + 20 * 10_000) / 1_000_000
"""Of an answer, by the prices below."""
PRICES = "date: 2026-01-01\ncurrency: EUR\nmodels:\n  openai:small: {input: 1000, output: 10000}\n"
SCHEMA = '{"type": "object", "properties": {"page": {"type": "integer"}}}'
ENDS = {"judge": (judged(3), "llm_judge_quality"), "extract": (Say('{"page": null}'), "llm_extract_thing")}


@dataclass
class Provider:
    """A server that fails by chance, charges, and may have the process that asks killed."""

    answer: Say
    chance: random.Random
    charged: Decimal = Decimal()
    asked: Counter[str] = field(default_factory=Counter)
    passing: int = 0
    left: int = 10**9
    dying: threading.Event = field(default_factory=threading.Event)
    turn: Any = field(default_factory=threading.Lock)

    def script(self, ask: Ask) -> Say:
        """What happens to a request."""
        with self.turn:
            self.asked[ask.page] += 1
            self.left -= 1
            if self.left <= 0:
                self.dying.set()
                self.charged += PRICE
                return Say(cut=True)
            fate = self.chance.random()
            if fate < 0.06:
                self.passing += 1
                return Say(status=429, headers={"Retry-After": "0"})
            if fate < 0.1:
                self.passing += 1
                return Say(status=503)
            self.charged += PRICE
            if fate < 0.14:
                self.passing += 1
                return Say(cut=True)
            return self.answer


@dataclass
class Found:
    """What a run amounts to. broken: promises, a sentence each."""

    kills: int
    requests: int
    repeated: int
    charged: Decimal
    spent: Decimal
    rows: int
    broken: list[str]

    def __str__(self) -> str:
        return (f"{self.kills} kills, {self.requests} requests ({self.repeated} beyond the first of a page), server "
                f"charged {self.charged:.2f} EUR, ledger says {self.spent:.2f} EUR, {self.rows} rows")  # fmt: skip


def killed(operation: str, folder: Path, kills: int, chance: random.Random) -> Found:
    """Kill a job so often, let it end, and hold what is there against what is promised."""
    answer, name = ENDS[operation]
    corpus = Folder(folder / "corpus")
    corpus.filled(range(PAGES))
    (folder / "prices.yaml").write_text(PRICES)
    (folder / "thing.json").write_text(SCHEMA)
    provider = Provider(answer, chance)
    server = ModelServer(provider.script).start()
    budget = Decimal(PAGES + (kills + 1) * CONCURRENCY + 40) * 30
    words = [operation, str(corpus.path), "--model", server.model(), "--prices", str(folder / "prices.yaml"),
             "--budget", f"{budget}EUR", "--concurrency", str(CONCURRENCY)]  # fmt: skip
    words += ["--schema", str(folder / "thing.json")] * (operation == "extract")
    done = 0
    while done < kills:
        provider.dying = threading.Event()
        provider.left = 1 + chance.randrange(5)
        process = _start(words)
        while process.poll() is None and not provider.dying.wait(0.02):
            pass
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            done += 1
        process.communicate()
        if process.returncode == 0:  # nothing is left to ask
            break
    provider.left = 10**9
    for _ in range(6):  # what passes may end a call; the same command continues
        process = _start(words)
        said = process.communicate(timeout=300)[0].decode()
        if process.returncode == 0:
            break
    server.stop()
    return _held(corpus, name, provider, (done, budget), said if process.returncode else "")


def _start(words: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.llm.judge_process", *words]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=PROJECT, env=clean_environment(), **streams)


def _held(corpus: Folder, name: str, provider: Provider, given: tuple[int, Decimal], failed: str) -> Found:
    kills, _ = given
    requests = sum(provider.asked.values())
    found, intents = _promised(corpus, name, given, provider.charged, failed)
    checks = {
        "more was repeated than was under way": requests - PAGES <= kills * CONCURRENCY + provider.passing,
        "a request went out without an intent": requests <= intents,
    }
    found.broken += [said for said, holds in checks.items() if not holds]
    return replace(found, requests=requests, repeated=requests - PAGES)


def _promised(
    corpus: Folder, name: str, given: tuple[int, Decimal], charged: Decimal, failed: str
) -> tuple[Found, int]:  # fmt: skip
    """What is promised of every job, and how many intents the ledger has."""
    kills, budget = given
    data = (corpus.path / LEDGER).read_bytes()
    lines = [orjson.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
    intents = [line for line in lines if line["kind"] == "intent"]
    answers = {line["call"]: line for line in lines if line["kind"] == "answer"}
    finals = Counter(line["key"] for line in intents if answers.get(line["call"], {}).get("final"))
    spent = sum(
        (Decimal(answers[n["call"]]["cost"] if n["call"] in answers else n["reserved"]) for n in intents), Decimal()
    )
    place = Place(str(corpus.path))
    rows = list(Annotations(place).read(name)) if name in Annotations(place).names() else []
    checks = {
        f"the last call failed: {failed}": not failed,
        "a key was answered twice": max(finals.values(), default=0) <= 1,
        "a page has no answer": len(finals) == PAGES,
        "a page has no row": len(rows) == PAGES,
        "the ledger says less than the server charged": spent >= charged,
        "the budget was exceeded": spent <= budget,
        "verify found damage": not verify(place).damage,
    }
    broken = [said for said, holds in checks.items() if not holds]
    return Found(kills, 0, 0, charged, spent, len(rows), broken), len(intents)


def killed_batches(operation: str, protocol: str, folder: Path, kills: int, chance: random.Random) -> Found:
    """The same with `--batch`."""
    done, corpus, server, budget, failed = batch_kills.killed(
        operation, protocol, folder, ENDS[operation], chance, kills
    )  # fmt: skip
    charged = batch_kills.PRICE * sum(server.sizes[name] for name in server.charged)
    found, _ = _promised(corpus, ENDS[operation][1], (done, budget), charged, failed)
    sent = sum(server.sizes.values())
    if sent - PAGES > sum(server.sizes[name] for name in server.lost):
        found.broken.append("more was sent again than the provider lost")
    if server.files or (protocol != "openai" and server.batches):
        found.broken.append("something is left at the provider")
    return replace(found, requests=sent, repeated=sent - PAGES)


def main() -> int:
    """Run it. Exit code 1 where a promise was broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", action="store_true")
    opts = parser.parse_args()
    chance, left, number, broken = random.Random(opts.seed), opts.kills, 0, 0
    while left > 0:
        operation = ("judge", "extract")[number % 2]
        with tempfile.TemporaryDirectory(prefix="llm-kills-") as folder:
            if opts.batch:
                protocol = sorted(batch_kills.ENDED)[number % 3]
                found, with_ = killed_batches(operation, protocol, Path(folder), min(left, 8), chance), f" {protocol}"
            else:
                found, with_ = killed(operation, Path(folder), min(left, 8), chance), ""
        left, number, broken = left - found.kills, number + 1, broken + len(found.broken)
        sys.stdout.write(f"{operation}{with_}: {found}\n" + "".join(f"  BROKEN: {said}\n" for said in found.broken))
        sys.stdout.flush()
    sys.stdout.write(f"{opts.kills - left} kills over {number} jobs, {broken} promises broken\n")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
