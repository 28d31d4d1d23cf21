"""Words of an image that a list holds keep it from being asked for; what is scored is said, and no word of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.images.safety import Safety
from tests.support.word_lists import word_lists

CALM = "the rain fell on old roofs and people in the village waited for the road to open "


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    return word_lists(tmp_path, east_terms=3, noted="[en, de]")


@pytest.mark.parametrize(
    ("words", "context", "language", "outcome"),
    [
        (("A boot in the mud", "", ""), "", "en", "held_safety"),
        (("A calm harbour", "Slush on a boot", ""), "", "en", "held_safety"),
        (("A calm harbour", "", "Wet clay"), "", "en", "held_safety"),
        (("A calm harbour", "", ""), CALM + "mud mud mud", "en", ""),  # one term: of a text two are needed
        (("A calm harbour", "", ""), CALM + "mud and slush", "en", "held_safety"),
        (("A calm harbour", "", ""), 20 * CALM + "mud and slush", "en", ""),
        (("A boot in the mud", "", ""), "", "de", ""),  # noted only
        (("A boot in the mud", "", ""), "", None, ""),
        (("雨后的泥巴路", "", ""), "", "zh", "held_safety"),
        (("ถนนโคลนหลังฝน", "", ""), "", "th", "held_safety"),
        (("", "", ""), "", "en", ""),
    ],
)
def test_one_term_is_enough_in_a_caption_and_a_context_is_judged_as_a_text(lists, words, context, language, outcome):
    scores, (found, detail) = Safety(from_mapping({"CLASSIFIERS": f"safety:{lists}"}).classify).judge(
        words, context, language
    )
    assert found == outcome
    assert bool(detail) == bool(outcome)
    assert not any(word in detail for word in ("mud", "slush", "clay", "泥巴", "โคลน"))
    assert bool(scores) == (any((*words, context)) and language is not None)


def test_the_highest_score_of_all_texts_stands_and_that_of_c4_is_whether_its_rule_holds(lists):
    safety = Safety(from_mapping({"CLASSIFIERS": f"safety:{lists}"}).classify)
    scores, _ = safety.judge(("mud mud calm calm", "mud calm", ""), CALM, "en")
    assert scores == {"safety_dirt": 0.5, "safety_noted": 0.5, "safety_c4": 1.0}


def test_without_classifiers_nothing_is_held_and_nothing_scored():
    assert Safety(from_mapping({}).classify).judge(("A boot in the mud",), CALM, "en") == ({}, ("", ""))
