"""`gristmill dataset duplicates eval`: from a file of labelled pairs to settings."""

from __future__ import annotations

import json

import orjson
import pytest

from bench.web.prose import prose


@pytest.fixture
def labelled(tmp_path):
    """Ten pages with a copy that lost its last sentence, and ten pairs of strangers."""
    pages = [" ".join(prose(n, words=200)) for n in range(20)]
    copies = [{"a": page, "b": page.rpartition(". ")[0], "duplicate": True} for page in pages[:10]]
    strangers = [{"a": a, "b": b, "duplicate": False} for a, b in zip(pages[:10], pages[10:], strict=True)]
    (tmp_path / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, [*copies, *strangers])))


def test_the_settings_it_names_do_what_it_says(scrapy, labelled):
    found = json.loads(scrapy("dataset", "duplicates", "eval", "pairs.jsonl", "--json").out)
    assert (found["pairs"], found["duplicates"]) == (20, 10)
    best = found["best"]
    names = {"NEARDUP_BANDS": best["bands"], "NEARDUP_ROWS": best["rows"], "NEARDUP_THRESHOLD": best["threshold"]}
    settings = [word for name, value in names.items() for word in ("-s", f"{name}={value}")]
    again = scrapy("dataset", "duplicates", "eval", "pairs.jsonl", *settings)
    assert f"As it is set: {' '.join(settings)}\n  precision {best['precision']:.3f}" in again.out


def test_bands_of_ones_own_are_tried_too(scrapy, labelled):
    plain = scrapy("dataset", "duplicates", "eval", "pairs.jsonl").out
    wider = scrapy("dataset", "duplicates", "eval", "pairs.jsonl", "--bands", "40x4", "--bands", "5x20").out
    for line in ("\n  40 ×  4  ", "\n   5 × 20  "):
        assert line in wider and line not in plain


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["missing.jsonl"], 1, "missing.jsonl: No such file or directory"),
        (["empty.jsonl"], 1, "no pair to evaluate: the file is empty"),
        (["pairs.jsonl", "--bands", "20"], 2, "expected bands and rows such as 20x6, at most 512 in all, not '20'"),
        (["pairs.jsonl", "--bands", "99x99"], 2, "at most 512 in all, not '99x99'"),
    ],
)
def test_what_it_cannot_use_is_named(scrapy, labelled, tmp_path, words, code, message):
    (tmp_path / "empty.jsonl").touch()
    done = scrapy("dataset", "duplicates", "eval", *words)
    assert (done.code, done.out) == (code, "") and message in done.err
