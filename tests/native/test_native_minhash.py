"""The signature in C is the one that numpy computes, and so is the number of shingles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler import native
from crawler.config import from_mapping
from crawler.document import Document
from crawler.native.minhash import minhash
from crawler.stages import fingerprint as module
from crawler.stages.fingerprint import FingerprintStage
from tests.native.native_support import PROBE, both, built

pytestmark = built
WORDS = st.sampled_from(["one", "two", "three", "four", "中文", "é", "5", "the", ",", "."])
STAGE = FingerprintStage(from_mapping({}).dedup)


def fingerprint(text: str) -> tuple[object, ...]:
    doc = Document(url="https://a.test/", text=text)
    STAGE(doc)
    return doc.doc_id, doc.signature, doc.shingle_count


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=60).map(" ".join))
@example("")
@example("one")
@example("same " * 900)
@example(" ".join(map(str, range(3_000))))
@example(PROBE)
def test_texts_get_the_same_fingerprint(text):
    python, c = both(lambda: fingerprint(text))
    assert c == python


@pytest.mark.parametrize("size", [1, 2, 5, 40])
@pytest.mark.parametrize("many", [1, 4, 511, 512, 513, 3_000])
def test_hashes_of_every_size_and_zero_among_them(many, size):
    chance = np.random.default_rng(many)
    hashed = chance.integers(0, 2**64, many, dtype=np.uint64)
    hashed[::3] = hashed[0]
    hashed[1::7] = 0
    shingles = module._runs(hashed, size)
    found = minhash(native.library(), hashed, size, STAGE._factors, STAGE._offsets)
    assert found == (STAGE.signature(shingles), len(shingles))


def test_a_text_without_units_is_left_to_python():
    assert minhash(native.library(), np.zeros(0, np.uint64), 5, STAGE._factors, STAGE._offsets) is None
    assert fingerprint("") == both(lambda: fingerprint(""))[0]


def test_other_texts_get_other_signatures():
    one, other = (both(lambda text=text: fingerprint(text))[1] for text in ("one two three " * 9, "four five six " * 9))
    assert one[1] != other[1]
