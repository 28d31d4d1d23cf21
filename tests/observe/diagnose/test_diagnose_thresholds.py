"""What the stages decided can be decided again from the stored record alone, and with other limits."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench.web.prose import prose
from crawler.config import QualityConfig, from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe.diagnose.diagnosis import advice, diagnose
from crawler.observe.diagnose.thresholds import Thresholds
from crawler.stages.quality.rules.profiles import rules_for
from crawler.stages.quality.stage import QualityStage
from crawler.storage.files.records import record_of, rejection_of
from tests.support.places import TESTS

GOLDEN = json.loads((TESTS / "stages" / "quality" / "golden" / "datatrove-0.10.1.json").read_text("utf-8"))
ALL = "gopher_repetition,gopher_quality,fineweb,c4,refinedweb_lines"
SETTINGS = [
    {},
    {"QUALITY_RULES": ALL},
    {"QUALITY_RULES": ALL, "QUALITY_PROFILE": "datatrove"},
    {"QUALITY_MIN_SCORE": 0.9},
]


def texts() -> list[str]:
    """Golden texts, and our own prose bent in the ways that rules look for."""
    made = [case["text"] for case in GOLDEN]
    for n in range(12):
        paragraphs = prose(n, words=120)
        whole = "\n".join(paragraphs)
        made += [
            whole,
            whole + "\n" + "\n".join(f"- item {i}" for i in range(4 * n)),
            whole + ("\n" + paragraphs[0]) * (n % 4),
            " ".join(whole.split()[: 20 * n]),
            whole.replace(". ", "... " if n % 2 else " # "),
            whole + "\n" + "if (x) { return y; }\n" * n,
        ]
    return [text for text in made if text.strip()]


def judged(text: str, settings: dict[str, object], number: int = 0) -> dict[str, object]:
    config = from_mapping(settings)
    doc = Document(url=f"https://a.test/{number}", text=text, language="en", config_digest=config.digest)
    doc.word_count, doc.text_allowed, doc.done = len(text.split()), True, ["pii"]
    verdict = QualityStage(config.quality)(doc)
    return rejection_of(doc, verdict) if isinstance(verdict, Drop) else record_of(doc)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_limits_taken_from_the_record_give_the_verdict_of_the_stage(settings):
    thresholds = Thresholds(from_mapping(settings))
    reasons = set()
    for text in texts():
        record = judged(text, settings)
        if "reason" not in record:
            # a set that cleans lines hands its text on, and what the next set measured there is what is stored
            assert thresholds.misses(record) == []
        elif (misses := thresholds.misses(record)) is not None:
            assert misses[0].limit.reason == record["reason"], record["detail"]
            reasons.add(record["reason"])
    assert len(reasons) >= 2


def test_every_threshold_of_every_rule_set_is_known():
    for profile in ("prose", "technical", "legal", "datatrove"):
        config = from_mapping({"QUALITY_RULES": ALL})
        limits = {limit.setting.partition("[")[0] for limit in Thresholds(config).of_quality(profile)}
        for name, rules in rules_for(profile, config.quality.rules).items():
            for field in rules.__slots__:
                value = getattr(rules, field)
                if value is not None and field.startswith(("min_", "max_", "top_", "duplicate_")):
                    assert f"{name}.{field}" in limits or (name, field) in UNMEASURED, (name, field)


UNMEASURED = {
    *(("c4", field) for field in ("max_word_chars", "min_words_a_line")),
    *(("refinedweb_lines", field) for field in ("max_uppercase", "max_digits", "min_words")),
}
"""Limits that cut single lines: the page has no number for them."""


def test_a_page_without_content_is_no_ones_near_miss():
    record = judged("Page not found. " * 20, {})
    assert record["reason"] == DropReason.SOFT_404
    assert Thresholds(from_mapping()).misses(record) is None


def test_a_short_page_misses_the_number_of_words():
    doc = Document(url="https://a.test/", word_count=80)
    record = rejection_of(doc, Drop("extraction", DropReason.TOO_SHORT, "80 words, needs 100"))
    [miss] = Thresholds(from_mapping()).misses(record) or []
    assert (miss.limit.setting, miss.limit.limit, miss.value) == ("EXTRACTION_MIN_WORDS", 100, 80)


def test_an_unsure_language_misses_its_own_limit():
    doc = Document(url="https://a.test/", language="ms", language_score=0.4)
    record = rejection_of(doc, Drop("language", DropReason.LANGUAGE_LOW_SCORE, ""))
    [general] = Thresholds(from_mapping()).misses(record) or []
    [own] = Thresholds(from_mapping({"LANGUAGE_MIN_SCORES": "id:0.7,ms:0.5"})).misses(record) or []
    assert (general.limit.setting, general.limit.limit) == ("LANGUAGE_MIN_SCORE", 0.65)
    assert (own.limit.setting, own.limit.limit) == ("LANGUAGE_MIN_SCORES ms", 0.5)


def test_moving_the_score_as_advised_keeps_as_many_as_it_says():
    strict = {"QUALITY_MIN_SCORE": 0.97}
    bodies = ["\n".join(prose(n, words=40 + 15 * n)) for n in range(30)]
    records = [judged(text, strict, n) for n, text in enumerate(bodies)]
    found = diagnose(records, from_mapping(strict), source="a test")
    lever = next(lever for lever in found.levers if lever.limit.setting == "QUALITY_MIN_SCORE")
    assert lever.alone >= 3
    for step in lever.relaxed:
        again = [judged(text, {"QUALITY_MIN_SCORE": step.limit}, n) for n, text in enumerate(bodies)]
        assert sum("reason" not in record for record in again) == found.kept + step.documents


def test_moving_a_rule_as_advised_keeps_as_many_as_it_says():
    entries = [[f"first{n}x{i} second{n}y{i} third{n}z{i} fourth{n}w{i}" for i in range(2 * n)] for n in range(20)]
    bodies = ["\n".join([*prose(n, words=100), *entries[n]]) for n in range(20)]
    records = [judged(text, {}, n) for n, text in enumerate(bodies)]
    found = diagnose(records, from_mapping(), source="a test")
    lever = found.levers[0]
    assert lever.limit.setting.startswith("fineweb.") and lever.alone
    for step in lever.relaxed:
        names = QualityConfig().rules
        sets = {name: rules_for(name, names) for name in ("prose", "technical", "legal", "datatrove")}
        profile, field = lever.limit.profile, lever.limit.setting.partition(".")[2]
        sets[profile]["fineweb"] = replace(sets[profile]["fineweb"], **{field: step.limit})  # type: ignore[type-var]
        stage = QualityStage(QualityConfig(), rule_sets=sets)
        docs = [Document(url="https://a.test/", text=text, language="en") for text in bodies]
        assert sum(isinstance(stage(doc), Document) for doc in docs) == found.kept + step.documents


def test_the_threshold_that_bites_most_is_named_first():
    strict = {"QUALITY_MIN_SCORE": 0.97}
    records = [judged("\n".join(prose(n, words=60 + 9 * n)), strict, n) for n in range(30)]
    found = diagnose(records, from_mapping(strict), source="a test")
    assert found.levers[0].limit.setting == "QUALITY_MIN_SCORE"
    assert advice(found)[0].startswith("QUALITY_MIN_SCORE 0.97 → ")
    distances = [miss.distance for miss in found.near_misses]
    assert distances == sorted(distances) and distances
