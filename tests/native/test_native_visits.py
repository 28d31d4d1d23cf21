"""The identifier's features are counted in C as py3langid counts them, in the same order."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from py3langid.langid import visit_counts

from crawler import native
from crawler.native.visits import Automaton, rows_of
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


def test_every_number_of_half_precision_is_the_same_in_single_precision():
    table = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(256, 256)
    which = np.arange(256, dtype=np.int32)[::-1].copy()
    found = rows_of(native.library(), table, which)
    assert found.dtype == np.float32
    assert np.array_equal(found.view(np.uint32), table[which].astype(np.float32).view(np.uint32))


def test_a_row_that_the_table_does_not_have_is_left_to_python():
    with pytest.raises(IndexError):
        rows_of(native.library(), np.ones((2, 2), np.float16), np.array([2], np.int32))
    assert rows_of(native.library(), np.ones((2, 2), np.float32), np.array([1], np.int32)).tolist() == [[1.0, 1.0]]
