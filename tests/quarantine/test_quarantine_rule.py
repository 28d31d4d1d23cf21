"""Pages of a shape that suddenly say the same little are noticed; short pages that say something are left alone."""

from __future__ import annotations

import asyncio
import random
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.web.prose import prose
from crawler.frontier.client import Frontier
from crawler.quarantine.history import SHAPES, MemoryYields, SharedYields
from crawler.quarantine.rule import Event, History, YieldRule
from crawler.server.embedded import EmbeddedServer

FRAME = 30_000
"""Bytes of a page around its text."""
CONSENT = " ".join(prose("consent", 150))
NUMBERS = count()


def of(text):
    return len(text) / (FRAME + len(text)), text


def own(words):
    """A page that says something of its own."""
    return of("\n".join(prose(next(NUMBERS), words)))


def wall(words=50):
    """A page that asks for consent and names what lies behind it."""
    return of(CONSENT + " ".join(prose(next(NUMBERS), words)))


def many(make, n, *arguments):
    return [make(*arguments) for _ in range(n)]


def run(pages, rule=None):
    history, rule = History(), rule or YieldRule()
    return [rule.see(history, *page) for page in pages], history


ARTICLES, NOTES, WALLS = many(own, 60, 900), many(own, 60, 110), many(wall, 60)
LISTS = [of("\n".join(prose(n, 120)).upper()) for n in range(60)]
HEALTHY = sorted([*ARTICLES, *NOTES, *many(own, 40, 300)], key=lambda page: -len(page[1]))


def test_a_wall_is_noticed_within_a_window_and_its_pages_are_set_aside():
    judged, history = run([*ARTICLES, *WALLS[:40]])
    assert history.quarantined
    assert [j.event for j in judged if j.event] == [Event.FELL]
    first = next(i for i, j in enumerate(judged) if j.low)
    assert 70 < first < 80
    assert all(j.low for j in judged[first:])


@pytest.mark.parametrize(
    "gives",
    [
        (0.0, ""),
        (0.4, "Checking your browser before you proceed. Request 4711."),
        of(CONSENT),
        (0.001, "12:04"),
    ],
    ids=["nothing", "a small page for robots, all text", "a wall without a name", "digits"],
)
def test_whatever_says_the_same_on_every_page_is_a_wall(gives):
    judged, history = run([*ARTICLES, *[gives] * 40])
    assert history.quarantined
    assert judged[-1].low


def test_a_wall_in_a_script_without_spaces_is_noticed():
    chance = random.Random(7)
    signs = [chr(n) for n in range(0x4E00, 0x4F00)]
    articles = [of("".join(chance.choices(signs, k=1500))) for _ in range(60)]
    consent = "".join(chance.choices(signs, k=120))
    judged, _ = run([*articles, *[of(consent + "".join(chance.choices(signs, k=40))) for _ in range(40)]])
    assert judged[-1].low
    assert not any(j.low for j in run(articles + [of("".join(chance.choices(signs, k=90))) for _ in range(60)])[0])


def test_nothing_is_said_before_there_is_a_history():
    judged, history = run([*ARTICLES[:30], *WALLS[:10]])
    assert not history.quarantined
    assert not any(j.low for j in judged)


def test_a_wall_that_stays_up_does_not_become_what_is_usual():
    judged, history = run([*ARTICLES, *WALLS * 10])
    assert history.quarantined
    assert judged[-1].low
    assert history.usual == pytest.approx(judged[100].usual)


def test_a_shape_comes_back_by_itself_when_its_pages_say_something_again():
    judged, history = run([*ARTICLES, *WALLS[:40], *NOTES])
    assert not history.quarantined
    assert [j.event for j in judged if j.event] == [Event.FELL, Event.RECOVERED]
    assert not any(j.low for j in judged[100:])  # a short page with something to say is kept in a quarantine, too


def test_a_wall_on_every_other_page_neither_begins_nor_ends_again_and_again():
    mixed = [page for pair in zip(ARTICLES[:50], WALLS[:50], strict=True) for page in pair]
    judged, _ = run([*ARTICLES, *mixed])
    assert sum(bool(j.event) for j in judged) == 0
    judged, _ = run([*ARTICLES, *WALLS[:20], *mixed])
    assert [j.event for j in judged if j.event] == [Event.FELL]


def test_short_release_notes_after_long_pages_are_left_alone():
    judged, _ = run([*ARTICLES, *NOTES])
    assert not any(j.low or j.event for j in judged)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.permutations(range(len(HEALTHY))), st.sampled_from([0, 40, 80, 160]), st.booleans())
def test_no_healthy_page_is_held_in_any_order(order, ordered, reverse):
    pages = [*HEALTHY[:ordered], *(HEALTHY[n] for n in order if n >= ordered)]  # long ones first, then as it comes
    judged, history = run(pages[::-1] if reverse else pages, YieldRule(pages=10, window=5))
    assert not history.quarantined
    assert not any(j.low or j.event for j in judged)


def test_a_site_of_rich_and_poor_pages_is_left_alone():
    rich_and_poor = [page for five in zip(ARTICLES, NOTES, LISTS, strict=True) for page in five]
    judged, _ = run(rich_and_poor)
    assert not any(j.low for j in judged)


def test_pages_that_always_said_the_same_have_not_fallen():
    judged, _ = run(WALLS * 3)
    assert not any(j.low for j in judged)


def test_the_rule_can_be_switched_off():
    judged, _ = run([*ARTICLES, *[(0.0, "")] * 60], YieldRule(share=0.0))
    assert not any(j.low for j in judged)


def test_the_state_of_a_shape_is_small_and_survives_its_storage():
    _, history = run(ARTICLES * 20)
    assert len(history.dump()) < 300
    _, fallen = run([*ARTICLES, *WALLS])
    assert len(fallen.dump()) < 6_000
    for one in (history, fallen, History()):
        assert History.load(one.dump()) == one
    assert History.load("") == History()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.floats(0, 2), st.text(max_size=40) | st.just(CONSENT)), max_size=120),
    st.integers(2, 10),
    st.integers(1, 20),
)
def test_storing_the_state_after_every_page_changes_nothing(pages, window, older):
    rule, history, line = YieldRule(0.6, older, window), History(), ""
    for page in pages:
        stored = History.load(line)
        assert rule.see(stored, *page) == rule.see(history, *page)
        line = stored.dump()
        assert "\n" not in line


@pytest.fixture(scope="module")
def server_url(tmp_path_factory):
    server = EmbeddedServer(tmp_path_factory.mktemp("yields"))
    yield server.start()
    server.stop()


def with_two_workers(url, crawl, work):
    async def main():
        workers = [Frontier(url, crawl), Frontier(url, crawl)]
        for worker in workers:
            await worker.open()
        try:
            return await work(*(SharedYields(YieldRule(), worker) for worker in workers))
        finally:
            for worker in workers:
                await worker.close()

    return asyncio.run(main())


def visits(pages, path="articles"):
    """Pages of one shape at addresses of their own."""
    return [(f"http://a.test/{path}/{chr(97 + n % 26)}word", *page) for n, page in enumerate(pages)]


def test_workers_share_one_history_and_agree_with_a_single_process(server_url):
    seen = [v for pair in zip(visits([*ARTICLES, *WALLS]), visits(NOTES * 2, "notes"), strict=True) for v in pair]

    async def work(a, b):
        return [await (a, b)[i // 3 % 2].see("a.test", *visit) for i, visit in enumerate(seen)]

    async def alone():
        memory = MemoryYields(YieldRule())
        return [await memory.see("a.test", *visit) for visit in seen]

    together = with_two_workers(server_url, "one", work)
    assert together == asyncio.run(alone())
    assert any(j.low for j in together)


def test_no_page_is_lost_where_two_workers_write_at_once(server_url):
    some = visits(ARTICLES[:41])

    async def work(a, b):
        await asyncio.gather(*(worker.see("a.test", *visit) for worker in (a, b) for visit in some[:40]))
        await a.see("a.test", *some[40])
        redis = a._frontier.connection.redis
        return [History.load(bytes(line).decode()) for line in await redis.hvals(a._key("a.test"))]

    (history,) = with_two_workers(server_url, "two", work)
    assert history.pages + len(history.latest) == 81


def alone_and_shared(server_url, crawl, seen):
    async def alone():
        memory = MemoryYields(YieldRule())
        return [await memory.see("a.test", *visit) for visit in seen]

    async def work(a, b):
        judged = [await (a, b)[i % 2].see("a.test", *visit) for i, visit in enumerate(seen)]
        return judged, await a.quarantined()

    judged, listed = with_two_workers(server_url, crawl, work)
    assert judged == asyncio.run(alone())
    return judged, listed


def test_articles_collapse_while_the_indexes_of_the_site_stay(server_url):
    articles, lists = visits([*ARTICLES, *WALLS]), visits(LISTS * 2, "index/of")
    seen = [v for pair in zip(articles, lists, strict=True) for v in pair]
    judged, listed = alone_and_shared(server_url, "shapes", seen)
    assert {v[0].split("/")[3] for v, j in zip(seen, judged, strict=True) if j.low} == {"articles"}
    assert [fallen.shape for fallen in listed["a.test"]] == ["a.test/articles/*"]


def test_a_domain_begins_and_ends_once_however_many_of_its_shapes_fall(server_url):
    story = [*ARTICLES, *WALLS[:40], *NOTES]
    shapes = [visits(story, path) for path in ("news", "blog", "docs")]
    seen = [v for together in zip(*shapes, strict=True) for v in together]
    judged, listed = alone_and_shared(server_url, "events", seen)
    assert [j.event for j in judged if j.event] == [Event.FELL, Event.RECOVERED]
    assert listed == {}


def test_a_domain_of_countless_shapes_has_a_bounded_history(server_url):
    seen = [
        (f"http://a.test/{path}{chr(97 + n)}/x", 0.5, "x")
        for path in ("a" * k for k in range(1, 25))
        for n in range(26)
    ]

    async def work(a, b):
        for visit in seen:
            await a.see("a.test", *visit)
        return await a._frontier.connection.redis.hlen(a._key("a.test"))

    assert with_two_workers(server_url, "many", work) == SHAPES + 1
    alone_and_shared(server_url, "many more", seen)


def test_a_domain_in_quarantine_is_listed_until_it_is_released_or_recovers(server_url):
    async def work(a, b):
        for domain in ("a.test", "b.test"):
            for visit in visits([*ARTICLES, *WALLS[:30]]):
                await a.see(domain, *visit)
        listed = list(await b.quarantined())
        known = await b.knows("a.test"), await b.knows("unknown.test")
        await b.release("a.test")
        for visit in visits(NOTES[:30]):
            await a.see("b.test", *visit)
        after = await a.see("a.test", *visits(WALLS[:1])[0])
        return listed, known, list(await b.quarantined()), after

    listed, known, rest, after = with_two_workers(server_url, "three", work)
    assert listed == ["a.test", "b.test"]
    assert known == (True, False)
    assert rest == []
    assert not after.low  # what it gives now is what is usual
