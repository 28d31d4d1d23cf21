"""The language stage: two identifiers, one verdict, both answers on the record."""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.config import ConfigError, LanguageConfig, from_mapping, load
from crawler.document import Document, Drop, DropReason
from crawler.stages._identifiers import FIRST_LOOK, Answer, Langdetect, Py3Langid, normal_code
from crawler.stages.language import LanguageStage, merge

ENGLISH = "The house stands by the river, and every morning the children walk along the water to their school. " * 8
GERMAN = "Das Haus steht am Fluss, und jeden Morgen gehen die Kinder am Wasser entlang zu ihrer Schule. " * 8
SHARED = Path(os.environ.get("CRAWLER_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))


@cache
def identifiers() -> tuple[Py3Langid, Langdetect]:
    return Py3Langid(), Langdetect()


def identify(text: str, html_lang: str | None = None, **config):
    doc = Document(url="https://example.org/", text=text, html_lang=html_lang)
    return LanguageStage(LanguageConfig(**config), *identifiers())(doc), doc


@pytest.mark.parametrize(("text", "code"), [(ENGLISH, "en"), (GERMAN, "de")])
def test_prose_is_identified_and_both_answers_are_kept(text, code):
    result, doc = identify(text[:200])
    assert isinstance(result, Document)
    assert doc.language == code
    assert doc.language_score is not None and doc.language_score > 0.9
    assert doc.language_signals["py3langid"][0] == doc.language_signals["langdetect"][0] == code


def test_a_confident_answer_on_a_long_text_is_not_asked_twice():
    _, doc = identify(ENGLISH)
    assert "langdetect" not in doc.language_signals


def test_the_lang_attribute_is_evidence_and_never_the_verdict():
    _, doc = identify(ENGLISH, html_lang="fr")
    assert (doc.language, doc.language_signals["html_lang"]) == ("en", "fr")


@pytest.mark.parametrize("text", ["", "Bonjour", "12 34 56"])
def test_a_few_words_have_no_language(text):
    result, doc = identify(text)
    assert isinstance(result, Drop)
    assert result.reason is DropReason.LANGUAGE_UNKNOWN
    assert doc.language is None


def test_a_language_outside_the_list_is_not_wanted_and_keeps_its_score():
    result, doc = identify(GERMAN, languages=("en", "fr"))
    assert isinstance(result, Drop)
    assert result.reason is DropReason.LANGUAGE_NOT_WANTED
    assert (doc.language, result.detail[:2]) == ("de", "de")


def test_codes_of_the_list_may_be_spelled_in_any_usual_way():
    chinese = "人工智能是计算机科学的一个分支，它企图了解智能的实质，并生产出一种新的智能机器。" * 5
    assert isinstance(identify(chinese, languages=("zh-CN",))[0], Document)
    assert isinstance(identify(GERMAN, languages=("DE",))[0], Document)


def test_the_score_needed_can_differ_by_language():
    result, _ = identify(GERMAN[:95], min_scores=("de:1.0",), min_score=0.0)
    assert isinstance(result, Document | Drop)
    text = ENGLISH + GERMAN * 4
    strict, _ = identify(text, min_score=0.0, min_scores=("de:0.99",))
    assert isinstance(strict, Drop)
    assert strict.reason is DropReason.LANGUAGE_LOW_SCORE


def test_a_mixed_document_carries_the_share_of_its_main_language():
    _, doc = identify(ENGLISH * 3 + GERMAN * 2, min_score=0.0)
    assert doc.language == "en"
    assert doc.language_signals["main_share"] == 0.6


def test_a_document_that_only_begins_in_another_language_is_named_by_its_body():
    _, doc = identify(ENGLISH + GERMAN * 6, min_score=0.0)
    assert doc.language == "de"
    assert doc.language_score == 0.8


@pytest.mark.parametrize(
    ("code", "normal"),
    [("zh-cn", "zh"), ("zh_TW", "zh"), ("nb", "no"), ("iw", "he"), ("EN-us", "en"), ("kik", "ki"), ("nso", "nso")],
)
def test_a_language_has_one_code(code, normal):
    assert normal_code(code) == normal


ANSWERS = st.one_of(st.none(), st.builds(Answer, st.sampled_from(["de", "en", "xh"]), st.floats(0, 1)))


@settings(deadline=None, derandomize=True)
@given(ANSWERS, ANSWERS)
def test_the_verdict_is_one_of_the_answers_with_a_probability(first, second):
    verdict = merge(first, second, frozenset({"de", "en"}))
    if verdict is None:
        assert first is second is None
        return
    assert verdict.language in {a.language for a in (first, second) if a is not None}
    assert 0.0 <= verdict.score <= 1.0


def test_a_second_identifier_has_no_say_on_a_language_it_does_not_know():
    assert merge(Answer("xh", 0.6), Answer("sw", 0.99), frozenset({"sw"})) == Answer("xh", 0.6)


def test_agreement_strengthens_and_disagreement_weakens():
    known = frozenset({"de", "nl"})
    assert merge(Answer("de", 0.6), Answer("de", 0.9), known) == Answer("de", pytest.approx(0.96))
    assert merge(Answer("de", 0.6), Answer("nl", 0.9), known) == Answer("nl", pytest.approx(0.63))


def test_langdetect_gives_the_same_answer_every_time():
    text = "Kort tekst som kan være dansk eller norsk, hvem vet."
    answers = {(a.language, a.score) for _ in range(5) if (a := Langdetect().identify(text)) is not None}
    assert len(answers) == 1


def test_unusable_minimum_scores_are_a_configuration_error():
    with pytest.raises(ConfigError, match="LANGUAGE_MIN_SCORES"):
        from_mapping({"LANGUAGE_MIN_SCORES": "de=0.8"})
    assert load({"LANGUAGE_MIN_SCORES": "de:0.8,fr:0.7"}.get).language.min_scores == ("de:0.8", "fr:0.7")


@pytest.mark.skipif(not (SHARED / "languages").is_dir(), reason="needs ../shared/data/languages")
def test_ninety_five_of_a_hundred_documents_in_72_languages_are_identified():
    unknown = {"mi", "ts", "tn"}  # neither identifier has them
    alike = {"nb": "no", "bs": "hr"}  # bs and hr: one written norm to n-grams
    by_code: dict[str, list[str]] = defaultdict(list)
    for line in (SHARED / "languages" / "sentences.tsv").read_text("utf-8").splitlines():
        code, sentence = line.split("\t", 1)
        by_code[code].append(sentence)
    right = total = 0
    for code, sentences in by_code.items():
        if code in unknown:
            continue
        for start in (0, 20, 40):
            _, doc = identify(" ".join(sentences[start : start + 10]), min_score=0.0)
            total += 1
            right += doc.language in {code, alike.get(code)}
    assert right / total >= 0.95


def test_of_two_twins_an_undecided_first_leaves_the_word_to_the_second():
    known = frozenset({"hr", "en"})
    assert merge(Answer("bs", 0.6), Answer("hr", 0.9), known).language == "hr"
    assert merge(Answer("bs", 0.8), Answer("hr", 0.9), known).language == "bs"
    assert merge(Answer("bs", 0.6), Answer("en", 0.9), known).language == "bs"


def test_a_text_without_doubt_is_read_only_as_far_as_needed():
    identifier = Py3Langid()
    english = "The bridge was closed in the morning because the river had risen during the night. " * 5
    greek = "Η γέφυρα έκλεισε το πρωί επειδή το ποτάμι ανέβηκε τη νύχτα. " * 20
    assert identifier.identify(english[:FIRST_LOOK] + greek) == identifier.identify(english[:FIRST_LOOK])
