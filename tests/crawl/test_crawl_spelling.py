"""What is requested is the spelling that was found; what is recorded, deduplicated and remembered is the name.

The servers of these tests know one spelling of each page, as real ones do, and answer 404 or a redirect to all others.
"""

from __future__ import annotations

import html
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.urls.canonicalize import address, canonicalize
from crawler.urls.traps import trap_reason
from tests.support.corpus_crawl import CorpusCrawl, crawl, replay
from tests.support.loopback_web import Answer, PolicyWeb, Route
from tests.support.syllables import prose

SPELLINGS = [
    "/order?b=1&a=2",
    "/session;jsessionid=1F?x=1",
    "/php?PHPSESSID=0a1b",
    "/campaign?utm_source=feed",
    "/%7Ebob/",
    "/empty?",
    "/hex/%e4%f6",
    "/brackets?f[]=1",
    "/[list]",
    "/pipe|and",
    "/params;",
    "/quote'",
    "/double//slash/",
    "/plus?q=a+b%20c",
]
"""Spellings that are not canonical, each of a page of its own; some that libraries like to change, too."""
HOST = "127.0.0.7"
ROBOTS = "User-agent: *\nAllow: /\n"


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    server = PolicyWeb()
    server.start()
    yield server
    server.stop()


def page(*links: str, seed: int = 0, head: str = "") -> Answer:
    anchors = "".join(f'<a href="{path}">{path}</a> ' for path in links)
    text = prose(150, seed)
    return Answer(body=f"<!doctype html><head>{head}</head><body>{anchors}<main><p>{text}.</p></main>".encode())


def moved(to: str, status: int = 302) -> Answer:
    return Answer(status, headers=(("Location", to),))


def serve(web: PolicyWeb, routes: dict[str, Route], robots: str = ROBOTS) -> str:
    return web.site(HOST, {"/robots.txt": Answer(body=robots.encode(), content_type="text/plain"), **routes})


def asked(web: PolicyWeb) -> list[str]:
    """The access log without control files."""
    return [path for path in web.asked[HOST] if not path.endswith((".txt", ".json", ".xml"))]


def paths(done: CorpusCrawl, base: str) -> set[str]:
    return {url.removeprefix(base) for url in done.kept}


def test_a_server_that_knows_one_spelling_is_asked_in_it_and_gives_every_page(web: PolicyWeb, tmp_path: Path) -> None:
    pages = {path: page(seed=n) for n, path in enumerate(SPELLINGS, 1)}
    base = serve(web, {"/": page(*SPELLINGS), **pages})
    done = crawl(tmp_path / "corpus", [f"{base}/"], web.port)
    assert sorted(asked(web)) == sorted(["/", *SPELLINGS])
    assert paths(done, base) == {"/", *SPELLINGS}
    names = {url.removeprefix(base): record["canonical_url"] for url, record in done.kept.items()}
    assert names["/order?b=1&a=2"] == f"{base}/order?a=2&b=1"
    assert names["/session;jsessionid=1F?x=1"] == f"{base}/session?x=1"
    assert names["/empty?"] == f"{base}/empty"
    again = replay(tmp_path / "corpus" / "archive", tmp_path / "replayed")
    assert {url.removeprefix(base): r["canonical_url"] for url, r in again.kept.items()} == names


def test_a_second_run_asks_for_the_same_spellings_and_keeps_each_page_once(web: PolicyWeb, tmp_path: Path) -> None:
    pages = {path: page(seed=n) for n, path in enumerate(SPELLINGS, 1)}
    base = serve(web, {"/": page(*SPELLINGS), **pages})
    crawl(tmp_path / "corpus", [f"{base}/"], web.port)
    web.asked.clear()
    done = crawl(tmp_path / "corpus", [f"{base}/"], web.port, RECRAWL=1, RECRAWL_MIN_SECONDS=0,
                 RECRAWL_INTERVAL_SECONDS=0)  # fmt: skip
    assert sorted(asked(web)) == sorted(["/", *SPELLINGS])
    assert paths(done, base) == {"/", *SPELLINGS}


def test_a_redirect_to_another_spelling_of_the_page_is_no_loop(web: PolicyWeb, tmp_path: Path) -> None:
    base = serve(
        web,
        {
            "/": page("/a?b=1&a=2", "/s;jsessionid=9", "/u?utm_source=x", "/c?x=2&y=1&utm_id=3"),
            "/a?b=1&a=2": moved("/a?a=2&b=1"),
            "/a?a=2&b=1": page(seed=1),
            "/s;jsessionid=9": moved("/s", 301),
            "/s": moved("/s?PHPSESSID=1"),
            "/s?PHPSESSID=1": page(seed=2),
            "/u?utm_source=x": moved("/u#top"),
            "/u": page(seed=3),
            "/c?x=2&y=1&utm_id=3": moved("/c?y=1&x=2"),
            "/c?y=1&x=2": page(seed=4),
        },
    )
    done = crawl(tmp_path / "corpus", [f"{base}/"], web.port)
    assert paths(done, base) == {"/", "/a?a=2&b=1", "/s?PHPSESSID=1", "/u", "/c?y=1&x=2"}
    record = done.kept[f"{base}/s?PHPSESSID=1"]
    assert record["canonical_url"] == f"{base}/s"
    assert record["redirects"] == [f"{base}/s;jsessionid=9", f"{base}/s"]
    assert len(asked(web)) == len(set(asked(web))) == 10
    assert not done.rejected


def test_a_page_that_is_reached_by_way_of_another_in_another_spelling_is_kept(web: PolicyWeb, tmp_path: Path) -> None:
    base = serve(
        web,
        {
            "/": page("/a?utm_source=x", "/c?b=1&a=2"),
            "/a?utm_source=x": moved("/check"),
            "/check": moved("/a"),
            "/a": page(seed=1),
            "/c?b=1&a=2": moved("/d"),
            "/d": moved("/c?b=1&a=2"),
        },
    )
    done = crawl(tmp_path / "corpus", [f"{base}/"], web.port)
    assert paths(done, base) == {"/", "/a"}
    assert done.kept[f"{base}/a"]["redirects"] == [f"{base}/a?utm_source=x", f"{base}/check"]
    assert {url.removeprefix(base): r["reason"] for url, r in done.rejected.items()} == {
        "/a?utm_source=x": "redirected",
        "/check": "redirected",
        "/c?b=1&a=2": "redirected",
        "/d": "too_many_redirects",
    }
    assert len(asked(web)) == len(set(asked(web))) == 6


def test_whatever_stands_in_a_link_goes_over_the_wire_as_a_browser_sends_it(web: PolicyWeb, tmp_path: Path) -> None:
    chance = random.Random(36)
    signs = "abcXYZ019-._~!$&'()*+,;=:@/?%[]{}|^`\"<> é日"
    urls = ["/" + "".join(chance.choices(signs, k=chance.randint(1, 18))) for _ in range(300)]
    base = serve(web, {"/": page(*(html.escape(url) for url in urls))})
    found = {to.name: to.asked for url in reversed(urls) if (to := address(url, f"{base}/")) and "127.0.0.7" in to.name}
    crawl(tmp_path / "corpus", [f"{base}/"], web.port, FRONTIER_BARREN_PAGES=0)
    named = {str(canonicalize(base + path)): base + path for path in web.asked[HOST]}
    assert found.keys() - named.keys() == {name for name in found if trap_reason(name)}
    exact = {name for name in found.keys() & named.keys() if named[name] != found[name]}
    assert {named[name] for name in exact} <= exact  # of several spellings the name itself counts


def test_a_redirect_that_leads_to_the_same_request_is_a_loop(web: PolicyWeb, tmp_path: Path) -> None:
    base = serve(
        web,
        {
            "/": page("/a?b=1&a=2", "/self"),
            "/a?b=1&a=2": moved("/a?a=2&b=1"),
            "/a?a=2&b=1": moved("/a?b=1&a=2"),
            "/self": moved("/self"),
        },
    )
    done = crawl(tmp_path / "corpus", [f"{base}/"], web.port)
    assert {url.removeprefix(base): (r["reason"], r["detail"]) for url, r in done.rejected.items()} == {
        "/a?a=2&b=1": ("too_many_redirects", f"loops back to {base}/a?b=1&a=2"),
        "/self": ("too_many_redirects", f"loops back to {base}/self"),
    }
    assert len(asked(web)) == 4


def test_a_spelling_that_robots_txt_disallows_is_not_asked_for_and_its_name_is(web: PolicyWeb, tmp_path: Path) -> None:
    robots = "User-agent: *\nDisallow: /*?utm_\nDisallow: /*;jsessionid\nDisallow: /closed\n"
    base = serve(
        web,
        {
            "/": page("/a?utm_source=x", "/b;jsessionid=1", "/closed?utm_source=x"),
            "/a": page(seed=1),
            "/b": page(seed=2),
            "/closed": page(seed=3),
        },
        robots,
    )
    done = crawl(tmp_path / "corpus", [f"{base}/"], web.port)
    assert paths(done, base) == {"/", "/a", "/b"}
    assert sorted(asked(web)) == ["/", "/a", "/b"]
    assert {(url.removeprefix(base), r["reason"]) for url, r in done.rejected.items()} == {
        ("/closed", "robots_disallowed")
    }


def test_seeds_and_sitemaps_are_asked_for_as_they_are_spelled(web: PolicyWeb, tmp_path: Path) -> None:
    listed = "/listed?z=1&a=2"
    base = serve(
        web,
        {
            "/map?k=2&b=1": Answer(
                body=f"<urlset><url><loc>@here@{listed.replace('&', '&amp;')}</loc></url></urlset>".encode(),
                content_type="application/xml",
            ),
            listed: page(seed=1),
            "/seed?s=1&a=2": page(seed=2),
        },
        ROBOTS + "Sitemap: @here@/map?k=2&b=1\n",
    )
    allowlist = tmp_path / "allowlist.yaml"
    entry = f"- domain: {HOST}:{web.port}\n  tier: A\n  licence: CC0-1.0\n  sitemaps: ['{base}/map?k=2&b=1']\n"
    allowlist.write_text(entry)
    from tests.support.corpus_crawl import SETTINGS
    from tests.support.process import scrapy

    settings = SETTINGS | {"CORPUS_DIR": tmp_path / "corpus", "NETWORK_PORTS": web.port}
    found = scrapy(
        "crawl",
        "corpus",
        "-a",
        f"allowlist={allowlist}",
        "-a",
        f"url={base}/seed?s=1&a=2",
        settings=settings,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    done = CorpusCrawl(tmp_path / "corpus", found.stderr, 0)
    assert paths(done, base) == {listed, "/seed?s=1&a=2"}
    assert sorted(asked(web)) == sorted(["/map?k=2&b=1", listed, "/seed?s=1&a=2"])
