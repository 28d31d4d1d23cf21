"""What is known of a link before it is asked: its place, learned by domain, and how far it lies from the last text."""

from __future__ import annotations

import pytest

from crawler.frontier.model import Wire
from crawler.frontier.outcome import KEPT, SHORT, packed_outcome
from crawler.urls.link import Link
from crawler.urls.shape import shape_id_of, shape_of
from tests.frontier.test_frontier_value import HOST, SEED, begin, by_name, crawl, link, links


def test_where_menus_bring_nothing_a_new_kind_in_the_menu_comes_after_a_new_kind_in_the_text(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        # half an octave in front by its mark alone, were the place not learned
        found = links("post", 12, mark=1) + [link(f"{HOST}/menu{c}x/1", mark=3) for c in "abcdefgh"]
        kinds = {"post": (KEPT, 900.0), "new": (KEPT, 900.0), "other": (KEPT, 900.0)}
        kinds |= {f"menu{c}x": (SHORT, 0.0) for c in "abcdefgh"}
        await crawl(frontier, by_name(kinds, found))
        await frontier.put([link(f"{HOST}/other/{n}", mark=2, depth=1) for n in range(3)])
        await frontier.put([link(f"{HOST}/new/{n}", mark=1, depth=9) for n in range(3)])
        order = await crawl(frontier, by_name(kinds))
        assert [url.split("/")[3] for url in order] == ["new"] * 3 + ["other"] * 3

    frontier_run(scenario, delay=0.0)


@pytest.mark.parametrize("level", [0, 1], ids=["all on one level", "each a level below the one before"])
def test_days_beside_a_day_with_text_are_asked_before_those_beside_empty_ones(frontier_run, level):
    """A row of days in both directions, text behind every second one of the days above."""
    asked: list[int] = []

    async def scenario(frontier):
        await begin(frontier)
        await frontier.put([link(f"{HOST}/day/500")])
        while len(asked) < 60 and (leases := (await frontier.lease(1)).leases):
            (lease,) = leases
            name, _, n = lease.url.removeprefix(f"{HOST}/").partition("/")
            found = [link(f"{HOST}/event/{n}", lease.url)] if name == "day" and int(n) > 500 and int(n) % 2 else []
            if name == "day":
                asked.append(int(n))
                found += [link(f"{HOST}/day/{int(n) + step}", lease.url) for step in (-1, 1)]
            run, depth = lease.link.run + 1, 1 + level * lease.link.depth
            await frontier.put([Link(c.url, depth=depth, mark=0, parent=c.parent, run=run) for c in found])
            kind, tokens = (KEPT, 500.0) if name == "event" else (SHORT, 0.0)
            brought = packed_outcome(lease, kind, tokens)
            await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
        assert sum(n > 500 for n in asked) > 45
        assert sum(n < 500 for n in asked) < 15

    frontier_run(scenario, delay=0.0)


async def _first_of(frontier, name: str) -> str:
    """The next URL of this kind that is asked; what comes before it is kept where it is an event."""
    while leases := (await frontier.lease(1)).leases:
        (lease,) = leases
        kind, tokens = (KEPT, 500.0) if "/event/" in lease.url else (SHORT, 0.0)
        brought = packed_outcome(lease, kind, tokens)
        await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
        if f"/{name}/" in lease.url:
            return lease.url
    return ""


@pytest.mark.parametrize("beside_text", [True, False])
def test_a_link_that_waits_already_comes_nearer_with_a_page_beside_text(frontier_run, beside_text):
    async def scenario(frontier):
        await begin(frontier)
        day, month = shape_id_of(f"{HOST}/day/1"), shape_id_of(f"{HOST}/month/1/")
        await frontier.put([link(f"{HOST}/event/0")])
        await _first_of(frontier, "event")
        await frontier.put([Link(f"{HOST}/day/5", depth=2, mark=0, parent=month, run=1, source="aaaa")])
        await frontier.put([Link(f"{HOST}/day/9", depth=2, mark=0, parent=month, run=3, source="bbbb")])
        new = [Link(f"{HOST}/event/1", depth=3, mark=0, parent=day, run=1)] if beside_text else []
        await frontier.put([*new, Link(f"{HOST}/day/9", depth=3, mark=0, parent=day, run=1, source="cccc")])
        assert await _first_of(frontier, "day") == f"{HOST}/day/{9 if beside_text else 5}"
        assert (await frontier.counts()).queued == 1 + beside_text

    frontier_run(scenario, delay=0.0)


def test_the_run_of_a_link_is_kept_in_the_queue_and_ends_at_nine(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        await frontier.put([Link(f"{HOST}/a/{n}", depth=2, mark=1, parent="abc", run=n) for n in (0, 3, 40)])
        leases = [(await frontier.lease(1)).leases[0] for _ in range(4)]
        assert [(lease.url, lease.link.run, lease.link.depth) for lease in leases] == [
            (SEED, 0, 0),
            (f"{HOST}/a/0", 0, 2),
            (f"{HOST}/a/3", 3, 2),
            (f"{HOST}/a/40", 9, 2),
        ]

    frontier_run(scenario, delay=0.0, concurrency=9)


def test_exploration_is_through_with_a_shape_after_three_requests(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        found = links("post", 80) + links("empty", 40, mark=9)
        order = await crawl(frontier, by_name({"post": (KEPT, 900.0), "empty": (SHORT, 0.0)}, found), most=80)
        assert sum("/empty/" in url for url in order) == 3

    frontier_run(scenario, delay=0.0, explore=0.1)


def test_a_namespace_before_a_colon_is_a_kind_of_its_own():
    assert shape_of("https://w.example/wiki/Talk:Red_fox") == "w.example/wiki/Talk:*"
    assert shape_of("https://w.example/wiki/Red_fox") == "w.example/wiki/*"
    assert shape_of("https://w.example/wiki/User_talk:Ann:Bob") == "w.example/wiki/User_talk:*"
    assert shape_of("https://w.example/wiki/12:30") == shape_of("https://w.example/wiki/17:45")
    assert shape_id_of("https://w.example/wiki/Talk:A") == shape_id_of("https://w.example/wiki/Talk:B")
