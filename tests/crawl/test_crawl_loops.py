"""A site that answers every path costs few requests, and what was not followed is counted by name."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.observe.report.summary import summarise
from tests.support.corpus_crawl import crawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.serving import Handler, LoopbackServer
from tests.support.syllables import prose


class Endless(LoopbackServer):
    """Every path is a page of its own that leads to the folders `a/` and `b/` below it."""

    def __init__(self) -> None:
        super().__init__(_Everywhere)
        self.asked: Counter[str] = Counter()


class _Everywhere(Handler):
    server: Endless

    def respond(self) -> None:
        self.server.asked[self.path] += 1
        if self.path.endswith((".txt", ".json")):
            self.send(404)
            return
        text = prose(150, sum(map(ord, self.path)) + 977 * len(self.path) + 31 * self.path.count("a/b"))
        self.send(200, f"<p>{text}.</p><p>{html.escape(self.path)}</p><a href='a/'>a</a><a href='b/'>b</a>".encode())


def test_a_path_that_loops_in_any_arrangement_is_left_after_a_few_requests(tmp_path: Path) -> None:
    with Endless() as web:
        done = crawl(tmp_path / "corpus", [f"http://127.0.0.8:{web.port}/"], web.port, FRONTIER_BARREN_PAGES=0)
    pages = [path for path in web.asked if path.endswith("/")]
    assert len(pages) <= 17
    assert summarise(str(done.folder)).left_out["trap: repeated_segment"] >= 10


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as running:
        yield running


def test_links_beyond_the_limit_of_a_page_are_counted_and_said(web: PolicyWeb, tmp_path: Path) -> None:
    anchors = "".join(f"<a href='/p{n}'>{n}</a><a href='/p{n}#again'>{n}</a>" for n in range(20))
    body = f"<iframe src=/framed></iframe>{anchors}<a href='mailto:a@example.org'>m</a><p>{prose(150, 1)}.</p>"
    site = web.site("127.0.0.8", {"/": Answer(body=body.encode()), "/robots.txt": Answer(404)})
    done = crawl(tmp_path / "corpus", [f"{site}/"], web.port, PARSE_MAX_LINKS=5)
    assert summarise(str(done.folder)).left_out == {"cap: links": 16}
    assert {path for path in web.asked["127.0.0.8"] if "/p" in path} == {"/p0", "/p1", "/p2", "/p3"}
    assert "/framed" in web.asked["127.0.0.8"]
