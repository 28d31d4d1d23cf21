"""Fingerprints: what makes two texts the same, and nearly the same."""

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages import fingerprint
from crawler.stages.fingerprint import FingerprintStage, exact_id
from crawler.stages.pii.stage import PiiStage

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


def hamming(left: str, right: str) -> int:
    """Bits in which two SimHash values differ, 0 to 64."""
    return (int(left, 16) ^ int(right, 16)).bit_count()


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
    assert fingerprint.FINGERPRINT_VERSION == 1
    assert doc.doc_id == "sha256:2b6a7e9570a7f2c9e29913d95d7a7e617b3cff609fb096da29d5f822f9edf260"
    assert doc.simhash == "c3b79752b4dcd48d"
    assert doc.signature[:16].hex() == "866bab02173e270497639402ce21f604"
    assert of(ENGLISH).signature[:16].hex() == "af33c40311a501028eb5fd02b3c14503"


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


def test_one_changed_word_moves_few_bits_of_the_simhash_and_another_text_moves_many():
    near = hamming(of(ENGLISH).simhash, of(ENGLISH.replace("brook", "river")).simhash)
    far = hamming(of(ENGLISH).simhash, of(" ".join(word(i) for i in range(200))).simhash)
    assert near <= 10 < 20 <= far


def test_the_simhash_is_charikars_over_word_trigrams():
    """Computed again with nothing but Python's integers and lists."""
    words = ENGLISH.lower().translate(str.maketrans(",.'", "   ")).split()
    grams = {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}
    votes = [0] * 64
    for gram in grams:
        value = xxhash.xxh3_64_intdigest(gram.encode())
        for bit in range(64):
            votes[bit] += 1 if value >> bit & 1 else -1
    assert of(ENGLISH).simhash == f"{sum(1 << bit for bit in range(64) if votes[bit] > 0):016x}"


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


def test_an_empty_text_has_no_shingles_but_all_fingerprints():
    doc = of("")
    assert (doc.shingle_count, doc.simhash, len(doc.signature)) == (0, "0" * 16, 480)


def test_a_text_longer_than_a_batch_gets_the_signature_of_all_its_shingles(monkeypatch):
    text = " ".join(word(i) for i in range(3000))
    whole = of(text)
    monkeypatch.setattr(fingerprint, "_BATCH", 100)
    batched = of(text)
    assert (batched.signature, batched.simhash) == (whole.signature, whole.simhash)


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters(), max_size=200))
def test_any_text_can_be_fingerprinted_twice_with_the_same_result(text):
    first, second = of(text), of(text)
    assert first.doc_id.startswith("sha256:")
    assert (first.doc_id, first.simhash, first.signature) == (second.doc_id, second.simhash, second.signature)


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=100))
def test_normalisation_is_stable_under_case_and_surrounding_space(text):
    assert exact_id(f"  {text}\n") == exact_id(text) or not text.strip()
