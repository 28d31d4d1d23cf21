"""Languages whose relatives look alike: the varieties of one language count together, and others stay apart.

`varieties.tsv` has paragraphs of some sixty words, our own but for the first Occitan one (the Universal Declaration of
Human Rights). No bound was chosen with them in view.
"""

from pathlib import Path

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from crawler.config import LanguageConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.language.identifiers import KINDRED, Answer, Py3Langid
from crawler.stages.language.stage import LanguageStage, merge

PARAGRAPHS = [
    line.split("\t") for line in Path(__file__).with_name("varieties.tsv").read_text(encoding="utf-8").splitlines()
]
LATIN_SERBIAN = [text for code, text in PARAGRAPHS if code == "sr" and text < "а"]  # a Cyrillic letter


@pytest.fixture(scope="module")
def stage():
    return LanguageStage(LanguageConfig())


def identified(stage, text):
    doc = Document(url="https://example.org/", text=text)
    return stage(doc), doc


@pytest.mark.parametrize(("code", "text"), PARAGRAPHS)
def test_a_paragraph_is_kept_under_its_own_name_or_that_of_a_variety_of_the_same_language(stage, code, text):
    result, doc = identified(stage, text)
    assert isinstance(result, Document)
    assert doc.language in {code, *KINDRED.get(code, ())}
    assert doc.language_score > 0.9


def test_a_long_page_of_serbian_in_latin_letters_is_of_one_language(stage):
    assert len(LATIN_SERBIAN) > 3
    result, doc = identified(stage, "\n\n".join(LATIN_SERBIAN))
    assert isinstance(result, Document)
    assert doc.language_signals["main_share"] == 1.0
    assert doc.language_score > 0.9


def test_the_varieties_that_somebody_wants_are_named_one_by_one():
    text = LATIN_SERBIAN[0]
    result, _ = identified(LanguageStage(LanguageConfig(languages=("sr", "hr", "bs"))), text)
    assert isinstance(result, Document)
    result, _ = identified(LanguageStage(LanguageConfig(languages=("de",))), text)
    assert isinstance(result, Drop) and result.reason is DropReason.LANGUAGE_NOT_WANTED


def test_two_varieties_agree_and_the_first_identifier_names_the_one_that_it_can_tell():
    known = frozenset({"hr", "en", "no", "id"})
    agreed = merge(Answer("sr", 0.5, 0.4), Answer("hr", 0.9), known)
    assert (agreed.language, agreed.score) == ("sr", pytest.approx(0.99))
    assert merge(Answer("bs", 0.4, 0.5), Answer("hr", 0.9), known).language == "hr"
    assert merge(Answer("nn", 0.7, 0.2), Answer("no", 0.9), known).language == "nn"


def test_another_language_is_weighed_against_all_varieties_together():
    known = frozenset({"hr", "en"})
    assert merge(Answer("hr", 0.4, 0.5), Answer("en", 0.6), known) == Answer("hr", pytest.approx(0.63))
    assert merge(Answer("hr", 0.3, 0.2), Answer("en", 0.8), known).language == "en"


def test_what_counts_together_is_what_py3langid_gives_each_variety():
    plain = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    texts = [text[:300] for _, text in PARAGRAPHS]
    for text, answer in zip(texts, map(Py3Langid().identify, texts), strict=True):
        ranked = dict(plain.rank(text))
        kin = sum(ranked[code] for code in KINDRED.get(answer.language, ()) if code in ranked)
        assert answer.kindred == pytest.approx(kin, abs=1e-4)
        assert 0.0 <= answer.certainty <= 1.0
