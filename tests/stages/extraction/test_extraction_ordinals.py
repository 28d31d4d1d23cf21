"""The items of ordered lists carry the numbers by which steps, clauses and notes are referred to."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.extraction.ordinals import number_items
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

PROSE = "".join(
    f"<p>The {thing} of a sale passes to the buyer when it is handed over, and not before that day has come.</p>"
    for thing in ("risk", "property", "possession", "fruit", "burden", "price", "document", "key")
)
CLAUSES = """<ol start="3"><li>The seller has to wait for a day before she may ask for the price again</li>
<li value="7">The buyer has to pay what he owes<ol type="a"><li>within a week of the day of the sale</li>
<li>or at the end of the month that follows</li></ol></li><li><p>Both may withdraw.</p><p>They say so in writing.</p>
</li></ol>"""


def text_of(body: str, text_format: str = "text") -> str:
    tree = parse_html(f"<body>{body}</body>")
    number_items(tree)
    page = walk(tree)
    return write(page, [True] * len(page.texts), text_format).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<ol><li>x<li>y</ol>", "1. x\n2. y"),
        ("<ol start=9><li>x<li>y</ol>", "9. x\n10. y"),
        ("<ol reversed><li>x<li>y<li>z</ol>", "3. x\n2. y\n1. z"),
        ("<ol reversed start=2><li>x<li>y</ol>", "2. x\n1. y"),
        ("<ol><li>x<li value=5>y<li>z</ol>", "1. x\n5. y\n6. z"),
        ("<ol type=a start=26><li>x<li>y</ol>", "z. x\naa. y"),
        ("<ol type=A><li>x</ol>", "A. x"),
        ("<ol type=i start=3><li>x<li>y</ol>", "iii. x\niv. y"),
        ("<ol type=I start=1994><li>x</ol>", "MCMXCIV. x"),
        ('<ol style="list-style-type: upper-roman"><li>x</ol>', "I. x"),
        ('<ol start="no" type="?"><li value="ten">x</ol>', "1. x"),
        ("<ol><div><li>x</div><li>y</ol>", "1. x\n2. y"),
        ("<ol><li>x<ul><li>y</ul><li>z</ol>", "1. x\n  - y\n2. z"),
        ("<ol><li><ol type=a><li>x<li>y</ol><li>z</ol>", "1. a. x\n  b. y\n2. z"),
        ("<ol><li><p>x</p><p>y</p><li>z</ol>", "1. x\ny\n2. z"),
        ("<ol><li><h3>x</h3><p>y</p></ol>", "1. x\ny"),
        ("<table><tr><td><ol><li>x<li>y</ol></table>", "1. x\n2. y"),
        ("<table><tr><td>x<td><ol start=4><li>y</ol></table>", "x | 4. y"),
    ],
)
def test_items_are_numbered_as_a_browser_does(body, text):
    assert text_of(body) == text


@pytest.mark.parametrize(
    "body",
    [
        "<ul><li>x</ul>",
        '<ol style="list-style: none"><li>x</ol>',
        '<ol class="breadcrumb"><li>x</ol>',
        '<ol><li data-list="bullet">x</ol>',
    ],
)
def test_a_list_whose_reader_sees_no_numbers_has_none(body):
    assert text_of(body) == "- x"


@pytest.mark.parametrize("own", ["1. x", "(a) x", "§ 2 x", "iv) x", "2.1 x"])
def test_an_item_that_has_its_number_in_its_text_gets_no_second_one(own):
    assert text_of(f"<ol><li>{own}</ol>") == f"- {own}"


def test_markdown_puts_what_an_item_holds_where_its_text_begins():
    assert text_of("<ol start=10><li>x<ul><li>y</ul><li>z</ol>", "markdown") == "10. x\n    - y\n11. z"
    assert text_of("<ol><li><h3>x</h3><p>y</p></ol>", "markdown") == "### 1. x\n\ny"


@pytest.mark.parametrize("text_format", ["text", "markdown"])
@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_the_clauses_of_a_page_keep_their_numbers(extractor, text_format):
    article = f"<article><h1>Sales</h1>{PROSE}{CLAUSES}{PROSE.replace('sale', 'lease')}</article>"
    html = f"<html><body>{article}</body></html>".encode()
    doc = Document(url="http://a.test/", html=html, content_type="text/html")
    ParseStage()(doc)
    ExtractionStage(ExtractionConfig(extractor=extractor, text_format=text_format))(doc)
    beginnings = [line.strip()[:11] for line in doc.text.split("\n") if line.strip()[1:2] == "."]
    assert beginnings == ["3. The sell", "7. The buye", "a. within a", "b. or at th", "8. Both may"]
