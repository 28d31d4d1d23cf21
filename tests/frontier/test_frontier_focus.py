"""A crawl that follows a model: links go by what the pages beside them were found to be worth."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Nack, Wire
from crawler.frontier.outcome import KEPT, OTHER, SHORT, packed_outcome
from crawler.urls.link import Link, source_id
from crawler.urls.shape import shape_id_of
from tests.frontier.test_frontier_value import HOST, begin

Said = tuple[str, float | None, list[str]]  # what the page is, what a model says of it, paths of its links


async def crawl(frontier: Frontier, page: Callable[[str], Said], most: int = 1_000) -> list[str]:
    """Lease one path after the other, and do what a worker does; every text has 400 tokens."""
    order: list[str] = []
    while len(order) < most and (leases := (await frontier.lease(1)).leases):
        (lease,) = leases
        order.append(lease.url.removeprefix(HOST))
        kind, score, paths = page(order[-1])
        depth, parent, source = lease.link.depth + 1, shape_id_of(lease.url), source_id(lease.url)
        await frontier.put([Link(f"{HOST}{p}", depth=depth, mark=0, parent=parent, source=source) for p in paths])
        tokens = 0.0 if kind != KEPT else 400.0
        brought = packed_outcome(lease, kind, tokens, score)
        await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
    return order


def boards(good: int, per_board: int = 20, score: bool = True) -> Callable[[str], Said]:
    """Ten boards whose threads are all of one shape; those of the board `good` are wanted."""

    def page(path: str) -> Said:
        if path == "/":
            return SHORT, None, [f"/board/{n}" for n in range(10)]
        _, name, n = path.split("/")
        if name == "board":
            return SHORT, None, [f"/thread/{int(n) * per_board + k}" for k in range(per_board)]
        return KEPT, (0.8 if int(n) // per_board == good else 0.2) if score else None, []

    return page


def sections(good: int) -> Callable[[str], Said]:
    """Ten sections that stand in the address of their articles."""

    def page(path: str) -> Said:
        if path == "/":
            return SHORT, None, [f"/board/{n}" for n in range(10)]
        _, name, n = path.split("/")
        if name == "board":
            return SHORT, None, [f"/{'abcdefghij'[int(n)] * 3}/{k}" for k in range(20)]
        return KEPT, 0.8 if name == "abcdefghij"[good] * 3 else 0.2, []

    return page


def chain(path: str) -> Said:
    """Notes of two kinds that link to their own kind only: what a page is worth is all that says it of its links."""
    if path == "/":
        return SHORT, None, ["/note/0", "/note/1"]
    n = int(path.split("/")[2])
    return KEPT, 0.2 + 0.6 * (n % 2), [f"/note/{m}" for m in (2 * n + 4 - n % 2, 2 * n + 6 - n % 2) if m < 400]


def thread(path: str, first: int, count: int = 20) -> bool:
    return path.startswith("/thread/") and first <= int(path.split("/")[2]) < first + count


@pytest.mark.parametrize(
    ("web", "wanted"), [(boards(7), "/thread/1[45]."), (sections(7), "/hhh/")], ids=["board", "name"]
)
def test_a_section_that_is_wanted_is_found_and_asked_before_the_rest_of_the_first_one(
    frontier_run: Callable[..., None], web: Callable[[str], Said], wanted: str
) -> None:
    async def scenario(frontier: Frontier) -> None:
        await begin(frontier)
        order = await crawl(frontier, web)
        assert len(order) == len(set(order)) == 211
        is_wanted = [re.match(wanted, path) is not None for path in order]
        assert sum(is_wanted[:70]) >= 15, order[:70]

    frontier_run(scenario, delay=0.0, quality_weight=1.0)


def test_a_section_is_asked_although_the_lists_on_the_way_to_it_brought_nothing(
    frontier_run: Callable[..., None],
) -> None:
    """A hundred lists, of which none is a text, and three sections behind them."""

    def page(path: str) -> Said:
        if path == "/":
            return SHORT, None, [f"/board/{n}" for n in range(100)]
        _, name, n = path.split("/")
        if name == "board":
            return SHORT, None, [f"/{'abc'[int(n) % 3] * 3}/{k}" for k in range(int(n), 200, 100)]
        return KEPT, 0.8 if name == "ccc" else 0.2, []

    async def scenario(frontier: Frontier) -> None:
        await begin(frontier)
        order = await crawl(frontier, page)
        articles = [path for path in order if path[1:4] in {"aaa", "bbb", "ccc"}]
        assert {path[1:4] for path in articles[:4]} == {"aaa", "bbb", "ccc"}, articles

    frontier_run(scenario, delay=0.0, quality_weight=1.0, explore=0.0, barren=0)


def test_links_of_a_page_that_is_wanted_are_asked_before_links_of_one_that_is_not(
    frontier_run: Callable[..., None],
) -> None:
    async def scenario(frontier: Frontier) -> None:
        await begin(frontier)
        order = [path for path in await crawl(frontier, chain, 80) if path != "/"]
        wanted = sum(int(path.split("/")[2]) % 2 for path in order)
        assert wanted > 55, order

    frontier_run(scenario, delay=0.0, quality_weight=1.0, explore=0.0)


@pytest.mark.parametrize(("weight", "score"), [(0.0, True), (1.0, False)], ids=["no weight", "nothing said"])
def test_without_a_weight_or_a_score_the_order_is_what_it_was(
    frontier_run: Callable[..., None], weight: float, score: bool
) -> None:
    async def scenario(frontier: Frontier) -> None:
        await begin(frontier)
        order = await crawl(frontier, boards(7, score=score), 60)
        assert not any(thread(path, 140) for path in order)
        assert int(await frontier.connection.redis.exists(f"{frontier.prefix(0)}f:a.example")) == 0

    frontier_run(scenario, delay=0.0, quality_weight=weight, explore=0.0)


def test_what_is_remembered_of_pages_is_bounded_and_nothing_is_left_out(frontier_run: Callable[..., None]) -> None:
    def page(path: str) -> Said:
        if path == "/":
            return SHORT, None, [f"/list/{n}" for n in range(250)]
        _, name, n = path.split("/")
        return (OTHER, 0.9 if int(n) % 3 else 0.1, [f"/page/{n}"]) if name == "list" else (KEPT, 0.5, [])

    async def scenario(frontier: Frontier) -> None:
        await begin(frontier)
        order = await crawl(frontier, page)
        assert len(set(order)) == 501
        assert 60 < await frontier.connection.redis.hlen(f"{frontier.prefix(0)}f:a.example") <= 128 + 64

    frontier_run(scenario, delay=0.0, quality_weight=1.0, barren=0)


def test_a_link_that_failed_once_and_one_of_an_unknown_page_find_their_places(
    frontier_run: Callable[..., None],
) -> None:
    async def scenario(frontier: Frontier) -> None:
        await begin(frontier)
        await crawl(frontier, boards(7), 30)
        (lease,) = (await frontier.lease(1)).leases
        assert await frontier.nack(lease.token, None, "no answer") is Nack.QUEUED
        await frontier.put([Link(f"{HOST}/thread/9999", depth=2, mark=0)])
        order = await crawl(frontier, boards(7))
        assert lease.url.removeprefix(HOST) in order
        assert "/thread/9999" in order

    frontier_run(scenario, delay=0.0, quality_weight=1.0)


def test_texts_in_a_language_that_the_model_does_not_know_do_not_go_before_those_that_it_wants(
    frontier_run: Callable[..., None],
) -> None:
    def page(path: str) -> Said:
        if path == "/":
            return SHORT, None, [f"/{name}/{n}" for n in range(30) for name in ("de", "good", "poor")]
        return KEPT, {"de": None, "good": 0.9, "poor": 0.1}[path.split("/")[1]], []

    async def scenario(frontier: Frontier) -> None:
        await begin(frontier)
        order = await crawl(frontier, page)
        names = [path.split("/")[1] for path in order[1:]]
        assert names[:40].count("good") >= 27, names
        assert names[-25:].count("poor") >= 23, names

    frontier_run(scenario, delay=0.0, quality_weight=1.0, explore=0.0)


def test_the_same_scores_bring_about_the_same_order(frontier_run: Callable[..., None]) -> None:
    orders: list[list[str]] = []

    async def scenario(frontier: Frontier) -> None:
        frontier.crawl += f"-{len(orders)}"
        await begin(frontier)
        orders.append(await crawl(frontier, boards(3), 90))

    for _ in range(2):
        frontier_run(scenario, delay=0.0, quality_weight=1.0)
    assert orders[0] == orders[1]
