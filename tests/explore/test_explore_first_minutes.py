"""`gristmill explore` of a crawl that has sealed nothing: the crawl is what there is to see, and then its corpus."""

from __future__ import annotations

from collections.abc import Callable

from tests.explore.conftest import Desk
from tests.explore.test_explore_live import Crawling, crawling, eventually  # noqa: F401  # a fixture


def test_it_lands_on_the_crawl_and_opens_the_corpus_once_a_file_is_sealed(
    crawling: Crawling,  # noqa: F811
    serve: Callable[..., Desk],
) -> None:
    desk = serve(crawling.folder, crawling=True)
    landed = desk.ask("/")
    assert (landed.status, landed.headers["location"]) == (307, "/0/live")
    assert "The crawl runs: 1 worker is at work." in desk.page("/0/live")
    waiting = desk.ask("/0/")
    assert (waiting.status, "Nothing to show yet" in waiting.body, 'href="/0/live"' in waiting.body) == (
        503,
        True,
        True,
    )
    crawling.gate.open()
    crawling.process.wait(60)
    eventually(lambda: desk.ask("/0/").status == 200)
    assert desk.ask("/").headers["location"] == "/0/"
    assert "The crawl is finished: no URL waits." in desk.page("/0/live")
