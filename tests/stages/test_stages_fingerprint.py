"""Fingerprints: what makes two texts the same, and nearly the same."""

import numpy as np
import pytest
import xxhash
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages import fingerprint
from crawler.stages.fingerprint import FingerprintStage, exact_id
from crawler.stages.pii.stage import PiiStage
from tests.native.native_support import mode

ENGLISH = (
    "The meadow behind the mill is cut twice a year, once in June for hay and once in autumn so that the young "
    "shoots get light. Between the cuts nobody walks there except the miller's dog, who has known every mole "
    "hill since he was small. In wet years the brook comes over the stones and leaves a line of twigs that "
    "shows how high it stood. Old people read this line like a calendar and say which summer will be dry, and "
    "they are right a little more often than chance allows."
)
CHINESE = (
    "磨坊后面的草地每年割两次，六月割一次做干草，秋天再割一次，让嫩芽得到阳光。两次之间没有人走过那里，只"
    "有磨坊主的狗。雨水多的年份，小溪会漫过石头。"
)


def plain_hash(words):
    """The hash of a run of words, with nothing but Python's integers."""
    value = 0
    for each in words:
        value = (value * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(each.encode())) % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor % 2**64
    return value ^ value >> 33


def word(number):
    """A word without digits: the fingerprint reads every number as 0."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:05}")


def of(text, **settings_):
    return FingerprintStage(from_mapping(settings_).dedup)(Document(url="u", text=text))


def agreement(a, b):
    left, right = (np.frombuffer(doc.signature, "<u4") for doc in (a, b))
    return float((left == right).mean())


def test_case_punctuation_white_space_and_composition_do_not_make_another_text():
    assert exact_id("Café, “quoted”…\n\n TEXT!") == exact_id("cafe\u0301 quoted text")


def test_another_word_makes_another_text():
    assert exact_id("one two three") != exact_id("one two four")


def test_texts_of_punctuation_only_are_not_all_the_same():
    assert len({exact_id(text) for text in ("", "...", "!!!", "—")}) == 4


def test_the_fingerprint_of_a_text_never_changes():
    """A stored index depends on these values: whoever changes them raises FINGERPRINT_VERSION."""
    doc = of(ENGLISH, NEARDUP_BANDS=14, NEARDUP_ROWS=8)
    assert fingerprint.FINGERPRINT_VERSION == 3
    assert doc.doc_id == "sha256:2b6a7e9570a7f2c9e29913d95d7a7e617b3cff609fb096da29d5f822f9edf260"
    assert doc.signature[:16].hex() == "db1d8e0b9e820901ebc6850035079506"
    assert of(ENGLISH).signature[:16].hex() == "92a65001462d63012aed21011aa7e404"


def test_the_signature_holds_four_bytes_for_every_permutation():
    assert len(of(ENGLISH).signature) == 4 * 20 * 6
    assert len(of(ENGLISH, NEARDUP_BANDS=14, NEARDUP_ROWS=8).signature) == 4 * 112


def test_signatures_agree_as_much_as_the_shingles_overlap():
    words = [word(i) for i in range(1000)]
    left, right = of(" ".join(words)), of(" ".join([*words[:500], "cut", *words[501:]]))
    exact = (996 - 5) / (996 + 5)
    assert agreement(left, right) == pytest.approx(exact, abs=0.05)
    assert agreement(left, of(" ".join(word(i) for i in range(2000, 3000)))) < 0.05


def test_numbers_and_accents_do_not_count_for_nearness():
    assert of("Les 12,5 élèves " + ENGLISH).signature == of("les 7 eleves " + ENGLISH).signature


def test_the_signature_is_the_least_value_of_each_permutation_over_the_word_pentagrams():
    words = ENGLISH.lower().translate(str.maketrans(",.'", "   ")).split()
    hashes = {plain_hash(words[i : i + 5]) >> 32 for i in range(len(words) - 4)}
    factors, offsets = MinHash(120, seed=1, scheme="affine32").permutations
    pairs = [(int(factor), int(offset)) for factor, offset in zip(factors, offsets, strict=True)]
    least = [min((value * factor + offset) % 2**32 for value in hashes) for factor, offset in pairs]
    doc = of(ENGLISH)
    assert np.frombuffer(doc.signature, "<u4").tolist() == least
    assert doc.shingle_count == len(hashes)


@pytest.mark.parametrize("words", [1, 4, 5, 700, 5000])
def test_a_text_of_any_length_has_the_fingerprints_of_its_runs_taken_at_once(words, monkeypatch):
    text = " ".join(word(i * i) for i in range(words))
    with mode("off"):  # C has batches of its own
        doc = of(text)
        monkeypatch.setattr(fingerprint, "_BATCH", 100_000)
        whole = of(text)
    assert doc.signature == whole.signature
    assert doc.shingle_count == max(1, words - 4)


def test_the_order_of_words_counts():
    words = [word(i) for i in range(100)]
    assert agreement(of(" ".join(words)), of(" ".join(reversed(words)))) < 0.1


def test_a_script_without_spaces_is_compared_by_characters():
    doc = of(CHINESE)
    assert doc.shingle_count > 40
    assert agreement(doc, of(CHINESE.replace("六月", "七月"))) > 0.7
    assert of("สวัสดีครับวันนี้อากาศดีมากเราไปเดินเล่นกันเถอะ").shingle_count > 10


def test_pages_that_differ_only_in_a_redacted_value_are_one_text():
    redact, seen = PiiStage(from_mapping({"PII_PERSON": "off"}).pii), set()
    for address in ("jane@meadow.example", "robert.smith@mill.example"):
        doc = Document(url="u", language="en", text=f"{ENGLISH} Write to {address} for the key. {ENGLISH}")
        redact(doc)
        seen.add((of(doc.text).doc_id, of(doc.text).signature))
    assert len(seen) == 1


def test_an_empty_text_has_no_shingles_but_both_fingerprints():
    doc = of("")
    assert (doc.shingle_count, len(doc.signature)) == (0, 480)


def test_a_text_longer_than_a_batch_gets_the_signature_of_all_its_shingles(monkeypatch):
    text = " ".join(word(i) for i in range(3000))
    with mode("off"):
        whole = of(text)
        monkeypatch.setattr(fingerprint, "_BATCH", 100)
        batched = of(text)
    assert batched.signature == whole.signature


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters(), max_size=200))
def test_any_text_can_be_fingerprinted_twice_with_the_same_result(text):
    first, second = of(text), of(text)
    assert first.doc_id.startswith("sha256:")
    assert (first.doc_id, first.signature) == (second.doc_id, second.signature)


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=100))
def test_normalisation_is_stable_under_case_and_surrounding_space(text):
    assert exact_id(f"  {text}\n") == exact_id(text) or not text.strip()
