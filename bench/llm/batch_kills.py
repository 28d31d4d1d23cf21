"""`python -m bench.llm.kills --batch`: SIGKILLs over jobs with `--batch`, against servers of three protocols.

A job is killed before or after a request has had its effect: an upload, a submit, a look, a result, a deletion. Between
its lives batches end, go on, or are lost by the provider; each sample is larger than the one before. What the provider
does not list counts as never sent at once here, not after ten minutes.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import random
import signal
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

from crawler.llm import batch
from crawler.operations.llm import OPERATIONS
from tests.support.corpus_folder import Folder
from tests.support.model_batches import BatchServer, _Batches
from tests.support.operations import answer_of

ENDED = {"anthropic": "ended", "google": "BATCH_STATE_SUCCEEDED", "openai": "completed"}
SAMPLES = (8, 16, 24, 32, 40)
MOST_LIVES = 60
PRICES = "date: 2026-01-01\ncurrency: EUR\nmodels:\n" + "".join(
    f"  {each}:small: {{input: 1000, output: 10000, batch: 0.5}}\n" for each in ENDED
)
PRICE = Decimal(100 * 1_000 + 20 * 10_000) / 1_000_000 / 2
"""Of an answer."""


class Provider(BatchServer):
    """Kills who asks, and keeps an account. sizes: requests of each batch that it took; charged: ids of those that
    ended; lost: of those that it lost. left: requests until the next kill.
    """

    def __init__(self, answer: Any, chance: random.Random, clock: float) -> None:
        super().__init__(lambda _: answer, clock)
        self.RequestHandlerClass = _Deadly
        self.chance, self.sizes = chance, dict[str, int]()
        self.charged, self.lost = set[str](), set[str]()
        self.left, self.victim = 10**9, 0

    def note(self) -> None:
        self.sizes.update({name: len(held.lines) for name, held in self.batches.items()})
        if self.ending:
            self.charged.update(self.batches)

    def lose_one(self) -> None:
        """A batch that runs is not there any longer."""
        running = sorted(set(self.batches) - self.charged)
        if running:
            name = self.chance.choice(running)
            del self.batches[name]
            self.lost.add(name)


class _Deadly(_Batches):
    def _step(self, work: Any) -> None:
        server: Provider = self.server
        server.left -= 1
        if server.left:
            work()
            server.note()
            return
        if server.chance.random() < 0.5:
            self.wfile = io.BytesIO()  # it happens, and nobody hears of it
            work()
            server.note()
        os.kill(server.victim, signal.SIGKILL)
        self.close_connection = True

    def do_POST(self) -> None:  # noqa: N802  # the base class calls it so
        self._step(super().do_POST)

    def do_DELETE(self) -> None:  # noqa: N802
        self._step(super().do_DELETE)

    def respond(self) -> None:
        self._step(super().respond)


def life(words: list[str], said: str) -> None:
    """One call of the command, in a process of its own."""
    batch.SETTLED_SECONDS = 0.0
    with Path(said).open("w") as sys.stdout:
        sys.exit(answer_of(OPERATIONS[words[0]].loaded(), *words[1:]).code)


def killed(operation: str, protocol: str, folder: Path, ends: tuple[Any, str], chance: random.Random, most: int
           ) -> tuple[int, Folder, Provider, Decimal, str]:  # fmt: skip
    """Kill a job so often at most, then let it end: kills, corpus, server, budget, what the last life failed with."""
    corpus = Folder(folder / "corpus")
    corpus.filled(range(SAMPLES[-1]))
    (folder / "prices.yaml").write_text(PRICES)
    (folder / "thing.json").write_text('{"type": "object", "properties": {"page": {"type": "integer"}}}')
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "openai", "anthropic", "google.genai", "crawler.llm.judge"])
    budget, kills = Decimal(5_000), 0
    with Provider(ends[0], chance, time.time()) as server:
        words = [operation, str(corpus.path), "--model", server.model(protocol),
                 "--prices", str(folder / "prices.yaml"),
                 "--budget", f"{budget}EUR", "--batch"]  # fmt: skip
        words += ["--schema", str(folder / "thing.json")] * (operation == "extract")
        for sample in SAMPLES:
            server.ending = None
            for _ in range(MOST_LIVES):
                if chance.random() < 0.4:
                    server.lose_one()
                if chance.random() < 0.5:
                    server.ending = ENDED[protocol]
                server.left = 1 + chance.randrange(6) if kills < most else 10**9
                process = context.Process(target=life, args=([*words, "--sample", str(sample)], f"{folder}/said"))
                process.start()
                server.victim = process.pid or 0
                process.join()
                kills += process.exitcode == -signal.SIGKILL
                if process.exitcode == 0:
                    break
            else:
                return kills, corpus, server, budget, (folder / "said").read_text()
    return kills, corpus, server, budget, ""
