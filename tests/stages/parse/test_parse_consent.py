"""A request for consent over a text is passed over; a page that is nothing but one has that reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage
from crawler.storage.files.shards import read_lines

TEXT = " ".join(f"Sentence {n} of the report names the ferry and the tide of that day." for n in range(20))
ASKS = (
    "We and our partners store cookies on your device to measure how the site is read and to show advertising that "
    "suits you. You may accept all cookies or choose what you agree to. Accept all Reject Manage choices"
)

WALLS: list[str] = []


def judged(body: str) -> tuple[Document, Drop | None]:
    doc = Document(url="https://a.org/", html=f"<html><body>{body}".encode(), content_type="text/html; charset=utf-8")
    ParseStage()(doc)
    found = ExtractionStage(ExtractionConfig())(doc)
    return doc, found if isinstance(found, Drop) else None


@pytest.mark.parametrize("name", ["id=onetrust-banner", "class='cookie-wall modal'", "id=sp_message_container_1"])
def test_a_page_that_only_asks_for_consent_has_that_reason_and_no_text(name: str) -> None:
    doc, drop = judged(f"<nav><a href=/>Home</a> <a href=/b>News</a></nav><div {name}><p>{ASKS}</p></div>")
    assert drop is not None
    assert drop.reason is DropReason.CONSENT_WALL
    assert doc.text == ""


@pytest.mark.parametrize("words", [10 * ASKS, ASKS])
def test_a_long_request_is_no_text_either(words: str) -> None:
    assert judged(f"<form class=consent-form><p>{words}</p></form>")[1].reason is DropReason.CONSENT_WALL  # type: ignore[union-attr]


def test_the_text_underneath_an_overlay_is_read() -> None:
    doc, drop = judged(f"<div class=cookie-wall><p>{ASKS}</p></div><article><p>{TEXT}</p></article>")
    assert drop is None
    assert doc.text == TEXT


def test_the_text_in_the_data_of_a_walled_page_is_read() -> None:
    data = f'<script type="application/ld+json">{{"articleBody": "{TEXT}"}}</script><script src=/cmp.js></script>'
    doc, drop = judged(
        f"<div class=cookie-wall><p>We use cookies. Accept all of them, or go away, please do.</p></div>{data}"
    )
    assert drop is None
    assert doc.text == TEXT


def test_a_short_page_with_a_banner_is_short_and_no_wall() -> None:
    short = "The office is closed on the first Monday of every month and on all public holidays. " * 3
    drop = judged(f"<div class=cookie-banner><p>{ASKS}</p></div><main><p>{short}</p></main>")[1]
    assert drop is not None
    assert drop.reason is DropReason.TOO_SHORT


def test_an_article_about_cookies_is_no_wall() -> None:
    assert judged(f"<main class=content><h1>Cookies</h1><p>{ASKS} {TEXT}</p></main>")[1] is None


def test_of_real_pages_only_those_that_show_nothing_else_are_walls(shared_data: Path) -> None:
    walls = []
    for line in read_lines(shared_data / "wcxb-dev.jsonl.zst"):
        record = json.loads(line)
        if "ookie" in record["html"] or "onsent" in record["html"]:
            doc = Document(url=record["url"], html=record["html"].encode(), content_type="text/html; charset=utf-8")
            ParseStage()(doc)
            if doc.consent_words:
                ExtractionStage(ExtractionConfig())(doc)
                walls += [] if doc.text else [record["url"]]
    assert walls == WALLS
