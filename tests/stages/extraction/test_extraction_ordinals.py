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
    article = f"<article><h1>Sales</h1>{PROSE}{CLAUSES}{PROSE.replace('sale', 'lease')}</article>"
    html = f"<html><body>{article}</body></html>".encode()
    doc = Document(url="http://a.test/", html=html, content_type="text/html")
    ParseStage()(doc)
    ExtractionStage(ExtractionConfig(extractor=extractor, text_format=text_format))(doc)
    beginnings = [line.strip()[:11] for line in doc.text.split("\n") if line.strip()[1:2] == "."]
    assert beginnings == ["3. The sell", "7. The buye", "a. within a", "b. or at th", "8. Both may"]
