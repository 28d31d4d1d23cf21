"""What the frontier remembers of a visit, and when a URL comes back: the rules alone, then against a real server."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from crawler.config import ConfigError, from_mapping
from crawler.document import Document, Drop, DropReason, Reason, Signal
from crawler.frontier.client import Frontier
from crawler.frontier.member import leased, unpack
from crawler.frontier.model import Limits, Wire
from crawler.frontier.overview import overview
from crawler.frontier.packing import url_hash
from crawler.frontier.status_table import render
from crawler.frontier.visits import visit_entry
from crawler.recrawl.visit import Intervals, Visit, content_hash, is_changed, tell_history, visit_after
from crawler.urls.link import Link

DAY = 86_400
WEEKLY = Intervals(7 * DAY, DAY, 90 * DAY)
AT_ONCE = Intervals(0, 0, 90 * DAY)
FETCHED = "2026-03-01T10:00:00.250Z"
FETCHED_S = 1_772_359_200
BODY_HASH = "sha256:" + "ab" * 32
OTHER_HASH = "sha256:" + "cd" * 32


def visit(at: int = FETCHED_S, **values: object) -> Visit:
    made = Visit(at, at, at, digest=bytes.fromhex("ab" * 16), status=200, reusable=True, kept=True)
    return replace(made, **values)  # type: ignore[arg-type]


def page(content: str = BODY_HASH, reason: Reason | None = None, **values: object) -> Document:
    doc = Document(url="https://a.example/", crawled_at=FETCHED, content_hash=content, http_status=200)
    doc.verdict = Drop("any", reason) if reason else None
    for name, value in values.items():
        setattr(doc, name, value)
    return doc


# --- what is remembered ----------------------------------------------------------------------------------------------
seconds = st.integers(0, 2**32 - 1)
latin = st.text(st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters="\x7f\n"), min_size=1)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    made=st.builds(
        Visit, seconds, seconds, seconds, st.binary(min_size=16, max_size=16), st.integers(0, 65535),
        st.integers(-100, 100), st.integers(0, 999), seconds, st.booleans(), st.booleans(), st.none() | latin,
        st.none() | st.just("Sun, 01 Mar 2026 10:00:00 GMT") | st.text("abc 09:=,", min_size=1).filter(
            lambda text: not text.startswith("=")),
    )
)  # fmt: skip
def test_a_visit_survives_packing_and_its_date_stays_letter_for_letter(made):
    assert Visit.unpack(made.pack()) == made


def test_bytes_of_another_make_are_refused():
    with pytest.raises(ValueError, match="38 bytes"):
        Visit.unpack(b"short")


@pytest.mark.parametrize("tag", ['"abc"', 'W/"abc"', '"a b"', '""', '"\xe9"'])
def test_entity_tags_strong_and_weak_are_sent_back_as_they_came(tag):
    made = visit_after(None, page(etag=tag), WEEKLY, 0)
    assert dict(made.conditions()) == {"If-None-Match": tag}


@pytest.mark.parametrize("tag", ["*", "abc", '"abc', '"a"b"', '"' + "x" * 255 + '"', '"a\tb"', '"snow \u2603"', ""])
def test_what_is_no_entity_tag_is_not_sent(tag):
    assert dict(visit_after(None, page(etag=tag), WEEKLY, 0).conditions()) == {}


def test_a_date_is_sent_back_verbatim_beside_the_tag():
    doc = page(etag='"1"', last_modified="Sunday, 01-Mar-26 10:00:00 GMT")
    assert dict(visit_after(None, doc, WEEKLY, 0).conditions()) == {
        "If-None-Match": '"1"',
        "If-Modified-Since": "Sunday, 01-Mar-26 10:00:00 GMT",
    }


def test_a_304_confirms_what_it_does_not_mention():
    before = visit(etag='"1"', last_modified="Sun, 01 Mar 2026 10:00:00 GMT", size=700)
    unchanged = page("", DropReason.UNCHANGED, http_status=304, etag='"2"')
    after = visit_after(before, unchanged, WEEKLY, 0)
    assert (after.etag, after.last_modified) == ('"2"', "Sun, 01 Mar 2026 10:00:00 GMT")
    assert (after.status, after.size, after.kept, after.digest) == (200, 700, True, before.digest)
    assert (after.changes, after.step, after.last_changed) == (0, 1, before.last_changed)


@pytest.mark.parametrize(
    "reason",
    [
        DropReason.OPTOUT,
        DropReason.STAGE_TIMEOUT,
        DropReason.STAGE_CRASHED,
        DropReason.STAGE_ERROR,
        DropReason.GONE,
    ],
)
def test_a_verdict_that_must_be_confirmed_in_full_keeps_no_validators(reason):
    after = visit_after(None, page(reason=reason, etag='"1"'), WEEKLY, 0)
    assert list(after.conditions()) == []
    assert not after.holds(BODY_HASH)


@pytest.mark.parametrize("value", ["robots: unavailable_after", "unavailable_after: 2031-01-01"])
def test_a_page_that_names_its_last_day_is_read_in_full_at_each_visit(value):
    doc = page(etag='"1"')
    doc.optout_signals = [Signal("meta-robots", "meta", value, "unknown")]
    after = visit_after(None, doc, WEEKLY, 0)
    assert after.kept
    assert list(after.conditions()) == []
    assert not after.holds(BODY_HASH)


def test_a_text_that_was_judged_and_rejected_need_not_be_judged_again():
    after = visit_after(None, page(reason=DropReason.TOO_SHORT, etag='"1"'), WEEKLY, 0)
    assert dict(after.conditions()) == {"If-None-Match": '"1"'}
    assert after.holds(BODY_HASH)
    assert not after.holds(OTHER_HASH)
    assert not after.kept


def test_another_body_is_a_change_and_so_is_another_reason_for_none():
    assert not is_changed(visit(), page(BODY_HASH))
    assert is_changed(visit(), page(OTHER_HASH))
    denied = visit_after(None, page("", DropReason.ROBOTS_DISALLOWED), WEEKLY, 0)
    assert not is_changed(denied, page("", DropReason.ROBOTS_DISALLOWED))
    assert is_changed(denied, page("", DropReason.ACCESS_DENIED))
    assert is_changed(denied, page(BODY_HASH))


def test_a_page_that_is_gone_counts_as_changed_once_and_is_asked_for_less_and_less():
    first = visit_after(visit(step=2), page("", DropReason.GONE, http_status=404), WEEKLY, 0)
    again = visit_after(first, page("", DropReason.GONE, http_status=404), WEEKLY, 0)
    assert (first.status, first.changes, first.step) == (404, 1, 3)
    assert (again.changes, again.step) == (1, 4)


def test_the_record_tells_first_sight_last_change_and_how_often_it_changed():
    new, same, other = page(), page(), page(OTHER_HASH)
    known = visit(FETCHED_S - DAY, changes=2, last_changed=FETCHED_S - 2 * DAY, first_seen=FETCHED_S - 3 * DAY)
    tell_history(new, None)
    tell_history(same, known)
    tell_history(other, known)
    assert (new.first_seen, new.last_changed, new.change_count) == (FETCHED, FETCHED, 0)
    assert (same.first_seen, same.last_changed) == ("2026-02-26T10:00:00.000Z", "2026-02-27T10:00:00.000Z")
    assert (other.first_seen, other.last_changed) == ("2026-02-26T10:00:00.000Z", FETCHED)
    assert (same.change_count, other.change_count) == (2, 3)


def test_a_large_body_has_the_same_hash_as_the_stages_give_it():
    import hashlib

    body = b"x" * 300_000
    assert asyncio.run(content_hash(body)) == "sha256:" + hashlib.sha256(body).hexdigest()


# --- when ------------------------------------------------------------------------------------------------------------
def test_intervals_are_read_from_the_settings_and_always_admit_the_first():
    assert Intervals.of(from_mapping({}).frontier) == WEEKLY
    soon = from_mapping({"RECRAWL_INTERVAL_SECONDS": 0}).frontier
    assert Intervals.of(soon) == AT_ONCE
    late = from_mapping({"RECRAWL_INTERVAL_SECONDS": 200 * DAY}).frontier
    assert Intervals.of(late) == Intervals(200 * DAY, DAY, 200 * DAY)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"RECRAWL_MIN_SECONDS": 10, "RECRAWL_MAX_SECONDS": 5}, "RECRAWL_MIN_SECONDS"),
        ({"RECRAWL": True, "RECRAWL_REMEMBER": False}, "RECRAWL_REMEMBER"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(values, name):
    with pytest.raises(ConfigError, match=name):
        from_mapping(values)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(changes=st.lists(st.booleans(), max_size=60))
def test_a_page_that_turns_around_is_believed_at_once(changes):
    step = 0
    for changed in changes:
        step = WEEKLY.step(step, changed=changed)
        assert DAY / 1.5 < WEEKLY.first * 1.5**step < 90 * DAY * 1.5
    for _ in range(20):
        step = WEEKLY.step(step, changed=True)
    assert WEEKLY.first * 1.5**step <= DAY
    slower = WEEKLY.step(step, changed=False)
    assert WEEKLY.first * 1.5**slower > WEEKLY.first * 1.5**step


async def finish_one(frontier: Frontier, clock, **values: object) -> Visit:
    """Lease the one URL that is ready and settle it with a visit of now."""
    (lease,) = (await frontier.visits.recall(await frontier.lease(1))).leases
    made = visit(int(clock()), **values)
    assert await frontier.settle([(lease.token, Wire(clock(), 0.1), visit_entry(lease.url, made))]) == [True]
    return made


def test_a_done_url_comes_back_when_its_interval_is_over_and_brings_its_visit_along(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/", depth=3)])
        made = await finish_one(frontier, clock, etag='"1"')
        clock.advance(7 * DAY - 2)
        assert await frontier.visits.sweep(WEEKLY) == 0
        assert (await frontier.lease(1)).leases == ()
        clock.advance(3)
        assert await frontier.visits.sweep(WEEKLY) == 1
        assert (await frontier.counts()).queued == 1
        assert (await frontier.counts()).done == 0
        (lease,) = (await frontier.visits.recall(await frontier.lease(1))).leases
        assert (lease.url, lease.link.depth, lease.visit) == ("https://a.example/", 3, made)
        assert await frontier.visits.sweep(AT_ONCE) == 0  # in work already

    frontier_run(scenario, delay=0)


def test_other_settings_hold_at_once_also_for_pages_that_were_fetched_under_the_old_ones(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/")])
        await finish_one(frontier, clock)
        clock.advance(60)
        assert await frontier.visits.sweep(WEEKLY) == 0
        assert await frontier.visits.next_visits() == (1, int(clock()) - 60 + 7 * DAY)
        assert await frontier.visits.sweep(AT_ONCE) == 1

    frontier_run(scenario, delay=0)


def test_a_sitemap_is_looked_at_as_often_as_the_fastest_page(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/sitemap.xml", kind="sitemap"), Link("https://a.example/")])
        await finish_one(frontier, clock, step=5)
        await finish_one(frontier, clock, step=5)
        clock.advance(DAY + 1)
        assert await frontier.visits.sweep(WEEKLY) == 1
        (lease,) = (await frontier.lease(1)).leases
        assert lease.kind == "sitemap"

    frontier_run(scenario, delay=0)


def test_a_page_listed_with_a_later_change_is_due_at_once_and_one_without_is_not(frontier_run, clock):
    async def scenario(frontier):
        urls = [f"https://a.example/{n}" for n in range(2)]
        await frontier.put([Link(url) for url in urls])
        fetched = clock()
        for _ in urls:
            await finish_one(frontier, clock)
        clock.advance(60)
        unknown = "https://a.example/unknown"
        assert await frontier.visits.hasten([(urls[0], fetched + 30), (urls[1], fetched - 30), (unknown, clock())]) == 1
        assert [lease.url for lease in (await frontier.lease(2)).leases] == urls[:1]
        assert await frontier.visits.hasten([(urls[0], clock())]) == 0  # in work

    frontier_run(scenario, delay=0)


def test_a_crash_between_lease_and_acknowledgement_leaves_the_old_visit(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/")])
        made = await finish_one(frontier, clock, etag='"old"')
        clock.advance(1)
        await frontier.visits.sweep(AT_ONCE)
        (lost,) = (await frontier.lease(1)).leases
        clock.advance(121)
        (lease,) = (await frontier.visits.recall(await frontier.lease(1))).leases
        assert lease.visit == made
        late = visit_entry(lost.url, visit(int(clock()), etag='"late"'))
        assert await frontier.settle([(lost.token, None, late)]) == [False]
        (packed,) = await frontier.run("recall", 0, [url_hash(lost.url)])
        assert Visit.unpack(packed) == made

    frontier_run(scenario, delay=0)


async def fail_for_good(frontier: Frontier, clock) -> str:
    """Lease the one URL that is ready, use up its last try and settle it."""
    (lease,) = (await frontier.visits.recall(await frontier.lease(1))).leases
    await frontier.nack(lease.token, None, "HTTP 500")
    failed = page("", DropReason.HTTP_ERROR, crawled_at="", http_status=500)
    entry = visit_entry(lease.url, visit_after(lease.visit, failed, WEEKLY, clock()))
    assert await frontier.settle([(lease.token, None, entry)]) == [True]
    return lease.url


def test_an_outage_kills_no_page_that_was_visited_before_it_waits_with_what_is_known_of_it(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/")])
        made = await finish_one(frontier, clock, etag='"1"', step=2)
        clock.advance(60)
        await frontier.visits.sweep(AT_ONCE)
        await fail_for_good(frontier, clock)
        counts = await frontier.counts()
        assert (counts.dead, counts.done) == (0, 1)
        assert await frontier.visits.sweep(WEEKLY) == 0
        clock.advance(16 * DAY)
        assert await frontier.visits.sweep(WEEKLY) == 1
        (lease,) = (await frontier.visits.recall(await frontier.lease(1))).leases
        assert lease.visit == replace(made, fetched_at=made.fetched_at + 60)

    frontier_run(scenario, delay=0, tries=1)


def test_a_page_that_never_answered_is_dead_not_due(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/")])
        await fail_for_good(frontier, clock)
        assert (await frontier.counts()).dead == 1
        clock.advance(1)
        assert await frontier.visits.sweep(AT_ONCE) == 0
        assert await frontier.control.requeue("dead") == 1

    frontier_run(scenario, delay=0, tries=1)


@pytest.mark.parametrize("reason", [DropReason.DOWNLOAD_FAILED, DropReason.HTTP_ERROR, DropReason.STAGE_CRASHED])
def test_a_failure_changes_nothing_of_what_is_known(reason):
    before = visit(FETCHED_S - DAY, etag='"1"', step=3, changes=2)
    after = visit_after(before, page("", reason, http_status=500), WEEKLY, 0)
    assert after == replace(before, fetched_at=FETCHED_S)
    assert not is_changed(before, page("", reason))


def test_two_crawls_on_one_server_remember_apart(valkey_url, crawl_name, clock):
    async def scenario():
        crawls = [Frontier(valkey_url, f"{crawl_name}{letter}", Limits(delay=0), now=clock) for letter in "ab"]
        for frontier in crawls:
            await frontier.open()
            await frontier.put([Link("https://a.example/")])
        await finish_one(crawls[0], clock, etag='"of a"')
        clock.advance(1)
        assert [await frontier.visits.sweep(AT_ONCE) for frontier in crawls] == [1, 0]
        leases = [(await frontier.visits.recall(await frontier.lease(1))).leases[0] for frontier in crawls]
        assert [lease.visit and lease.visit.etag for lease in leases] == ['"of a"', None]
        for frontier in crawls:
            await frontier.close()

    asyncio.run(scenario())


def test_thousands_of_visits_stay_in_dense_hashes_and_each_is_found_again(frontier_run, clock):
    async def scenario(frontier):
        urls = [f"https://s{n % 40}.example/some/path/of/a/usual/length/{n}.html" for n in range(4000)]
        await frontier.put([Link(url) for url in urls])
        made = {}
        while leases := (await frontier.lease(200)).leases:
            for lease in leases:
                made[lease.url] = visit(int(clock()), size=len(made), etag=f'W/"{len(made):x}-5f3b0a1c2d"')
            entries = [(lease.token, None, visit_entry(lease.url, made[lease.url])) for lease in leases]
            assert all(await frontier.settle(entries))
        redis, prefix = frontier.connection.redis, frontier.prefix(0)
        keys = [key async for key in redis.scan_iter(f"{prefix}v:*", count=1000)]
        sizes = [await redis.hlen(key) for key in keys]
        assert len(keys) >= 4000 / 32 - 1
        assert max(sizes) <= 128
        assert {await redis.object("encoding", key) for key in keys} == {b"listpack"}
        clock.advance(1)
        assert await frontier.visits.next_visits() == (4000, 0)
        assert await frontier.visits.due(AT_ONCE) == 4000
        assert await frontier.visits.sweep(AT_ONCE) == 4000
        found = {}
        while batch := (await frontier.visits.recall(await frontier.lease(500))).leases:
            found |= {lease.url: lease.visit for lease in batch}
        assert found == made

    frontier_run(scenario, delay=0, concurrency=1000)


# --- any order of operations -----------------------------------------------------------------------------------------
SCOPES = ("a.example", "b.example")
PLANS = (WEEKLY, AT_ONCE, Intervals(100, 10, 1000))
LEASE_SECONDS = 10.0**8  # of leases and holds: expiry by time is test_frontier_machine's; here workers are killed
_serial = itertools.count()


@dataclass
class Known:
    """The model of one URL: where it is, what is remembered of it."""

    state: str = "queued"  # queued, leased, held, done, dead
    token: str = ""
    kind: str = "page"
    visit: Visit | None = None


class RecrawlMachine(RuleBasedStateMachine):
    url = ""  # of the server
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.now, self.plan = 1_700_000_000.0, None
        self.known: dict[str, Known] = {}
        limits = Limits(delay=0, concurrency=1000, lease_seconds=LEASE_SECONDS, tries=50, shards=2)
        self.frontier = Frontier(self.url, f"r{next(_serial)}", limits, now=lambda: self.now)
        self.do(self.frontier.open())

    def do(self, work):
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.do(self.clean())
        self.loop.close()

    async def clean(self) -> None:
        redis = self.frontier.connection.redis
        keys = [key async for key in redis.scan_iter(f"{{{self.frontier.crawl}.*", count=1000)]
        if keys:
            await redis.delete(*keys)
        await self.frontier.close()

    @rule(scope=st.sampled_from(SCOPES), first=st.integers(0, 9), n=st.integers(1, 20), kind=st.booleans())
    def put(self, scope: str, first: int, n: int, kind: bool) -> None:
        urls = [f"https://{scope}/{10 * first + i}" for i in range(n)]
        self.do(self.frontier.put([Link(url, kind="sitemap" if kind else "page") for url in urls]))
        for url in urls:
            self.known.setdefault(url, Known())

    @rule(target=leases, n=st.integers(1, 40))
    def lease(self, n: int):
        batch = self.do(self.frontier.visits.recall(self.do(self.frontier.lease(n))))
        recalls = self.plan is not None
        for lease in batch.leases:
            known = self.known[lease.url]
            assert known.state == "queued"
            assert lease.visit == (known.visit if recalls else None)
            known.state, known.token, known.kind = "leased", lease.token, lease.kind
        return multiple(*batch.leases)

    @rule(lease=consumes(leases), step=st.integers(-3, 3), tag=st.sampled_from([None, '"x"', 'W/"\xff"']))
    def ack(self, lease, step: int, tag: str | None) -> None:
        known = self.known[lease.url]
        mine = known.state == "leased" and known.token == lease.token
        made = visit(int(self.now), step=step, etag=tag)
        assert self.do(self.frontier.settle([(lease.token, None, visit_entry(lease.url, made))])) == [mine]
        if mine:
            known.state, known.visit = "done", made

    @rule(lease=consumes(leases))
    def hold(self, lease) -> None:
        known = self.known[lease.url]
        if self.do(self.frontier.hold(lease.token, self.now + LEASE_SECONDS, "doubt")):
            known.state = "held"

    @rule(seconds=st.sampled_from([1.0, 30.0, 60.0, 120.0, 2.0 * DAY, 8.0 * DAY]))
    def advance(self, seconds: float) -> None:
        self.now += seconds

    @rule(plan=st.sampled_from(PLANS))
    def sweep(self, plan: Intervals) -> None:
        self.plan = plan
        due = [k for k in self.known.values() if k.state == "done" and self.due_at(k) <= self.now]
        assert self.do(self.frontier.visits.due(plan)) == len(due)
        assert self.do(self.frontier.visits.sweep(plan)) == len(due)
        for known in due:
            known.state = "queued"

    @rule(scope=st.sampled_from(SCOPES), n=st.integers(0, 100), back=st.sampled_from([0, 45, DAY]))
    def hasten(self, scope: str, n: int, back: int) -> None:
        url = f"https://{scope}/{n}"
        known, at = self.known.get(url), int(self.now) - back
        moves = known is not None and known.state == "done" and known.visit.fetched_at < at
        assert self.do(self.frontier.visits.hasten([(url, at)])) == int(moves)
        if moves:
            known.state = "queued"

    @rule()
    def all_workers_are_killed(self) -> None:
        leased = [k for k in self.known.values() if k.state == "leased"]
        assert self.do(self.frontier.control.requeue("leased")) == len(leased)
        for known in leased:
            known.state = "queued"

    def due_at(self, known: Known) -> float:
        plan = self.plan
        wait = min(max(plan.first * 1.5**known.visit.step, plan.shortest), plan.longest)
        return known.visit.fetched_at + (plan.shortest if known.kind == "sitemap" else wait)

    @invariant()
    def a_url_is_in_exactly_one_place_and_only_done_ones_are_due(self) -> None:
        places, parked = self.do(self.recount())
        done = {url for url, known in self.known.items() if known.state == "done"}
        assert places == {u: k.state for u, k in self.known.items() if k.state != "done"}
        assert parked == done
        tally, counts = Counter(k.state for k in self.known.values()), self.do(self.frontier.counts())
        assert (counts.queued, counts.leased, counts.held) == (tally["queued"], tally["leased"], tally["held"])
        assert (counts.done, counts.seen) == (tally["done"], len(self.known))
        waiting, soonest = self.do(self.frontier.visits.next_visits())
        assert waiting == len(done)
        if done and self.plan is not None:
            assert soonest <= min(self.due_at(self.known[url]) for url in done) + 0.001

    async def recount(self) -> tuple[dict[str, str], set[str]]:
        """Where every URL is according to the server's keys, and which are remembered as done."""
        redis, places, parked = self.frontier.connection.redis, [], set()
        for shard in range(2):
            prefix = self.frontier.prefix(shard)
            for payload in await redis.hvals(prefix + "lease"):
                scope, member = leased(payload)
                places.append((unpack(member, scope).link.url, "leased"))
            for entry in await redis.zrange(prefix + "held", 0, -1):
                scope, _, member = entry.decode().split("\t", 2)
                places.append((unpack(member, scope).link.url, "held"))
            for scope in SCOPES:
                members = await redis.zrange(f"{prefix}q:{scope}", 0, -1)
                places += [(unpack(member.decode(), scope).link.url, "queued") for member in members]
            due = {int(n) for n in await redis.zrange(prefix + "due", 0, -1)}
            records = 0
            for n in range(int(await redis.hget(prefix + "st", "splits") or 0) + 1):
                for entry in (await redis.hgetall(f"{prefix}v:{n}")).values():
                    records += 1
                    size = int.from_bytes(entry[1:3], "big")
                    scope, _, member = entry[3 + size :].decode().partition("\t")
                    if entry[:1] == b"d":
                        parked.add(unpack(member, scope).link.url)
                        assert n in due
            assert records == int(await redis.hget(prefix + "st", "visits") or 0)
        assert len(places) == len(dict(places)), "a URL is in two places"
        return dict(places), parked


def test_any_order_of_operations_keeps_every_url_in_one_place_and_its_visit_with_it(valkey_url):
    RecrawlMachine.url = valkey_url
    profile = settings(
        max_examples=25,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],  # shrinking against a server takes minutes
        suppress_health_check=list(HealthCheck),
    )
    run_machine(RecrawlMachine, settings=profile)


def test_the_status_says_how_many_wait_for_their_next_visit_and_when_the_first_is_due(frontier_run, clock):
    async def scenario(frontier):
        assert "next visit" not in render(await overview(frontier))
        await frontier.put([Link("https://a.example/1"), Link("https://a.example/2")])
        await finish_one(frontier, clock)
        await finish_one(frontier, clock)
        assert "2 wait for their next visit, some of them may be due" in render(await overview(frontier))
        assert await frontier.visits.sweep(WEEKLY) == 0
        view = await overview(frontier)
        assert (view.parked, view.next_visit_in) == (2, pytest.approx(7 * DAY, abs=1))
        assert "2 wait for their next visit, the first in 7 d at the earliest" in render(view)
        clock.advance(8 * DAY)
        view = await overview(frontier)
        assert (view.parked, view.next_visit_in) == (2, 0.0)
        assert "2 wait for their next visit, some of them may be due for a run with RECRAWL" in render(view)
        assert await frontier.visits.sweep(WEEKLY) == 2
        view = await overview(frontier)
        assert (view.parked, view.as_json()["next_visit_in"]) == (0, None)
        assert "next visit" not in render(view)

    frontier_run(scenario, delay=0)
