"""The quick form of py3langid answers what py3langid answers, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from crawler.stages.language import quick
from crawler.stages.language.identifiers import Py3Langid, identify_all

EXAMPLES = settings(max_examples=200, deadline=None, derandomize=True)
WORDS = [
    "the ",
    "Meadow ",
    "größe ",
    "и ",
    "草地",
    "หนังสือ ",
    "\ud800",
    "e\u0301",
    "QUEL ",
    "123 ",
    "\x00",
    "að ",
    "kniha ",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=80).map("".join)


@pytest.fixture(scope="module")
def plain():
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@pytest.fixture(scope="module")
def fast():
    return quick.py3langid()


def test_the_installed_release_is_the_one_that_is_known(fast):
    assert isinstance(fast, quick.QuickIdentifier)


def test_another_release_runs_as_it_is(monkeypatch):
    monkeypatch.setattr(quick, "RELEASE", "0.0")
    assert type(quick.py3langid()) is LanguageIdentifier
    assert identify_all(Py3Langid(), ["The meadow is cut twice a year."])[0].language == "en"


def test_the_state_depends_on_the_last_bytes_alone(fast):
    """Words of k bytes lead two states of one class to the same state; after `DEPTH` bytes there is one class."""
    rows, row_of = np.unique(fast._base, return_inverse=True)
    following = fast._next.reshape(-1, 256)[rows >> 8]
    classes = np.arange(len(row_of))
    factors = np.random.default_rng(0).integers(1, 2**63, (2, 256), dtype=np.uint64)
    for _ in range(quick.DEPTH):
        keys = np.stack([(classes[following].astype(np.uint64) * row).sum(axis=1) for row in factors])
        classes = np.unique(keys[0] ^ (keys[1] >> np.uint64(1)), return_inverse=True)[1][row_of]
    assert classes.max() == 0


@EXAMPLES
@given(TEXTS)
def test_one_text_gets_the_answer_of_py3langid(plain, fast, text):
    assert fast.classify(text) == plain.classify(text)


@EXAMPLES
@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_several_texts_at_once_get_the_answers_of_py3langid(plain, fast, texts):
    assert fast.classify_all(texts) == [plain.classify(text) for text in texts]


def test_half_precision_is_converted_exactly():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    table = every[np.isfinite(every)].reshape(-1, 64)
    rows = quick._Rows(table)
    for some in (np.arange(len(table)), np.array([7, 3, 3]), np.array([], np.int64), np.arange(len(table))[::-1]):
        assert np.array_equal(rows.take(some) * quick._TO_SINGLE, table[some].astype(np.float32))


def test_the_factor_of_the_numbers_changes_no_bit_of_a_sum():
    table = np.random.default_rng(0).normal(0, 4, (500, 142)).astype(np.float16)
    times = np.log1p(np.arange(1, 501, dtype=np.float32))
    small = quick._Rows(table).take(np.arange(500))
    assert np.array_equal((times * quick._TO_SINGLE) @ small, times @ table.astype(np.float32))


def test_the_byte_between_two_texts_forgets_the_one_before(fast):
    assert not fast._next[fast._base + quick._APART[0]].any()
    assert fast._feature[0] < 0


@EXAMPLES
@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_a_long_text_among_samples_is_answered_as_alone(texts):
    identifier = Py3Langid()
    assert identify_all(identifier, texts) == [identifier.identify(text) for text in texts]
