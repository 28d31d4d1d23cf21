"""Lives and deaths of workers in virtual time: which pages does a frontier give up, if its workers die all the time?

`python -m bench.faults.lives --runs 30 --seed 1 --life 20`

The frontier, its server and the claims on names are real; the workers are played, and their clock is moved by hand: so
an hour of deaths takes seconds. Each worker leases as the scheduler does, marks what it has in hand, tries suspects
alone, and lives from 5 to 60 seconds around `--life` on average. In every second run it acknowledges only what is
uploaded (every ten seconds; half of the dead lose their spool, and with it what was fetched well). Some pages are slow,
and in every third run one kills the worker that has it. Exit code 1 where another page than that one was given up, or
where it was not.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawler.frontier.claims import LONGEST_BEAT, Claims, Identity
from crawler.frontier.client import Frontier
from crawler.frontier.model import Lease, Limits, Mark, Wire
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link

HOSTS, PAGES = 8, 12
WORKERS, AT_ONCE = 4, 8
TICK, BOOT, UPLOAD = 0.25, 2.0, 10.0  # seconds
SHORTEST, LONGEST = 5.0, 60.0  # seconds of a life
LEASE, DELAY = 6.0, 1.0  # seconds
MOST_SECONDS = 4 * 3600.0  # of virtual time
KILLER = "https://h0.example/p/5"


@dataclass
class Outcome:
    """What a run showed."""

    deaths: int = 0
    by_page: int = 0
    seconds: float = 0.0  # of virtual time
    given_up: list[str] = field(default_factory=list)
    done: int = 0


@dataclass
class _Task:
    lease: Lease
    sent: float | None = None
    until: float = 0.0
    delivered: bool = False


@dataclass
class _Worker:
    born: float
    dies: float
    frontier: Frontier
    claims: Claims
    beaten: float = 0.0
    uploaded: float = 0.0
    tasks: dict[str, _Task] = field(default_factory=dict)

    @property
    def busy(self) -> list[_Task]:
        return [task for task in self.tasks.values() if not task.delivered]


class Run:
    """One crawl of a small site by workers that die."""

    def __init__(self, url: str, seed: str, *, life: float, uploads: bool, deadly: bool) -> None:
        self._url, self._rng, self._life = url, random.Random(seed), life
        self._uploads, self._deadly, self._crawl = uploads, deadly, f"lives-{seed}".replace("/", "-")
        self._now = 1_700_000_000.0
        self._outcome = Outcome()
        self._born = 0

    async def run(self) -> Outcome:
        began, keeper = self._now, await self._open()
        links = [Link(f"https://h{h}.example/p/{p}") for h in range(HOSTS) for p in range(PAGES)]
        await keeper.put(links)
        workers = [await self._worker(n) for n in range(WORKERS)]
        while (await keeper.counts()).done + len(self._outcome.given_up) < len(links):
            self._now = round(self._now + TICK, 3)
            for n, worker in enumerate(workers):
                if self._now >= worker.dies or await self._work(worker):
                    workers[n] = await self._bury(worker, n)
            if self._now - began > MOST_SECONDS:
                break
        self._outcome.seconds, self._outcome.done = self._now - began, (await keeper.counts()).done
        for frontier in (keeper, *(worker.frontier for worker in workers)):
            await frontier.close()
        return self._outcome

    async def _open(self) -> Frontier:
        limits = Limits(delay=DELAY, lease_seconds=LEASE, tries=4)
        frontier = Frontier(self._url, self._crawl, limits, now=lambda: self._now)
        await frontier.open()
        return frontier

    async def _worker(self, n: int) -> _Worker:
        self._born += 1
        life = min(LONGEST, SHORTEST + self._rng.expovariate(1 / max(0.1, self._life - SHORTEST)))
        frontier = await self._open()
        return _Worker(self._now, self._now + life, frontier,
                       Claims(frontier, Identity(f"w{n}", f"{self._born:08x}", "*")))  # fmt: skip

    async def _bury(self, worker: _Worker, n: int) -> _Worker:
        """Whatever it had in hand is gone; with its spool also what it had recorded and not uploaded."""
        self._outcome.deaths += 1
        if self._uploads and self._rng.random() < 0.5:  # the spool is there: the successor settles what is on it
            await self._acknowledge(worker)
        await worker.frontier.close()
        return await self._worker(n)

    async def _work(self, worker: _Worker) -> bool:
        """A quarter of a second of its life. True where a page killed it."""
        if self._now < worker.born + BOOT:
            return False
        if not worker.beaten:
            await worker.claims.enter()
            worker.beaten = worker.uploaded = self._now
        if self._now - worker.beaten >= LONGEST_BEAT:
            await worker.claims.beat()
            await worker.frontier.extend(worker.tasks)
            worker.beaten = self._now
        await self._go_on(worker)
        if any(task.sent is not None and task.lease.url == KILLER and self._deadly for task in worker.busy):
            self._outcome.by_page += 1
            return True
        await self._finish(worker)
        if self._now - worker.uploaded >= UPLOAD:
            await self._acknowledge(worker)
            worker.uploaded = self._now
        return False

    async def _go_on(self, worker: _Worker) -> None:
        alone = next((task for task in worker.busy if task.lease.alone), None)
        if alone is None and len(worker.busy) < AT_ONCE:
            for lease in (await worker.frontier.lease(AT_ONCE - len(worker.busy), len(worker.busy))).leases:
                worker.tasks[lease.token] = _Task(lease)
        for task in worker.busy:
            others = len(worker.busy) > 1
            if task.lease.exhausted:
                await worker.frontier.settle([(task.lease.token, None)])
                self._outcome.given_up.append(task.lease.url)
                del worker.tasks[task.lease.token]
            elif task.lease.alone and not others:
                await worker.frontier.mark([(task.lease.token, Mark.ALONE)])
                self._send(task)
            elif task.sent is None and not task.lease.alone and self._rng.random() < 0.5:  # control files, its turn
                await worker.frontier.mark([(task.lease.token, Mark.IN_HAND)])
                self._send(task)

    def _send(self, task: _Task) -> None:
        if task.sent is None:
            slow = task.lease.url.endswith("/p/3")
            task.sent, task.until = self._now, self._now + self._rng.uniform(0.2, 1.0) + (4.0 if slow else 0.0)

    async def _finish(self, worker: _Worker) -> None:
        for task in worker.busy:
            if task.sent is None or self._now < task.until:
                continue
            wire = Wire(task.sent, self._now - task.sent)
            if self._uploads:
                await worker.frontier.finish([(task.lease.token, wire)])
                await worker.frontier.mark([(task.lease.token, Mark.DELIVERED)])
                task.delivered = True
            else:
                await worker.frontier.settle([(task.lease.token, wire)])
                del worker.tasks[task.lease.token]

    async def _acknowledge(self, worker: _Worker) -> None:
        for task in [task for task in worker.tasks.values() if task.delivered]:
            await worker.frontier.settle([(task.lease.token, Wire(task.sent or 0.0, 0.1))])
            del worker.tasks[task.lease.token]


def run(url: str, seed: str, number: int, life: float) -> tuple[Outcome, list[str]]:
    """One run, and what was wrong with it."""
    deadly = number % 3 == 1
    play = Run(url, f"{seed}/{number}", life=life, uploads=number % 2 == 0, deadly=deadly)
    outcome = asyncio.run(play.run())
    expected = [KILLER] if deadly else []
    wrong = [] if sorted(outcome.given_up) == expected else [f"given up: {outcome.given_up}, not {expected}"]
    if outcome.done + len(outcome.given_up) != HOSTS * PAGES:
        wrong.append(f"{outcome.done} of {HOSTS * PAGES} pages are done")
    return outcome, wrong


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.faults.lives", description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--life", type=float, default=20.0, help="mean seconds of a life (default: %(default)s)")
    options = parser.parse_args(arguments)
    deaths, by_page, violated = 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="lives-") as folder, EmbeddedServer(Path(folder) / "server") as url:
        for number in range(options.runs):
            outcome, wrong = run(url, options.seed, number, options.life)
            deaths, by_page, violated = deaths + outcome.deaths, by_page + outcome.by_page, violated + bool(wrong)
            verdict = f"VIOLATED {wrong}" if wrong else "ok"
            print(f"{number:3}  {outcome.deaths} deaths, {outcome.by_page} by a page, in {outcome.seconds:,.0f} s  "
                  f"{outcome.done} done, {len(outcome.given_up)} given up  {verdict}", flush=True)  # fmt: skip
    print(f"{options.runs} runs, {deaths} deaths ({by_page} by a page), {violated} with a violation")
    return int(violated > 0)


if __name__ == "__main__":
    sys.exit(main())
