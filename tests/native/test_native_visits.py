"""The identifier's features are counted in C as py3langid counts them, in the same order."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from py3langid.langid import visit_counts

from crawler import native
from crawler.native.visits import Automaton
from crawler.stages.language.identifiers import Py3Langid, _py3langid
from tests.native.native_support import PROBE, both, built

pytestmark = built
PIECES = st.sampled_from(["the ", "der ", "и ", "的", "ไทย", "l’été ", "\ud800", "ß", "Ё", "0", "\x00", " "])


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=300)
    | st.lists(PIECES, max_size=80).map(lambda some: "".join(some).encode(errors="surrogatepass"))
)
@example(b"")
@example(b"a" * 5_000)
@example(PROBE.encode())
def test_features_are_counted_as_the_package_counts_them_and_in_its_order(text):
    model = _py3langid()
    counted = visit_counts(model.tk_nextmove, model._rowbase, model.tk_output, text) or {}
    features, counts = model._automaton.visits(native.library(), text)
    assert list(zip(features.tolist(), counts.tolist(), strict=True)) == list(counted.items())


@pytest.mark.parametrize("text", ["", "1234 5678", "Der Himmel war grau.", "ไทย" * 200, PROBE[:1_000], "A" * 1_000])
def test_languages_and_their_certainties_are_the_same_to_the_last_bit(text):
    python, c = both(lambda: Py3Langid().identify(text))
    assert c == python


@pytest.mark.parametrize(
    ("moves", "rows", "features"),
    [([5] * 256, [0], [0]), ([0] * 256, [300], [0]), ([0] * 256, [0], [7]), ([], [], []), ([0] * 256, [-200], [0])],
)
def test_tables_that_point_elsewhere_leave_the_work_to_python(moves, rows, features):
    assert Automaton(array("I", moves), rows, features, 1).visits(native.library(), b"a") is None
