"""Feeds lead to pages as sitemaps do: given as seeds, or named by the pages themselves, within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.seeds.feeds import MAX_HOSTS, Feeds
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.process import scrapy

RSS = '<rss version="2.0"><channel><item><link>@here@/from-rss</link></item></channel></rss>'
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="@here@/from-atom"/></entry></feed>'
JSON = '{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "@here@/from-json"}, {"url": "@there@/out"}]}'
NAMED = {"/from-rss", "/from-atom", "/from-json"}


def prose(topic: str) -> str:
    return " ".join(f"On day {n} the {topic} guild met and wrote down what the {topic} had cost." for n in range(14))


def page(topic: str, head: str = "") -> Answer:
    return Answer(body=f"<!doctype html><html><head>{head}</head><body><main><p>{prose(topic)}".encode())


def link(kind: str, href: str, rel: str = "alternate") -> str:
    return f'<link rel="{rel}" type="application/{kind}" href="{href}">'


def routes(head: str, robots: str = "User-agent: *\nAllow: /\n") -> dict[str, Answer]:
    return {
        "/robots.txt": Answer(body=robots.encode(), content_type="text/plain"),
        "/": page("cooper", head),
        "/feed.xml": Answer(body=RSS.encode(), content_type="application/rss+xml"),
        "/atom.xml": Answer(body=ATOM.encode(), content_type="application/atom+xml"),
        "/feed.json": Answer(body=JSON.encode(), content_type="application/feed+json"),
        **{path: page(path[6:]) for path in NAMED},
    }


def run(folder: Path, web: PolicyWeb, *arguments: str, **more: object) -> CorpusCrawl:
    settings = SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": web.port} | more
    given = [part for argument in arguments for part in ("-a", argument)]
    found = scrapy("crawl", "corpus", *given, settings=settings, timeout=120)
    assert found.returncode == 0, found.stderr[-3000:]
    return CorpusCrawl(folder, found.stderr, found.returncode)


ALL = link("rss+xml", "/feed.xml") + link("atom+xml", "atom.xml") + link("feed+json", "/feed.json", "alternate home")


@pytest.mark.parametrize(
    ("head", "robots", "feeds", "expected"),
    [
        (ALL, "", 10, NAMED),
        (ALL, "", 0, set()),
        (ALL, "", 1, {"/from-rss"}),
        (ALL, "User-agent: *\nDisallow: /feed\n", 10, {"/from-atom"}),
        (link("rss+xml", "@there@/feed.xml") + link("rss+xml", "/feed.xml", "canonical"), "", 10, set()),
        ('<meta name="robots" content="nofollow">' + ALL, "", 10, set()),
    ],
)
def test_pages_lead_to_the_feeds_that_they_name_as_far_as_the_crawl_wants_them(
    tmp_path: Path, head: str, robots: str, feeds: int, expected: set[str]
) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes(head, robots), there="127.0.0.3")
        there = web.site("127.0.0.3", {**routes(""), "/out": page("out")})
        done = run(tmp_path / "corpus", web, f"url={here}/", FRONTIER_FEEDS=feeds)
        assert "127.0.0.3" not in web.asked, web.asked
    assert {url.removeprefix(here) for url in done.kept} == {"/"} | expected
    assert f"{there}/out" not in done.kept


def test_an_entry_of_the_allowlist_says_how_many_feeds_of_its_hosts_are_read(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes(ALL))
        file = tmp_path / "allow.yaml"
        domain = here.removeprefix("http://")
        file.write_text(f"- {{domain: '{domain}', tier: A, licence: CC0, discovery: links, feeds: 2}}\n")
        done = run(tmp_path / "corpus", web, f"allowlist={file}")
    assert {url.removeprefix(here) for url in done.kept} == {"/", "/from-rss", "/from-atom"}


@pytest.mark.parametrize("feed", ["/feed.xml", "/atom.xml", "/feed.json"])
def test_every_kind_of_feed_is_a_seed(tmp_path: Path, feed: str) -> None:
    with PolicyWeb() as web:
        here = web.site("127.0.0.2", routes(""))
        done = run(tmp_path / "corpus", web, f"sitemap={here}{feed}")
        assert len(done.kept) == 1
        assert set(done.kept) < {here + path for path in NAMED}


def test_what_a_worker_remembers_of_feeds_is_bounded() -> None:
    feeds = Feeds()
    assert feeds.new(["https://a.org/1", "https://a.org/1", "https://a.org/2", "https://a.org/3"], lambda _: 2) == [
        "https://a.org/1", "https://a.org/2",
    ]  # fmt: skip
    for number in range(MAX_HOSTS):
        assert feeds.new([f"https://h{number}.org/feed"], lambda _: 1)
    assert feeds.new(["https://a.org/1"], lambda _: 2) == ["https://a.org/1"]  # forgotten; the frontier knows it
