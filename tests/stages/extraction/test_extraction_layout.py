"""What docs/stages.md says of "Layout", for each extractor."""

from __future__ import annotations

import pytest

from tests.stages.extraction.test_extraction_stage import ARTICLE, text_of
from tests.support.places import PROJECT

SENTENCE = (
    "This holds for `learned`, `trafilatura` and `trafilatura-fast`: `resiliparse` writes `•` or a number "
    "before a list item, tabs between cells and empty lines between blocks, and `plain` has the lines of its page."
)


def test_the_page_says_for_which_extractors_the_layout_holds():
    assert SENTENCE in " ".join((PROJECT / "docs" / "stages.md").read_text().split())


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_lists_tables_and_blocks_have_the_layout_of_the_page(extractor):
    lines = text_of(ARTICLE, extractor=extractor).splitlines()
    assert "- first item" in lines and "Name | Value" in lines


def test_resiliparse_has_a_layout_of_its_own():
    steps = "<ol><li>The step<ul><li>what it needs</li></ul></li></ol>"
    text = text_of(ARTICLE.replace("</article>", f"{steps}</article>"), extractor="resiliparse")
    assert "1. The step" in text and "• what it needs" in text and "Name\t\tValue" in text and "\n\n" in text
    assert "- " not in text and " | " not in text


def test_plain_text_keeps_the_lines_of_its_page():
    page = "\n\n".join(["• first\tsecond", "A sentence of the page. " * 40])
    text = text_of(page, content_type="text/plain")
    assert "• first\tsecond\n\n" in text


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
@pytest.mark.parametrize(
    "code",
    [
        "<pre><code><div>def f():</div><div>    return 1</div></code></pre>",
        "<pre>def f():\n&nbsp;&nbsp;&nbsp;&nbsp;return 1</pre>",
    ],
)
def test_code_keeps_its_lines_and_plain_blanks(extractor, code):
    text = text_of(ARTICLE.replace("</article>", f"{code}<p>That is all of it.</p></article>"), extractor=extractor)
    assert "\ndef f():\n    return 1\n" in text


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_a_date_stays_in_its_sentence(extractor):
    sentence = "<p>On <time datetime=2024-03-05>5 March</time> the river rose above the old bridge of the town.</p>"
    text = text_of(ARTICLE.replace("</article>", f"{sentence}</article>"), extractor=extractor)
    assert "\nOn 5 March the river rose above" in text
