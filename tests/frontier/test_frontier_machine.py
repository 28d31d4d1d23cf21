"""The frontier against a model of it: any order of operations, crashes included, keeps its invariants.

The model is written from the outside: it knows which URL is in which state and when requests went out, not how the
server computes it. After every step the server's keys are recounted from scratch.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from crawler.frontier.client import Frontier
from crawler.frontier.model import Candidate, Lease, Limits, Nack, PutStatus, Wire
from crawler.frontier.packing import unpack

SCOPES = ("a.example", "b.example", "c.example")
LEASE_SECONDS, TRIES = 20.0, 3
_serial = itertools.count()


@dataclass
class Page:
    rank: tuple[int, int]  # what leaves its queue first: (-priority, sequence)
    state: str = "queued"  # queued, later, leased, held, done, dead
    attempts: int = 0
    at: float = 0.0  # later, held: due; leased: expiry
    token: str = ""
    wire: bool = False
    exhausted: bool = False


@dataclass
class Scope:
    sent: list[float] = field(default_factory=list)  # requests granted and not given back
    rest_until: float = 0.0  # upper bound of the next allowed time
    blocked_until: float = 0.0


class FrontierMachine(RuleBasedStateMachine):
    url = ""  # of the server
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.now = 1_700_000_000.0
        self.pages: dict[str, Page] = {}
        self.scopes = {scope: Scope() for scope in SCOPES}
        self.sequence = itertools.count()
        self.stale: list[str] = []

    @initialize(delay=st.sampled_from([0.0, 2.0]), concurrency=st.integers(1, 2), shards=st.sampled_from([1, 3]))
    def open(self, delay: float, concurrency: int, shards: int) -> None:
        self.delay, self.concurrency = delay, concurrency
        limits = Limits(
            delay=delay,
            concurrency=concurrency,
            lease_seconds=LEASE_SECONDS,
            tries=TRIES,
            patience=10.0**6,
            shards=shards,
        )
        self.frontier = Frontier(self.url, f"m{next(_serial)}", limits, now=lambda: self.now)
        self.do(self.frontier.open())

    def do(self, work):
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        if hasattr(self, "frontier"):
            self.do(self.clean())
        self.loop.close()

    async def clean(self) -> None:
        redis = self.frontier.connection.redis
        keys = [key async for key in redis.scan_iter(f"{{{self.frontier.crawl}.*", count=1000)]
        if keys:
            await redis.delete(*keys)
        await self.frontier.close()

    # --- steps -------------------------------------------------------------------------------------------------------
    @rule(items=st.lists(st.tuples(st.sampled_from(SCOPES), st.integers(0, 5), st.integers(-1, 1)), max_size=6))
    def put(self, items) -> None:
        candidates = [Candidate(f"https://{scope}/{n}", priority=priority) for scope, n, priority in items]
        for candidate, answer in zip(candidates, self.do(self.frontier.put(candidates)), strict=True):
            expected = PutStatus.SEEN if candidate.url in self.pages else PutStatus.QUEUED
            assert answer is expected
            if answer is PutStatus.QUEUED:
                self.pages[candidate.url] = Page((-candidate.priority, next(self.sequence)))

    @rule(target=leases, n=st.integers(1, 4))
    def lease(self, n: int):
        self.expire_and_wake()
        self.maybe_released: list[Page] = []
        granted = self.do(self.frontier.lease(n)).leases
        for lease in granted:
            self.grant(lease)
        if len(granted) < n:
            for scope in SCOPES:
                assert not self.clearly_ready(scope), f"{scope} was passed over"
        if len(granted) < n or self.frontier.limits.shards > 1:  # shards that had nothing left were looked at, too
            self.release_holds()
        return multiple(*granted)

    @rule(lease=consumes(leases), sent=st.booleans())
    def ack(self, lease: Lease, sent: bool) -> None:
        mine = self.holds(lease)
        (answer,) = self.do(self.frontier.settle([(lease.token, self.wire_of(lease) if sent else None)]))
        assert answer is mine
        if mine:
            page = self.pages[lease.url]
            self.hang_up(lease, sent)
            page.state = "dead" if page.exhausted else "done"
        self.stale.append(lease.token)

    @rule(lease=leases, sent=st.booleans())
    def finish(self, lease: Lease, sent: bool) -> None:
        self.do(self.frontier.finish([(lease.token, self.wire_of(lease) if sent else None)]))
        if self.holds(lease):
            self.hang_up(lease, sent)

    @rule(lease=leases, pause=st.sampled_from([None, 3.0]), counted=st.booleans(), sent=st.booleans())
    def nack(self, lease: Lease, pause: float | None, counted: bool, sent: bool) -> None:
        mine, page = self.holds(lease), self.pages[lease.url]
        at = None if pause is None else self.now + pause
        wire = self.wire_of(lease) if sent else None
        answer = self.do(self.frontier.nack(lease.token, at, "failed", counted=counted, wire=wire))
        if not mine:
            assert answer is Nack.STALE
            return
        self.hang_up(lease, sent)
        if counted and (page.exhausted or page.attempts + 1 >= TRIES):
            assert answer is Nack.EXHAUSTED
            page.attempts += not page.exhausted
            page.exhausted = True
            return
        assert answer is Nack.QUEUED
        page.attempts += counted
        page.state, page.at = ("queued", 0.0) if at is None else ("later", at)

    @rule(lease=leases, pause=st.sampled_from([0.0, 40.0]))
    def hold(self, lease: Lease, pause: float) -> None:
        mine, page = self.holds(lease), self.pages[lease.url]
        until = self.do(self.frontier.hold(lease.token, self.now + pause, "doubt"))
        assert (until > 0) is mine
        if mine:
            assert until >= self.now + max(pause, 30.0)
            self.hang_up(lease, sent=False)
            page.state, page.at = "held", until

    @rule(held=st.lists(leases, max_size=4))
    def extend(self, held: list[Lease]) -> None:
        tokens = list({lease.token: lease for lease in held})
        lost = self.do(self.frontier.extend(tokens))
        for lease in {lease.token: lease for lease in held}.values():
            assert (lease.token in lost) is not self.holds(lease)
            if self.holds(lease):
                self.pages[lease.url].at = self.now + LEASE_SECONDS

    @rule(scope=st.sampled_from(SCOPES), pause=st.sampled_from([1.0, 30.0]))
    def block(self, scope: str, pause: float) -> None:
        self.do(self.frontier.block(scope, self.now + pause, "Retry-After"))
        self.scopes[scope].blocked_until = max(self.scopes[scope].blocked_until, self.now + pause)

    @rule(scope=st.sampled_from(SCOPES))
    def reserve(self, scope: str) -> None:
        at = self.do(self.frontier.reserve(f"https://{scope}/robots.txt"))
        assert at >= self.now
        assert at >= self.scopes[scope].blocked_until
        self.send(scope, at)

    @rule(seconds=st.sampled_from([0.001, 1.0, 2.0, 15.0, 60.0]))
    def advance(self, seconds: float) -> None:
        self.now = round(self.now + seconds, 3)

    @rule(what=st.sampled_from(["due", "held", "later", "dead"]))
    def requeue(self, what: str) -> None:
        state = {"due": "held"}.get(what, what)
        pages = [p for p in self.pages.values() if p.state == state and (what != "due" or p.at <= self.now)]
        assert self.do(self.frontier.requeue(what)) == len(pages)
        for page in pages:
            page.state = "queued"
            if what == "dead":
                page.attempts, page.exhausted, page.rank = 0, False, (0, next(self.sequence))

    @rule()
    def all_workers_are_gone(self) -> None:
        pages = [p for p in self.pages.values() if p.state == "leased"]
        for page in pages:
            page.at = self.now
        assert self.do(self.frontier.requeue("leased")) == len(pages)
        later = [p for p in self.pages.values() if p.state == "later"]
        self.expire_and_wake()
        for page in later:
            page.state = "later"

    @rule()
    def stale_acks_do_nothing(self) -> None:
        if self.stale:
            assert not any(self.do(self.frontier.settle([(token, None) for token in self.stale])))

    # --- the model ---------------------------------------------------------------------------------------------------
    def holds(self, lease: Lease) -> bool:
        page = self.pages[lease.url]
        return page.state == "leased" and page.token == lease.token

    def wire_of(self, lease: Lease) -> Wire:
        return Wire(lease.granted_at, self.now - lease.granted_at)

    def send(self, scope: str, at: float) -> None:
        record = self.scopes[scope]
        record.sent.append(at)
        record.rest_until = max(record.rest_until, at + self.delay)

    def hang_up(self, lease: Lease, sent: bool) -> None:
        page, record = self.pages[lease.url], self.scopes[lease.scope]
        if not page.wire:
            return
        page.wire = False
        if not sent:
            record.sent.remove(lease.granted_at)
        elif self.delay:
            record.rest_until = max(record.rest_until, self.now + (self.now - lease.granted_at) + 0.001)

    def expire_and_wake(self) -> None:
        for page in self.pages.values():
            if page.state == "leased" and page.at <= self.now:
                page.state, page.wire, page.exhausted = "queued", False, False
                page.attempts += 1
                for record in self.scopes.values():
                    record.rest_until = max(record.rest_until, self.now + self.delay)
            elif page.state == "later" and page.at <= self.now:
                page.state = "queued"

    def release_holds(self) -> None:
        if any(p.state in ("queued", "later", "leased") for p in self.pages.values()):
            due = sorted((p for p in self.pages.values() if p.state == "held" and p.at <= self.now), key=lambda p: p.at)
            self.maybe_released = due

    def grant(self, lease: Lease) -> None:
        page, record = self.pages[lease.url], self.scopes[lease.scope]
        assert page.state == "queued"
        assert lease.attempt == page.attempts + 1
        assert lease.exhausted is (page.attempts >= TRIES)
        assert page.rank == min(p.rank for u, p in self.pages.items() if p.state == "queued" and lease.scope in u)
        page.state, page.token, page.at = "leased", lease.token, self.now + LEASE_SECONDS
        page.exhausted, page.wire = lease.exhausted, not lease.exhausted
        if lease.exhausted:
            return
        assert self.now >= record.blocked_until
        assert all(abs(self.now - other) >= self.delay - 1e-6 for other in record.sent)
        self.send(lease.scope, self.now)
        assert self.busy(lease.scope) <= self.concurrency

    def busy(self, scope: str) -> int:
        return sum(p.wire for u, p in self.pages.items() if scope in u and p.state == "leased")

    def clearly_ready(self, scope: str) -> bool:
        record = self.scopes[scope]
        waiting = any(p.state == "queued" for u, p in self.pages.items() if scope in u)
        rested = self.now >= max(record.rest_until, record.blocked_until)
        return waiting and rested and self.busy(scope) < self.concurrency

    # --- what must hold after every step -----------------------------------------------------------------------------
    @invariant()
    def every_url_is_in_exactly_one_place_and_the_counters_say_so(self) -> None:
        if not hasattr(self, "frontier"):
            return
        found = self.do(self.recount())
        for url, page in self.pages.items():
            if page.state == "held" and found.get(url) == "queued" and page in getattr(self, "maybe_released", ()):
                page.state = "queued"  # it was tried again because there is other work
        assert found == {url: page.state for url, page in self.pages.items() if page.state != "done"}
        tally = Counter(page.state for page in self.pages.values())
        counts = self.do(self.frontier.counts())
        assert counts.queued == tally["queued"] + tally["later"]
        assert (counts.leased, counts.held, counts.done) == (tally["leased"], tally["held"], tally["done"])
        assert (counts.dead, counts.seen) == (tally["dead"], len(self.pages))

    async def recount(self) -> dict[str, str]:
        """Where every URL is according to the server's keys; also checks which scopes are ready."""
        redis, places = self.frontier.connection.redis, []
        for shard in range(self.frontier.limits.shards):
            prefix = self.frontier.prefix(shard)
            busy: Counter[str] = Counter()
            for payload in (await redis.hvals(prefix + "lease")) or ():
                wire, scope, _, _, member = payload.decode().split("\t", 4)
                places.append((unpack(member, scope).url, "leased"))
                busy[scope] += wire == "o"
            assert await redis.hlen(prefix + "lease") == await redis.zcard(prefix + "leases")
            for key in ("later", "held"):
                for entry in await redis.zrange(prefix + key, 0, -1):
                    scope, _, member = entry.decode().split("\t", 2)
                    places.append((unpack(member, scope).url, key))
            for key in await redis.hkeys(prefix + "dead"):
                scope, _, rest = key.decode().partition("\t")
                places.append((unpack(rest, scope).url, "dead"))
            ready = {scope.decode() for scope in await redis.zrange(prefix + "ready", 0, -1)}
            for scope in SCOPES:
                members = await redis.zrange(f"{prefix}q:{scope}", 0, -1)
                places += [(unpack(member.decode(), scope).url, "queued") for member in members]
                if members or busy[scope]:
                    assert (scope in ready) is (bool(members) and busy[scope] < self.concurrency)
                    assert int(await redis.hget(prefix + "busy", scope) or 0) == busy[scope]
                    ready.discard(scope)
            assert not ready
        assert len(places) == len(dict(places)), "a URL is in two places"
        return dict(places)


@pytest.mark.parametrize("steps", [50])
def test_any_order_of_operations_keeps_the_frontiers_invariants(valkey_url, steps):
    FrontierMachine.url = valkey_url
    profile = settings(
        max_examples=25,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],  # shrinking against a server takes minutes
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(FrontierMachine, settings=profile)
