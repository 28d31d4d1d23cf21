"""Markup that a page shows by mistake is no text; markup that it speaks of is."""

from __future__ import annotations

from html import escape

import pytest

from bench.web.prose import prose
from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction import escaped
from crawler.stages.extraction.escaped import escaped_tags, without_tags
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage

SHOWN = (
    'The kiln needs <strong>two full days</strong> to cool, says <a href="/potter"  class=x>its owner</a>.<br/>'
    "Then open it."
)
MEANT = "The kiln needs two full days to cool, says its owner. Then open it."


def page_of(body: str) -> Document:
    doc = Document(url="http://a.test/", content_type="text/html", html=f"<html><body>{body}</body></html>".encode())
    ParseStage()(doc)
    return doc


def cleaned(body: str, text: str) -> str:
    doc = page_of(body)
    return without_tags(text, escaped_tags(doc.tree, doc.html))


@pytest.mark.parametrize("around", ["<p>{}</p>", "<div><b>Note</b> {}</div>", "<ul><li>{}</ul>"])
def test_tags_around_words_of_a_sentence_go(around):
    assert cleaned(around.format(escape(SHOWN)), SHOWN) == MEANT
    assert cleaned(around.format(escape(SHOWN).replace("&lt;", "&#60;")), SHOWN) == MEANT


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("<pre>&lt;p&gt;one&lt;/p&gt;</pre>", SHOWN),
        ("<p>Write <code>&lt;br&gt;</code> there.</p>", SHOWN),
        ("<p>Each &lt;table&gt; has rows.</p>", SHOWN),
        ("<p>A &lt;dialog&gt;of two words&lt;/dialog&gt; opens.</p>", SHOWN),
        ("<p>It begins with &lt;em&gt; there.</p>", SHOWN),
        ("<p>It ends with &lt;/em&gt; there.</p>", SHOWN),
        ("<p>&lt;b&gt;&lt;i&gt;so it is&lt;/b&gt;&lt;/i&gt;</p>", SHOWN),
    ],
    ids=[
        "an example",
        "code in a sentence",
        "another element",
        "a pair of another",
        "no end",
        "no beginning",
        "crossed",
    ],
)
def test_a_page_that_speaks_of_markup_keeps_it(more, text):
    assert cleaned(f"<p>{escape(text)}</p>{more}", text) == text


@pytest.mark.parametrize(
    "text",
    [
        "The sign <b>bold</b> makes bold, <i>slanted</i> slanted.",
        "Say <br> for a break, <b>bold</b> for a word.",
    ],
)
def test_pairs_around_single_words_may_be_examples(text):
    assert cleaned(f"<p>{escape(text)}</p>", text) == text


def test_what_no_reader_sees_says_nothing_of_the_text():
    hidden = f"<script>var a = '&lt;table&gt;'</script><textarea>{escape('<td>')}</textarea>"
    assert cleaned(f"<p>{escape(SHOWN)}</p>{hidden}", SHOWN) == MEANT
    assert cleaned(f"<textarea>{escape(SHOWN)}</textarea>", SHOWN) == SHOWN


def test_other_signs_and_the_layout_of_the_lines_stay():
    text = f"- a\n  - {SHOWN}\n<strong>\nif a < b and b > c:\n<other>"
    assert cleaned(f"<p>{escape(SHOWN)}</p>", text) == f"- a\n  - {MEANT}\nif a < b and b > c:\n<other>"


def test_a_page_of_more_texts_with_signs_than_any_is_not_read(monkeypatch):
    page = f"<p>{escape(SHOWN)}</p>" * 3
    assert cleaned(page, SHOWN) == MEANT
    monkeypatch.setattr(escaped, "MOST", 2)
    assert cleaned(page, SHOWN) == SHOWN


@pytest.mark.parametrize("extractor", ["learned", "trafilatura", "resiliparse"])
@pytest.mark.parametrize("layout", ["text", "markdown"])
def test_no_extractor_leaves_escaped_markup(extractor, layout):
    talk = "".join(f"<p>{line}</p>" for line in prose(5, words=300))
    doc = page_of(f"<main><article><h1>A kiln in the hills</h1>{talk}<p>{escape(SHOWN)}</p>{talk}</article></main>")
    ExtractionStage(ExtractionConfig(extractor=extractor, text_format=layout))(doc)
    assert MEANT in doc.text and "<" not in doc.text
