"""The evaluation of metadata counts what it says, and its readers beat trafilatura's on labelled pages."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from bench.places import SHARED_DATA
from bench.quality import eval_metadata
from bench.quality.eval_metadata import FLOORS, Read, counts, f1, interval, plain_author, plain_date, plain_title


def read(expected: str, ours: str, theirs: str = "") -> Read:
    return Read("p", "article", "http://p.test/", False, (expected, "", ""), (ours, "", ""), (theirs, "", ""))


@pytest.mark.parametrize(
    ("plain", "text", "said"),
    [
        (plain_title, "  The Title\u2019s: e\u0301nd ", "the title s énd"),
        (plain_author, "By Ada Lovelace and Tove; Bo", "ada lovelace tove bo"),
        (plain_date, "2024-03-05T10:00:00Z", "2024-03-05"),
        (plain_title, None, ""),
    ],
)
def test_answers_are_compared_by_their_words_or_their_day(plain, text, said):
    assert plain(text) == said


def test_f1_counts_what_is_said_against_what_is_labelled(capsys):
    reads = [read("a", "a", "a"), read("a", "b", "a"), read("a", ""), read("", "c"), read("", "")]
    ours = counts(reads, 0, "ours")
    assert ours.sum(0).tolist() == [3, 3, 1]
    assert f1(ours.sum(0)) == pytest.approx(2 * 1 / (3 + 3))
    assert f1(counts(reads, 0, "theirs").sum(0)) == pytest.approx(2 * 2 / (3 + 2))
    assert eval_metadata.table("some", reads) == {"title": pytest.approx(1 / 3)}
    assert "3 labelled  ours 0.333 0.333 0.333  trafilatura 1.000 0.667 0.800  -0.467" in capsys.readouterr().out


def test_the_interval_holds_the_difference_and_is_the_same_each_time():
    better = counts([read("a", "a", "a" if n % 3 else "b") for n in range(90)], 0, "ours")
    worse = counts([read("a", "a", "a" if n % 3 else "b") for n in range(90)], 0, "theirs")
    low, high = interval(better, worse)
    assert 0.2 < low < 1 / 3 < high < 0.47 and interval(better, worse) == (low, high)
    assert interval(np.ones((9, 3), np.int64), np.ones((9, 3), np.int64)) == (0.0, 0.0)


def test_an_f1_below_its_floor_is_an_error(capsys):
    assert eval_metadata.verdict(dict(FLOORS)) == 0 and not capsys.readouterr().out
    assert eval_metadata.verdict(FLOORS | {"author": FLOORS["author"] - 0.01}) == 1
    assert "author" in capsys.readouterr().out


def test_no_labelled_pages_are_an_error_that_says_what_to_give(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["eval_metadata", "--data", str(tmp_path)])
    assert eval_metadata.main() == 1 and "give --data" in capsys.readouterr().err


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs the shared pages")
def test_each_field_is_read_better_than_by_trafilatura_on_pages_of_the_held_half():
    held = (page for page in eval_metadata.labelled(SHARED_DATA) if eval_metadata.is_held(page[0]["domain"] or "x"))
    reads = list(eval_metadata.measure(islice(held, 200)))
    for field, name in enumerate(eval_metadata.FIELDS):
        ours, theirs = (float(f1(counts(reads, field, who).sum(0))) for who in ("ours", "theirs"))
        assert ours > theirs + 0.05 and ours > FLOORS[name] - 0.08
