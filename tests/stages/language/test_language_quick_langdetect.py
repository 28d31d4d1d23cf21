"""The quick form of langdetect answers what langdetect answers, to the last bit."""

from itertools import islice
from pathlib import Path
from random import Random

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


def factory():
    made = DetectorFactory()
    made.load_json_profile([p.read_text("utf-8") for p in sorted(Path(PROFILES_DIRECTORY).glob("[!.]*"))])
    made.set_seed(0)
    return made


@pytest.fixture(scope="module")
def plain():
    return PlainDetector(factory())


@pytest.fixture(scope="module")
def fast():
    return quick_or_plain(factory())


def test_the_installed_release_is_the_one_that_is_known(fast):
    assert isinstance(fast, QuickDetector)


def test_another_release_runs_as_it_is(monkeypatch):
    monkeypatch.setattr(quick_langdetect, "RELEASE", "0.0")
    detector = quick_or_plain(factory())
    assert isinstance(detector, PlainDetector)
    assert detector.best("The meadow is cut twice a year, and the hay is brought home.")[0] == "en"


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


def test_no_ngram_of_the_profiles_reaches_over_a_space():
    assert not [gram for gram in factory().word_lang_prob_map if gram == " " or "  " in gram or gram[1:-1] == " "]


def test_characters_of_all_scripts_do_not_stay_in_memory(monkeypatch):
    monkeypatch.setattr(quick_langdetect, "MOST_CHARACTERS", 100)
    normal = quick_langdetect._Normal()
    text = "".join(map(chr, range(0x3000, 0x3400)))
    assert text.translate(normal) == text.translate(quick_langdetect._Normal())
    assert len(normal) <= 100
