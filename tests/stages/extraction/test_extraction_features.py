"""The features of the model of main texts: in their order and with their meaning they are a part of it."""

import os
import shutil
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from crawler.config import from_mapping
from crawler.stages import chain
from crawler.stages.extraction.learned import model, numbers, probe
from crawler.stages.extraction.learned.model import OWN, check_model, read_model
from crawler.stages.extraction.learned.probe import features_of
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.models.file import ModelError, read
from tests.support.places import PROJECT

ALWAYS_EQUAL = {("repeat_0", "repeat"), ("kind_CODE", "mark_PRE")}
"""By definition: of the block's own element; a block in <pre> is code."""


def of_blocks():
    found = features_of(read(OWN).probe)[: len(numbers.GROUPS)]
    return [name for one in found for name in one.names], np.concatenate([one.probe for one in found], axis=1)


def test_no_two_features_are_the_same_on_the_probe_so_that_any_swap_is_noticed():
    names, rows = of_blocks()
    assert len(names) == len(set(names)) == rows.shape[1] == 226
    equal = {
        (names[a], names[b])
        for a, b in combinations(range(len(names)), 2)
        if np.isclose(rows[:, a], rows[:, b], rtol=1e-3, atol=1e-3).all()
    }
    assert equal == ALWAYS_EQUAL


def test_the_model_that_is_shipped_has_the_features_of_today():
    assert check_model() == [] and chain.problems(from_mapping({})) == []
    assert [one["group"] for one in read(OWN).card["features"]] == [
        *("text", "words", "elements", "page", "headings", "neighbours"),
        *("weights", "alike", "whole page", "statements"),
    ]


def swapped(compute):
    def swap(out, n):
        compute(out, n)
        if "chars" in out:
            out["chars"], out["words"] = out["words"], out["chars"]

    return swap


def test_two_columns_that_are_swapped_are_refused_where_the_model_is_loaded(monkeypatch):
    (group, version, compute), *rest = numbers.GROUPS
    changed = ((group, version, swapped(compute)), *rest)
    monkeypatch.setattr(numbers, "GROUPS", changed)
    with pytest.raises(ModelError, match=r"trained on other features .* on the probe in chars, words"):
        read_model()
    (problem,) = chain.problems(from_mapping({}))
    assert problem.startswith("EXTRACTOR=learned: model ") and "chars, words" in problem
    assert chain.problems(from_mapping({"EXTRACTOR": "trafilatura"})) == []
    monkeypatch.setattr(model, "the_model", read_model)
    monkeypatch.setattr("crawler.stages.extraction.stage.the_model", read_model)
    with pytest.raises(ModelError):
        ExtractionStage(from_mapping({}).extraction)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("GROUPS", lambda g: (*g[:2], g[3], g[2], *g[4:]), "groups text, words, elements, page, headings,"),
        ("GROUPS", lambda g: (("text", 2, g[0][2]), *g[1:]), "group text: version 1, here 2"),
        ("_AROUND", lambda names: (*names[1:], names[0]), "group neighbours"),
        ("_SHIFTS", lambda shifts: shifts[::-1], "group neighbours"),
        ("_KINDS", lambda kinds: kinds[::-1], "group text: other values on the probe in kind_"),
    ],
)
def test_another_order_or_number_of_features_is_refused(name, change, told, monkeypatch):
    monkeypatch.setattr(numbers, name, change(getattr(numbers, name)))
    assert told in check_model()[0]


def test_mean_and_largest_value_of_the_page_in_another_order_are_refused(monkeypatch):
    half = len(of_blocks()[0])
    plain = numbers.page_numbers
    monkeypatch.setattr(probe, "page_numbers", lambda rows: np.roll(plain(rows), half))
    assert "group whole page" in check_model()[0]


def test_words_that_are_hashed_otherwise_are_refused(monkeypatch):
    monkeypatch.setattr("crawler.stages.extraction.learned.tables._ENDS", "")
    assert "group words" in check_model()[0]


def test_a_source_tree_in_which_two_assignments_are_swapped_starts_no_crawl(tmp_path):
    shutil.copytree(PROJECT / "crawler", tmp_path / "crawler", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "crawler/stages/extraction/learned/numbers.py"
    text = source.read_text("utf-8")
    one, two = 'out["chars"] = np.minimum(n.chars', 'out["words"] = np.minimum(n.words'
    assert one in text and two in text
    text = text.replace(one, 'out["chars"] = np.minimum(n.words').replace(two, 'out["words"] = np.minimum(n.chars')
    source.write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", "url=http://127.0.0.1:9/", "-s", "CORPUS_DIR=corpus"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "SCRAPY_SETTINGS_MODULE": "crawler.settings"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "was trained on other features than this version computes (group text: other values" in done.stderr
    assert "chars" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "corpus" / "manifest.json").exists()
