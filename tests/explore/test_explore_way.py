"""The way of a page on a real crawl: how it was found, lease, robots line, statements of opt-out, verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape

import pytest

from crawler.explore.filters import Filter
from crawler.explore.found_on import found_on
from crawler.explore.listing import listing
from crawler.urls.link import source_id
from crawler.urls.shape import shape_id_of
from tests.explore.conftest import Desk
from tests.support import corpus_crawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.serving import article

SITE, OTHER = "127.0.0.6", "127.0.0.7"
LINKED = {
    "/": ("/a/one", "/a/two", "/old"),
    "/a/one": ("/b/deep",),
    "/b/deep": ("/c/deepest",),
}
"""Who links to whom; /old redirects to /new, /listed stands in the feed that / names."""
ON = {"/a/one": "/", "/a/two": "/", "/old": "/", "/new": "/", "/b/deep": "/a/one", "/c/deepest": "/b/deep"}
SAID = (("X-Robots-Tag", "noai"), ("Content-Usage", "train-ai=y"))
ROBOTS = b"User-agent: *\nAllow: /a/\nDisallow: /private/\n"
ALTERNATE = b"</title><link rel=alternate type='application/rss+xml' href=/feed>"
FEED = b"<rss version='2.0'><channel><title>New</title><item><link>@here@/listed</link></item></channel></rss>"


@dataclass
class Crawled:
    """A finished crawl of the site, served."""

    desk: Desk
    base: str
    result: corpus_crawl.CorpusCrawl

    def key_of(self, path: str) -> int:
        rows = listing(self.desk.catalogues[0], Filter(words=f"{self.base}{path}")).rows
        return next(int(row["id"]) for row in rows if row["url"] == self.base + path)

    def way(self, path: str) -> dict[str, list[str]]:
        """What the page of this document says under "How it got its verdict", as a person reads it."""
        shown = self.desk.page(f"/0/documents/{self.key_of(path)}")
        table = shown.partition("<h2>How it got its verdict</h2>")[2].partition("</table>")[0]
        found: dict[str, list[str]] = {}
        for title, words in re.findall(r"<th[^>]*>(.*?)</th><td>(.*?)</td>", table, re.DOTALL):
            found.setdefault(title, []).append(unescape(re.sub(r"<[^>]+>", "", words)))
        return found


@pytest.fixture(scope="module")
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as web:
        yield web


@pytest.fixture(scope="module")
def finished(web: PolicyWeb, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, corpus_crawl.CorpusCrawl]:
    pages = {path: Answer(body=article(path, links=LINKED.get(path, ()))) for path in ON if path != "/old"}
    first = article("/", links=LINKED["/"]).replace(b"</title>", ALTERNATE)
    pages |= {"/": Answer(body=first), "/listed": Answer(body=article("/listed"))}
    pages["/a/two"] = Answer(body=article("/a/two"), headers=SAID[:1])
    pages["/b/deep"] = Answer(body=article("/b/deep", links=LINKED["/b/deep"]), headers=SAID[1:])
    pages["/old"] = Answer(302, headers=(("Location", "/new"),))
    pages["/robots.txt"] = Answer(body=ROBOTS, content_type="text/plain")
    pages["/feed"] = Answer(body=FEED, content_type="application/rss+xml")
    base = web.site(SITE, pages)
    folder = tmp_path_factory.mktemp("way") / "corpus"
    return base, corpus_crawl.crawl(folder, [f"{base}/"], web.port, JS_MODE="never", FRONTIER_FEEDS=1)


@pytest.fixture
def crawled(finished: tuple[str, corpus_crawl.CorpusCrawl], serve: Callable[..., Desk]) -> Crawled:
    base, result = finished
    assert result.returncode == 0, result.log
    return Crawled(serve(result.folder), base, result)


@pytest.mark.parametrize("path", sorted(ON.keys() - {"/old", "/a/two"}))
def test_a_page_leads_back_to_the_page_it_was_found_on(crawled: Crawled, path: str) -> None:
    assert crawled.way(path)["Found on"] == [crawled.base + ON[path]]
    shown = crawled.desk.page(f"/0/documents/{crawled.key_of(path)}")
    assert f'href="/0/documents/{crawled.key_of(ON[path])}">{crawled.base}{ON[path]}</a>' in shown


def test_a_listed_page_says_so_and_a_seed_says_nothing(crawled: Crawled) -> None:
    assert crawled.way("/listed")["Found on"] == ["a sitemap or feed"]
    assert "Found on" not in crawled.way("/")


def test_lease_depth_robots_line_fetch_and_verdict_are_those_of_the_record(crawled: Crawled) -> None:
    for path, depth in {"/": 0, "/listed": 0, "/a/one": 1, "/new": 1, "/b/deep": 2, "/c/deepest": 3}.items():
        way, record = crawled.way(path), crawled.result.kept[crawled.base + path]
        assert way["Depth"] == [str(depth)]
        assert way["Attempt"] == ["1"]
        assert re.fullmatch(r"\d+\.\S+", way["Lease"][0])
        assert way["Fetched"] == [f"{record['crawled_at']} by {record['worker_id']}"]
        assert way["Answer"] == ["200 text/html; charset=utf-8"]
        assert way["Verdict"] == ["kept: every stage let it pass"]
    assert "line 2: Allow: /a/" in crawled.way("/a/one")["robots.txt"][0]
    assert crawled.way("/new")["Redirected from"] == [f"{crawled.base}/old"]


def test_statements_of_opt_out_are_named_with_what_they_led_to(crawled: Crawled) -> None:
    assert "train-ai=y" in crawled.way("/b/deep")["Opt-out statement"][0]
    assert crawled.way("/a/one")["Opt-out statements"] == ["none"]
    refused = crawled.way("/a/two")
    assert "noai" in refused["Opt-out statement"][0]
    assert refused["Verdict"][0].startswith("optout: ")
    assert f"{crawled.base}/a/two" in crawled.result.rejected


def test_a_page_that_is_in_the_corpus_no_more_is_not_named(crawled: Crawled) -> None:
    catalogue = crawled.desk.catalogues[0]
    for letters, shape in ((f"{crawled.base}/gone", "/"), (f"{crawled.base}/a/one", "/gone/x/y")):
        noted = {"id": source_id(letters), "shape": shape_id_of(f"{crawled.base}{shape}")}
        found = found_on(catalogue, {"domain": SITE}, {"found_by": "link", "found_on": noted})
        assert found == ("a page that is not in this corpus (any more)", None)


@pytest.mark.parametrize("noted", [None, "abc", {}, {"id": 5, "shape": "x"}, {"id": "!", "shape": "x"}, {"id": "AAAA"}])
def test_a_note_that_is_none_of_ours_says_nothing(crawled: Crawled, noted: object) -> None:
    assert found_on(crawled.desk.catalogues[0], {}, {"found_by": "link", "found_on": noted}) is None


def test_a_page_of_another_domain_is_found_as_well(crawled: Crawled) -> None:
    noted = {"id": source_id(f"{crawled.base}/a/one"), "shape": shape_id_of(f"{crawled.base}/a/one")}
    found = found_on(crawled.desk.catalogues[0], {"domain": OTHER}, {"found_by": "link", "found_on": noted})
    assert found == (f"{crawled.base}/a/one", crawled.key_of("/a/one"))
