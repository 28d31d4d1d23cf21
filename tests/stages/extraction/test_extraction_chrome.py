"""What a page shows around its text stays out: texts of consent managers, headings of lists that are gone."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.consent import drop_consent
from crawler.stages.extraction.orphans import lists_of_links, without_orphans
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


LISTS = f"""<main><h1>Array</h1><p>{LONG}</p><h2>19 Methods:</h2><ul><li><a href="#a">at</a></li>
<li><a href="#b">fill</a></li><li><a href="#c">first</a></li></ul><h2>Details</h2><p>{LONG} Truly.</p>
<p>See these:</p><ul><li><a href="/x">One</a></li><li><a href="/y">Two</a></li><li><a href="/z">Three</a></li></ul>
</main>"""


def test_what_stands_before_and_behind_a_list_of_links_is_noted():
    assert lists_of_links(parse_html(f"<html><body>{LISTS}</body></html>")) == {
        "19 Methods:": "Details",
        "See these:": "",
    }


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Array\n19 Methods:\nDetails\nText.", "Array\nDetails\nText."),
        ("Array\n19 Methods:\n- at\n- fill\nDetails\nText.", "Array\n19 Methods:\n- at\n- fill\nDetails\nText."),
        ("Array\n19 Methods:\nThey are described elsewhere.", "Array\n19 Methods:\nThey are described elsewhere."),
        ("Text.\nSee these:", "Text."),
        ("Text.\nSee these:\n- One", "Text.\nSee these:\n- One"),
        ("Nothing of the kind.", "Nothing of the kind."),
    ],
)
def test_a_heading_goes_where_its_list_is_gone_and_only_there(text, kept):
    assert without_orphans(text, {"19 Methods:": "Details", "See these:": ""}) == kept


def test_an_ordinary_list_is_none_of_links():
    body = f'<h2>Steps</h2><ul><li>Take a <a href="/k">knife</a>.</li><li>{LONG}</li><li>Rest.</li></ul>'
    assert lists_of_links(parse_html(f"<html><body>{body}</body></html>")) == {}


def text_of(body: str) -> str:
    html = f"<html><body>{body}</body></html>".encode()
    doc = Document(url="https://example.org/", html=html, content_type="text/html")
    ParseStage()(doc)
    ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0))(doc)
    return doc.text


@pytest.mark.parametrize("lead", ["<h2>19 Methods:</h2>", "<p>19 Methods:</p>"])
def test_the_whole_chain_leaves_no_heading_alone(lead):
    links = "".join(f'<li><a href="/m{n}.html">method_{n}</a></li>' for n in range(19))
    body = f"<main><h1>Array</h1><p>{LONG * 3}</p>{lead}<ul>{links}</ul><h2>Details</h2><p>{LONG}</p></main>"
    lines = text_of(body).split("\n")
    assert "- method_0" not in lines  # trafilatura leaves the list out: what this test is about
    assert "19 Methods:" not in lines
    assert "Details" in lines


def test_the_whole_chain_leaves_a_consent_manager_out():
    body = f"<div class='w'><h1>Spoons</h1><p>{LONG * 3}</p><p>{LONG} Yes.</p></div>"
    banner = BANNER.replace("</p>", " Partners do so, too, and so do theirs, as long as nobody says no.</p>")
    assert text_of(f'<div id="onetrust-consent-sdk">{banner * 2}</div>{body}') == text_of(body)
