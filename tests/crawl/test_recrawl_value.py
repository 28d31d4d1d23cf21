"""What a second visit teaches the frontier: a page that changed counts for its shape, one that did not, for nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.shapes import ShapeView, shapes_of
from crawler.server.embedded import EmbeddedServer
from tests.support.changing_site import ChangingSite, Page
from tests.support.crawl import Crawl
from tests.support.serving import article

PAGES = 7
CHANGED = (1, 4)


@pytest.fixture
def site():
    """/p/0 … with an entity tag each, but the last, whose body alone says that nothing has changed."""
    made = ChangingSite().start()
    paths = [f"/p/{n}" for n in range(PAGES)]
    made.pages = {path: Page(article(path), etag=f'"{path}"') for path in paths}
    made.pages[paths[-1]].etag = None
    made.pages["/"] = Page(article("home", links=tuple(paths)))
    yield made
    made.stop()


def row(folder: Path, scope: str) -> ShapeView:
    """What the frontier of a corpus knows of the shape /p/#."""

    async def look(url: str) -> ShapeView:
        frontier = Frontier(url, "crawl")
        await frontier.open()
        try:
            (found,) = [view for view in await shapes_of(frontier, scope) if view.shape.endswith("/p/#")]
        finally:
            await frontier.close()
        return found

    with EmbeddedServer(folder / "frontier") as url:
        return asyncio.run(look(url))


def test_changed_pages_count_for_their_shape_and_unchanged_ones_neither_for_nor_against_it(crawl: Crawl, site):
    scope = site.base.removeprefix("http://")
    given = {"url": site.url("/")}
    done = crawl.run(given, NETWORK_PORTS=site.port)
    assert done.returncode == 0, done.stderr
    first = row(crawl.folder, scope)
    assert (first.fetched, first.kept, first.duplicate, first.streak) == (PAGES, PAGES, 0, 0)
    for n in CHANGED:
        site.pages[f"/p/{n}"] = Page(article(f"another text {n}"), etag='"new"')
    site.take_log()
    done = crawl.run(given, NETWORK_PORTS=site.port, RECRAWL=1, RECRAWL_INTERVAL_SECONDS=0)
    assert done.returncode == 0, done.stderr
    assert {asked.status for visits in site.take_log().values() for asked in visits} == {200, 304}
    second = row(crawl.folder, scope)
    assert second.kept == PAGES + len(CHANGED)
    assert second.tokens > first.tokens
    assert (second.short, second.duplicate, second.streak) == (0, 0, 0)
    assert (second.fetched, second.other) == (PAGES + len(CHANGED), 0)


def test_a_visit_of_everything_at_once_that_was_cut_off_goes_on_and_begins_anew_when_it_is_through(crawl: Crawl, site):
    given, at_once = {"url": site.url("/")}, {"RECRAWL": 1, "RECRAWL_INTERVAL_SECONDS": 0}

    def asked(**settings: int) -> list[str]:
        site.take_log()
        done = crawl.run(given, NETWORK_PORTS=site.port, **settings)
        assert done.returncode == 0, done.stderr
        return sorted(path for path, visits in site.take_log().items() for _ in visits)

    every = sorted(site.pages)
    assert asked() == every
    first = asked(**at_once, CLOSESPIDER_PAGECOUNT=3)
    assert 3 <= len(first) < len(every)
    assert sorted(first + asked(**at_once)) == every
    assert asked(**at_once) == every
