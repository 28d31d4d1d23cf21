"""A site that makes links without end: the crawl ends by itself, keeps every article, and says what it left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.support.serving import Handler, article
from tests.support.site import Served

ARTICLES = 12


@dataclass
class Endless(Served):
    """/list?page=N leads to the next page in two orders, for ever; articles stand on the first pages."""

    asked: list[str] = field(default_factory=list)

    def serve(self, request: Handler) -> None:
        if re.match(r"/(list|a/)", request.path):
            self.asked.append(request.path)
        request.send(*self.answer(request.path))

    def answer(self, path: str) -> tuple[int, bytes]:
        if found := re.fullmatch(r"/a/(\d+)", path):
            return 200, article(f"endless {found[1]}", title=f"Article {found[1]}")
        if found := re.fullmatch(r"/list\?page=(\d+)(&sort=up)?", path):
            page = int(found[1])
            links = [f"/list?page={page + 1}", f"/list?page={page + 2}", f"/list?page={page}&amp;sort=up"]
            links += [f"/a/{n}" for n in range(3 * page, 3 * page + 3) if n < ARTICLES and not found[2]]
            return 200, ("<html><body>" + "".join(f'<a href="{link}">{link}</a> ' for link in links)).encode()
        return 404, b""


@pytest.fixture
def endless() -> Iterator[Endless]:
    site = Endless().start()
    yield site
    site.stop()


def test_a_crawl_of_an_endless_list_ends_with_every_article_and_the_reason(crawl, endless):
    given = {"url": f"{endless.base}/list?page=0"}
    crawl.settings = {"NETWORK_PORTS": endless.port, "FRONTIER_BARREN_PAGES": 15}
    done = crawl.run(given, timeout=200)
    assert done.returncode == 0, done.stderr
    assert {path for path in endless.asked if path.startswith("/a/")} == {f"/a/{n}" for n in range(ARTICLES)}
    fruitless = [path for path in endless.asked if path.startswith("/list")]
    assert len(fruitless) < 250  # what is under way when a bound is reached counts, too: there is no delay
    parked = [r for r in crawl.records("rejected") if r["reason"] == "hold_barren"]
    assert parked
    for record in parked:
        assert str(record["url"]).removeprefix(endless.base) not in endless.asked
        assert re.match(
            r"[\d,]+ links like this one are parked: its last \d+ pages brought nothing new", record["detail"]
        )
    before = len(endless.asked)
    again = crawl.run(given, timeout=200)
    assert again.returncode == 0, again.stderr
    assert len(endless.asked) <= before + 1  # parked links stay parked
    more = crawl.run(given, timeout=200, FRONTIER_BARREN_PAGES=20, CRAWL_RULES="replace")
    assert more.returncode == 0, more.stderr
    assert before + 15 < len(endless.asked) < before + 250  # another bound: they get another chance, and it ends again


def test_two_crawls_by_one_worker_ask_in_the_same_order(crawl, endless, tmp_path):
    """One at a time: the order depends on outcomes, not on how long the stages take."""
    settings = {"NETWORK_PORTS": endless.port, "FRONTIER_BARREN_PAGES": 10, "CONCURRENT_REQUESTS": 1}
    orders = []
    for name in ("one", "two"):
        crawl.folder = tmp_path / name
        done = crawl.run({"url": f"{endless.base}/list?page=0"}, timeout=200, **settings)
        assert done.returncode == 0, done.stderr
        orders.append(list(endless.asked))
        endless.asked.clear()
    assert orders[0] == orders[1]
    assert len(orders[0]) > ARTICLES + 5
