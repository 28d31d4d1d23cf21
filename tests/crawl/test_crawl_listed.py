"""Sitemaps on other hosts, in other languages, and of pages that changed since a day, in real crawls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.observe.report.summary import summarise
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.loopback_web import Answer, PolicyWeb, Route
from tests.support.process import scrapy
from tests.support.syllables import prose

HOST, ELSEWHERE = "127.0.0.8", "127.0.0.9"


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as running:
        yield running


def page(seed: int) -> Answer:
    return Answer(body=f"<!doctype html><body><main><p>{prose(150, seed)}.</p></main>".encode())


def xml(text: str) -> Answer:
    return Answer(body=text.encode(), content_type="application/xml")


def urlset(*entries: str) -> Answer:
    return xml(f"<urlset xmlns:xhtml='http://www.w3.org/1999/xhtml'>{''.join(entries)}</urlset>")


def entry(path: str, lastmod: str = "", more: str = "", site: str = "@there@") -> str:
    changed = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>{site}{path}</loc>{changed}{more}</url>"


def robots(more: str = "") -> Answer:
    return Answer(body=f"User-agent: *\nAllow: /\n{more}".encode(), content_type="text/plain")


def run(tmp_path: Path, web: PolicyWeb, *arguments: str) -> CorpusCrawl:
    settings = SETTINGS | {"CORPUS_DIR": tmp_path / "corpus", "NETWORK_PORTS": web.port}
    given = [part for argument in arguments for part in ("-a", argument)]
    found = scrapy("crawl", "corpus", *given, settings=settings, timeout=120)
    assert found.returncode == 0, found.stderr[-3000:]
    return CorpusCrawl(tmp_path / "corpus", found.stderr, 0)


def paths(done: CorpusCrawl) -> set[str]:
    return {"/" + url.split("/", 3)[3] for url in done.kept}


def test_a_sitemap_on_another_host_is_read_where_robots_txt_or_an_index_names_it(
    web: PolicyWeb, tmp_path: Path
) -> None:
    pages: dict[str, Route] = {f"/p{n}": page(n) for n in range(5)}
    site = web.site(HOST, {**pages, "/robots.txt": robots("Sitemap: @there@/map.xml\nSitemap: /moved.xml\n"),
                           "/": page(9), "/moved.xml": Answer(302, headers=(("Location", "@there@/moved.xml"),))},
                    ELSEWHERE)  # fmt: skip
    web.site(
        ELSEWHERE,
        {
            "/robots.txt": robots("Disallow: /closed\n"),
            "/map.xml": xml("<sitemapindex><sitemap><loc>/deeper.xml</loc></sitemap>"
                            "<sitemap><loc>/closed.xml</loc></sitemap></sitemapindex>"),
            "/deeper.xml": urlset(entry("/p0"), entry("/p1"), entry("/not-ours", site="@here@")),
            "/closed.xml": urlset(entry("/p2")),
            "/moved.xml": urlset(entry("/p3")),
            "/not-ours": page(77),
        },
        HOST,
    )  # fmt: skip
    done = run(tmp_path, web, f"url={site}/", "discovery=sitemap")
    assert paths(done) == {"/", "/p0", "/p1", "/p3"}
    assert "/not-ours" not in web.asked[ELSEWHERE]
    assert "/closed.xml" not in web.asked[ELSEWHERE]
    assert "/robots.txt" in web.asked[ELSEWHERE]
    assert summarise(str(done.folder)).left_out == {"outside: off_scope": 1}
    assert "'sitemap/files': 3" in done.log


def test_a_feed_on_another_host_that_a_page_names_is_not_read(web: PolicyWeb, tmp_path: Path) -> None:
    head = '<link rel=alternate type="application/rss+xml" href="@there@/feed.xml">'
    body = f"<!doctype html><head>{head}</head><body><main><p>{prose(150, 1)}.</p></main>"
    site = web.site(HOST, {"/robots.txt": robots(), "/": Answer(body=body.encode())}, ELSEWHERE)
    settings = SETTINGS | {"CORPUS_DIR": tmp_path / "corpus", "NETWORK_PORTS": web.port, "FRONTIER_FEEDS": 5}
    assert scrapy("crawl", "corpus", "-a", f"url={site}/", settings=settings, timeout=120).returncode == 0
    assert not web.asked[ELSEWHERE]


def test_the_other_languages_of_a_page_are_found_by_sitemaps_and_by_pages(web: PolicyWeb, tmp_path: Path) -> None:
    other = "<xhtml:link rel='alternate' hreflang='de' href='@here@/de?x=1&y=2'/>"
    head = '<link rel="alternate" hreflang="fr" href="/fr"><link rel="alternate" media="print" href="/print">'
    body = f"<!doctype html><head>{head}</head><body><main><p>{prose(150, 1)}.</p></main>"
    site = web.site(
        HOST,
        {
            "/robots.txt": robots(),
            "/map.xml": urlset(entry("/en", more=other, site="@here@")),
            "/en": Answer(body=body.encode()),
            "/de?x=1&y=2": page(2),
            "/fr": page(3),
        },
    )
    done = run(tmp_path, web, f"sitemap={site}/map.xml", "discovery=links")
    assert paths(done) == {"/en", "/de?x=1&y=2", "/fr"}
    assert "/print" not in web.asked[HOST]


def test_pages_that_changed_before_a_day_are_left_out_and_counted(web: PolicyWeb, tmp_path: Path) -> None:
    listed = [entry("/old", "2025-12-31"), entry("/new", "2026-01-01"), entry("/no-date"), entry("/odd", "soon")]
    listed += [entry("/older", "2019"), entry("/hour", "2025-12-31T23:59:59+00:00")]
    pages: dict[str, Route] = {f"/{name}": page(n) for n, name in enumerate(("old", "new", "no-date", "odd", "older"))}
    site = web.site(HOST, {"/robots.txt": robots(), "/map.xml": urlset(*listed), **pages}, HOST)
    done = run(tmp_path, web, f"sitemap={site}/map.xml", "sitemap_since=2026-01-01")
    assert paths(done) == {"/new", "/no-date", "/odd"}
    assert summarise(str(done.folder)).left_out == {"outside: too_old": 3}


@pytest.mark.parametrize("given", ["", "yesterday", "2026-13-01", "3026-01-01", "01.02.2026"])
def test_a_day_that_is_none_is_refused_with_an_example(given: str, tmp_path: Path) -> None:
    arguments = ("-a", "sitemap=http://127.0.0.8/s.xml", "-a", f"sitemap_since={given}")
    found = scrapy("crawl", "corpus", *arguments, settings={"CORPUS_DIR": tmp_path / "corpus"}, timeout=60)
    assert found.returncode != 0
    assert f"sitemap_since={given!r}: expected a day that has begun, such as 2026-01-31" in found.stderr
