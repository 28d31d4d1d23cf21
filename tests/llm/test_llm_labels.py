"""Scores of `gristmill llm judge` as labels of `classify train`: each model is a judge beside the people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from crawler.classify.examples import Examples, Scores, read_labels
from crawler.operations.llm_judge import WORK
from crawler.problems import InputError
from tests.llm.test_llm_judge import NAME, by_number
from tests.support.corpus_folder import Folder
from tests.support.models import ModelServer, Script
from tests.support.operations import answer_of

Serve = Callable[[Script], ModelServer]


@pytest.fixture
def judged(folder: Folder, serve: Serve, prices: Callable[..., str]) -> Folder:
    """Page N has the score N."""
    folder.filled(range(6))
    words = ("--model", serve(by_number).model(), "--prices", prices(), "--budget", "900EUR")
    answer_of(WORK, folder.path, *words)
    return folder


def read(folder: Folder, scores: Scores | None) -> tuple[dict[int, Any], Examples]:
    into = Examples()
    read_labels([str(folder.path)], into, scores=scores)
    return {int(one.url.rpartition("/")[2]): one for one in into.found}, into


def test_scores_are_verdicts_and_those_between_are_left_out_and_counted(judged: Folder) -> None:
    found, into = read(judged, Scores((NAME,)))
    assert {number: one.good for number, one in found.items()} == {0: 0.0, 1: 0.0, 4: 1.0, 5: 1.0}
    assert into.left_out == {f"{NAME}: its score is between 1 and 4": 2}
    assert all(one.text.startswith(f"The text of page {number}.") for number, one in found.items())
    found, into = read(judged, Scores((NAME,), keep=3, drop=2))
    assert ({number for number, one in found.items() if one.good}, into.left_out) == ({3, 4, 5}, {})


def test_a_model_and_a_person_who_differ_are_two_judges_of_one_text(judged: Folder) -> None:
    record = next(one for one in judged.records() if one["url"].endswith("/5"))
    label = {"url": record["url"], "doc_id": record["doc_id"], "judge": "ann", "answer": "reject", "stratum": "kept"}
    (judged.path / "labels.jsonl").write_bytes(orjson.dumps(label) + b"\n")
    found, _ = read(judged, Scores((NAME,)))
    assert (found[5].good, found[5].judges, found[4].judges) == (0.5, 2, 1)
    alone, _ = read(judged, None)
    assert {number: one.good for number, one in alone.items()} == {5: 0.0}


def test_a_corpus_without_the_scores_is_named(folder: Folder) -> None:
    folder.filled(range(2))
    with pytest.raises(InputError, match="no annotation is called 'llm_judge_qualty'"):
        read(folder, Scores(("llm_judge_qualty",)))
