"""Chunks between white space are split mark by mark, at spaCy's infixes, and by rules of their own."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.stages.quality import tokens

_PIECES = (  # noqa: SIM905  # a list of these would be three screens
    "a A b S s t n 0 1 42 x Foo BAR é ß я 人 e c m d not can gon na do is it em cause e.g u.s i.e ph.d mr www WWW http "
    "https ftp :// // .. -- --- 's n't ’s 'em km mm kb MB hPa mbar ² µm ™ — – … . , : ; ! ? ( ) [ ] { } < > _ # * & \" "
    "' ` ” ’ » “ „ « ‘ $ % = + - / @ ~ ^ | \\ § €"
).split()
CHUNKS = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=8).map("".join)
_INFIX_PLAINLY = re.compile(
    rf"\.\.+|…|[{tokens._ICONS}]|(?<=[0-9])[+\-*^](?=[0-9-])"
    rf"|(?<=[{tokens._LOWER}{re.escape(tokens._QUOTES)}])\.(?=[{tokens._UPPER}{re.escape(tokens._QUOTES)}])"
    r"|(?<=[^\W\d_]),(?=[^\W\d_])|(?<=[^\W_])(?:---?|-|–|—|~)(?=[^\W\d_])|(?<=[^\W_])[:<>=/](?=[^\W\d_])"
)
"""spaCy's infixes as they are written there, one after the other."""


@settings(max_examples=3_000, deadline=None, derandomize=True)
@given(CHUNKS)
def test_a_word_is_parted_at_the_infixes_of_spacy(word):
    infixes = [(match.start(), match.end()) for match in _INFIX_PLAINLY.finditer(word)]
    edges = [0, *(edge for infix in infixes for edge in infix), len(word)]
    parts = [word[start:end] for start, end in pairwise(edges)]
    assert tokens._parted(word) == list(filter(None, parts))


@settings(max_examples=3_000, deadline=None, derandomize=True)
@given(CHUNKS)
def test_a_mark_that_is_one_character_is_found_like_any_other(chunk):
    found = tokens._SUFFIX.search(chunk[-8:])
    assert tokens._suffix(chunk, 0, len(chunk)) == (found[0] if found else None)


@pytest.mark.parametrize(
    ("chunk", "parts"),
    [
        ("raw_shm,", ["raw_shm", ","]),
        ("os.path.join(a,", ["os.path.join(a", ","]),
        ("shutdown().", ["shutdown", "(", ")", "."]),
        ("(bpo-21233.)", ["(", "bpo-21233", ".", ")"]),
        ("2022-12-27", ["2022", "-", "12", "-", "27"]),
        ("--export-all", ["--export", "-", "all"]),
        ("name=None)", ["name", "=", "None", ")"]),
        ("argparse.Namespace", ["argparse", ".", "Namespace"]),
        ("SQLITE_LIMIT.", ["SQLITE_LIMIT", "."]),
        ("'line':", ["'", "line", "'", ":"]),
        ("3.37.0", ["3.37.0"]),
        ("__init__", ["_", "_", "init", "_", "_"]),
    ],
)
def test_names_and_numbers_of_documentation_stay_whole_between_their_marks(chunk, parts):
    assert tokens._split(chunk) == parts


@pytest.mark.parametrize(
    ("chunk", "parts"),
    [
        ("10km", ["10", "km"]),
        ("(5mbar)", ["(", "5", "mbar", ")"]),
        ("e.g.,", ["e.g.", ","]),
        ("'em", ["'em"]),
        ("“'cause", ["“", "'cause"]),
        ("CANNOT,", ["CAN", "NOT", ","]),
        ("www.a-b.org", ["www.a-b.org"]),
        ("D.", ["D."]),
        ("Then..", ["Then", ".."]),
        ("USE_T.", ["USE_T."]),
    ],
)
def test_a_chunk_with_a_rule_of_its_own_is_split_by_it(chunk, parts):
    assert tokens._split(chunk) == parts
