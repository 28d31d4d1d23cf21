"""Two corpora, or two versions of one, are compared as `gristmill dataset diff` compares them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from crawler.dataset.supersede import supersede
from crawler.document import DropReason
from crawler.explore import compare as compare_module
from crawler.storage.files.place import Place
from tests.explore.conftest import LIMIT, Desk
from tests.explore.test_explore_browser import Watched
from tests.support.corpus_folder import Folder
from tests.support.usable import WIDTHS, complaints


@pytest.fixture
def pair(tmp_path: Path, kept, rejected) -> tuple[Path, Path]:
    """The second: 0 the same, 1 with another text, 2 rejected, 3 absent, 4 rejected for another reason, 60 new."""
    a, b = Folder(tmp_path / "a"), Folder(tmp_path / "b")
    corpus = a.opened()
    for n in range(4):
        corpus.keep(kept(n, doc_id=f"id-{n}", text=f"first line\nline <b>of</b> {n}\nlast line"))
    corpus.reject(rejected(4))
    corpus.close()
    corpus = b.opened()
    corpus.keep(kept(0, doc_id="id-0"))
    corpus.keep(kept(1, doc_id="id-1b", text="first line\nanother line\nlast line"))
    corpus.reject(rejected(2, DropReason.GONE, "fetch"))
    corpus.reject(rejected(4, DropReason.TOO_SHORT, "extraction"))
    for n in range(100, 160):
        corpus.keep(kept(n, doc_id=f"id-{n}"))
    corpus.close()
    return a.path, b.path


def figures(page: str) -> dict[str, str]:
    return dict(re.findall(r"<div><dt>([^<]+)</dt><dd>([^<]+)</dd></div>", page))


def compared(desk: Desk, *pairs: tuple[str, str]) -> str:
    """The page once the comparison is done."""
    for _ in range(LIMIT):
        answer = desk.ask("/0/compare?" + "&".join(f"{name}={value}" for name, value in pairs))
        if answer.status != 503:
            assert answer.status == 200, answer.body
            return answer.body
    raise AssertionError("the comparison does not end")


def test_two_corpora_are_compared_url_by_url_with_the_lines_that_differ(pair, serve: Callable[..., Desk]) -> None:
    desk = serve(*pair)
    page = compared(desk, ("before", "0@1"), ("after", "1@1"))
    assert figures(page) == {
        "kept by both, same text": "1", "kept by both, another text": "1",
        "gained": "60", "lost": "2", "kept by neither, another verdict": "1",
    }  # fmt: skip
    assert '<div class="gone">-line &lt;b&gt;of&lt;/b&gt; 1</div>' in page
    assert '<div class="come">+another line</div>' in page
    assert "quality/low_quality → extraction/too_short" in page
    assert "fetch/gone 1" in page


def test_every_change_is_reached_page_by_page(pair, serve: Callable[..., Desk]) -> None:
    desk, seen, start = serve(*pair), set(), 0
    while True:
        page = compared(desk, ("before", "0@1"), ("after", "1@1"), ("start", str(start)))
        seen |= set(re.findall(r"https://example\.org/(1\d\d)", page))
        if 'rel="next"' not in page:
            break
        start += compare_module.PAGE
    assert seen == {str(n) for n in range(100, 160)}


def test_versions_of_one_corpus_are_offered_and_compared(pair, kept, serve: Callable[..., Desk]) -> None:
    folder = Folder(pair[0])
    corpus = folder.opened("w2")
    corpus.keep(kept(1, doc_id="id-1c", crawled_at="2026-02-01T00:00:00Z"))
    corpus.close()
    supersede(Place(str(folder.path)), now=1_800_000_000.0)
    desk = serve(folder.path)
    offered = re.findall(r'<option value="([^"]+)" (selected)?', desk.page("/0/compare"))
    assert offered == [("0@2", ""), ("0@1", "selected"), ("0@2", "selected"), ("0@1", "")]
    assert figures(compared(desk, ("before", "0@1"), ("after", "0@2")))["kept by both, same text"] == "4"


@pytest.mark.parametrize("side", ["../../etc/passwd@1", "9@1", "0", "0@x", "x@1", "0@1@1"])
def test_a_side_that_is_not_offered_is_refused(desk: Desk, side: str) -> None:
    answer = desk.ask(f"/0/compare?before={side}&after=0@1")
    assert (answer.status, "expected one of the sides that are offered" in answer.body) == (400, True)
    assert desk.ask("/7/compare").status == 404


def test_a_version_that_is_gone_is_told(desk: Desk) -> None:
    answer = desk.ask("/0/compare?before=0@7&after=0@1")
    assert (answer.status, "no version 7; expected 1 to 1" in answer.body) == (500, True)


def test_what_is_too_large_for_a_page_names_the_command(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_module, "MOST_RECORDS", 5)
    answer = desk.ask("/0/compare?before=0@1&after=0@1")
    assert (answer.status, "run `gristmill dataset diff` instead" in answer.body) == (400, True)


@pytest.mark.parametrize("start", ["-1", "x", "1" * 10])
def test_a_beginning_that_is_none_is_told(desk: Desk, start: str) -> None:
    assert desk.ask(f"/0/compare?start={start}").status == 400


def test_the_page_is_usable_by_everybody_at_any_width(
    pair,
    serve: Callable[..., Desk],
    chromium: Browser,
) -> None:
    desk = serve(*pair)
    compared(desk, ("before", "0@1"), ("after", "1@1"))
    for scheme in ("light", "dark"):
        context = chromium.new_context(color_scheme=scheme)
        context.set_default_timeout(LIMIT * 1000)
        watched = Watched(context, desk.base)
        watched.page.goto(f"{desk.base}/0/compare?before=0@1&after=1@1")
        watched.page.locator("summary").click()
        for width in WIDTHS:
            watched.page.set_viewport_size({"width": width, "height": 900})
            assert complaints(watched.page) == [], (scheme, width)
        watched.check()
        context.close()
