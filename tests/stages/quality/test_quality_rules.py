"""The rule sets against the verdicts of their oracle, and each threshold on its own.

`golden/datatrove-0.10.1.json` holds texts of our own with the verdicts of datatrove 0.10.1 (spaCy 3.8): "" = kept.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.quality.exact_tokenizers import exact
from crawler.config import from_mapping
from crawler.config.text import RULE_SET_NAMES
from crawler.document import DropReason, Reason
from crawler.stages.quality.rules import (
    C4,
    RULE_SETS,
    C4Paragraphs,
    FineWeb,
    GopherQuality,
    GopherRepetition,
    RefinedWebLines,
)
from crawler.stages.quality.rules.base import Page
from crawler.stages.quality.rules.profiles import rules_for
from crawler.stages.quality.tokenizers import fast
from tests.support.ngrams import duplicate_n_gram_shares, top_n_gram_chars

GOLDEN = json.loads((Path(__file__).parent / "golden" / "datatrove-0.10.1.json").read_text("utf-8"))
RULES: dict[str, Any] = {
    "gopher_quality": GopherQuality(),
    "gopher_repetition": GopherRepetition(),
    "fineweb": FineWeb(),
    "c4": C4(),
    "c4_terminal": C4(terminal_punctuation=True),
}


def reason_of(name: str, oracle: str) -> Reason | None:
    """Our reason for datatrove's string."""
    if not oracle:
        return None
    if oracle.startswith("top_"):
        return DropReason.TOP_N_GRAM
    if oracle.startswith("duplicated_"):
        return DropReason.DUP_N_GRAM
    prefix = {"fineweb": "fineweb_", "c4": "c4_", "c4_terminal": "c4_"}.get(name, "")
    return Reason.of(prefix + oracle)


@pytest.mark.parametrize("tokenizer", [fast, exact], ids=["fast", "exact"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("case", GOLDEN, ids=[case["name"] for case in GOLDEN])
def test_verdicts_are_those_of_datatrove(case, name, tokenizer):
    found = RULES[name].judge(Page(case["text"], "en", tokenizer("en")))
    assert (found.failure.reason if found.failure else None) == reason_of(name, case["datatrove"][name])
    if f"{name}_text" in case["datatrove"]:
        assert found.text == case["datatrove"][f"{name}_text"]


PROSE = GOLDEN[0]["text"]


def reason(rules: Any, text: str, language: str = "en") -> Reason | None:
    failure = rules.judge(Page(text, language)).failure
    return failure.reason if failure else None


def test_every_value_is_measured_even_after_the_first_failure():
    found = GopherQuality().judge(Page("of # # # ..."))
    assert found.failure is not None
    assert found.failure.reason is DropReason.GOPHER_SHORT_DOC
    assert {"gopher_words", "gopher_hashes", "gopher_stop_words", "gopher_bullet_lines"} <= found.values.keys()


def test_a_threshold_of_none_switches_its_rule_off():
    few = "Words without the usual company."
    assert reason(GopherQuality(), few) is DropReason.GOPHER_SHORT_DOC
    assert reason(GopherQuality(min_words=None, min_stop_words=None), few) is None


@pytest.mark.parametrize(
    ("rules", "text", "expected"),
    [
        (GopherQuality(max_words=10), PROSE, DropReason.GOPHER_LONG_DOC),
        (GopherRepetition(max_duplicate_paragraphs=None), "a b.\n\na b.\n\nc", DropReason.DUP_PARA_CHAR_FRAC),
        (GopherRepetition(max_duplicate_lines=None), "long line\nlong line\nshort", DropReason.DUP_LINE_CHAR_FRAC),
        (FineWeb(max_short_lines=None), "a.\nb.\nc.\nd.\n", DropReason.FINEWEB_LIST_RATIO),
        (FineWeb(), " \n\t\n", DropReason.FINEWEB_EMPTY),
    ],
    ids=["too long", "paragraph characters", "line characters", "list", "empty"],
)
def test_each_rule_can_fail_a_page(rules, text, expected):
    assert reason(rules, text) is expected


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_no_rule_divides_by_an_empty_text(rules):
    rules.judge(Page(""))
    rules.judge(Page("", "zh"))


def test_rules_that_make_no_sense_for_a_language_are_skipped_and_say_why():
    chinese = (
        "人工智能是计算机科学的一个分支。" * 3
        + "\n它企图了解智能的实质，并生产出新的智能机器，以人类相似的方式做出反应。" * 4
    )
    skipped = GopherQuality().judge(Page(chinese, "zh")).skipped
    assert skipped["gopher_above_avg_threshold"] == "words of zh are short"
    assert "no list" in skipped["gopher_enough_stop_words"]
    assert "30 characters" in FineWeb().judge(Page(chinese, "zh")).skipped["fineweb_short_line_ratio"]


def test_repetition_is_found_in_a_language_without_spaces():
    sentence = "它企图了解智能的实质，并生产出新的智能机器，以人类相似的方式做出反应。"
    found = GopherRepetition().judge(Page(sentence * 12, "zh"))
    assert found.failure is not None
    assert found.failure.reason in {DropReason.TOP_N_GRAM, DropReason.DUP_N_GRAM}
    assert found.skipped == {}


def test_long_paragraphs_make_a_page_and_short_ones_do_not():
    assert reason(C4Paragraphs(), "\n".join(["x" * 200] * 3)) is None
    assert reason(C4Paragraphs(), "\n".join(["x" * 200] * 2 + ["x" * 199])) is DropReason.C4_TOO_FEW_PARAGRAPHS
    assert reason(C4Paragraphs(min_paragraphs=None), "") is None


def test_the_stop_word_rule_is_skipped_where_no_list_is_known():
    found = GopherQuality().judge(Page(PROSE, "eu"))
    assert list(found.skipped) == ["gopher_enough_stop_words"]


def test_german_prose_is_not_judged_by_english_stop_words():
    text = "Das Haus steht am Fluss und die Kinder gehen mit der Mutter in den Garten. " * 9
    assert reason(GopherQuality(), text, "de") is None
    assert reason(GopherQuality(), text, "en") is DropReason.GOPHER_ENOUGH_STOP_WORDS


def test_the_most_frequent_n_gram_counts_even_where_it_stands_once():
    assert top_n_gram_chars(["a", "bb", "c"], 2) == len("a bb")
    assert top_n_gram_chars(["a"], 2) == 0


@settings(deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(["a", "bb", "ccc"]), max_size=60), st.integers(1, 10))
def test_characters_in_repeats_never_exceed_the_text(tokens, n):
    size = max(len("".join(tokens)), 1)
    [(_, share)] = duplicate_n_gram_shares(tokens, [n], size)
    assert 0.0 <= share <= 1.0


def test_repetition_takes_linear_time():
    started = time.process_time()
    GopherRepetition().judge(Page("word " * 200_000))
    assert time.process_time() - started < 10.0


def test_refinedweb_drops_button_lines_and_keeps_the_rest():
    body = PROSE + "\n"
    found = RefinedWebLines().judge(
        Page(body + "SHARE THIS PAGE NOW\n1,234 likes\n2024\nHome\nThe story goes on Read more...")
    )
    assert found.failure is None
    assert found.text == body + "The story goes on"


def test_refinedweb_drops_a_page_that_loses_a_twentieth_of_its_words():
    assert reason(RefinedWebLines(), "A line of text.\nHOME\nABOUT US\nCONTACT") is DropReason.REFINEDWEB_LINES


@pytest.mark.parametrize("profile", ["datatrove", "prose", "technical", "legal"])
def test_every_profile_has_every_rule_set(profile):
    assert set(rules_for(profile, RULE_SETS)) == set(RULE_SETS)


def test_the_datatrove_profile_is_the_oracle():
    assert rules_for("datatrove", ["fineweb", "gopher_quality"]) == {
        "fineweb": FineWeb(),
        "gopher_quality": GopherQuality(),
    }


def test_the_setting_accepts_exactly_the_rule_sets_that_exist():
    assert from_mapping({"QUALITY_RULES": ",".join(RULE_SETS)}).quality.rules == tuple(RULE_SETS)
    assert set(RULE_SET_NAMES) == set(RULE_SETS)


def test_an_unknown_rule_set_is_an_error():
    with pytest.raises(KeyError, match="nonsense"):
        rules_for("prose", ["nonsense"])
