"""A record without some of its words: what is left reads well, and every number on the record is about it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dataset.cuts import rejection, without
from crawler.dataset.word_rows import Row, spans, words
from crawler.document import Document, Drop, DropReason
from crawler.stages.fingerprint import exact_id
from crawler.storage.files.records import record_of, spans_in


def record(text, **values):
    return record_of(Document(url="http://a.test/1", domain="a.test", text=text, **values))


def test_words_go_and_the_rest_stays_as_it_stood():
    assert without(record("one two  three\tfour five"), [(1, 3)])["text"] == "one four five"


def test_what_stood_around_the_cut_joins_the_parts():
    assert without(record("head\n\ncut these\n\ntail"), [(1, 3)])["text"] == "head\n\ntail"
    assert without(record("head\ncut these words tail"), [(1, 4)])["text"] == "head\ntail"
    assert without(record("head cut tail"), [(1, 2)])["text"] == "head tail"


def test_a_cut_at_an_end_leaves_no_white_space_behind():
    assert without(record("cut this\n\nkeep"), [(0, 2)])["text"] == "keep"
    assert without(record("keep\n\ncut this"), [(1, 3)])["text"] == "keep"
    assert without(record("all of it"), [(0, 3)])["text"] == ""


def test_the_counts_and_fingerprints_are_those_of_the_new_text():
    new = without(record("one two three four", token_estimate=5), [(2, 4)])
    assert (new["word_count"], new["char_count"], new["token_estimate"]) == (2, 7, 2)
    assert new["doc_id"] == exact_id("one two")


def test_placeholders_in_the_cut_go_and_later_ones_move():
    text = "mail <EMAIL> now or cut <EMAIL> here then call <PHONE> soon"
    places = [(5, 12, "EMAIL"), (24, 31, "EMAIL"), (47, 54, "PHONE")]
    new = without(record(text, pii_spans=places, pii_span_count=3), [(4, 7)])
    assert new["text"] == "mail <EMAIL> now or then call <PHONE> soon"
    assert [new["text"][start:end] for start, end, _ in spans_in(new, "pii_spans")] == ["<EMAIL>", "<PHONE>"]
    assert new["pii_span_count"] == 2


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.text(alphabet="ab中ก \n\t", max_size=60), st.data())
def test_exactly_the_other_words_are_left(text, data):
    count = len(words(text))
    edges = sorted(data.draw(st.sets(st.integers(0, count), max_size=6)))
    cuts = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=False) if start < end]
    left = [w for i, w in enumerate(words(text)) if not any(start <= i < end for start, end in cuts)]
    joined = "".join("".join(words(without(record(text), cuts)["text"])))
    assert joined == "".join(left)


def test_words_and_their_places_agree_in_every_script():
    text = "Ein Satz.\n这是中文 mixed ไทย end"
    assert words(text) == ["Ein", "Satz.", "这", "是", "中", "文", "mixed", "ไ", "ท", "ย", "end"]
    assert [text[start:end] for start, end in spans(text)] == words(text)


def test_a_row_tells_words_apart_and_ends_every_document_with_a_number_of_its_own():
    row = Row()
    row.add("u1", "d1", "a b a")
    row.add("u2", "d2", "a b")
    tokens = row.tokens().tolist()
    assert tokens[0] == tokens[2] == tokens[4] != tokens[1] == tokens[5]
    assert len({tokens[3], tokens[6], *tokens[:3]}) == 4 and min(tokens) >= 0
    assert row.documents([0, 3, 4, 6]).tolist() == [0, 0, 1, 1]
    assert row.text(4, 3) == "a b"


def test_a_rejection_has_no_text_and_says_why():
    made = rejection(record("words", title="Title"), Drop("substrings", DropReason.TOO_SHORT, "3 words"))
    assert (made["stage"], made["reason"], made["detail"]) == ("substrings", "too_short", "3 words")
    assert not {"text", "title", "description", "author", "pii_spans"} & set(made)
    assert made["url"] == "http://a.test/1" and made["canonical_url"] is not None
