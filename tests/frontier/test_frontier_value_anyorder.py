"""Any order of links, outcomes, reopenings and lost workers: every URL is in exactly one place, and is counted."""

from __future__ import annotations

import asyncio
import itertools

from hypothesis import HealthCheck, settings
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from crawler.frontier.client import Frontier
from crawler.frontier.member import unpack
from crawler.frontier.model import Limits, Wire
from crawler.frontier.outcome import DUPLICATE, KEPT, NEUTRAL, SHORT, packed_outcome
from crawler.urls.link import Link
from crawler.urls.shape import shape_id_of

SCOPE = "a.example"
_serial = itertools.count()
links = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.integers(0, 9), st.sampled_from(["", "?s=1", "?s=2"])),
    max_size=12,
)
steps = st.one_of(
    st.tuples(st.just("put"), links),
    st.tuples(st.just("seeds"), st.lists(st.integers(0, 9), max_size=3)),
    st.tuples(st.just("work"), st.lists(st.sampled_from([KEPT, SHORT, DUPLICATE, NEUTRAL]), max_size=6)),
    st.tuples(st.just("release"), st.just(0)),
    st.tuples(st.just("requeue"), st.just(0)),
    st.tuples(st.just("gone"), st.just(0)),
)


async def places(frontier: Frontier) -> dict[str, str]:
    """Where every URL is, by the server's keys; also holds what the scripts promise about them."""
    redis, prefix = frontier.connection.redis, frontier.prefix(0)
    hot = [m.decode() for m in await redis.zrange(f"{prefix}q:{SCOPE}", 0, -1)]
    cold = [m.decode().partition(" ")[2] for m in await redis.lrange(f"{prefix}o:{SCOPE}", 0, -1)]
    parked = [m.decode() for m in await redis.lrange(f"{prefix}z:{SCOPE}", 0, -1)]
    assert hot or not cold, "the queue is empty in front of its overflow"
    assert int(await redis.hget(prefix + "spilled", SCOPE) or 0) == len(cold)
    assert int(await redis.hget(prefix + "barren", SCOPE) or 0) == len(parked)
    named = (("queued", hot), ("queued", cold), ("parked", parked))
    found = [(unpack(member, SCOPE).link.url, place) for place, members in named for member in members]
    assert len(found) == len(dict(found)), "a URL is in two places"
    return dict(found)


def given(step: str, values) -> list[Link]:
    """What a step puts into the frontier."""
    site, parent = f"https://{SCOPE}", shape_id_of(f"https://{SCOPE}/")
    if step == "put":
        return [Link(f"{site}/{s}x/{n}{q}", depth=1, mark=m, parent=parent, run=m) for s, n, m, q in values]
    if step == "seeds":
        return [Link(f"{site}/seed/{n}", priority=100) for n in values]
    return []


async def work(frontier: Frontier, kinds: list[str]) -> set[str]:
    """Lease and settle, a page of each kind; returns what was finished."""
    done: set[str] = set()
    for kind in kinds:
        for lease in (await frontier.lease(1)).leases:
            brought = packed_outcome(lease, kind, 300.0 if kind == KEPT else 0.0)
            await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
            done.add(lease.url)
    return done


async def run(url: str, given_steps, limits: Limits) -> None:
    """Do the steps, look after each."""
    frontier = Frontier(url, f"any{next(_serial)}", limits, now=lambda: 1_700_000_000.0)
    await frontier.open()
    await frontier.control.order_by_value()
    expected: set[str] = set()
    done: set[str] = set()
    try:
        for step, values in given_steps:
            found = given(step, values)
            await frontier.put(found)
            expected |= {c.url for c in found}
            if step == "work":
                done |= await work(frontier, values)
            elif step == "release":
                await frontier.release([lease.token for lease in (await frontier.lease(3)).leases])
            elif step == "gone":
                held = [lease.url for lease in (await frontier.lease(2)).leases]
                assert await frontier.control.requeue("leased") == len(held)
            elif step == "requeue":
                await frontier.control.requeue("parked")
            where, counts = await places(frontier), await frontier.counts()
            assert where.keys() | done == expected
            assert len(where.keys() & done) == 0
            assert counts.queued == sum(place == "queued" for place in where.values())
            assert counts.barren == sum(place == "parked" for place in where.values())
            assert counts.seen == counts.queued + counts.barren + counts.done + counts.dead
    finally:
        await frontier.close()


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@hypothesis_given(st.lists(steps, max_size=25), st.sampled_from([0, 2, 5]), st.sampled_from([0, 3]))
def test_every_url_is_in_exactly_one_place_and_counted(valkey_url, given_steps, most, barren):
    limits = Limits(delay=0.0, max_queued=most, barren=barren, explore=0.3)
    asyncio.run(run(valkey_url, given_steps, limits))
