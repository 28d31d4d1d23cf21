"""Near a limit all numbers of a page decide together; beyond the band, and under datatrove, the limit does alone."""

from __future__ import annotations

import pytest

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.stages.quality.near_misses import DROP, KEEP, PROBABILITY, Curve, NearMisses, TextModel, shipped
from crawler.stages.quality.stage import QualityStage

SENTENCES = [
    sentence.rstrip(".") + "."
    for seed in range(12)
    for sentence in " ".join(prose(seed, words=80)).split(". ")
    if 9 <= len(sentence.split()) <= 30
]
HAIR = "\n".join([*SENTENCES[:20], *SENTENCES[:3]])
"""Three of twenty lines stand twice: more than a limit allows."""
NEAR = "\n".join([*SENTENCES[:32], SENTENCES[0]])
"""One of thirty-two: less than it allows, and more than half of that."""
AGAIN = "\n".join(SENTENCES[:20] * 4)
MENU = "\n".join(f"{s.split()[0]} {s.split()[1]}" for s in SENTENCES[:60])


def judged(text: str, model: TextModel | None = None, language: str = "en", **settings: object) -> Document | Drop:
    config = from_mapping(dict(settings)).quality
    stage = QualityStage(config, near=NearMisses(model) if model else None)
    doc = Document("https://a.test/", text=text, language=language)
    found = stage(doc)
    return found if isinstance(found, Drop) else doc


def sure_of(base: float, *languages: str) -> TextModel:
    """A model that says the same of every page."""
    return TextModel(base, {}, frozenset(languages))


def test_a_text_that_misses_a_limit_by_little_is_kept_and_the_record_says_why():
    doc = judged(HAIR)
    assert isinstance(doc, Document)
    assert doc.quality_signals[PROBABILITY] >= KEEP
    said = doc.quality_signals["skipped_rules"]["fineweb_char_dup_ratio"]
    assert said.startswith("fineweb_duplicate_line_chars 0.") and "but it is text with probability" in said
    assert "fineweb_duplicate_line_chars" not in doc.quality_signals


def test_the_limits_of_the_papers_have_no_band():
    found = judged(NEAR, sure_of(20, "en"), QUALITY_PROFILE="datatrove")
    assert isinstance(found, Drop)
    assert isinstance(judged(NEAR, sure_of(20, "en")), Document)


@pytest.mark.parametrize(("odds", "kind"), [(-1.0, Drop), (-0.8, Document)], ids=["27 %", "31 %"])
def test_a_page_that_misses_a_limit_is_kept_from_a_probability_on(odds, kind):
    found = judged(HAIR, sure_of(odds))
    assert isinstance(found, kind)
    assert not isinstance(found, Drop) or found.reason is DropReason.FINEWEB_CHAR_DUP_RATIO


def test_of_several_limits_with_one_reason_the_one_that_decided_is_said():
    text = "\n".join([*SENTENCES[:12], *(f"{SENTENCES[n]} {SENTENCES[n + 1]}" for n in (0, 2, 4))])
    doc = judged(text, sure_of(20))
    assert isinstance(doc, Document)
    assert doc.quality_signals["skipped_rules"]["dup_n_gram"].startswith("n=5: ")


def test_only_prose_is_dropped_although_it_meets_all_limits():
    twice = "\n".join([*SENTENCES[:20], SENTENCES[0]])
    assert isinstance(judged(twice, sure_of(-20, "en"), QUALITY_PROFILE="legal"), Document)
    found = judged(NEAR, sure_of(-20, "en"), QUALITY_PROFILE="prose")
    assert isinstance(found, Drop) and found.reason is DropReason.UNLIKE_TEXT


@pytest.mark.parametrize(("sentences", "odds", "kind"), [(4, 20, Drop), (6, -20, Document)], ids=["missed", "met"])
def test_a_rule_set_that_cuts_lines_decides_alone(sentences, odds, kind):
    text = "\n".join(SENTENCES[:sentences])
    assert isinstance(judged(text, sure_of(odds, "en"), QUALITY_RULES="c4"), kind)


def test_what_misses_a_limit_by_far_is_dropped_whatever_the_model_says():
    assert isinstance(judged(AGAIN, sure_of(20)), Drop)


@pytest.mark.parametrize("text", [MENU, AGAIN], ids=["menu", "again and again"])
def test_junk_is_no_near_miss(text):
    assert isinstance(judged(text), Drop)


def test_an_improbable_text_near_a_limit_is_dropped_with_the_signals_that_speak_against_it():
    curve = Curve((0.0, 1.0), (-9.0, -9.0))
    found = judged(NEAR, TextModel(0.0, {"digits": curve}, frozenset({"en"})))
    assert isinstance(found, Drop) and found.reason is DropReason.UNLIKE_TEXT
    assert found.detail == f"{PROBABILITY} 0.000 < {DROP:g}: digits -9.0 (prose)"


def test_a_page_in_a_language_that_the_model_has_not_seen_is_never_dropped_by_it():
    assert isinstance(judged(NEAR, sure_of(-20, "en")), Drop)
    assert isinstance(judged(NEAR, sure_of(-20, "de")), Document)


def test_a_page_far_from_every_limit_is_not_asked_about():
    doc = judged("\n".join(SENTENCES[:20]), sure_of(-20, "en"))
    assert isinstance(doc, Document) and PROBABILITY not in doc.quality_signals


def test_a_curve_is_linear_between_its_knots_and_flat_beyond_them():
    curve = Curve((0.0, 2.0, 4.0), (1.0, 3.0, -1.0))
    assert [curve.at(x) for x in (-1, 0, 1, 2, 3, 4, 9)] == [1.0, 1.0, 2.0, 3.0, 1.0, -1.0, -1.0]


def test_the_shipped_model_asks_for_no_signal_that_depends_on_the_words_of_a_language():
    model = shipped()
    assert model.languages >= {"de", "en"}
    assert not {"stop_words", "gopher_stop_words", "mean_word_length", "unique_words"} & set(model.curves)


def test_what_was_not_measured_adds_nothing():
    model = TextModel(1.0, {"digits": Curve((0.0, 1.0), (-9.0, -9.0))})
    assert model.parts({}) == {}
    assert model.probability({}) == pytest.approx(0.7310585786)
