"""A threshold is declared in its rule set, and everybody else reads it there."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from crawler.config import ConfigError, from_mapping
from crawler.config.text import RULE_SET_NAMES
from crawler.document import Document, Drop, DropReason
from crawler.observe.diagnose.thresholds import Thresholds
from crawler.stages.quality.rules import RULE_SETS, GopherQuality, GopherRepetition
from crawler.stages.quality.rules.base import Findings, limits_of
from crawler.stages.quality.stage import QualityStage
from crawler.storage.files.records import rejection_of

ALL = [(name, bound) for name, rules in RULE_SETS.items() for bound in limits_of(rules)]


def test_a_rule_set_is_named_as_its_class():
    assert [name.replace("_", "") for name in RULE_SETS] == [
        type(rules).__name__.lower() for rules in RULE_SETS.values()
    ]


def test_the_settings_page_and_the_error_name_every_rule_set():
    page = (Path(__file__).resolve().parents[3] / "docs" / "settings.md").read_text(encoding="utf-8")
    [row] = re.findall(r"^\| `QUALITY_RULES` .*", page, re.MULTILINE)
    with pytest.raises(ConfigError) as error:
        from_mapping({"QUALITY_RULES": "gopher"})
    for name in RULE_SET_NAMES:
        assert name in row and name in str(error.value)


@pytest.mark.parametrize(("name", "bound"), ALL, ids=lambda x: x if isinstance(x, str) else x.field)
def test_every_limit_says_its_unit_its_source_and_its_reason(name, bound):
    assert bound.unit and bound.source and bound.value is not None
    assert bound.is_missed_by(bound.value + 1) == bound.above and not bound.is_missed_by(bound.value)
    off = dataclasses.replace(bound, value=None)
    assert not off.is_missed_by(float("inf")) and not off.is_missed_by(float("-inf"))


def test_a_limit_that_is_switched_off_decides_nothing():
    found = Findings()
    found.measure("gopher_words", 3)
    assert found.decide(GopherQuality(min_words=None)).failure is None
    assert found.decide(GopherQuality()).failure is not None


def test_the_first_declared_limit_gives_the_reason_and_the_record_keeps_four_places():
    found = Findings()
    found.measure("dup_6_gram", 0.999)
    found.measure("dup_5_gram", 0.150049)
    failure = found.decide(GopherRepetition()).failure
    assert failure is not None
    assert (failure.reason, failure.detail) == (DropReason.DUP_N_GRAM, "n=5: 0.150049 > 0.15")
    assert found.values["dup_5_gram"] == 0.15  # what decides is the value itself, not the rounded one


@pytest.mark.parametrize("name", RULE_SET_NAMES)
def test_every_rule_set_can_be_diagnosed_from_records(name):
    """`c4_paragraphs` once stood in no second list, and `gristmill diagnose` stopped with a KeyError."""
    config = from_mapping({"QUALITY_RULES": name, "QUALITY_PROFILE": "datatrove"})
    doc = Document("http://a.test/", text="SHOUT OUT LOUD\n" * 3 + "one short line", language="en", text_allowed=True)
    doc.done = ["pii"]
    verdict = QualityStage(config.quality)(doc)
    if name in ("c4_paragraphs", "c4", "gopher_quality", "refinedweb_lines"):
        assert isinstance(verdict, Drop)
    if isinstance(verdict, Drop):
        misses = Thresholds(config).misses(rejection_of(doc, verdict))
        assert misses and misses[0].limit.reason == verdict.reason
        assert misses[0].limit.setting.startswith((f"{name}.", "QUALITY_MIN_SCORE"))


@pytest.mark.parametrize("value", [0.2815, 0.20004, 0.2000001, 0.2 + 1e-15])
def test_what_is_said_of_a_value_lies_on_the_wrong_side_of_its_threshold(value):
    (bound,) = (b for b in limits_of(GopherRepetition()) if b.signal == "dup_line_char_frac")
    assert bound.is_missed_by(value)
    signal, said, sign, threshold = bound.detail(value).split()
    assert (signal, sign, float(threshold)) == ("dup_line_char_frac", ">", 0.2)
    assert float(said) > 0.2
