"""FRONTIER_BUDGET holds over all workers and runs to one page a worker: pages, bytes, hours and money."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from crawler.config.budget import check_budget
from crawler.frontier.adopt import reclaim
from crawler.frontier.budget import Budget, Spending, spent_of
from crawler.frontier.client import Frontier
from crawler.frontier.model import Mark
from crawler.urls.link import Link

WORKERS, RUNS, LARGEST = 8, 20, 1000
PRICE = 0.001
"""Of a byte, in the currency of the test."""


@dataclass
class Worker:
    """One process: leases as many URLs as the budget gives, and has up to `most` in hand."""

    frontier: Frontier
    entries: tuple[str, ...]
    draw: random.Random
    most: int = 16
    hand: list[str] = field(default_factory=list)
    spent: Spending = field(default_factory=Spending)
    dies_after: int = -1

    def __post_init__(self) -> None:
        self.budget = Budget(self.frontier, self.entries, LARGEST, LARGEST * PRICE)

    async def run(self) -> None:
        while True:
            wanted = self.most - len(self.hand)
            granted, reached = await self.budget.ask(wanted, len(self.hand), self.spent)
            batch = await self.frontier.lease(granted) if granted else None
            self.hand += [lease.token for lease in batch.leases] if batch else []
            if not self.hand and (reached or (batch and not batch.leases)):
                await self.budget.ask(0, 0, self.spent, leaves=True)
                return
            for _ in range(self.draw.randint(1, 3)):
                await self._page()
            if self.dies_after >= 0 and self.spent.fetched > self.dies_after:
                return
            await asyncio.sleep(0)

    async def _page(self) -> None:
        if self.hand:
            size, kept = self.draw.randint(1, LARGEST), self.draw.random() < 0.7
            s = self.spent
            self.spent = Spending(s.fetched + 1, s.kept + kept, s.received + size, s.money + size * PRICE)
            await self.frontier.settle([(self.hand.pop(0), None)])


async def filled(frontier: Frontier, pages: int = 4000) -> None:
    await frontier.put([Link(f"https://h{n % 97}.example/{n}") for n in range(pages)])


def total(workers: list[Worker]) -> Spending:
    spent = [worker.spent for worker in workers]
    return Spending(*(sum(getattr(s, name) for s in spent) for name in ("fetched", "kept", "received", "money")))


@pytest.mark.parametrize(
    ("entry", "limit", "of", "page"),
    [("fetched:300", 300, "fetched", 1), ("kept:200", 200, "kept", 1), ("bytes:100000", 100_000, "received", LARGEST),
     ("money:120.5", 120.5, "money", LARGEST * PRICE)],
)  # fmt: skip
def test_eight_workers_and_twenty_runs_together_spend_one_page_a_worker_more_at_most(
    frontier_run, entry, limit, of, page
):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier)
        workers: list[Worker] = []
        for run in range(RUNS):  # each is asked to end somewhere, but the last
            entries = (entry, f"run.{entry.partition(':')[0]}:{limit / 12}", f"run.name:{run}")
            now = [Worker(frontier, entries, random.Random(100 * run + k)) for k in range(WORKERS)]
            await asyncio.gather(*(worker.run() for worker in now))
            workers += now
            assert getattr(total(now), of) <= limit / 12 + WORKERS * page
        spent = getattr(total(workers), of)
        assert limit <= spent <= limit + WORKERS * page
        told = await spent_of(frontier)
        name = entry.partition(":")[0]
        assert told[name] == pytest.approx(spent)

    frontier_run(scenario, delay=0.0, latency_factor=0.0)


def test_what_a_dead_worker_had_in_hand_counts_as_spent_so_that_the_limit_holds(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier)
        dying = [Worker(frontier, ("kept:100",), random.Random(k), dies_after=5) for k in range(WORKERS)]
        await asyncio.gather(*(worker.run() for worker in dying))
        clock.advance(frontier.limits.lease_seconds + 1)
        later = [Worker(frontier, ("kept:100",), random.Random(50 + k)) for k in range(WORKERS)]
        await asyncio.gather(*(worker.run() for worker in later))
        assert total([*dying, *later]).kept <= 100 + WORKERS

    frontier_run(scenario, delay=0.0, latency_factor=0.0)


@pytest.mark.parametrize(
    "how", ["seen at the restart", "leases expire, and others lease", "leases expire, and nobody may"]
)
def test_a_dead_worker_has_spent_what_it_was_at_work_on_and_not_the_batch_that_it_had_leased(frontier_run, clock, how):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier, 60)
        frontier.bearer = "aaaaaaaa"
        dying = Budget(frontier, ("fetched:12",), LARGEST, 0.0)
        assert await dying.ask(12, 0, Spending()) == (12, "")
        leases = (await frontier.lease(12)).leases
        sent, delivered, *_ = (lease.token for lease in leases)
        await frontier.mark([(sent, Mark.IN_HAND), (delivered, Mark.IN_HAND), (delivered, Mark.DELIVERED)])
        frontier.bearer = "bbbbbbbb"
        if how == "seen at the restart":
            assert await reclaim(frontier, "aaaaaaaa") == 12
        else:
            clock.advance(frontier.limits.lease_seconds + 1)
        if how == "leases expire, and others lease":
            assert (await frontier.lease(1)).leases
        clock.advance(0.01)
        next_one = Budget(frontier, ("fetched:12",), LARGEST, 0.0)
        assert await next_one.ask(16, 0, Spending()) == (10, "")
        assert (await spent_of(frontier))["fetched"] == 2

    frontier_run(scenario, delay=0.0, latency_factor=0.0)


def test_a_call_whose_answer_was_lost_adds_nothing_when_it_comes_again(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        budget = Budget(frontier, ("kept:100",), LARGEST, 0.0)
        for _ in range(3):
            assert await budget.ask(5, 0, Spending(7, 6, 50, 0.0)) == (5, "")
        assert await spent_of(frontier) == {"fetched": 7, "kept": 6, "bytes": 50, "hours": 0, "money": 0}

    frontier_run(scenario)


def test_hours_pass_once_while_several_work_and_not_while_nobody_does(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        one, two = (Budget(frontier, ("hours:1",), LARGEST, 0.0) for _ in range(2))
        for _ in range(40):
            assert (await one.ask(4, 0, Spending()))[0] == 4
            assert (await two.ask(4, 0, Spending()))[0] == 4
            clock.advance(60)
        await one.ask(0, 0, Spending(), leaves=True)
        await two.ask(0, 0, Spending(), leaves=True)
        clock.advance(86_400)
        third = Budget(frontier, ("hours:1",), LARGEST, 0.0)
        assert (await third.ask(4, 0, Spending()))[0] == 4
        assert (await spent_of(frontier))["hours"] == pytest.approx(40 / 60)
        for _ in range(20):
            clock.advance(60)
            answer = await third.ask(4, 0, Spending())
        assert answer == (0, "hours:1")

    frontier_run(scenario)


@pytest.mark.parametrize(
    ("entries", "said"),
    [(("kept:0",), "above 0"), (("pages:5",), "expected fetched"), (("kept:1", "kept:2"), "expected kept once"),
     (("run.kept:1",), "run.name:NAME"), (("money:nan",), "above 0")],
)  # fmt: skip
def test_a_budget_that_cannot_be_read_is_a_sentence(entries, said):
    assert said in (check_budget(entries) or "")
