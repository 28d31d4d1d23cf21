"""FRONTIER_BUDGET holds over all workers and runs to one page a worker: pages, bytes, hours and money."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from crawler.config.budget import check_budget
from crawler.frontier.adopt import reclaim
from crawler.frontier.budget import Budget, Spending, begin_from, limited_seeds, spent_of, spent_of_seeds
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


def test_what_runs_without_a_limit_have_spent_counts_once_a_limit_is_set(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        counted = Budget(frontier, ("money:50",), LARGEST, 1.0)
        await counted.ask(0, 0, Spending(5, 4, 500, 9.0), leaves=True)
        of_seeds = {"a.example": Spending(5, 4, 500, 9.0)}
        for _ in range(2):  # each worker says so
            await begin_from(frontier, Spending(30, 3, 400, 41.0), of_seeds)
        assert await spent_of(frontier) == {"fetched": 30, "kept": 4, "bytes": 500, "hours": 0, "money": 41}
        await begin_from(frontier, Spending(), {"a.example": Spending(7, 3, 900, 10.0)})
        assert (await spent_of_seeds(frontier))["a.example"] == {"fetched": 7, "kept": 4, "bytes": 500, "money": 9}
        assert await Budget(frontier, ("money:50",), LARGEST, 1.0).ask(20, 0, Spending()) == (9, "")

    frontier_run(scenario)


@dataclass
class SeedWorker:
    """One process that asks about each scope of which it got something, as `SeedPurse` does."""

    frontier: Frontier
    entries: tuple[str, ...]
    draw: random.Random
    kept: dict[str, int] = field(default_factory=dict)
    money: dict[str, float] = field(default_factory=dict)

    async def run(self) -> None:
        for _ in range(400):
            batch = await self.frontier.lease(self.draw.randint(1, 6))
            by_scope: dict[str, list[str]] = {}
            for lease in batch.leases:
                by_scope.setdefault(lease.scope, []).append(lease.token)
            for scope, tokens in by_scope.items():
                budget = Budget(self.frontier, self.entries, LARGEST, LARGEST * PRICE, scope)
                granted, _ = await budget.ask(len(tokens), 0, Spending())
                await self.frontier.release(tokens[granted:])
                await asyncio.sleep(0)
                spent = Spending()
                for token in tokens[:granted]:
                    size, kept = self.draw.randint(1, LARGEST), self.draw.random() < 0.7
                    spent = Spending(
                        spent.fetched + 1, spent.kept + kept, spent.received + size, spent.money + size * PRICE
                    )
                    await self.frontier.settle([(token, None)])
                await budget.ask(0, 0, spent, leaves=True)
                self.kept[scope] = self.kept.get(scope, 0) + spent.kept
                self.money[scope] = self.money.get(scope, 0.0) + spent.money
            if not batch.leases and batch.counts is not None and not batch.counts.pending:
                return


@pytest.mark.parametrize("entry", ["seed.kept:20", "seed.money:9.5", "seed.bytes:9500"])
def test_eight_workers_spend_one_page_a_worker_more_than_each_seed_may_and_the_crawl_ends(frontier_run, entry):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://h{n % 5}.example/{n}") for n in range(600)])
        workers = [SeedWorker(frontier, (entry,), random.Random(k)) for k in range(WORKERS)]
        await asyncio.gather(*(worker.run() for worker in workers))
        for k in range(5):
            scope = f"h{k}.example"
            kept = sum(worker.kept.get(scope, 0) for worker in workers)
            money = sum(worker.money.get(scope, 0.0) for worker in workers)
            if "kept" in entry:
                assert 20 <= kept <= 20 + WORKERS
            else:
                assert 9.5 <= money <= 9.5 + WORKERS * LARGEST * PRICE
            told = (await spent_of_seeds(frontier))[scope]
            assert told["kept"] == kept
            assert told["money"] == pytest.approx(money)
        counts = await frontier.counts()
        assert counts.pending == 0 < counts.queued, "what a limit has stopped keeps no crawl from ending"
        name, _, bound = entry.removeprefix("seed.").partition(":")
        assert await limited_seeds(frontier) == {f"h{k}.example": f"{name}: {bound}" for k in range(5)}

    frontier_run(scenario, delay=0.0, latency_factor=0.0, concurrency=8)


def test_a_seed_that_a_limit_has_stopped_goes_on_under_a_higher_one_unless_a_person_has_paused_it(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        scopes = ("a.example", "b.example", "c.example")
        await frontier.put([Link(f"https://{scope}/{n}") for n in range(3) for scope in scopes])
        until = frontier.now() + 500
        await frontier.politeness.block("c.example", until, "retry after")

        async def ask(scope: str, bound: int, kept: int) -> tuple[int, str]:
            budget = Budget(frontier, (f"seed.kept:{bound}",), LARGEST, 0.0, scope)
            return await budget.ask(0, 0, Spending(kept, kept), leaves=True)

        for scope in scopes:
            assert await ask(scope, 2, 2) == (0, "seed.kept:2")
        assert not (await frontier.lease(9)).leases
        assert await frontier.control.pause("b.example"), "a person's word holds from now on"
        for scope in scopes:
            assert await ask(scope, 5, 0) == (0, "")
        assert await limited_seeds(frontier) == {}
        assert {lease.scope for lease in (await frontier.lease(9)).leases} == {"a.example"}
        assert await frontier.control.resume("b.example")
        assert {lease.scope for lease in (await frontier.lease(9)).leases} == {"b.example"}
        clock.advance(501)
        assert "c.example" in {lease.scope for lease in (await frontier.lease(9)).leases}, (
            "the block held, and no longer"
        )

    frontier_run(scenario, delay=0.0, latency_factor=0.0)


def test_a_dead_worker_has_spent_of_a_seed_what_it_was_at_work_on_and_no_lease_of_another(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://{host}.example/{n}") for n in range(4) for host in "ab"])
        frontier.bearer = "aaaaaaaa"
        leases = [lease for _ in range(4) for lease in (await frontier.lease(2)).leases]
        for scope in ("a.example", "b.example"):
            dying = Budget(frontier, ("seed.kept:4",), LARGEST, 0.0, scope)
            assert (await dying.ask(4, 0, Spending()))[0] == 4
        sent = next(lease.token for lease in leases if lease.scope == "a.example")
        await frontier.mark([(sent, Mark.IN_HAND)])
        frontier.bearer = "bbbbbbbb"
        await reclaim(frontier, "aaaaaaaa")
        clock.advance(0.01)
        for scope, room in (("a.example", 3), ("b.example", 4)):
            next_one = Budget(frontier, ("seed.kept:4",), LARGEST, 0.0, scope)
            assert await next_one.ask(9, 0, Spending()) == (room, "")

    frontier_run(scenario, delay=0.0, latency_factor=0.0, concurrency=8)


def test_hours_of_a_seed_pass_between_its_pages_and_not_while_nobody_asks_it_for_long(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        for _ in range(30):
            await Budget(frontier, ("seed.hours:1",), LARGEST, 0.0, "a.example").ask(1, 0, Spending(), leaves=True)
            clock.advance(60)
        clock.advance(86_400)
        for _ in range(31):
            answer = await Budget(frontier, ("seed.hours:1",), LARGEST, 0.0, "a.example").ask(
                1, 0, Spending(), leaves=True
            )
            clock.advance(60)
        assert (await spent_of_seeds(frontier))["a.example"]["hours"] == pytest.approx(59 / 60)
        answer = await Budget(frontier, ("seed.hours:1",), LARGEST, 0.0, "a.example").ask(1, 0, Spending(), leaves=True)
        assert answer == (0, "seed.hours:1")

    frontier_run(scenario)


@pytest.mark.parametrize(
    ("entries", "said"),
    [(("seed.fetched:5",), "FRONTIER_MAX_PAGES_PER_DOMAIN"), (("seeds.kept:5",), "expected fetched"),
     (("kept:0",), "above 0"), (("pages:5",), "expected fetched"), (("kept:1", "kept:2"), "expected kept once"),
     (("run.kept:1",), "run.name:NAME"), (("money:nan",), "above 0")],
)  # fmt: skip
def test_a_budget_that_cannot_be_read_is_a_sentence(entries, said):
    assert said in (check_budget(entries) or "")
