"""Twice the text takes about twice the work, whatever is in it, and memory does not grow with the page."""

import time
import unicodedata

import pytest

from bench.quality.pii_growth import ATOMS, HEADS, seconds_of
from crawler.config import from_mapping
from crawler.stages.pii import names, page, redact
from crawler.stages.pii.names import NameFinder, _batches, _blocks
from crawler.stages.pii.page import Hit, Page, line_above
from crawler.stages.pii.stage import PiiStage, check_models
from crawler.stages.text.normal import normalise

needs_english = pytest.mark.skipif(bool(check_models(from_mapping({}).pii)), reason="the English model is missing")
STAGE = PiiStage(from_mapping({"PII_PERSON": "off"}).pii)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("atom", ATOMS)
def test_four_times_the_text_takes_no_more_than_ten_times_the_time(head, atom):
    once = max(seconds_of(STAGE, head, atom, "en", 5_000), 0.02)  # sixteen times where the square of it is taken
    assert any(seconds_of(STAGE, head, atom, "en", 20_000) < 10 * once for _ in range(3))


class Counted(str):
    """A text that counts the characters of it that were read."""

    def __new__(cls, text):
        made = super().__new__(cls, text)
        made.read = 0
        return made

    def __getitem__(self, key):
        part = super().__getitem__(key)
        self.read += len(part)
        return part

    def rfind(self, what, start=0, end=None):
        end = len(self) if end is None else end
        self.read += end - start
        return super().rfind(what, start, end)


def test_a_label_is_looked_for_within_bounds_however_long_the_row_of_numbers():
    text = Counted("Numbers\n" + "12 34 " * 20_000)
    line_above(Page(text, (), "en"), 100_000)
    assert text.read < 5 * page._ROW_WIDTH


def test_a_label_above_other_numbers_is_still_found():
    assert line_above(Page("Phone\n020 7946 0018\n020 7946 0019", (), "en"), 20) == "phone"


def test_hits_that_do_not_touch_are_compared_with_none_of_the_others(monkeypatch):
    groups = []
    plain = redact._without_overlaps
    monkeypatch.setattr(redact, "_without_overlaps", lambda group: groups.append(len(group)) or plain(group))
    hits = [Hit(n, n + 5, "PHONE_NUMBER", str(n)) for n in range(0, 100_000, 10)]
    assert redact.resolve([*hits, Hit(3, 8, "PERSON", "x")]) == [*hits[:1], Hit(5, 8, "PERSON", "x"), *hits[1:]]
    assert groups == [2]


def test_piled_marks_are_cut_where_no_script_has_so_many():
    piled = "a" + "\u0301\u0316" * 100_000
    start = time.process_time()
    kept = normalise(piled)
    assert len(kept) <= 31
    assert normalise(kept) == kept
    assert time.process_time() - start < 5
    assert normalise("e\u0301 क्षि") == unicodedata.normalize("NFC", "e\u0301 क्षि")


def test_the_model_gets_pieces_that_end_where_a_line_or_a_sentence_does():
    text = "Jane Doe earns money. She left.\n" * 2_000
    pieces = list(_blocks(text, 0, len(text)))
    assert len(pieces) > 5
    assert all(text[end - 1] == "\n" for _, end in pieces)
    assert "".join(text[start:end] for start, end in pieces) == text
    sentences = "Jane Doe earns money. " * 2_000
    assert all(sentences[end - 2 : end] == ". " for _, end in _blocks(sentences, 0, len(sentences)))


def test_the_model_reads_batches_of_bounded_size():
    spans = [(n, n + 100) for n in range(0, 1_000_000, 100)]
    batches = list(_batches(spans))
    assert [span for batch in batches for span in batch] == spans
    assert all(sum(b - a for a, b in batch) <= names._BATCH for batch in batches)


@needs_english
def test_what_the_model_finds_does_not_depend_on_the_cuts(monkeypatch):
    text = "\n".join(f"Report {n}: Jane Doe met Peter Marsh in Leeds. They talked." for n in range(60))
    whole = list(NameFinder("en_core_web_sm").find_all(text))
    monkeypatch.setattr(names, "_BLOCK", 500)
    monkeypatch.setattr(names, "_BATCH", 700)
    assert list(NameFinder("en_core_web_sm").find_all(text)) == whole


@needs_english
def test_words_that_the_model_saw_once_are_forgotten():
    vocabulary = names.pipeline("en_core_web_sm").vocab.strings
    list(NameFinder("en_core_web_sm").find_all("Jane Doe left."))
    before = len(vocabulary)
    list(NameFinder("en_core_web_sm").find_all(" ".join(f"zqx{n}word" for n in range(2_000))))
    assert len(vocabulary) - before < 100
