"""The floors of `make eval` for language and rules: recorded here, so that lowering one shows in a review."""

from __future__ import annotations

import pytest

from bench.quality import eval_language, eval_rules
from bench.quality.rules_compare import Judged, compare, in_the_oracles_words
from bench.quality.rules_report import agreement, by_language, deviations
from crawler.document import DropReason
from crawler.stages.quality.rules.base import Failure

RECORDED = {
    eval_language: {"sentences": 0.96, "documents": 0.995},
    eval_rules: {"exact": 0.995, "fast": 0.98},
}


@pytest.mark.parametrize("bench", RECORDED, ids=lambda module: module.__name__)
def test_no_floor_is_lower_than_recorded(bench):
    assert bench.FLOORS.keys() == RECORDED[bench].keys()
    assert all(bench.FLOORS[name] >= floor for name, floor in RECORDED[bench].items())


def test_the_committed_texts_have_the_oracles_verdicts():
    judged = list(compare(*eval_rules.golden()))
    assert len(judged) >= 150
    assert agreement(judged, "exact") == agreement(judged, "fast") == 1.0
    assert len({j.oracle for j in judged}) > 15


def judged(oracle: str, fast: str, language: str = "de") -> Judged:
    return Judged("page", language, "fineweb", oracle, {"exact": oracle, "fast": fast}, True)


def test_a_deviation_fails_the_bench_and_is_listed(capsys):
    found = [judged("list_ratio", ""), judged("list_ratio", ""), judged("", ""), judged("", "")]
    assert eval_rules.verdict(found) == 1
    assert "fast        4 verdicts: 50.00%" in capsys.readouterr().out
    assert "| list_ratio | kept | 2 | de 2 |" in deviations(found, "fast")
    assert deviations(found, "exact") == "None."
    assert "| 1 with few | 1 | 100.00% / 50.00% |" in by_language(found)


def test_equal_verdicts_pass_the_bench():
    assert eval_rules.verdict([judged("list_ratio", "list_ratio")]) == 0


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (None, ""),
        (Failure(DropReason.TOP_N_GRAM, "n=2: 0.3 > 0.2"), "top_2_gram"),
        (Failure(DropReason.DUP_N_GRAM, "n=10: 0.3 > 0.2"), "duplicated_10_n_grams"),
        (Failure(DropReason.FINEWEB_LIST_RATIO, ""), "list_ratio"),
        (Failure(DropReason.C4_TOO_FEW_PARAGRAPHS, ""), "< 3 paragraphs"),
        (Failure(DropReason.GOPHER_SHORT_DOC, ""), "gopher_short_doc"),
    ],
)
def test_our_reasons_are_put_into_the_oracles_words(failure, words):
    assert in_the_oracles_words(failure) == words
