"""A page that only leads on is a redirect, with all that holds for one; a refresh that lets people read is a link."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.corpus_crawl import CorpusCrawl, crawl, replay
from tests.support.loopback_web import Answer, PolicyWeb, Route
from tests.support.syllables import prose

HOST = "127.0.0.9"


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as running:
        yield running


def page(head: str = "", seed: int = 0, words: int = 150, body: str = "", **more: str) -> Answer:
    text = f"<p>{prose(words, seed)}.</p>" if words else ""
    headers = tuple((name.replace("_", "-"), value) for name, value in more.items())
    return Answer(body=f"<!doctype html><head>{head}</head><body>{body}<main>{text}</main>".encode(), headers=headers)


def refresh(content: str) -> str:
    return f'<meta http-equiv="refresh" content="{content}">'


def of(web: PolicyWeb, tmp_path: Path, routes: dict[str, Route], robots: str = "", **settings: object) -> CorpusCrawl:
    text = f"User-agent: *\nAllow: /\n{robots}"
    base = web.site(HOST, {"/robots.txt": Answer(body=text.encode(), content_type="text/plain"), **routes}, "127.0.0.8")
    return crawl(tmp_path / "corpus", [f"{base}/"], web.port, **settings)


def path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def verdicts(done: CorpusCrawl) -> dict[str, str]:
    kept = dict.fromkeys(map(path, done.kept), "kept")
    return kept | {path(url): record["reason"] for url, record in done.rejected.items()}


def test_a_site_whose_root_is_a_refresh_is_crawled_and_its_redirects_are_recorded(
    web: PolicyWeb, tmp_path: Path
) -> None:
    done = of(
        web,
        tmp_path,
        {
            "/": page(refresh("0; url=/home"), words=0, body="<a href=/beside>Or go there</a>"),
            "/home": page(seed=1, Refresh="0;url=/final"),
            "/final": page(seed=2),
            "/beside": page(seed=3),
        },
    )
    assert verdicts(done) == {"/": "redirected", "/home": "redirected", "/final": "kept", "/beside": "kept"}
    (final,) = (record for url, record in done.kept.items() if path(url) == "/final")
    assert list(map(path, final["redirects"])) == ["/", "/home"]
    assert {path(url): path(record["detail"]) for url, record in done.rejected.items()} == {
        "/": "/home",
        "/home": "/final",
    }
    assert all(record["robots_status"] == "allowed" for record in done.rejected.values())
    assert done.returncode == 0


def test_people_who_have_time_to_read_keep_the_page_and_its_refresh_is_a_link(web: PolicyWeb, tmp_path: Path) -> None:
    done = of(
        web,
        tmp_path,
        {
            "/": page(refresh("10; url=/slide"), seed=1),
            "/slide": page(f"<noscript>{refresh('0;url=/no-script')}</noscript>", seed=2),
            "/no-script": page(refresh("900; url=/logout"), words=10),
            "/logout": page(refresh("0"), seed=4, body="<a href=/notice>Further</a>"),
            "/notice": page(refresh("30; url=/moved"), words=10),
            "/moved": page(seed=5),
        },
    )
    assert verdicts(done) == {
        "/": "kept",
        "/slide": "kept",
        "/no-script": "too_short",
        "/logout": "kept",
        "/notice": "redirected",
        "/moved": "kept",
    }


def test_what_holds_for_a_redirect_holds_for_a_refresh(web: PolicyWeb, tmp_path: Path) -> None:
    endless: dict[str, Route] = {f"/n{n}": page(refresh(f"0;url=/n{n + 1}"), words=0) for n in range(40)}
    names = ("closed", "away", "loop", "n0", "says-no", "nofollow", "spelled?b=1&a=2")
    done = of(
        web,
        tmp_path,
        {
            "/": page(seed=1, body="".join(f'<a href="/{name}">{name}</a> ' for name in names)),
            "/closed": page(refresh("0;url=/private"), words=0),
            "/private": page(seed=2),
            "/away": page(refresh("0;url=@there@/"), words=0),
            "/loop": page(refresh("0;url=/loop2"), words=0),
            "/loop2": page(refresh("0;url=/loop"), words=0),
            "/says-no": page('<meta name="robots" content="noai">' + refresh("0;url=/yes"), words=0),
            "/yes": page(seed=3),
            "/nofollow": page('<meta name="robots" content="nofollow">' + refresh("60;url=/not-followed"), seed=4),
            "/not-followed": page(seed=5),
            "/spelled?b=1&a=2": page(refresh("0;url=/spelled?a=2&amp;b=1"), words=0),
            "/spelled?a=2&b=1": page(seed=6),
            **endless,
        },
        robots="Disallow: /private\n",
        REDIRECT_MAX_TIMES=5,
    )
    found = verdicts(done)
    assert found["/closed"] == "redirected"
    assert found["/private"] == "robots_disallowed"
    assert found["/away"] == "off_scope"
    assert (found["/loop"], found["/loop2"]) == ("redirected", "too_many_redirects")
    assert (found["/n4"], found["/n5"]) == ("redirected", "too_many_redirects")
    assert "/n6" not in web.asked[HOST]
    assert (found["/says-no"], found["/yes"]) == ("optout", "kept")  # what a page refuses, it refuses for itself
    assert found["/nofollow"] == "kept"
    assert "/not-followed" not in found
    assert found["/spelled?a=2&b=1"] == "kept"
    assert "/spelled?b=1&a=2" not in found
    assert not web.asked["127.0.0.8"]


def test_a_replay_says_the_same_of_a_page_with_a_refresh(web: PolicyWeb, tmp_path: Path) -> None:
    routes: dict[str, Route] = {"/": page(seed=1, body="<a href=/x>x</a>"), "/y": page(seed=3)}
    routes["/x"] = page(refresh("10;url=/y"), seed=2)
    done = of(web, tmp_path, routes)
    again = replay(tmp_path / "corpus" / "archive", tmp_path / "replayed")
    assert verdicts(again) == verdicts(done) == {"/": "kept", "/x": "kept", "/y": "kept"}
