"""*Apply* makes the version that was asked for as *What if*, and the pages show it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crawler.document import Document, Drop, DropReason
from crawler.storage.files.records import rejection_of
from tests.explore.conftest import LIMIT
from tests.explore.test_explore_what_if import BEFORE, page_of
from tests.support import corpus_crawl
from tests.support.corpus_folder import Folder


@pytest.fixture
def own(folder: Folder, exchange) -> Path:
    """Twelve archived pages, judged with `BEFORE` in the corpus that has their archive."""
    corpus = folder.opened()
    for n in range(12):
        corpus.archive(exchange(n, page_of(n)))
    corpus.close()
    done = corpus_crawl.replay(folder.path / "archive", folder.path, **BEFORE)
    assert done.returncode == 0, done.log
    return folder.path


def settled(desk) -> str:
    """The page once the work is done."""
    end = time.monotonic() + LIMIT
    while (shown := desk.ask("/0/what-if")).status == 503 or "being judged again" in shown.body:
        assert time.monotonic() < end, shown.body
    assert desk.catalogues[0].wait(LIMIT)
    return desk.page("/0/what-if")


def test_apply_makes_the_next_version_with_these_thresholds_and_the_pages_show_it(own, serve):
    settings = corpus_crawl.SETTINGS | BEFORE
    desk = serve(own, **settings)
    kept = desk.catalogues[0].rows("SELECT count(*) FROM records WHERE state = 'kept'")[0][0]
    values = {name: str(value) for name, value in {**BEFORE, "EXTRACTION_MIN_WORDS": 1_000}.items()}
    assert "Apply: make the next version" in desk.page("/0/what-if", *values.items())
    assert desk.post("/0/what-if", **values).status == 303
    page = settled(desk)
    assert "Version 2 is complete" in page or "Version 3 is complete" in page, page
    left = desk.catalogues[0].rows("SELECT count(*) FROM records WHERE state = 'kept'")[0][0]
    short = desk.catalogues[0].rows("SELECT count(*) FROM records WHERE reason = 'too_short'")[0][0]
    assert kept > left == 0 and short > 0
    assert not (own / ".rejudge").exists()


def test_apply_is_not_offered_and_refused_where_records_were_judged_with_other_settings(own, serve):
    desk = serve(own, **corpus_crawl.SETTINGS | BEFORE | {"LANGUAGE_MIN_SCORE": 0.1})
    manifest = (own / "manifest.json").read_bytes()
    values = {"EXTRACTION_MIN_WORDS": "250"}
    shown = desk.page("/0/what-if", *values.items())
    assert "Apply: make" not in shown and "judged with other settings" in shown
    assert desk.post("/0/what-if", **values).status == 400
    assert (own / "manifest.json").read_bytes() == manifest


def test_pages_that_were_never_archived_do_not_keep_the_others_from_being_judged_again(folder, own, serve):
    corpus = folder.opened("w9")
    gone = Document(url="https://a.test/gone", canonical_url="https://a.test/gone", domain="a.test")
    corpus.reject(rejection_of(gone, Drop("fetch", DropReason.GONE)) | {"config_digest": "sha256:earlier"})
    corpus.close()
    desk = serve(own, **corpus_crawl.SETTINGS | BEFORE)
    shown = desk.page("/0/what-if", ("EXTRACTION_MIN_WORDS", "250"))
    assert "Apply: make the next version" in shown and "judged with other settings" not in shown


def test_settings_that_only_fetch_are_no_other_settings(own, serve):
    desk = serve(own, **corpus_crawl.SETTINGS | BEFORE | {"NETWORK_PORTS": "80,8080", "DOWNLOAD_TIMEOUT": 5})
    assert "judged with other settings" not in desk.page("/0/what-if")
