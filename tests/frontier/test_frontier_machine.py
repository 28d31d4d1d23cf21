"""The frontier against a model of it: any order of operations, crashes included, keeps its invariants.

The model is written from the outside: it knows which URL is in which state and when requests went out, not how the
server computes it. After every step the server's keys are recounted from scratch. The invariants:

exactly one place       a URL is queued (in order or overflowed), later, leased, held, alone, dead, or done: once
counters = recount      what `counts` says is what is there
distance                no two turns of a scope closer than its delay: the crawl's, or what any source asks for
concurrency             never more requests of a scope under way than allowed
ready                   a scope is ready if and only if its queue is not empty, a place is free and no probe is out
blocks                  nothing is handed out while a scope is blocked or its breaker open; then exactly one probe
nobody is passed over   what is clearly ready is handed out while there is room, and within H leases of others
crash                   an expired lease comes back, late outcomes do nothing, a restarted server knows everything
deaths                  an expired lease costs nothing; what was in hand comes back alone, and is given up only after
                        three deaths alone or more, and then at once where they came quickly
pauses                  nothing is handed out of a paused scope or crawl; a block that was there holds afterwards
purge                   nothing of a purged scope is queued again or taken; what is under way may end
caps                    no more pages of a scope than its cap are ever taken
order                   URLs of one priority leave in the order in which they came; links by value come behind them all
table                   what came of requests, by shape, is what was acknowledged; no stale outcome is in it
barren ground           only a link is parked, and only while its kind or its domain is barren; a new one of such a kind
                        at once; without an overflow those that wait, too; requeue alone brings parked ones back

What is learned of query parameters changes what a URL is called: `test_frontier_value_anyorder.py` has that.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections import Counter
from dataclasses import dataclass, field

import pytest
import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from crawler.frontier.client import Frontier
from crawler.frontier.member import leased, unpack
from crawler.frontier.model import FOREVER, Fault, Lease, Limits, Mark, Mode, Nack, PutStatus, Wire
from crawler.frontier.outcome import DUPLICATE, KEPT, NEUTRAL, OTHER, SHORT, packed_outcome
from crawler.frontier.shapes import shapes_of
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link
from crawler.urls.shape import shape_id_of, shape_of
from tests.support.frontier_shorthand import reserve

SCOPES = ("a.example", "b.example", "c.example")
LEASE_SECONDS, TRIES = 20.0, 3
FIRST_PAUSE, LONGEST_PAUSE, SLOWEST = 8.0, 30.0, 10.0  # seconds
SOURCES = {"allowlist": 3.0, "robots:https://a": 5.0}
LAST = 4096  # rank of what goes to the end of a queue
TOKENS = 300.0
H = 6  # leases of others that a ready scope may have to wait for
EXAMPLES = 20
LINKS = st.tuples(st.sampled_from(SCOPES), st.sampled_from("ab"), st.integers(0, 9))
KINDS = st.sampled_from([KEPT, SHORT, SHORT, DUPLICATE, OTHER, NEUTRAL, None])
_serial = itertools.count()


@dataclass
class Page:
    rank: tuple[int, int]  # what leaves its queue first: (-priority, sequence)
    state: str = "queued"  # queued, later, leased, held, alone, done, dead, purged
    attempts: int = 0
    at: float = 0.0  # later, held, alone: due; leased: expiry
    in_hand: bool = False
    suspect: bool = False
    deaths: int = 0  # alone in hand
    hours: float = 0.0  # seconds alone in hand, at most, up to these deaths
    since: float | None = None
    seen: float = 0.0
    token: str = ""
    wire: bool = False
    exhausted: bool = False
    loose: bool = False  # its place among those of its priority is not promised
    link: bool = False  # ordered by value
    revived: bool = False  # a link that was dead: it comes at once


@dataclass
class Scope:
    sent: list[tuple[float, float]] = field(default_factory=list)  # turns not given back, and the delay that held then
    rest_until: float = 0.0  # upper bound of the next allowed time
    blocked_until: float = 0.0  # lower bound
    asked: dict[str, float] = field(default_factory=dict)  # delay by source
    slow: float = 0.0  # upper bound of the delay that 429 and 503 brought about
    failures: int = 0
    openings: int = 0
    probe: str = ""
    taken: int = 0
    ready_since: float | None = None
    passed: int = 0
    paused: bool = False
    purged: bool = False
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)  # by shape, and how many in a row brought nothing
    fruitless: int = 0  # requests in a row, to any shape
    kept: tuple[float, float] = (0.0, 0.0)  # blocked_until and rest_until as they were when it was paused


class FrontierMachine(RuleBasedStateMachine):
    url = ""  # of the server
    server: EmbeddedServer | None = None  # where it may be stopped and started again
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.now = 1_700_000_000.0
        self.pages: dict[str, Page] = {}
        self.scopes = {scope: Scope() for scope in SCOPES}
        self.sequence = itertools.count()
        self.stale: list[str] = []
        self.mode = Mode.RUN

    @initialize(
        delay=st.sampled_from([0.0, 2.0]),
        concurrency=st.integers(1, 2),
        shards=st.sampled_from([1, 3]),
        max_queued=st.sampled_from([0, 1, 2]),
        breaker=st.sampled_from([0, 2]),
        cap=st.sampled_from([0, 0, 4]),
        restarts=st.sampled_from([0, 0, 0, 1]),
        tended=st.booleans(),
        barren=st.sampled_from([0, 1, 3]),
    )
    def open(
        self,
        delay: float,
        concurrency: int,
        shards: int,
        max_queued: int,
        breaker: int,
        cap: int,
        restarts: int,
        tended: bool,
        barren: int,
    ) -> None:
        self.tended = tended  # somebody looks after the crawl: pauses, drains, purges
        self.delay, self.concurrency, self.breaker, self.cap = delay, concurrency, breaker, cap
        self.max_queued, self.restarts, self.barren = max_queued, restarts if self.server else 0, barren
        limits = Limits(
            delay=delay,
            concurrency=concurrency,
            lease_seconds=LEASE_SECONDS,
            tries=TRIES,
            patience=10.0**6,
            shards=shards,
            max_queued=max_queued,
            breaker_failures=breaker,
            breaker_pause=FIRST_PAUSE,
            breaker_longest=LONGEST_PAUSE,
            slowdown=SLOWEST,
            barren=barren,
            explore=0.3,
        )
        self.frontier = Frontier(self.url, f"m{next(_serial)}", limits, now=lambda: self.now)
        self.do(self.frontier.open())
        self.do(self.frontier.control.order_by_value())

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
        self.put_all([Link(f"https://{scope}/{n}", priority=p, cap=self.cap) for scope, n, p in items])

    @rule(items=st.lists(LINKS, max_size=6))
    def put_links(self, items) -> None:
        self.put_all(
            [
                Link(
                    f"https://{s}/{name}x/{n}",
                    priority=0,
                    depth=1,
                    cap=self.cap,
                    mark=n,
                    parent=shape_id_of(f"https://{s}/"),
                )
                for s, name, n in items
            ]
        )
        self.note_what_was_parked()
        for scope, name, n in items:  # a link whose kind is barren does not wait
            page = self.pages.get(f"https://{scope}/{name}x/{n}")
            if page and page.rank[1] >= self.first_of_call and self.is_barren(f"https://{scope}/{name}x/{n}"):
                assert page.state == "parked"

    def put_all(self, candidates: list[Link]) -> None:
        self.first_of_call = next(self.sequence)
        for candidate, answer in zip(candidates, self.do(self.frontier.put(candidates)), strict=True):
            record = self.scopes[self.frontier.scope_of(candidate.url)]
            full = PutStatus.CAPPED if self.cap and record.taken >= self.cap else PutStatus.QUEUED
            expected = PutStatus.SEEN if candidate.url in self.pages else full
            expected = PutStatus.BLOCKED if record.purged else expected
            assert answer is expected
            if answer is PutStatus.QUEUED:
                record.taken += 1
                rank, link = (-candidate.priority, next(self.sequence)), candidate.mark is not None
                self.pages[candidate.url] = Page(rank, link=link)

    @rule(target=leases, n=st.integers(1, 4))
    def lease(self, n: int):
        return multiple(*self.take(n))

    def take(self, n: int) -> list[Lease]:
        self.expire_and_wake()
        self.maybe_released: list[Page] = []
        waiting = [scope for scope in SCOPES if self.clearly_ready(scope)]
        suspects = [url for url, page in self.pages.items() if self.is_clearly_due(url, page)]
        for shard in range(self.frontier.limits.shards):  # one that need not be asked would say later what expired
            self.do(self.frontier._lease(shard, 0, self.now, 0))
        granted = self.do(self.frontier.lease(n)).leases
        for lease in granted:
            self.grant(lease)
        self.note_what_was_parked()  # what moved out of an overflow
        if any(lease.alone for lease in granted):
            assert len(granted) == 1 or self.frontier.limits.shards > 1
            return granted
        assert not suspects or (self.frontier.limits.shards > 1 and len(granted) == n), "a suspect was passed over"
        self.nobody_waits_for_ever(waiting, [lease.scope for lease in granted])
        if len(granted) < n:
            for scope in SCOPES:
                assert not self.clearly_ready(scope), f"{scope} was passed over"
        if len(granted) < n or self.frontier.limits.shards > 1:  # shards that had nothing left were looked at, too
            self.release_holds()
        return granted

    @rule(lease=consumes(leases), sent=st.booleans(), kind=KINDS)
    def ack(self, lease: Lease, sent: bool, kind: str | None) -> None:
        self.settle(lease, sent, kind)

    @rule(items=st.lists(LINKS, min_size=3, max_size=12), kinds=st.lists(KINDS, min_size=3, max_size=12))
    def work(self, items, kinds: list[str | None]) -> None:
        """A worker that puts links and does one page after the other, as most of them do."""
        self.put_links(items)
        for kind in kinds:
            self.advance(15.0)
            for lease in self.take(1):
                self.settle(lease, sent=True, kind=kind)

    def settle(self, lease: Lease, sent: bool, kind: str | None) -> None:
        mine = self.holds(lease)
        brought = packed_outcome(lease, kind, TOKENS if kind == KEPT else 0.0) if kind else b""
        wire = self.wire_of(lease) if sent else None
        (answer,) = self.do(self.frontier.settle([(lease.token, wire, b"", brought)]))
        assert answer is mine
        if mine:
            if kind:
                self.learn(lease, kind)
            page = self.pages[lease.url]
            self.hang_up(lease, sent)
            self.no_verdict(lease)
            if sent and not page.exhausted:
                record = self.scopes[lease.scope]
                record.failures, record.openings, record.probe = 0, 0, ""
            page.state, page.suspect, page.deaths, page.hours = "dead" if page.exhausted else "done", False, 0, 0.0
            self.note_what_was_parked()
            if kind in (SHORT, DUPLICATE, OTHER) and not self.max_queued:
                waiting = [u for u, p in self.pages.items() if lease.scope in u and p.link and p.state == "queued"]
                assert not any(self.is_barren(u) for u in waiting if self.alike(u, lease)), "barren, but it waits"
        self.stale.append(lease.token)

    @rule(lease=leases, sent=st.booleans())
    def finish(self, lease: Lease, sent: bool) -> None:
        self.do(self.frontier.finish([(lease.token, self.wire_of(lease) if sent else None)]))
        if self.holds(lease):
            self.hang_up(lease, sent)

    @rule(
        lease=leases,
        pause=st.sampled_from([None, 3.0]),
        counted=st.booleans(),
        sent=st.booleans(),
        fault=st.sampled_from([Fault.URL, Fault.HOST, Fault.HOST, Fault.LOAD]),
    )
    def nack(self, lease: Lease, pause: float | None, counted: bool, sent: bool, fault: Fault) -> None:
        mine, page = self.holds(lease), self.pages[lease.url]
        fault = fault if counted else Fault.URL
        at = None if pause is None else self.now + pause
        wire = self.wire_of(lease) if sent else None
        answer = self.do(self.frontier.nack(lease.token, at, "failed", counted=counted, wire=wire, fault=fault))
        if not mine:
            assert answer is Nack.STALE
            return
        if page.exhausted and counted:
            self.hang_up(lease, sent=True)
            assert answer is Nack.EXHAUSTED
            return
        self.hang_up(lease, sent)
        costs = counted and not self.spared(lease, page, fault)
        if costs and page.attempts + 1 >= TRIES:
            assert answer is Nack.EXHAUSTED
            page.attempts, page.exhausted = page.attempts + 1, True
            return
        assert answer is Nack.QUEUED
        page.attempts += costs
        page.at = at or 0.0
        if at is None:
            self.requeued(lease.url)
        else:
            page.state = "later"

    @rule(held=st.lists(leases, max_size=4))
    def release(self, held: list[Lease]) -> None:
        """Given back unbegun, as a worker does that stops."""
        self.do(self.frontier.release({lease.token: None for lease in held}))
        for lease in held:
            if self.holds(lease):
                self.hang_up(lease, sent=False)
                self.no_verdict(lease)
                self.requeued(lease.url)

    def spared(self, lease: Lease, page: Page, fault: Fault) -> bool:
        """What a failure does to its scope; True where it costs the URL no try."""
        record = self.scopes[lease.scope]
        if fault is Fault.LOAD:
            record.slow = min(SLOWEST, (self.longest_delay(record) or 0.5) * 2)
            record.rest_until = max(record.rest_until, self.now + record.slow)
        probing = record.probe == lease.token
        self.no_verdict(lease)
        if fault is Fault.URL or not self.breaker:
            return False
        if not record.openings:
            record.failures += page.attempts == 0
            if record.failures >= self.breaker:
                self.open_breaker(record)
            return False
        if probing:
            self.open_breaker(record)
            page.rank = (LAST, next(self.sequence))
        return True

    def open_breaker(self, record: Scope) -> None:
        record.openings += 1
        record.blocked_until = max(record.blocked_until, self.now + FIRST_PAUSE / 2)
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2**record.openings)
        record.rest_until = max(record.rest_until, self.now + longest + 0.001)

    def no_verdict(self, lease: Lease) -> None:
        record = self.scopes[lease.scope]
        if record.probe == lease.token:
            record.probe = ""

    @rule(lease=leases, pause=st.sampled_from([0.0, 40.0]))
    def hold(self, lease: Lease, pause: float) -> None:
        mine, page = self.holds(lease), self.pages[lease.url]
        until = self.do(self.frontier.hold(lease.token, self.now + pause, "doubt"))
        assert (until > 0) is mine
        if mine:
            assert until >= self.now + max(pause, 30.0)
            self.hang_up(lease, sent=False)
            self.no_verdict(lease)
            page.state, page.at = "held", until

    @rule(held=st.lists(leases, max_size=4))
    def extend(self, held: list[Lease]) -> None:
        tokens = list({lease.token: lease for lease in held})
        lost = self.do(self.frontier.extend(tokens))
        for lease in {lease.token: lease for lease in held}.values():
            assert (lease.token in lost) is not self.holds(lease)
            if self.holds(lease):
                self.pages[lease.url].at = self.now + LEASE_SECONDS

    @rule(lease=leases, mark=st.sampled_from([Mark.IN_HAND, Mark.IN_HAND, Mark.WAITING, Mark.DELIVERED]))
    def mark(self, lease: Lease, mark: Mark) -> None:
        page = self.pages[lease.url]
        if page.exhausted and self.holds(lease):
            return  # it is recorded and never in hand
        alone = mark is Mark.IN_HAND and lease.alone
        (ours,) = self.do(self.frontier.mark([(lease.token, Mark.ALONE if alone else mark)]))
        assert ours is self.holds(lease)
        if not ours:
            return
        page.at, page.in_hand = self.now + LEASE_SECONDS, mark is Mark.IN_HAND
        if alone and page.suspect:
            page.since, page.seen = self.now if page.since is None else page.since, self.now
        if mark is Mark.DELIVERED:
            page.suspect, page.deaths, page.hours, page.since = False, 0, 0.0, None

    @rule(held=st.lists(leases, min_size=1, max_size=3))
    def die(self, held: list[Lease]) -> None:
        """A worker dies with these in hand; it had others, perhaps, which it had not begun."""
        for lease in held:
            self.mark(lease, Mark.IN_HAND)
        self.advance(LEASE_SECONDS)

    @rule(n=st.integers(3, 8))
    def kill_worker_after_worker(self, n: int) -> None:
        """Whatever comes is in hand when its worker dies."""
        for _ in range(n):
            for lease in self.take(1):
                self.mark(lease, Mark.IN_HAND)
            self.advance(70.0)

    @rule(scope=st.sampled_from(SCOPES), pause=st.sampled_from([1.0, 30.0]))
    def block(self, scope: str, pause: float) -> None:
        self.do(self.frontier.politeness.block(scope, self.now + pause, "Retry-After"))
        record, until = self.scopes[scope], self.now + pause
        record.blocked_until = max(record.blocked_until, until)
        record.kept = max(record.kept[0], until), max(record.kept[1], until)

    @precondition(lambda self: self.tended)
    @rule(scope=st.sampled_from(SCOPES))
    def pause(self, scope: str) -> None:
        record = self.scopes[scope]
        assert self.do(self.frontier.control.pause(scope)) is not record.paused
        if not record.paused:
            record.paused, record.kept = True, (record.blocked_until, record.rest_until)
            record.blocked_until = FOREVER

    @precondition(lambda self: self.tended)
    @rule(scope=st.sampled_from(SCOPES))
    def resume(self, scope: str) -> None:
        record = self.scopes[scope]
        assert self.do(self.frontier.control.resume(scope)) is record.paused
        if record.paused:
            record.paused = False
            record.blocked_until = record.kept[0]
            record.rest_until = max(self.now + self.longest_delay(record) + 0.001, *record.kept)

    @precondition(lambda self: self.tended)
    @rule(mode=st.sampled_from([Mode.RUN, Mode.RUN, Mode.PAUSE, Mode.DRAIN]))
    def set_mode(self, mode: Mode) -> None:
        self.do(self.frontier.control.set_mode(mode))
        self.mode = mode

    @precondition(lambda self: self.tended and not any(record.purged for record in self.scopes.values()))
    @rule(scope=st.sampled_from(SCOPES))
    def purge(self, scope: str) -> None:
        gone = [
            p for u, p in self.pages.items() if scope in u and p.state in ("queued", "later", "held", "parked", "alone")
        ]
        assert self.do(self.frontier.control.purge(scope)) == len(gone)
        for page in gone:
            page.state = "purged"
        self.scopes[scope].purged = True

    @rule(scope=st.sampled_from(SCOPES))
    def reserve(self, scope: str) -> None:
        at = self.do(reserve(self.frontier, f"https://{scope}/robots.txt"))
        assert at >= self.now
        assert at >= self.scopes[scope].blocked_until
        self.send(scope, at)

    @rule(scope=st.sampled_from(SCOPES), source=st.sampled_from(sorted(SOURCES)), asked=st.booleans())
    def set_delay(self, scope: str, source: str, asked: bool) -> None:
        seconds = SOURCES[source] if asked else 0.0
        self.do(self.frontier.politeness.set_delay(scope, seconds, source))
        self.scopes[scope].asked[source] = seconds

    @precondition(lambda self: self.restarts)
    @rule()
    def restart(self) -> None:
        self.restarts -= 1
        assert self.server is not None
        with contextlib.suppress(redis.exceptions.ConnectionError):
            self.do(self.frontier.connection.redis.shutdown())
        self.server.ensure()

    @rule(seconds=st.sampled_from([0.001, 1.0, 2.0, 15.0, 60.0]))
    def advance(self, seconds: float) -> None:
        self.now = round(self.now + seconds, 3)

    @rule(what=st.sampled_from(["due", "held", "later", "dead"]))
    def requeue(self, what: str) -> None:
        state = {"due": "held"}.get(what, what)
        pages = {u: p for u, p in self.pages.items() if p.state == state and (what != "due" or p.at <= self.now)}
        if what == "dead":
            pages = {u: p for u, p in pages.items() if not self.record_of(u).purged}
        assert self.do(self.frontier.control.requeue(what)) == len(pages)
        for url, page in pages.items():
            self.requeued(url)
            if what == "dead":
                page.attempts, page.exhausted, page.rank = 0, False, (0, next(self.sequence))
                page.revived = page.link
                page.loose = self.max_queued > 0  # it comes before what waits in the overflow

    @rule()
    def requeue_parked(self) -> None:
        pages = {u: p for u, p in self.pages.items() if p.state == "parked"}
        assert self.do(self.frontier.control.requeue("parked")) == len(pages)
        for url, page in pages.items():
            page.state, record = "queued", self.record_of(url)
            record.fruitless = 0
            for row in record.outcomes.values():
                row["streak"] = 0

    @rule()
    def all_workers_are_gone(self) -> None:
        pages = [p for p in self.pages.values() if p.state == "leased"]
        for page in pages:
            page.at = self.now
        assert self.do(self.frontier.control.requeue("leased")) == len(pages)
        later = [p for p in self.pages.values() if p.state == "later"]
        self.expire_and_wake()
        for page in later:
            page.state = "later"

    @rule()
    def stale_acks_do_nothing(self) -> None:
        if self.stale:
            assert not any(self.do(self.frontier.settle([(token, None) for token in self.stale])))

    # --- the model ---------------------------------------------------------------------------------------------------
    def record_of(self, url: str) -> Scope:
        return next(self.scopes[scope] for scope in SCOPES if scope in url)

    def learn(self, lease: Lease, kind: str) -> None:
        """What came of a request, as the table has to have it."""
        record = self.scopes[lease.scope]
        row = record.outcomes.setdefault(shape_of(lease.url), Counter())
        row["fetched"] += 1
        row[{KEPT: "kept", SHORT: "short", DUPLICATE: "duplicate"}.get(kind, "other")] += 1
        if kind == KEPT:
            row["streak"] = record.fruitless = 0
        elif kind != NEUTRAL:
            row["streak"] += 1
            record.fruitless += 1

    def is_barren(self, url: str) -> bool:
        record = self.record_of(url)
        streak = record.outcomes.get(shape_of(url), Counter())["streak"]
        return bool(self.barren) and (streak >= self.barren or record.fruitless >= 2 * self.barren)

    def alike(self, url: str, lease: Lease) -> bool:
        """Whether the outcome of that lease may have made this URL barren."""
        return shape_of(url) == shape_of(lease.url) or self.scopes[lease.scope].fruitless >= 2 * self.barren

    def note_what_was_parked(self) -> None:
        for url in self.do(self.parked()):
            page = self.pages[url]
            if page.state == "queued":
                assert page.link
                assert self.is_barren(url), "parked without a reason"
                page.state = "parked"

    async def parked(self) -> list[str]:
        redis, found = self.frontier.connection.redis, []
        for scope in SCOPES:
            prefix = self.frontier.prefix(self.frontier.shard_of_scope(scope))
            members = await redis.lrange(f"{prefix}z:{scope}", 0, -1)
            assert int(await redis.hget(prefix + "barren", scope) or 0) == len(members)
            found += [unpack(member.decode(), scope).link.url for member in members]
        return found

    def requeued(self, url: str) -> None:
        page = self.pages[url]
        page.state = "purged" if self.record_of(url).purged else "alone" if page.suspect else "queued"
        if page.suspect:
            page.at = self.now

    def holds(self, lease: Lease) -> bool:
        page = self.pages[lease.url]
        return page.state == "leased" and page.token == lease.token

    def wire_of(self, lease: Lease) -> Wire:
        return Wire(lease.granted_at, self.now - lease.granted_at)

    def asked_delay(self, record: Scope) -> float:
        return max(self.delay, *record.asked.values(), 0.0)

    def longest_delay(self, record: Scope) -> float:
        return max(self.asked_delay(record), record.slow)

    def send(self, scope: str, at: float) -> None:
        record = self.scopes[scope]
        record.sent.append((at, self.asked_delay(record)))
        record.rest_until = max(record.rest_until, at + self.longest_delay(record))

    def hang_up(self, lease: Lease, sent: bool) -> None:
        page, record = self.pages[lease.url], self.scopes[lease.scope]
        if not page.wire:
            return
        page.wire = False
        if not sent:
            record.sent.remove(next(turn for turn in record.sent if turn[0] == lease.granted_at))
        elif delay := self.longest_delay(record):
            latency = self.now - lease.granted_at
            record.rest_until = max(record.rest_until, self.now + latency + 0.001, lease.granted_at + delay)

    def expire_and_wake(self) -> None:
        for url, page in self.pages.items():
            if page.state == "leased" and page.at <= self.now:
                page.wire, page.exhausted = False, False
                self.returned(url, page)
                for record in self.scopes.values():
                    record.rest_until = max(record.rest_until, self.now + self.longest_delay(record))
                    record.probe = "" if record.probe == page.token else record.probe
            elif page.state == "later" and page.at <= self.now:
                self.requeued(url)

    def returned(self, url: str, page: Page) -> None:
        """Its worker is gone."""
        in_hand, page.in_hand, before = page.in_hand, False, page.suspect
        page.suspect = before or in_hand
        self.requeued(url)
        if in_hand and before:
            page.deaths += 1
            page.hours += page.seen - (page.since or 0.0) + 0.25 if page.since is not None else 0.25
            page.at = self.now + min(64.0, 2.0**page.deaths)
        page.since = None

    def is_clearly_due(self, url: str, page: Page) -> bool:
        scope = next(scope for scope in SCOPES if scope in url)
        record = self.scopes[scope]
        rested = self.now >= max(record.rest_until, record.blocked_until)
        free = self.busy(scope) < self.concurrency and not record.probe
        return page.state == "alone" and page.at <= self.now and rested and free and self.mode is Mode.RUN

    def release_holds(self) -> None:
        if any(p.state in ("queued", "later", "leased", "alone") for p in self.pages.values()):
            due = sorted((p for p in self.pages.values() if p.state == "held" and p.at <= self.now), key=lambda p: p.at)
            self.maybe_released = due

    def grant(self, lease: Lease) -> None:
        page, record = self.pages[lease.url], self.scopes[lease.scope]
        assert page.state == ("alone" if page.suspect else "queued")
        assert lease.alone is page.suspect
        assert lease.attempt == page.attempts + 1
        if page.attempts < TRIES:
            proof = page.deaths >= 3 and page.hours / page.deaths < 10.0
            assert lease.exhausted is proof or (lease.exhausted and page.deaths > 3)
        else:
            assert lease.exhausted
        page.in_hand, page.since = False, None
        mine = [p for p in self.queue_of(lease.scope) if not p.link]
        queue = [page] if page.link or page.suspect else mine
        if page.link and not page.suspect and not page.revived and not self.max_queued:
            assert all(p.rank[0] == LAST for p in mine), "a link before what has a priority"
        if (
            self.max_queued and not page.link and not page.suspect
        ):  # beyond the overflow only those of one priority keep their order
            queue = [p for p in queue if p.rank[0] == page.rank[0] and not p.loose] if not page.loose else [page]
        assert page.rank == min(p.rank for p in queue)
        page.state, page.token, page.at = "leased", lease.token, self.now + LEASE_SECONDS
        page.exhausted, page.wire = lease.exhausted, not lease.exhausted
        if lease.exhausted:
            return
        assert self.mode is Mode.RUN
        assert self.now >= record.blocked_until
        for at, delay in record.sent:
            assert abs(self.now - at) >= (delay if at <= self.now else self.delay) - 1e-6
        assert not record.probe
        if record.openings:
            record.probe = lease.token
        self.send(lease.scope, self.now)
        assert self.busy(lease.scope) <= self.concurrency

    def queue_of(self, scope: str) -> list[Page]:
        return [p for u, p in self.pages.items() if p.state == "queued" and scope in u]

    def busy(self, scope: str) -> int:
        return sum(p.wire for u, p in self.pages.items() if scope in u and p.state == "leased")

    def clearly_ready(self, scope: str) -> bool:
        record = self.scopes[scope]
        waiting = any(p.state == "queued" for u, p in self.pages.items() if scope in u)
        rested = self.now >= max(record.rest_until, record.blocked_until)
        return self.mode is Mode.RUN and waiting and rested and self.busy(scope) < self.concurrency and not record.probe

    def nobody_waits_for_ever(self, waiting: list[str], served: list[str]) -> None:
        """`waiting`: what was clearly ready before these leases."""
        home = self.frontier.shard_of_scope
        for scope in SCOPES:
            record = self.scopes[scope]
            if scope in served or scope not in waiting:
                record.passed = 0
            elif record.ready_since is not None and record.ready_since < self.now:
                record.passed += sum(home(other) == home(scope) for other in served)
            assert record.passed <= H, f"{scope} waits for ever"

    @invariant()
    def note_since_when_scopes_are_ready(self) -> None:
        for scope, record in self.scopes.items() if hasattr(self, "frontier") else ():
            if not self.clearly_ready(scope):
                record.ready_since = None
            elif record.ready_since is None:
                record.ready_since = self.now

    # --- what must hold after every step -----------------------------------------------------------------------------
    @invariant()
    def every_url_is_in_exactly_one_place_and_the_counters_say_so(self) -> None:
        if not hasattr(self, "frontier"):
            return
        self.note_what_was_parked()
        found = self.do(self.recount())
        for url, page in self.pages.items():
            if page.state == "held" and found.get(url) != "held" and page in getattr(self, "maybe_released", ()):
                self.requeued(url)  # it was tried again because there is other work
        assert found == {url: page.state for url, page in self.pages.items() if page.state not in ("done", "purged")}
        tally = Counter(page.state for page in self.pages.values())
        counts = self.do(self.frontier.counts())
        assert counts.queued == tally["queued"] + tally["later"] + tally["alone"]
        assert (counts.leased, counts.held, counts.done) == (tally["leased"], tally["held"], tally["done"])
        assert (counts.dead, counts.purged, counts.seen) == (tally["dead"], tally["purged"], len(self.pages))
        assert counts.barren == tally["parked"]
        assert counts.mode is self.mode

    @invariant()
    def the_table_says_what_was_acknowledged(self) -> None:
        for scope, record in self.scopes.items() if hasattr(self, "frontier") else ():
            views = {view.shape: view for view in self.do(shapes_of(self.frontier, scope)) if view.fetched}
            assert views.keys() == record.outcomes.keys()
            for shape, row in record.outcomes.items():
                view, names = views[shape], ("fetched", "kept", "short", "duplicate", "other", "streak")
                assert {name: getattr(view, name) for name in names} == {name: row[name] for name in names}
                assert view.tokens == row["kept"] * TOKENS
                assert view.scope_streak == record.fruitless
                parked = [u for u, p in self.pages.items() if p.state == "parked" and shape_of(u) == shape]
                assert record.purged or view.parked == len(parked)

    async def recount(self) -> dict[str, str]:
        """Where every URL is according to the server's keys; also checks which scopes are ready."""
        redis, places = self.frontier.connection.redis, []
        for shard in range(self.frontier.limits.shards):
            prefix = self.frontier.prefix(shard)
            busy: Counter[str] = Counter()
            for payload in (await redis.hvals(prefix + "lease")) or ():
                scope, member = leased(payload)
                places.append((unpack(member, scope).link.url, "leased"))
                busy[scope] += payload.startswith(b"o")
            assert await redis.hlen(prefix + "lease") == await redis.zcard(prefix + "leases")
            for key in ("later", "held", "alone"):
                for entry in await redis.zrange(prefix + key, 0, -1):
                    scope, _, member = entry.decode().split("\t", 2)
                    places.append((unpack(member, scope).link.url, key))
            for key in await redis.hkeys(prefix + "dead"):
                scope, _, rest = key.decode().partition("\t")
                places.append((unpack(rest, scope).link.url, "dead"))
            ready = {scope.decode() for scope in await redis.zrange(prefix + "ready", 0, -1)}
            for scope in SCOPES:
                members = await redis.zrange(f"{prefix}q:{scope}", 0, -1)
                places += [(unpack(member.decode(), scope).link.url, "queued") for member in members]
                aside = await redis.lrange(f"{prefix}z:{scope}", 0, -1)
                places += [(unpack(member.decode(), scope).link.url, "parked") for member in aside]
                spilled = await redis.lrange(f"{prefix}o:{scope}", 0, -1)
                places += [(unpack(entry.decode().partition(" ")[2], scope).link.url, "queued") for entry in spilled]
                assert int(await redis.hget(prefix + "spilled", scope) or 0) == len(spilled)
                assert members or not spilled, "the queue is empty in front of its overflow"
                probing = bool(self.scopes[scope].probe)
                if members or busy[scope]:
                    free = busy[scope] < self.concurrency and not probing
                    assert (scope in ready) is (bool(members) and free)
                    assert int(await redis.hget(prefix + "busy", scope) or 0) % 1024 == busy[scope]
                    ready.discard(scope)
            assert not ready
        assert len(places) == len(dict(places)), "a URL is in two places"
        return dict(places)


def campaign(examples: int, steps: int) -> settings:
    """A long one draws its cases anew each time: `FRONTIER_EXAMPLES=2000 pytest --hypothesis-seed=N` on this file."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=examples <= EXAMPLES,
        database=None,
        phases=[Phase.explicit, Phase.generate],  # shrinking against a server takes minutes
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.parametrize("steps", [50])
def test_any_order_of_operations_keeps_the_frontiers_invariants(tmp_path, steps):
    server = EmbeddedServer(tmp_path / "server")
    with server as url:
        machine = type("Machine", (FrontierMachine,), {"url": url, "server": server})
        run_state_machine_as_test(machine, settings=campaign(int(os.environ.get("FRONTIER_EXAMPLES", EXAMPLES)), steps))
