"""What the stages decided can be decided again from the stored record alone, and with other limits."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace

import pytest
from rich.console import Console

from bench.web.prose import prose
from crawler.config import QualityConfig, from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe.diagnose import view
from crawler.observe.diagnose.diagnosis import Diagnosis, Lever, advice, diagnose
from crawler.observe.diagnose.thresholds import Thresholds
from crawler.observe.diagnose.webpage import page
from crawler.stages.quality.near_misses import DROP
from crawler.stages.quality.rules.base import Findings
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


def test_nobody_is_told_to_move_what_cannot_be_set():
    doc = Document("https://a.test/", text="x", language="en", quality_score=0.9)
    doc.quality_signals = {"profile": "prose", "text_probability": DROP / 2}
    record = rejection_of(doc, Drop("quality", DropReason.UNLIKE_TEXT, "improbable"))
    [miss] = Thresholds(from_mapping()).misses(record) or []
    assert (miss.limit.reason, miss.limit.movable) == (DropReason.UNLIKE_TEXT, False)
    assert diagnose([record], from_mapping(), source="a test").levers == []


def test_a_short_page_misses_the_number_of_words():
    doc = Document(url="https://a.test/", word_count=40)
    record = rejection_of(doc, Drop("extraction", DropReason.TOO_SHORT, "40 words, needs 50"))
    [miss] = Thresholds(from_mapping()).misses(record) or []
    assert (miss.limit.setting, miss.limit.limit, miss.value) == ("EXTRACTION_MIN_WORDS", 50, 40)


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


def test_moving_a_rule_as_advised_keeps_at_least_as_many_as_it_says():
    """What is near to the new limit may be kept beside them."""
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
        assert sum(isinstance(stage(doc), Document) for doc in docs) >= found.kept + step.documents


def test_the_threshold_that_bites_most_is_named_first():
    strict = {"QUALITY_MIN_SCORE": 0.97}
    records = [judged("\n".join(prose(n, words=60 + 9 * n)), strict, n) for n in range(30)]
    found = diagnose(records, from_mapping(strict), source="a test")
    assert found.levers[0].limit.setting == "QUALITY_MIN_SCORE"
    assert advice(found)[0].startswith("QUALITY_MIN_SCORE is 0.97: ")
    distances = [miss.distance for miss in found.near_misses]
    assert distances == sorted(distances) and distances


def scored(number: int, score: float, **values: object) -> dict[str, object]:
    """The record of a page with this score; with a reason it is rejected for it."""
    doc = Document(url=f"https://a.test/{number}", quality_score=score, word_count=300)
    doc.quality_signals = {"profile": "prose", **values}
    minimum = from_mapping().quality.min_score
    return rejection_of(doc, Drop("quality", DropReason.LOW_QUALITY, "")) if score < minimum else record_of(doc)


def shown(found: Diagnosis) -> list[str]:
    """The lines of a terminal."""
    console = Console(file=io.StringIO(), width=200)
    view.show(found, console)
    return console.file.getvalue().splitlines()


def lever_of(records: list[dict[str, object]], setting: str, settings: dict[str, object] | None = None) -> Lever:
    found = diagnose(records, from_mapping(settings or {}), source="a test")
    return next(lever for lever in found.levers if lever.limit.setting == setting)


@pytest.mark.parametrize("words", [99, 1_234_567])
def test_the_number_of_words_that_the_sentence_names_is_one_that_can_be_set(words):
    strict = {"EXTRACTION_MIN_WORDS": 2_345_678}
    doc = Document(url="https://a.test/", word_count=words)
    record = rejection_of(doc, Drop("extraction", DropReason.TOO_SHORT, ""))
    found = diagnose([record], from_mapping(strict), source="a test")
    before, advised = re.findall(r"(?:is|with) (\d[\d.e+]*)", advice(found)[0])
    assert from_mapping({"EXTRACTION_MIN_WORDS": before}).extraction.min_words == 2_345_678
    assert from_mapping({"EXTRACTION_MIN_WORDS": advised}).extraction.min_words == words
    assert any(re.search(rf" {words}: \+1", line) for line in shown(found)) and f"<td>{words}: +1" in page(found)


@pytest.mark.parametrize("above_the_limit", [0.0001, 0.00004, 0.01004])
def test_a_rule_moved_as_advised_lets_the_page_pass_whatever_the_record_rounds(above_the_limit):
    """The stage compares what it measured; the record has it to four places."""
    rules = rules_for("prose", ["gopher_quality"])["gopher_quality"]
    value = rules.max_bullet_lines + above_the_limit
    findings = Findings()
    findings.measure("gopher_bullet_lines", value)
    record = rejection_of(
        Document(url="https://a.test/", quality_score=1.0, quality_signals={"profile": "prose", **findings.values}),
        Drop("quality", DropReason.GOPHER_TOO_MANY_BULLETS, ""),
    )
    settings = {"QUALITY_RULES": "gopher_quality"}
    found = diagnose([record], from_mapping(settings), source="a test")
    for step in (step for lever in found.levers for step in lever.relaxed):
        assert findings.decide(replace(rules, max_bullet_lines=step.limit)).failure is None
        assert step.documents == 1
    assert bool(found.levers) == (above_the_limit > 0.00005)


def test_a_score_moved_as_advised_keeps_the_page_however_near_the_limit_it_is():
    nearest = math.nextafter(from_mapping().quality.min_score, 0)
    [step] = lever_of([scored(1, nearest)], "QUALITY_MIN_SCORE").relaxed
    assert step.limit <= nearest and step.documents == 1


def test_a_tighter_limit_costs_as_many_as_it_says_when_it_is_set():
    """A tenth more than two stop words are no two stop words."""
    counts = [1, 2, 2, 2, 3, 3, 4]
    records = [scored(n, 1.0, gopher_stop_words=count) for n, count in enumerate(counts[1:])]
    doc = Document(url="https://a.test/", quality_score=1.0, quality_signals=records[0]["quality_signals"])
    doc.quality_signals = doc.quality_signals | {"gopher_stop_words": counts[0]}
    records.append(rejection_of(doc, Drop("quality", DropReason.GOPHER_ENOUGH_STOP_WORDS, "")))
    stricter = lever_of(records, "gopher_quality.min_stop_words", {"QUALITY_RULES": "gopher_quality"}).stricter
    assert stricter is not None and stricter.limit > 2
    assert stricter.documents == sum(2 <= count < stricter.limit for count in counts) == 3


def test_no_score_is_shown_that_no_score_reaches():
    strict = {"QUALITY_MIN_SCORE": 0.97}
    records = [judged("\n".join(prose(n, words=40 + 15 * n)), strict, n) for n in range(30)]
    stricter = lever_of(records, "QUALITY_MIN_SCORE", strict).stricter
    assert stricter is not None and from_mapping({"QUALITY_MIN_SCORE": stricter.limit}).quality.min_score == 1.0


def test_where_no_threshold_decided_it_says_what_may_have():
    strict = {"QUALITY_MIN_SCORE": 0.97}
    records = [judged("\n".join(prose(n, words=60 + 9 * n)), strict, n) for n in range(30)]
    other = diagnose(records, from_mapping({"QUALITY_MIN_SCORE": 0}), source="a test")
    assert other.notes and advice(other) == [
        "No single threshold keeps a document out: policy, fetching, other settings or content decided."
    ]
    gone = {"url": "https://a.test/", "reason": "gone", "stage": "fetch", "config_digest": from_mapping().digest}
    assert advice(diagnose([gone], from_mapping(), source="a test")) == [
        "No single threshold keeps a document out: policy, fetching or content decided."
    ]
