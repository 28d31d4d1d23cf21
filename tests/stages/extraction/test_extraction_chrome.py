"""What a page shows around its text stays out: texts of consent managers, line numbers, steps."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.consent import drop_consent
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

LONG = "The spoon is made of one piece of wood, and nobody has found a better way to make a spoon in all these years."
BANNER = "<h2>Your choices</h2><p>Partners store data on a device and read it, to measure and to personalise.</p>"


def left(body: str) -> str:
    tree = parse_html(f"<html><body>{body}</body></html>")
    drop_consent(tree)
    return " ".join(tree.text_content().split())


@pytest.mark.parametrize(
    "name",
    ['id="onetrust-consent-sdk"', 'class="qc-cmp2-container"', 'id="CybotCookiebotDialog"', 'class="x cmplz-banner"'],
)
def test_the_container_of_a_consent_manager_goes(name):
    assert left(f"<p>{LONG}</p><div {name}>{BANNER}</div><p>End.</p>") == f"{LONG}End."
    assert left(f"<div><p>{LONG}</p><div {name}>{BANNER}</div></div>") == LONG


@pytest.mark.parametrize(
    "body",
    [
        f'<div class="gdpr-ready"><main><p>{LONG}</p></main></div>',
        f'<div class="cookie-notice-shown"><p>{LONG}</p></div>',
        f'<div class="articles"><div><div class="gdpr-history"><p>{LONG}</p></div></div></div><p>{LONG}</p>',
        f'<p class="cookies-chapter">{LONG}</p><p>{LONG}</p><p>{LONG}</p>',
    ],
    ids=["around the main text", "around everything", "deep in the page", "about cookies"],
)
def test_what_only_has_such_a_name_stays(body):
    assert LONG in left(body)


def text_of(body: str) -> str:
    html = f"<html><body>{body}</body></html>".encode()
    doc = Document(url="https://example.org/", html=html, content_type="text/html")
    ParseStage()(doc)
    ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0))(doc)
    return doc.text


def test_the_whole_chain_leaves_a_consent_manager_out():
    body = f"<div class='w'><h1>Spoons</h1><p>{LONG * 3}</p><p>{LONG} Yes.</p></div>"
    banner = BANNER.replace("</p>", " Partners do so, too, and so do theirs, as long as nobody says no.</p>")
    assert text_of(f'<div id="onetrust-consent-sdk">{banner * 2}</div>{body}') == text_of(body)
