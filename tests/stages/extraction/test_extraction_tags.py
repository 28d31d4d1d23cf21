"""What a page lacks is not looked for: what is made on the way is found all the same."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.extraction.tags import Tags
from crawler.stages.parse.stage import ParseStage, parse_html

PROSE = "A spoon is carved from green wood, because it is soft, and dried slowly, so that it does not crack. " * 6
CODE = "for spoon in spoons:<br>&nbsp;&nbsp;spoon.carve()<br>&nbsp;&nbsp;spoon.dry()"


def extracted(body: str) -> Document:
    doc = Document(url="https://birch.example/spoon", html=f"<html><body>{body}</body></html>".encode())
    doc.content_type = "text/html"
    for stage in (ParseStage(), ExtractionStage(ExtractionConfig(min_words=0))):
        assert isinstance(stage(doc), Document)
    return doc


@pytest.mark.parametrize(
    "code",
    [
        f"<code>{CODE}</code>",
        f'<p style="font-family:monospace">{CODE}</p>',
        f'<font face="Courier">{CODE}</font>',
        f"<pre>{CODE}</pre>",
    ],
)
def test_code_is_counted_also_where_the_page_has_no_pre_of_its_own(code: str) -> None:
    doc = extracted(f"<main><h1>Spoons</h1><p>{PROSE}</p>{code}<p>{PROSE}</p></main>")
    assert doc.quality_signals["marked_code"] > 0


def test_the_tags_of_a_page_and_those_written_into_it_are_had() -> None:
    tree = parse_html("<html><body><p>a<sup>2</sup><p>b</body></html>")
    tags = Tags(tree)
    assert tags.have("p", "table") and tags.have("sup") and not tags.have("pre", "table")
    assert [one.text for one in tags.elements(tree, "p", most=1)] == ["a"]
    assert tags.elements(tree, "pre", most=9) == []
    tags.add("pre")
    assert tags.have("pre")
