"""Word lists: density and different terms, for the languages they are for; C4's rule is noted and decides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import ConfigError, from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.frontier.outcome import _score_of
from crawler.stages.chain import problems
from crawler.stages.classify.stage import ClassifyStage
from tests.support.word_lists import word_lists

FILLER = "the rain fell on old roofs and people in the village waited for the road to open "


@pytest.fixture
def lists(tmp_path) -> Path:
    return word_lists(tmp_path)


def config_of(lists: Path):
    return from_mapping({"CLASSIFIERS": f"safety:{lists}"})


def judged(lists: Path, text: str, language: str = "en") -> Document:
    doc = Document("https://e.org/", text=text, language=language)
    assert ClassifyStage(config_of(lists).classify)(doc) is doc
    return doc


def test_a_text_that_is_full_of_them_waits_and_its_detail_says_which(lists):
    doc = judged(lists, "MUD and slush, mud and wet  clay. " + FILLER)
    assert doc.hold.reason is DropReason.HELD_SAFETY and doc.verdict is None
    assert doc.hold.detail == "safety_dirt: 0.2083 of the words, 3 different terms (mud, slush, wet clay)"
    assert doc.classifier_scores["safety_dirt"] == pytest.approx(5 / 24, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        FILLER * 5 + "mud and slush",  # two terms, and too few words of them
        "mud mud mud mud " + FILLER,  # one term
        "muddy slushes, claywet " + FILLER,  # other words
        "wet roofs of clay " + FILLER,
    ],
)
def test_a_word_here_and_there_is_no_subject(lists, text):
    assert judged(lists, text).hold is None


def test_c4s_rule_is_counted_and_decides_nothing(lists):
    dropped, kept = judged(lists, FILLER * 9 + "mud"), judged(lists, FILLER)
    assert (dropped.classifier_scores["safety_c4"], kept.classifier_scores["safety_c4"]) == (1.0, 0.0)
    assert dropped.hold is kept.hold is None
    assert 0 < dropped.classifier_scores["safety_noted"] < 0.01


def test_a_list_is_for_the_languages_that_it_names(lists):
    german = judged(lists, "Mud slush wet clay", "de")
    assert german.classifier_scores == {} and german.hold is None
    for text, language in (("昨天下雨了路上都是泥巴我们没有出门", "zh"), ("เมื่อวานฝนตกถนนมีโคลนเต็มไปหมด", "th")):
        doc = judged(lists, text, language)
        assert doc.hold.reason is DropReason.HELD_SAFETY and set(doc.classifier_scores) == {"safety_east"}


def test_what_waits_already_goes_on_waiting_for_that(lists):
    doc, before = Document("https://e.org/", text="mud slush", language="en"), Drop("pii", DropReason.HELD_PII, "")
    doc.hold = before
    ClassifyStage(config_of(lists).classify)(doc)
    assert doc.hold is before


def test_the_frontier_does_not_look_for_more_of_it(lists):
    doc = judged(lists, "mud slush " + FILLER)
    assert doc.classifier_scores and _score_of(doc) is None


def test_the_digest_takes_the_words_and_not_their_paths(lists, tmp_path):
    before = config_of(lists).digest
    (tmp_path / "mud.txt").write_text("mud\n")
    assert config_of(lists).digest != before
    assert from_mapping({"CLASSIFIERS": f"other:{lists}"}).digest != config_of(lists).digest


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("categories:\n  a: {words: none.txt, languages: en}\n", "none.txt"),
        ("categories:\n  a: {words: mud.txt}\n", "categories.a: needs languages"),
        ("categories:\n  a: {languages: en}\n", "categories.a: needs words"),
        ("categories:\n  a: {words: mud.txt, languages: English}\n", "expected the code of a language"),
        ("categories:\n  a: {words: mud.txt, languages: en, density: 2}\n", "categories.a.density: expected a number"),
        ("categories:\n  a: {words: mud.txt, languages: en, action: drop}\n", "expected hold or score"),
        ("categories:\n  a: {words: mud.txt, languages: en, densty: 1}\n", "unknown key; did you mean 'density'"),
        ("categories:\n  C4: {words: mud.txt, languages: en}\n", "expected a name of a-z"),
        ("categories: {}\n", "expected at least one category"),
        ("- mud\n", "expected categories"),
        ("categories: [\n", "expected YAML"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_line(lists, content, said):
    lists.write_text(content)
    with pytest.raises(ConfigError) as error:
        config_of(lists)
    told = "\n".join(error.value.problems)
    assert str(lists) in told and said in told


def test_a_list_without_a_term_or_of_other_bytes_is_told_before_the_first_page(lists, tmp_path):
    for content, said in ((b"# nothing\n", "no term in"), (b"\xff\xfe\x00", "it is not UTF-8")):
        (tmp_path / "mud.txt").write_bytes(content)
        assert any(said in problem for problem in problems(config_of(lists)))
