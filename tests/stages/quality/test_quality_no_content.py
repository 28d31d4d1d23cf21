"""Pages without content against a labelled table of our own texts: what such pages say, and articles about it.

`golden/no_content.tsv`: label (a drop reason, or "content"), language, title, text, all written for this table.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from crawler.document import DropReason
from crawler.stages.quality.no_content import Recognisers
from crawler.stages.text.words import count_words

CASES = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "golden" / "no_content.tsv").read_text("utf-8").splitlines()
]
KINDS = ["soft_404", "login_wall", "error_page", "placeholder", "consent_wall"]
LANGUAGES = {"en", "de", "fr", "es", "it", "pt", "nl", "pl"}


def judge(title: str | None, text: str) -> str:
    found = Recognisers().judge(title, text, count_words(text))
    return "content" if found is None else found[0].value


def test_the_table_has_every_kind_in_every_language_and_as_many_articles():
    counts = Counter((label == "content", language) for label, language, *_ in CASES)
    assert {language for _, language in counts} == LANGUAGES
    assert min(counts.values()) >= 7
    assert sum(label == "content" for label, *_ in CASES) >= 60
    assert sum(label != "content" for label, *_ in CASES) >= 60
    kinds = {(label, language) for label, language, *_ in CASES if label != "content"}
    assert kinds == {(kind, code) for kind in KINDS for code in LANGUAGES}


@pytest.mark.parametrize(("label", "language", "title", "text"), CASES, ids=[f"{c[1]}: {c[2][:30]}" for c in CASES])
def test_a_page_is_taken_for_what_it_is(label, language, title, text):
    assert judge(title, text) == label


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_on_a_long_page_condemns_nothing(kind):
    article = " ".join(text for label, _, _, text in CASES if label == "content")
    title, text = next((title, text) for label, _, title, text in CASES if label == kind)
    assert judge(title, f"{text}\n{article}") == "content"


def test_a_heading_alone_condemns_only_a_very_short_page():
    article = "The status code says that the server knows nothing at this address. " * 12
    assert judge("HTTP 404", article[:300]) == DropReason.SOFT_404
    assert judge("HTTP 404", article) == "content"


def test_a_quoted_message_is_what_an_article_is_about():
    assert (
        judge(None, "“Please log in to continue” is what the sign on the door of the reading room said.") == "content"
    )
    assert judge(None, "Please log in to continue.") == DropReason.LOGIN_WALL


def test_typewriter_and_printed_apostrophes_are_one():
    assert judge(None, "This page doesn’t exist.") == judge(None, "This page doesn't exist.") == DropReason.SOFT_404
