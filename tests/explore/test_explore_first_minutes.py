"""`gristmill explore` of a crawl that has sealed nothing: the crawl is what there is to see, and then its corpus."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from crawler.document import Drop, DropReason
from crawler.storage.files.records import record_of, rejection_of
from tests.explore.conftest import Desk
from tests.explore.test_explore_live import Crawling, crawling, eventually, figures  # noqa: F401  # a fixture
from tests.support.corpus_folder import Folder, document


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
    eventually(lambda: "The crawl is finished: no URL waits." in desk.page("/0/live"))  # a look is shared for seconds


def test_the_corpus_says_how_many_files_its_figures_do_not_have_yet(tmp_path: Path, serve: Callable[..., Desk]) -> None:
    corpus = Folder(tmp_path / "c").opened()
    corpus.keep(record_of(document(1)))
    corpus.close()
    growing = Folder(tmp_path / "c").opened()
    growing.keep(record_of(document(2)))
    growing.commit()
    assert "1 file in progress not counted" in serve(tmp_path / "c").page("/0/")
    growing.close()


def test_an_unchanged_page_is_rejected_neither_in_the_corpus_nor_on_the_live_page(
    tmp_path: Path, serve: Callable[..., Desk]
) -> None:
    corpus = Folder(tmp_path / "c").opened()
    corpus.keep(record_of(document(1)))
    for number, reason in ((1, DropReason.UNCHANGED), (2, DropReason.LOW_QUALITY), (3, DropReason.HOLD_NO_ANSWER)):
        corpus.reject(rejection_of(document(number), Drop("quality", reason, "")))
    corpus.close()
    desk = serve(tmp_path / "c")
    page = re.sub(r"<a [^>]*>|</a>", "", desk.page("/0/"))
    found = figures(page)
    assert {name: found[name] for name in ("kept", "rejected", "on hold", "unchanged")} == {
        "kept": "1", "rejected": "1", "on hold": "1", "unchanged": "1"
    }  # fmt: skip
    live = desk.page("/0/live")
    assert "What became of 2 pages" in live
    assert "1 unchanged since the visit before, 1 on hold for a later run" in live
    assert len(re.findall(r'<a [^>]*href="[^"]*state%3Dunchanged|state=unchanged', desk.page("/0/documents"))) >= 1
