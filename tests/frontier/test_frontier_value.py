"""A frontier that learns: what brought text comes first, what brings nothing is parked, and nothing is lost."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import asdict

import pytest

from crawler.config.config import from_mapping
from crawler.document import Document
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.model import Limits, Wire
from crawler.frontier.outcome import DUPLICATE, KEPT, NEUTRAL, SHORT, outcome_entry, packed_outcome
from crawler.frontier.overview import overview
from crawler.frontier.shapes import shapes_of
from crawler.frontier.status_table import render
from crawler.frontier.visits import visit_entry
from crawler.recrawl.visit import Intervals, Visit
from crawler.seeds.plan import sitemap_links
from crawler.seeds.sitemaps import Sitemap, SitemapEntry
from crawler.urls.link import Link
from crawler.urls.shape import shape_id_of

HOST = "https://a.example"
SEED = f"{HOST}/"


def link(url: str, on: str = SEED, depth: int = 1, mark: int = 0) -> Link:
    return Link(url, depth=depth, mark=mark, parent=shape_id_of(on))


def links(name: str, n: int, start: int = 0, **facts) -> list[Link]:
    return [link(f"{HOST}/{name}/{start + i}", **facts) for i in range(n)]


async def crawl(frontier: Frontier, page: Callable[[str], tuple[str, float, list[Link]]], most: int = 10_000):
    """Lease one URL, do what a worker does, and again: `page` answers kind, tokens and links of a URL."""
    order = []
    while len(order) < most and (leases := (await frontier.lease(1)).leases):
        (lease,) = leases
        order.append(lease.url)
        kind, tokens, found = page(lease.url)
        await frontier.put(found)
        brought = packed_outcome(lease, kind, tokens)
        await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
    return order


async def begin(frontier: Frontier) -> None:
    await frontier.control.order_by_value()
    await frontier.put([Link(SEED, priority=100)])


def by_name(kinds: dict[str, tuple[str, float]], found: list[Link] = ()) -> Callable:
    """Pages by the first word of their path; the seed has the links."""

    def page(url: str):
        name = url.split("/")[3]
        return (SHORT, 0.0, list(found)) if not name else (*kinds[name], [])

    return page


def test_what_has_brought_text_is_asked_before_what_has_not(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        found = [c for i in range(30) for c in (*links("tag", 1, i), *links("post", 1, i))]
        order = await crawl(frontier, by_name({"tag": (SHORT, 0), "post": (KEPT, 800)}, found))
        assert len(order) == 61
        assert sum("/post/" in url for url in order[:36]) >= 30
        assert {c.url for c in found} <= set(order)

    frontier_run(scenario, delay=0.0)


@pytest.mark.parametrize("most", [0, 8])
def test_a_shape_that_brings_nothing_is_parked_after_its_bound_and_nothing_is_lost(frontier_run, most):
    async def scenario(frontier):
        await begin(frontier)
        found = links("tag", 50) + links("post", 20)
        order = await crawl(frontier, by_name({"tag": (DUPLICATE, 0), "post": (KEPT, 800)}, found))
        assert sum("/post/" in url for url in order) == 20
        assert sum("/tag/" in url for url in order) == 12
        counts = await frontier.counts()
        assert (counts.queued, counts.barren, counts.done) == (0, 38, 33)
        assert await frontier.connection.redis.llen(frontier.prefix(0) + "z:a.example") == 38
        assert await frontier.control.requeue("parked") == 38
        counts = await frontier.counts()
        assert (counts.queued, counts.barren) == (38, 0)
        again = await crawl(frontier, by_name({"tag": (KEPT, 10)}))
        assert sorted({*order, *again}) == sorted({SEED, *(c.url for c in found)})

    frontier_run(scenario, delay=0.0, barren=12, max_queued=most)


def test_a_page_that_was_visited_is_visited_again_however_little_its_kind_brings(frontier_run):
    async def visits(frontier, kept=()):
        asked = []
        while leases := (await frontier.lease(1)).leases:
            (lease,) = leases
            asked.append(lease.url)
            await frontier.put(links("tag", 50) if lease.url == SEED else [])
            at = int(frontier.now())
            visit = Visit(at, at, at, digest=bytes(16), status=200, reusable=True, kept=lease.url in kept)
            brought = packed_outcome(lease, KEPT if lease.url in kept else SHORT, 100.0)
            wire = Wire(frontier.now(), 0.0)
            await frontier.settle([(lease.token, wire, visit_entry(lease.url, visit), brought)])
        return asked

    async def scenario(frontier):
        await begin(frontier)
        asked = await visits(frontier, kept={f"{HOST}/tag/{i}" for i in range(3)})
        assert (len(asked), (await frontier.counts()).barren) == (1 + 3 + 12, 35)
        for _ in range(2):
            assert await frontier.visits.sweep(Intervals(0, 0, 86_400)) == len(asked)
            assert sorted(await visits(frontier)) == sorted(asked)
            assert (await frontier.counts()).barren == 35

    frontier_run(scenario, delay=0.0, barren=12)


def test_an_endless_list_ends_and_every_article_behind_it_is_kept(frontier_run):
    def page(url: str):
        _, name, n = url.removeprefix("https://").split("/") if url != SEED else ("", "list", 0)
        if name == "post":
            return KEPT, 500.0, []
        more = links("list", 2, int(n) + 1, on=url, depth=min(9, int(n) + 1))
        posts = links("post", 3, 3 * int(n), on=url, depth=min(9, int(n) + 1)) if int(n) < 10 else []
        return SHORT, 0.0, more + posts

    async def scenario(frontier):
        await begin(frontier)
        order = await crawl(frontier, page)
        assert sum("/post/" in url for url in order) == 30
        assert len(order) < 30 + 12 + 40
        assert (await frontier.counts()).barren > 0

    frontier_run(scenario, delay=0.0, barren=20)


@pytest.mark.parametrize(
    ("until", "step", "dry"),
    [(60, 3, 20), (300, 14, 28), (600, 25, 40), (30, 3, 40)],
    ids=["not before half the bound", "twice the longest", "never after the bound", "not after few dry stretches"],
)
def test_a_kind_that_only_leads_is_given_up_at_twice_its_longest_dry_stretch(frontier_run, until, step, dry):
    """A list, page by page; every so many pages one leads to a text, until there is none any more."""
    asked: list[int] = []

    def page(url: str):
        _, name, n = url.removeprefix("https://").split("/") if url != SEED else ("", "list", 0)
        if name == "post":
            return KEPT, 500.0, []
        asked.append(int(n))
        posts = links("post", 1, int(n), on=url) if int(n) % step == 0 and 0 < int(n) <= until else []
        return SHORT, 0.0, links("list", 1, int(n) + 1, on=url) + posts

    async def scenario(frontier):
        await begin(frontier)
        order = await crawl(frontier, page, 1200)
        assert sum("/post/" in url for url in order) == until // step
        assert max(asked) - until // step * step == dry

    frontier_run(scenario, delay=0.0, barren=40, explore=0.0)


def test_ground_that_was_opened_from_elsewhere_has_the_whole_bound(frontier_run):
    """Days that link to days, but the sixty that lead to a text stand in a list of days, too."""

    def page(url: str):
        if url == SEED:
            return SHORT, 0.0, links("day", 60)
        _, name, n = url.removeprefix("https://").split("/")
        posts = links("post", 1, int(n), on=url) if int(n) < 60 else []
        return (KEPT, 500.0, []) if name == "post" else (SHORT, 0.0, links("day", 1, int(n) + 1, on=url) + posts)

    async def scenario(frontier):
        await begin(frontier)
        order = await crawl(frontier, page)
        assert sum("/post/" in url for url in order) == 60
        assert sum("/day/" in url for url in order) == 60 + 40

    frontier_run(scenario, delay=0.0, barren=40, explore=0.0)


def test_a_kind_whose_pages_are_kept_has_the_whole_bound(frontier_run):
    """Every second page is kept, then none."""

    def page(url: str):
        if url == SEED:
            return SHORT, 0.0, links("post", 200)
        n = int(url.rpartition("/")[2])
        return (KEPT, 50.0, []) if n < 60 and n % 2 else (DUPLICATE, 0.0, [])

    async def scenario(frontier):
        await begin(frontier)
        assert len(await crawl(frontier, page)) == 1 + 60 + 40

    frontier_run(scenario, delay=0.0, barren=40, explore=0.0)


def test_a_row_of_an_older_version_says_nothing_of_dry_stretches(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        old = struct.pack(">7I2dIh", 9, 2, 4, 3, 0, 3, 5, 700.0, 30.0, 1, 64) + b"https://a.example/post/1"
        key = frontier.prefix(0) + "w:a.example"
        await frontier.connection.redis.hset(key, shape_id_of(f"{HOST}/post/1"), old)
        (view,) = await shapes_of(frontier, "a.example")
        assert (view.fetched, view.kept, view.short, view.duplicate, view.streak) == (9, 2, 4, 3, 3)
        assert (view.parked, view.tokens, view.led) == (5, 700.0, 30.0)

    frontier_run(scenario, delay=0.0)


def test_a_site_that_makes_shapes_without_end_ends_by_the_bound_of_its_domain(frontier_run):
    def page(url: str):
        depth = url.count("/") - 3
        return SHORT, 0.0, [link(f"{url}{w}{'abcdefghijklmnopqr'[depth % 18]}/", url, depth) for w in ("pq", "rs")]

    async def scenario(frontier):
        await begin(frontier)
        assert len(await crawl(frontier, page, 200)) == 40

    frontier_run(scenario, delay=0.0, barren=20)


def test_a_shape_that_leads_to_text_lives_on_although_it_has_none(frontier_run):
    def page(url: str):
        if url == SEED:
            return SHORT, 0.0, links("list", 60)
        _, name, n = url.removeprefix("https://").split("/")
        return (KEPT, 500.0, []) if name == "post" else (SHORT, 0.0, links("post", 1, int(n), on=url, depth=2))

    async def scenario(frontier):
        await begin(frontier)
        assert sum("/post/" in url for url in await crawl(frontier, page)) == 60
        assert (await frontier.counts()).barren == 0

    frontier_run(scenario, delay=0.0, barren=10)


def test_outages_park_nothing(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        order = await crawl(frontier, by_name({"post": (NEUTRAL, 0)}, links("post", 50)))
        assert len(order) == 51

    frontier_run(scenario, delay=0.0, barren=5)


def test_seeds_and_listed_pages_come_first_and_are_never_parked(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        listed = [Link(f"{HOST}/tag/{n}", priority=-10) for n in range(100, 130)]
        await frontier.put(links("post", 5) + listed)
        order = await crawl(frontier, by_name({"tag": (SHORT, 0), "post": (KEPT, 800)}))
        assert order[:31] == [SEED, *(c.url for c in listed)]
        assert len(order) == 31  # the links are parked behind so many fruitless pages: by the domain's bound

    frontier_run(scenario, delay=0.0, barren=10)


def test_of_listed_pages_the_recently_changed_come_first_then_those_of_higher_priority(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        now, day = frontier.now(), 86_400.0
        changed = {"old": now - 900 * day, "month": now - 20 * day, "today": now - day, "unsaid": None}
        entries = [SitemapEntry(f"{HOST}/{name}/1", at, 0.5) for name, at in changed.items()]
        entries.append(SitemapEntry(f"{HOST}/important/1", None, 1.0))
        await frontier.put(sitemap_links(Sitemap(entries=entries), nesting=0, now=now))
        order = await crawl(frontier, lambda _: (KEPT, 400.0, []))
        names = [url.split("/")[3] for url in order[1:]]
        assert names == ["today", "important", "month", "old", "unsaid"]

    frontier_run(scenario, delay=0.0)


@pytest.mark.parametrize(("weight", "first"), [("0", "long"), ("1", "good")])
def test_the_weight_of_quality_decides_between_much_text_and_good_text(frontier_run, weight, first):
    texts = {"long": Document("", token_estimate=2000, quality_score=0.01)}
    texts["good"] = Document("", token_estimate=600, quality_score=0.9)

    async def scenario(frontier):
        await begin(frontier)
        await frontier.put([c for i in range(12) for c in (*links("long", 1, i), *links("good", 1, i))])
        order = []
        while leases := (await frontier.lease(1)).leases:
            (lease,) = leases
            name = lease.url.split("/")[3]
            order.append(name)
            brought = outcome_entry(lease, texts.get(name), frontier.limits.quality_weight)
            await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
        assert order[-8:] == [{"long": "good", "good": "long"}[first]] * 8

    limits = asdict(limits_of(from_mapping({"FRONTIER_QUALITY_WEIGHT": weight, "FRONTIER_EXPLORE": 0})))
    frontier_run(scenario, **limits | {"delay": 0.0})


def test_of_shapes_of_which_nothing_is_known_the_link_in_the_main_text_comes_first(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        marks = {f"{HOST}/{name}/1": mark for mark, name in ((6, "foot"), (0, "text"), (4, "menu"))}
        await frontier.put([link(url, mark=mark) for url, mark in marks.items()])
        order = await crawl(frontier, lambda _: (KEPT, 400.0, []))
        assert order[1:] == sorted(marks, key=marks.get)

    frontier_run(scenario, delay=0.0)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_part_of_the_requests_goes_to_shapes_that_were_never_asked(frontier_run, share):
    async def scenario(frontier):
        await begin(frontier)
        found = links("post", 60) + [link(f"{HOST}/new{c}x/{c}", mark=9) for c in "abcd"]
        kinds = {"post": (KEPT, 900.0)} | {f"new{c}x": (KEPT, 900.0) for c in "abcd"}
        order = await crawl(frontier, by_name(kinds, found))
        assert len(order) == 65
        early = [url for url in order[:45] if "/new" in url]
        assert len(early) == (4 if share else 0)

    frontier_run(scenario, delay=0.0, explore=share)


def test_the_same_outcomes_bring_about_the_same_order(frontier_run):
    orders = []

    async def scenario(frontier):
        frontier.crawl += f"-{len(orders)}"
        await begin(frontier)
        found = [c for i in range(40) for name in ("a", "b", "c") for c in links(name, 1, i, mark=i % 7)]
        orders.append(await crawl(frontier, by_name({"a": (KEPT, 100), "b": (KEPT, 900), "c": (SHORT, 0)}, found)))

    for _ in range(2):
        frontier_run(scenario, delay=0.0, explore=0.2, max_queued=16)
    assert orders[0] == orders[1]
    assert len(orders[0]) == 121


def test_what_the_table_says_is_within_its_bound(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        found = [
            link(f"{HOST}/{c}{d}x{'y' * n}/{'z' * 150}") for c in "abcdefghij" for d in "klmnopqrst" for n in (0, 1)
        ]
        await crawl(frontier, lambda url: (SHORT, 0.0, found if url == SEED else []))
        redis, key = frontier.connection.redis, frontier.prefix(0) + "w:a.example"
        assert await redis.hlen(key) <= 64 + 2
        assert await redis.memory_usage(key, samples=0) < 11 * 1024

    frontier_run(scenario, delay=0.0)


def test_shapes_that_were_never_asked_leave_room_in_the_table_for_those_that_are(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        found = [link(f"{HOST}/{c}{d}x/1") for c in "abcdefghij" for d in "klmnopqrst"]
        await frontier.put([*found, *(Link(f"{HOST}/tag/{n}") for n in range(20))])
        await crawl(frontier, by_name({"tag": (SHORT, 0)}))
        rows = await shapes_of(frontier, "a.example")
        assert sum(row.parked for row in rows) == 100  # all of the links, by the bound of their domain
        assert len(rows) <= 32 + 1  # and a row for the others

    frontier_run(scenario, delay=0.0, barren=10)


def test_without_a_bound_nothing_is_parked(frontier_run):
    async def scenario(frontier: Frontier):
        assert frontier.limits == Limits(delay=0.0)
        await begin(frontier)
        order = await crawl(frontier, by_name({"tag": (SHORT, 0)}, links("tag", 300)))
        assert len(order) == 301

    frontier_run(scenario, delay=0.0)


def test_a_purge_takes_what_is_parked_along(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        await crawl(frontier, by_name({"tag": (SHORT, 0)}, links("tag", 30)))
        parked = (await frontier.counts()).barren
        assert parked > 0
        assert await frontier.control.purge("a.example") == parked
        counts = await frontier.counts()
        assert (counts.barren, counts.purged) == (0, parked)
        assert await frontier.control.requeue("parked") == 0

    frontier_run(scenario, delay=0.0, barren=5)


def test_another_bound_is_noticed_and_the_same_one_is_not(frontier_run):
    async def scenario(frontier):
        assert not await frontier.control.order_by_value()
        assert not await frontier.control.order_by_value()
        frontier.limits = Limits(barren=7)
        assert await frontier.control.order_by_value()

    frontier_run(scenario, barren=5)


def test_the_status_names_what_is_parked_with_an_example_and_the_reason(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        await crawl(frontier, by_name({"tag": (SHORT, 0), "copy": (DUPLICATE, 0)}, links("tag", 30) + links("copy", 9)))
        view = await overview(frontier)
        (first, second) = view.barren
        assert (first.parked, first.short, first.duplicate) == (25, 5, 0)
        assert (second.parked, second.duplicate) == (5, 4)  # the bound of the domain: twice that of a shape
        assert first.shape == "a.example/tag/#"
        leased = {lease.url for lease in (await frontier.lease(9)).leases}
        assert not leased
        text = " ".join(render(view).split())
        assert "parked 30" in text
        reason = "its last 5 pages brought nothing new, nor did the last 10 of its domain (of 5 pages: 5 too short)"
        assert f"parked 25 links like {first.example}: {reason}" in text
        assert "`gristmill frontier requeue parked` brings them back" in text
        assert f"{view.scopes[0].barren} parked" in text
        await frontier.control.requeue("parked")
        assert (await overview(frontier)).barren == ()

    frontier_run(scenario, delay=0.0, barren=5)


def test_no_line_of_the_status_is_wider_than_a_terminal_but_for_an_address(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        name = "with-many-hyphens-in-a-long-name"
        await crawl(frontier, by_name({name: (SHORT, 0)}, links(f"{name}/and-more-of-them/in-a-folder-below", 30)))
        lines = render(await overview(frontier)).splitlines()
        wide = [line for line in lines if len(line) > 80]
        assert len(wide) == 1 and wide[0].split()[-1].startswith(f"{HOST}/with-many-hyphens")

    frontier_run(scenario, delay=0.0, barren=5)


def test_the_example_of_what_is_parked_is_a_url_that_was_not_asked(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        asked = await crawl(frontier, by_name({"tag": (SHORT, 0)}, links("tag", 30)))
        (kind,) = (await overview(frontier)).barren
        assert kind.example not in asked
        assert kind.example.startswith(f"{HOST}/tag/")

    frontier_run(scenario, delay=0.0, barren=5)
