"""The quick form of langdetect answers what langdetect answers, to the last digit."""

from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

from crawler.stages.language import quick_langdetect
from crawler.stages.language.quick_langdetect import PlainDetector, QuickDetector, quick_or_plain

EXAMPLES = settings(max_examples=200, deadline=None, derandomize=True)
WORDS = [
    *"aZ 1.\n\t\xa0\u3000ßÉșțیーアㄅ가あ",
    "the meadow ",
    "QUELLE ",
    "größe ",
    "и поле ",
    "草地 ",
    "หนังสือ ",
    "\ud800",
    "e\u0301 a\u0323",
    "Tiếng Việt ",
    "lʼétat ",
    "https://a.test/b?c ",
    "jane@mail.test ",
    "AbCD ",
    "مرحبا ",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=80).map("".join)


PROFILES = [p.read_text("utf-8") for p in sorted(Path(PROFILES_DIRECTORY).glob("[!.]*"))]


@pytest.fixture(scope="module")
def plain():
    return PlainDetector(PROFILES, 0)


@pytest.fixture(scope="module")
def fast():
    return quick_or_plain(PROFILES, 0)


def test_the_installed_release_is_the_one_that_is_known(fast):
    assert isinstance(fast, QuickDetector)


def test_another_release_runs_as_it_is(monkeypatch):
    monkeypatch.setattr(quick_langdetect, "RELEASE", "0.0")
    detector = quick_or_plain(PROFILES, 0)
    assert isinstance(detector, PlainDetector)
    assert detector.best("The meadow is cut twice a year, and the hay is brought home.")[0] == "en"


def test_the_chances_are_those_that_langdetect_computes_from_its_profiles(fast):
    factory = DetectorFactory()
    factory.load_json_profile(PROFILES)
    assert fast.languages == factory.get_lang_list()
    assert list(fast._numbers) == list(factory.word_lang_prob_map)
    assert np.array_equal(fast._chances, list(factory.word_lang_prob_map.values()))


@EXAMPLES
@given(TEXTS)
def test_a_text_of_any_script_gets_the_answer_of_langdetect(plain, fast, text):
    assert fast.best(text) == plain.best(text)


@EXAMPLES
@given(st.text(max_size=200))
def test_any_characters_get_the_answer_of_langdetect(plain, fast, text):
    assert fast.best(text) == plain.best(text)


@pytest.mark.parametrize(
    "text", ["", " ", "7", "\n" * 900, "a" * 1000, "A" * 1000, "www.", "é" * 500, "\u1ea0\u0300" * 400]
)
def test_a_text_with_little_to_go_by_gets_the_answer_of_langdetect(plain, fast, text):
    assert fast.best(text) == plain.best(text)


@given(st.integers(1, 3000), st.integers())
def test_what_is_drawn_is_what_the_random_generator_chooses(count, seed):
    numbers = list(range(count))
    one, other = Random(seed), Random(seed)
    assert list(islice(quick_langdetect._drawn(one, numbers), 50)) == [other.choice(numbers) for _ in range(50)]
    assert one.gauss(0.0, 1.0) == other.gauss(0.0, 1.0)


@given(st.integers(1, 3000), st.integers(1, 40), st.integers(0, 10**6))
def test_what_is_drawn_ahead_is_what_the_random_generator_chooses(count, draws, seed):
    random = Random(seed)
    drawn = quick_langdetect._Drawing(seed).of(np.arange(count))
    for _ in range(5):
        assert drawn.gauss() == random.gauss(0.0, 1.0)
        assert drawn.ahead(draws + 20)[:draws].tolist() == [random.choice(range(count)) for _ in range(draws)]
        drawn.use(draws)


def test_nothing_is_drawn_where_the_words_end():
    drawn = quick_langdetect._Drawing(0).of(np.arange(1000))
    assert drawn.ahead(quick_langdetect._WORDS) is None


ENGLISH, MIXED = (
    "The meadow is cut twice a year, and the hay is brought home. ",
    "Das Haus, la maison, the house, la casa. ",
)


@pytest.mark.parametrize("change", [{"_TOO_CLOSE": 0.1}, {"_WORDS": 60}, {"_AHEAD": 1}, {"_AHEAD": 3}])
def test_what_cannot_be_told_ahead_is_told_step_by_step(plain, change, monkeypatch):
    for name, value in change.items():
        monkeypatch.setattr(quick_langdetect, name, value)
    fast, exact = quick_or_plain(PROFILES, 0), []
    told = fast._probabilities
    fast._probabilities = lambda grams: exact.append(grams) or told(grams)
    texts = [ENGLISH, MIXED, "草地 " * 30, "größe и поле " * 20, "x"]
    assert [fast.best(text) for text in texts] == [plain.best(text) for text in texts]
    assert bool(exact) == ("_AHEAD" not in change)


def test_most_texts_are_told_ahead(fast, monkeypatch):
    monkeypatch.setattr(fast, "_probabilities", lambda grams: pytest.fail("told step by step"))
    for text in (ENGLISH, "Die Wiese wird zweimal im Jahr gemäht. " * 9, "草地の花 " * 9, "и поле " * 9):
        assert fast.best(text)


def test_the_bits_of_the_chances_do_not_hang_on_what_is_told_ahead(fast):
    for text in (ENGLISH, MIXED, ENGLISH * 9, "草地 " * 30, "größe и поле " * 20):
        grams = fast._grams(text)
        ahead = fast._probabilities_ahead(np.array(grams))
        assert np.abs(ahead - fast._probabilities(grams)).max() < quick_langdetect._TOO_CLOSE / 1000


def test_a_probability_between_two_answers_is_doubtful():
    def doubtful(*chances):
        return quick_langdetect._is_doubtful(np.array(chances))

    assert not doubtful(0.9, 0.05, 0.05)
    assert doubtful(0.45, 0.45, 0.1)
    assert doubtful(0.1, 0.05, 0.04)
    assert doubtful(0.98765, 0.01, 0.0)
    assert doubtful(float("nan"), 0.5, 0.1)


def test_no_ngram_of_the_profiles_reaches_over_a_space(fast):
    assert not [gram for gram in fast._numbers if gram == " " or "  " in gram or gram[1:-1] == " "]


def test_characters_of_all_scripts_do_not_stay_in_memory(monkeypatch):
    monkeypatch.setattr(quick_langdetect, "MOST_CHARACTERS", 100)
    normal = quick_langdetect._Normal()
    text = "".join(map(chr, range(0x3000, 0x3400)))
    assert text.translate(normal) == text.translate(quick_langdetect._Normal())
    assert len(normal) <= 100
