"""The quality stage: signals first, the first failing rule as reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.config import ConfigError, QualityConfig, from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.stages.quality.no_content import Recognisers
from crawler.stages.quality.rules.base import Page
from crawler.stages.quality.score import LANGUAGE_BOUNDS, PROFILES, Band, choose_profile, measure
from crawler.stages.quality.stage import QualityStage

GOLDEN = json.loads((Path(__file__).parent / "golden" / "datatrove-0.10.1.json").read_text("utf-8"))
PROSE = next(case["text"] for case in GOLDEN if case["name"] == "prose")
CODE = "\n".join(f"def area_{n}(width, height):\n    return width * height + {n}" for n in "abcdefgh")


def judge(text: str, language: str = "en", title: str | None = None, **config):
    doc = Document(url="https://example.org/", text=text, title=title, language=language)
    return QualityStage(QualityConfig(**config))(doc), doc


def test_prose_is_kept_with_a_high_score():
    result, doc = judge(PROSE)
    assert result is doc
    assert doc.quality_score is not None and doc.quality_score > 0.8
    assert doc.quality_signals["profile"] == "prose"


def test_a_dropped_page_keeps_its_score_and_every_signal():
    result, doc = judge(PROSE[:260])
    assert isinstance(result, Drop)
    assert result.reason is DropReason.GOPHER_SHORT_DOC
    assert doc.quality_score is not None
    assert {"fineweb_short_lines", "gopher_words", "dup_10_gram", "digits", "profile"} <= doc.quality_signals.keys()


def test_the_first_rule_set_in_the_setting_decides():
    text = next(case["text"] for case in GOLDEN if case["name"] == "same line")
    first, _ = judge(text, rules=("gopher_repetition", "fineweb"))
    second, _ = judge(text, rules=("fineweb", "gopher_repetition"))
    assert isinstance(first, Drop) and first.reason is DropReason.DUP_LINE_FRAC
    assert isinstance(second, Drop) and second.reason is DropReason.FINEWEB_CHAR_DUP_RATIO


def test_documentation_with_code_is_judged_as_technical_text():
    text = PROSE + "\n" + CODE
    result, doc = judge(text)
    assert doc.quality_signals["profile"] == "technical"
    assert result is doc


def test_code_marked_by_the_page_makes_it_technical():
    doc = Document(url="https://example.org/", text=PROSE, language="en", quality_signals={"marked_code": 0.2})
    QualityStage(QualityConfig())(doc)
    assert doc.quality_signals["profile"] == "technical"
    assert doc.quality_signals["marked_code"] == 0.2


def test_the_profile_can_be_fixed():
    _, doc = judge(PROSE + "\n" + CODE, profile="datatrove")
    assert doc.quality_signals["profile"] == "datatrove"


def test_legal_text_is_recognised_by_citations_and_terms():
    clause = (
        "Pursuant to Article 6 and Section 12 the plaintiff may appeal against the regulation, v. Smith, § 4 applies. "
    )
    assert choose_profile(measure(Page(clause * 5))) == "legal"


def test_a_low_score_is_low_quality():
    junk = "\n".join(f"http://example.org/{n} 1234567 {n}" for n in range(60))
    result, doc = judge(junk, rules=(), min_score=0.6)
    assert isinstance(result, Drop)
    assert result.reason is DropReason.LOW_QUALITY
    assert result.detail.startswith(f"{doc.quality_score:.2f} < 0.6")


def test_without_rules_prose_passes_on_its_score():
    assert isinstance(judge(PROSE, rules=())[0], Document)


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("404 Not Found", "The requested page could not be located on this server.", DropReason.SOFT_404),
        (None, "Seite nicht gefunden. Bitte prüfen Sie die Adresse.", DropReason.SOFT_404),
        ("News", "Please log in to continue reading this article.", DropReason.LOGIN_WALL),
        ("Site", "Réservé aux abonnés. Déjà client ?", DropReason.LOGIN_WALL),
        ("Welcome to nginx!", "If you see this page, the web server is installed.", DropReason.PLACEHOLDER),
        (None, "This domain is for sale.", DropReason.PLACEHOLDER),
        ("Demo", "Lorem ipsum dolor sit amet consectetur. " * 200, DropReason.PLACEHOLDER),
    ],
)
def test_pages_that_are_no_content_have_their_own_reason(title, text, expected):
    result, _ = judge(text, title=title)
    assert isinstance(result, Drop)
    assert result.reason is expected


@pytest.mark.parametrize("phrase", ["404 not found errors are", "Please log in to continue", "It works! Hello world!"])
def test_a_long_article_about_such_a_page_is_content(phrase):
    assert isinstance(judge(f"{phrase} the subject.\n{PROSE * 3}", rules=(), title="An article")[0], Document)


def test_a_recogniser_can_be_switched_off():
    assert Recognisers(soft_404_max_words=None).judge("404 Not Found", "gone", 1) is None


def test_lines_that_c4_drops_are_gone_from_the_text_and_the_counts():
    result, doc = judge(PROSE + "\nWe use cookies on this site today.", rules=("c4",))
    assert result is doc
    assert doc.text == PROSE
    assert doc.char_count == len(PROSE)
    assert doc.quality_signals["cleaned_chars"] == len("\nWe use cookies on this site today.")


def test_the_text_of_a_dropped_page_is_not_changed():
    text = "We use cookies here.\n" + next(case["text"] for case in GOLDEN if case["name"] == "same line")
    result, doc = judge(text, rules=("c4", "gopher_repetition"))
    assert isinstance(result, Drop)
    assert doc.text == text


def test_skipped_rules_are_on_the_record():
    _, doc = judge("人工智能是计算机科学的一个分支。" * 40, language="zh")
    assert doc.quality_signals["skipped_rules"]["gopher_below_avg_threshold"] == "words of zh are short"
    assert doc.quality_signals["tokenizer"] == "pieces"


def test_unknown_rule_sets_are_a_configuration_error():
    with pytest.raises(ConfigError, match="gopher_qality"):
        from_mapping({"QUALITY_RULES": "gopher_qality"})


@pytest.mark.parametrize(("value", "score"), [(0.0, 0.0), (1.0, 0.5), (2.0, 1.0), (5.0, 0.5), (9.0, 0.0)])
def test_a_band_rises_and_falls_in_straight_lines(value, score):
    assert Band(0.0, 2.0, 4.0, 6.0).score(value) == score


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.text(max_size=300), st.sampled_from(["en", "zh", "ko", "eu"]))
def test_any_text_gets_a_score_between_0_and_1(text, language):
    result, doc = judge(
        text,
        language=language,
        rules=("gopher_repetition", "gopher_quality", "fineweb", "c4", "refinedweb_lines"),
    )
    assert isinstance(result, Document | Drop)
    assert doc.quality_score is not None
    assert 0.0 <= doc.quality_score <= 1.0
    json.dumps(doc.quality_signals)


def test_every_profile_scores_prose_well():
    signals = measure(Page(PROSE))
    assert all(profile.score(signals) > 0.7 for profile in PROFILES.values())


RULE_SETS_ALL = ("gopher_repetition", "gopher_quality", "fineweb", "c4", "c4_paragraphs", "refinedweb_lines")


@pytest.mark.parametrize(
    ("title", "text", "reason"),
    [
        (None, PROSE, None),
        ("404", "Page not found.", DropReason.SOFT_404),
        (None, "{ " + PROSE, DropReason.C4_CURLY_BRACKET),
        (None, "A line that comes again and again.\n" * 30, DropReason.DUP_LINE_FRAC),
    ],
    ids=["kept", "no content", "C4 drops the page", "repeated lines"],
)
def test_every_record_carries_the_same_signals_and_a_score_whatever_rejected_it(title, text, reason):
    rules = ("c4", *(name for name in RULE_SETS_ALL if name != "c4")) if reason is DropReason.C4_CURLY_BRACKET else None
    _, kept = judge(PROSE, rules=RULE_SETS_ALL, profile="datatrove")
    result, doc = judge(text, title=title, rules=rules or RULE_SETS_ALL, profile="datatrove")
    if reason is not None:
        assert isinstance(result, Drop)
        assert result.reason is reason
    assert doc.quality_score is not None
    fixed = {name for name in kept.quality_signals if not name.startswith("c4_lines_") and name != "cleaned_chars"}
    assert fixed <= doc.quality_signals.keys()


def test_a_language_has_its_own_bounds_and_the_profiles_weights():
    prose = PROFILES["prose"]
    assert prose.bands_for("en") == prose.bands
    finnish = prose.bands_for("fi")
    assert finnish["mean_word_length"].high_good > prose.bands["mean_word_length"].high_good
    assert finnish["mean_word_length"].weight == prose.bands["mean_word_length"].weight
    assert finnish["digits"] is prose.bands["digits"]


@pytest.mark.parametrize(("language", "bounds"), LANGUAGE_BOUNDS.items())
def test_bounds_of_a_language_rise_and_belong_to_a_signal(language, bounds):
    for name, values in bounds.items():
        assert name in PROFILES["prose"].bands, language
        assert list(values) == sorted(values), (language, name)


def test_long_words_cost_a_finnish_page_less_than_an_english_one():
    signals = measure(Page(PROSE)) | {"mean_word_length": 9.0}
    assert PROFILES["prose"].score(signals, "fi") > PROFILES["prose"].score(signals, "en")
