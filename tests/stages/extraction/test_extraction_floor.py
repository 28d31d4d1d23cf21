"""The floor of the extraction holds on the shared pages, and nobody lowers it silently."""

from __future__ import annotations

import pytest

from bench.quality import eval_text
from tests.support.places import SHARED_DATA

DATA = SHARED_DATA / "extraction"


def test_the_floor_is_the_one_that_was_agreed():
    assert eval_text.FLOOR_F >= 0.939
    assert eval_text.FLOOR_LEARNED >= 0.94
    assert eval_text.MAX_CPU <= 1.5


@pytest.mark.skipif(not (DATA / "segments.json").is_file(), reason=f"no evaluation pages in {DATA.name}")
def test_the_chain_and_the_learned_extractor_stay_above_their_floors():
    data = list(eval_text.pages(DATA))
    names = eval_text.OURS, eval_text.LEARNED
    scores = eval_text.measure({name: eval_text.CANDIDATES[name] for name in names}, data)
    assert len(data) > 100
    assert scores[eval_text.OURS].f1 >= eval_text.FLOOR_F
    assert scores[eval_text.LEARNED].f1 >= eval_text.FLOOR_LEARNED


def test_a_chain_below_its_floor_or_too_slow_is_an_error(capsys):
    good, bad = (
        eval_text.Score(right=95, missed=5, wrong=5, seconds=1.0),
        eval_text.Score(right=90, missed=10, seconds=1.0),
    )
    slow = eval_text.Score(right=95, missed=5, wrong=5, seconds=1.6)
    poor = eval_text.Score(right=60, missed=40, seconds=1.0)
    ours, theirs, learned = eval_text.OURS, eval_text.DEFAULT, {eval_text.LEARNED: good}
    assert eval_text.verdict({ours: good, theirs: bad} | learned) == 0
    assert eval_text.verdict({ours: bad, theirs: good} | learned) == 1
    assert eval_text.verdict({ours: good, theirs: bad, eval_text.LEARNED: slow}) == 1
    assert eval_text.verdict({ours: poor, theirs: poor} | learned) == 1
    assert eval_text.verdict({ours: good, theirs: bad, eval_text.LEARNED: poor}) == 1
    assert "floor" in capsys.readouterr().out
