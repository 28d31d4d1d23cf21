"""A page of ten megabytes of words takes little memory: it is judged by its beginning, and stays whole."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import QualityConfig
from crawler.document import Document
from crawler.stages.quality import stage, vocabulary
from crawler.stages.quality.rules import gopher_repetition
from crawler.stages.quality.rules.base import Page
from crawler.stages.quality.stage import QualityStage
from crawler.stages.quality.tokenizers import FAST
from crawler.stages.quality.vocabulary import Vocabulary
from tests.stages.quality.test_quality_stage import PROSE
from tests.support.places import PROJECT
from tests.support.syllables import prose

MOST = 200_000
"""kB that judging takes beside the text."""
MEASURED = """
import resource, sys
from crawler.config import QualityConfig
from crawler.document import Document
from crawler.stages.quality.stage import QualityStage
text = {"one letter": "a " * 5_000_000, "different": " ".join(map(str, range(1_300_000))),
        "lines": "the rain fell on a roof\\n" * 400_000}[sys.argv[1]]
judge = QualityStage(QualityConfig())
judge(Document(url="https://example.org/", text=text[:1_000], language="en"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
judge(Document(url="https://example.org/", text=text, language="en"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("what", ["one letter", "different", "lines"])
def test_a_page_of_ten_megabytes_of_words_takes_little_memory(what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, what], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < MOST


def test_a_long_text_is_judged_by_its_beginning_in_whole_lines_stays_whole_and_says_so(monkeypatch) -> None:
    monkeypatch.setattr(stage, "LONGEST", len(PROSE) + 40)
    text = f"{PROSE}\n{prose(60, 1)}\nlorem ipsum javascript is disabled"
    doc = Document(url="https://example.org/", text=text, language="en")
    assert QualityStage(QualityConfig())(doc) is doc
    assert doc.text == text
    assert text[doc.quality_signals["judged_chars"] - 1].isspace()
    short = Document(url="https://example.org/", text=PROSE, language="en")
    QualityStage(QualityConfig())(short)
    assert "judged_chars" not in short.quality_signals
    assert short.quality_signals["stop_words"] == pytest.approx(doc.quality_signals["stop_words"], abs=0.05)


def test_what_is_cleaned_of_the_beginning_goes_and_the_rest_stays(monkeypatch) -> None:
    monkeypatch.setattr(stage, "LONGEST", len(PROSE) + 40)
    line = "We use cookies on this site today."
    rest = f"{prose(60, 1)}\nand the end"
    doc = Document(url="https://example.org/", text=f"{line}\n{PROSE}\n{rest}", language="en")
    assert QualityStage(QualityConfig(rules=("c4",)))(doc) is doc
    assert line not in doc.text and doc.text.endswith("and the end")


def test_repeated_n_grams_are_those_of_the_beginning(monkeypatch) -> None:
    words = prose(400, 7).split()
    begin, whole = " ".join(words[:100]), " ".join(words + words)
    expected = gopher_repetition.GopherRepetition().judge(Page(begin)).values
    monkeypatch.setattr(gopher_repetition, "MOST_TOKENS", len(Page(begin).numbers))
    found = gopher_repetition.GopherRepetition().judge(Page(whole)).values
    for name in ("top_2_gram", "dup_5_gram", "dup_10_gram"):
        assert found[name] == pytest.approx(expected[name], rel=0.02, abs=1e-6)


@given(st.text("ab.,'’ \n\t\u2003\u0085\x1c", max_size=60))
def test_a_text_that_is_read_in_pieces_has_the_tokens_that_it_has_at_once(text: str) -> None:
    whole = Vocabulary()
    numbers, joined = whole.read(FAST, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "PIECE", 5)
        in_pieces = Vocabulary()
        parts, found = in_pieces.read(FAST, text)
    assert found == joined
    assert in_pieces.strings(np.asarray(parts)) == whole.strings(np.asarray(numbers))


def test_counting_the_words_of_a_long_text_without_spaces_takes_little_memory() -> None:
    """Three million characters of Chinese and of Thai."""
    code = (
        "import resource; from crawler.stages.text.words import count_words, width\n"
        "used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "texts = '\u6587\u5b57' * 1_500_000, '\u0e01\u0e02' * 1_500_000\n"
        "count_words('\u6587'), width('\u6587'); before = used()\n"
        "print(used() - before, *map(count_words, texts), width(texts[0]), used() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    _, chinese, thai, wide, taken = map(int, done.stdout.split())
    assert (chinese, thai, wide) == (1_500_001, 750_001, 6_000_000)
    assert taken < 80_000
