"""Spans follow a text that is edited: cut, cleaned, redacted, normalised."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.document import Document
from crawler.stages.text.normal import normalise
from crawler.stages.text.spans import change_text, edits_between, moved, moved_to, without_spans


def cut(text: str, spans: list[tuple[int, int, str]]) -> list[tuple[str, str]]:
    return [(text[start:end], label) for start, end, label in spans]


def spans_of(text: str, *passages: tuple[str, str]) -> list[tuple[int, int, str]]:
    return [(at, at + len(passage), label) for passage, label in passages if (at := text.index(passage)) >= 0]


THREAD = "Anna · 3 May\nWho has seen the mill?\n> It burned down\n> in 1902.\nRead more\nIt stands.\nAnna · 4 May\nNo."
POSTS = spans_of(
    THREAD, ("Who has seen the mill?\n> It burned down\n> in 1902.\nRead more\nIt stands.", "post"),
    ("> It burned down\n> in 1902.", "quotation"), ("It stands.", "paragraph"), ("No.", "post"),
)  # fmt: skip


def test_what_stands_behind_a_line_that_goes_moves_with_its_text():
    new = THREAD.replace("Read more\n", "")
    assert cut(new, moved_to(new, THREAD, POSTS)) == [
        ("Who has seen the mill?\n> It burned down\n> in 1902.\nIt stands.", "post"),
        ("> It burned down\n> in 1902.", "quotation"),
        ("It stands.", "paragraph"),
        ("No.", "post"),
    ]


def test_a_part_of_which_nothing_is_left_goes_and_one_that_lost_its_end_has_no_line_break_there():
    new = THREAD.replace("> It burned down\n> in 1902.\n", "").replace("Read more\nIt stands.\n", "")
    assert cut(new, moved_to(new, THREAD, POSTS)) == [("Who has seen the mill?", "post"), ("No.", "post")]


@pytest.mark.parametrize(
    ("old", "part", "expected"),
    [
        ("Ein Wort\nSil\u00adben\u00adtren\u00adnung hilft\nEnde", "Ende", "Ende"),
        ("Cafe\u0301 au lait\nTie\u0302\u0301ng la\u0300\nxong", "Tie\u0302\u0301ng la\u0300", "Tiếng là"),
        ("x\u200by z\u200bw", "z\u200bw", "zw"),
        ("a\u2028b\nc", "c", "c"),
        ("Ã¼ber Ã¶l\nfÃ¼r alle\nende", "ende", "ende"),
    ],
)  # fmt: skip
def test_a_text_that_is_normalised_keeps_its_parts(old: str, part: str, expected: str):
    new = normalise(old)
    assert new != old
    assert cut(new, moved_to(new, old, spans_of(old, (part, "paragraph")))) == [(expected, "paragraph")]


def test_a_placeholder_over_the_border_of_two_parts_belongs_to_the_first():
    old, new = "call 555 12\n34 now", "call [PHONE] now"
    parts = [(0, 11, "paragraph"), (12, 18, "paragraph")]
    assert cut(new, moved(parts, [(5, 14, 7)], new)) == [("call [PHONE]", "paragraph"), ("now", "paragraph")]
    assert old[5:14] == "555 12\n34"


def test_a_passage_within_a_rewritten_line_is_found_again():
    old, new = "See [1] the list [edit] of mills [2].\nEnd.", "See the list of mills .\nEnd."
    assert cut(new, moved_to(new, old, spans_of(old, ("list", "user"), ("mills", "user"), ("End.", "paragraph")))) == [
        ("list", "user"), ("mills", "user"), ("End.", "paragraph"),
    ]  # fmt: skip


def test_a_line_that_is_cut_out_takes_its_line_break_along():
    assert without_spans("a\nbb\nc", [(2, 4)]) == ("a\nc", [(2, 5, 0)])
    assert without_spans("a\nb c d\ne", [(4, 5)])[0] == "a\nb  d\ne"
    assert without_spans("abcdef", [(3, 5), (1, 4)])[0] == "af"


def test_a_document_keeps_counts_parts_and_placeholders_in_step():
    doc = Document(url="http://a.test/", text="Menu\nWrite to [EMAIL_ADDRESS].")
    doc.parts, doc.pii_spans = [(0, 4, "boilerplate"), (5, 30, "paragraph")], [(14, 29, "EMAIL_ADDRESS")]
    change_text(doc, "Write to [EMAIL_ADDRESS].")
    assert cut(doc.text, doc.parts) == [(doc.text, "paragraph")]
    assert cut(doc.text, doc.pii_spans) == [("[EMAIL_ADDRESS]", "EMAIL_ADDRESS")]
    assert (doc.word_count, doc.char_count) == (3, 25)


@settings(deadline=None, derandomize=True, max_examples=400)
@given(st.text(alphabet="ab \n", min_size=3, max_size=40), st.text(alphabet="ab \n", max_size=40), st.data())
def test_moved_spans_lie_in_the_text_in_order_and_still_within_each_other(old: str, new: str, data: st.DataObject):
    edges = sorted(data.draw(st.sets(st.integers(0, len(old)), min_size=4, max_size=4)))
    spans = [(edges[0], edges[3], "post"), (edges[0], edges[1], "list"), (edges[2], edges[3], "code")]
    found = {label: (start, end) for start, end, label in moved_to(new, old, spans)}
    assert all(0 <= start < end <= len(new) for start, end in found.values())
    if "list" in found and "code" in found:
        assert found["list"][1] <= found["code"][0]
    for inner in found.keys() - {"post"}:
        assert found["post"][0] <= found[inner][0] and found[inner][1] <= found["post"][1]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(st.sampled_from(["a", "b", "read more", "x y", ""]), max_size=12), st.data())
def test_of_lines_that_went_nothing_else_is_edited(lines: list[str], data: st.DataObject):
    kept = [line for line in lines if data.draw(st.booleans())] or ["none"]
    old, new = "\n".join([*lines, "none"] if kept == ["none"] else lines), "\n".join(kept)
    left = f"{old}\n"
    for start, end, length in reversed(edits_between(old, new)):
        assert length == 0 and start < end
        left = left[:start] + left[end:]
    assert left == f"{new}\n"
