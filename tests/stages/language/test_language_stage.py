"""The language stage: two identifiers, one verdict, both answers on the record."""

from __future__ import annotations

import struct
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
from py3langid.langid import MODEL_FILE, LanguageIdentifier, visit_counts

from crawler.config import ConfigError, LanguageConfig, from_mapping, load
from crawler.document import Document, Drop, DropReason
from crawler.stages.language.check import check_identifier
from crawler.stages.language.identifiers import (
    FIRST_LOOK,
    Answer,
    FastText,
    Langdetect,
    Py3Langid,
    _langdetect,
    normal_code,
)
from crawler.stages.language.stage import LanguageStage, merge
from tests.support.places import SHARED_DATA

ENGLISH = "The house stands by the river, and every morning the children walk along the water to their school. " * 8
GERMAN = "Das Haus steht am Fluss, und jeden Morgen gehen die Kinder am Wasser entlang zu ihrer Schule. " * 8


@cache
def identifiers() -> tuple[Py3Langid, Langdetect]:
    return Py3Langid(), Langdetect()


def identify(text: str, html_lang: str | None = None, **config):
    doc = Document(url="https://example.org/", text=text, html_lang=html_lang)
    return LanguageStage(LanguageConfig(**config), *identifiers())(doc), doc


def said(doc: Document, identifier: str) -> str:
    """The language that one of them named."""
    return doc.language_signals[identifier][0]["language"]


@pytest.mark.parametrize(("text", "code"), [(ENGLISH, "en"), (GERMAN, "de")])
def test_prose_is_identified_and_both_answers_are_kept(text, code):
    result, doc = identify(text[:200])
    assert isinstance(result, Document)
    assert doc.language == code
    assert doc.language_score is not None and doc.language_score > 0.9
    assert {said(doc, "py3langid"), said(doc, "langdetect")} == {code}


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
    [
        ("zh-cn", "zh"),
        ("zh_TW", "zh"),
        ("nb", "no"),
        ("eng", "en"),
        ("cmn_Hani", "zh"),
        ("arb", "ar"),
        ("iw", "he"),
        ("EN-us", "en"),
        ("kik", "ki"),
        ("nso", "nso"),
    ],
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


def test_langdetect_looks_its_numbers_up_in_the_rows_that_it_would_read_itself():
    theirs, ours = DetectorFactory(), _langdetect()
    files = sorted(path for path in Path(PROFILES_DIRECTORY).iterdir() if not path.name.startswith("."))
    theirs.load_json_profile([path.read_text("utf-8") for path in files])
    assert ours.langlist == theirs.langlist
    assert ours.word_lang_prob_map.keys() == theirs.word_lang_prob_map.keys()
    grams = sorted(theirs.word_lang_prob_map)[::7]
    assert [ours.word_lang_prob_map[gram] for gram in grams] == [theirs.word_lang_prob_map[gram] for gram in grams]
    assert "never seen" not in ours.word_lang_prob_map


def test_py3langid_answers_in_double_precision_as_it_does_in_single():
    plain = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    for text in (
        "The meadow is cut twice a year.",
        "Великий луг косят дважды в год.",
        "草地每年割两次",
        "größe",
        "123",
        "",
    ):
        found, expected = Py3Langid()._model.rank(text), plain.rank(text)
        assert found[0][0] == expected[0][0]
        assert dict(found) == pytest.approx(dict(expected), abs=1e-4)


def test_what_a_language_scores_does_not_depend_on_the_order_in_which_a_machine_adds_up():
    model = Py3Langid()._model
    text = " ".join(f"The meadow number {number} is cut twice a year." for number in range(300)).encode()
    visits = visit_counts(model.tk_nextmove, model._rowbase, model.tk_output, text)
    table = model.nb_ptc.astype(np.float32)
    forwards, backwards = (
        model._sparse_score(dict(order), table) for order in (visits.items(), [*visits.items()][::-1])
    )
    assert len(visits) > 50
    assert np.abs(forwards - backwards).max() < 1e-10


def test_unusable_minimum_scores_are_a_configuration_error():
    with pytest.raises(ConfigError, match="LANGUAGE_MIN_SCORES"):
        from_mapping({"LANGUAGE_MIN_SCORES": "de=0.8"})
    assert load({"LANGUAGE_MIN_SCORES": "de:0.8,fr:0.7"}.get).language.min_scores == ("de:0.8", "fr:0.7")


@pytest.mark.skipif(not (SHARED_DATA / "languages").is_dir(), reason="needs ../shared/data/languages")
def test_ninety_five_of_a_hundred_documents_in_72_languages_are_identified():
    unknown = {"mi", "ts", "tn"}  # neither identifier has them
    alike = {"nb": "no", "bs": "hr"}  # bs and hr: one written norm to n-grams
    by_code: dict[str, list[str]] = defaultdict(list)
    for line in (SHARED_DATA / "languages" / "sentences.tsv").read_text("utf-8").splitlines():
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


WORDS = {"eng_Latn": ["the", "house", "river", "and"], "deu_Latn": ["das", "haus", "fluss", "und"]}


def write_model(path: Path, labels: dict[str, list[str]] = WORDS) -> None:
    """A fastText model (supervised, softmax, two dimensions) that knows eight words: the format of `saveModel`."""
    words = [word for found in labels.values() for word in found]
    entries = [(word, 0) for word in words] + [(f"__label__{label}", 1) for label in labels]
    data = struct.pack("<ii", 793712314, 12)
    data += struct.pack("<12id", 2, 5, 5, 1, 5, 1, 3, 3, 0, 0, 0, 100, 1e-4)
    data += struct.pack("<iiiqq", len(entries), len(words), len(labels), 100, -1)
    for word, kind in entries:
        data += word.encode() + b"\0" + struct.pack("<qb", 10, kind)
    vectors = [(4.0, 0.0)] * 4 + [(0.0, 4.0)] * 4
    for rows in (vectors, [(4.0, 0.0), (0.0, 4.0)]):
        data += struct.pack("<?qq", False, len(rows), 2) + b"".join(struct.pack("<2f", *row) for row in rows)
    path.write_bytes(data)


@pytest.fixture
def model(tmp_path):
    pytest.importorskip("fasttext", reason="needs a package that provides the module fasttext")
    path = tmp_path / "tiny.bin"
    write_model(path)
    return path


def test_a_fasttext_model_of_the_users_answers_alone(model):
    stage = LanguageStage(LanguageConfig(identifier=f"fasttext:{model}"))
    doc = Document(url="https://example.org/", text="das haus und das haus und der fluss\nund das haus")
    assert isinstance(stage(doc), Document)
    assert doc.language == "de"
    assert doc.language_score is not None and doc.language_score > 0.99
    assert set(doc.language_signals) == {"fasttext", "main_share"}


def test_a_fasttext_model_counts_the_varieties_of_one_language_together(model):
    write_model(model, {"srp_Latn": ["jedan", "dva", "tri", "sto"], "hrv_Latn": ["kruh", "vlak", "tjedan", "tko"]})
    answer = FastText(str(model)).identify("jedan kruh dva vlak tri")
    assert answer.language == "sr" and answer.score < 0.999
    assert answer.certainty == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("content", [b"", b"garbage" * 100])
def test_a_file_that_is_no_fasttext_model_is_a_problem_that_names_it(model, content):
    model.write_bytes(content)
    (problem,) = check_identifier(LanguageConfig(identifier=f"fasttext:{model}"))
    assert problem.startswith(f"LANGUAGE_IDENTIFIER names {model}, which is not a fastText model")


def test_a_fasttext_model_says_nothing_about_words_it_does_not_know(model):
    assert FastText(str(model)).identify("palabras desconocidas") is None
    assert FastText(str(model)).identify("the river and the house") == Answer("en", pytest.approx(1.0, abs=1e-3))


def test_a_model_or_package_that_is_missing_stops_the_crawl_with_the_remedy(tmp_path, monkeypatch):
    missing = LanguageConfig(identifier=f"fasttext:{tmp_path / 'no.bin'}")
    assert "download the model" in check_identifier(missing)[0]
    (tmp_path / "no.bin").touch()
    monkeypatch.setattr("crawler.stages.language.identifiers.find_spec", lambda _: None)
    assert "pip install fasttext-predict" in check_identifier(missing)[0]


def test_languages_that_no_identifier_knows_stop_the_crawl():
    assert check_identifier(LanguageConfig(languages=("de", "zh-CN", "eng"))) == []
    [problem] = check_identifier(LanguageConfig(languages=("de", "ast")))
    assert "'ast'" in problem and "LANGUAGE_IDENTIFIER" in problem
    [problem] = check_identifier(LanguageConfig(min_scores=("bar:0.5",)))
    assert problem.startswith("LANGUAGE_MIN_SCORES")


def test_an_unusable_identifier_is_a_configuration_error():
    for value in ("fasttext:", "glotlid"):
        with pytest.raises(ConfigError, match="LANGUAGE_IDENTIFIER"):
            from_mapping({"LANGUAGE_IDENTIFIER": value})


_LID_176 = (
    "af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb co cs cv cy da de "
    "diq dsb dty dv el eml en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he hi hif hr hsb ht hu hy ia id ie "
    "ilo io is it ja jbo jv ka kk km kn ko krc ku kv kw ky la lb lez li lmo lo lrc lt lv mai mg mhr min mk ml mn mr "
    "mrj ms mt mwl my myv mzn nah nap nds ne new nl nn no oc or os pa pam pfl pl pms pnb ps pt qu rm ro ru rue sa sah "
    "sc scn sco sd sh si sk sl so sq sr su sv sw ta te tg th tk tl tr tt tyv ug uk ur uz vec vep vi vls vo wa war wuu "
    "xal xmf yi yo yue zh"
)
LID_176 = frozenset(_LID_176.split())
"""Labels of fastText's lid.176 model."""

_UNKNOWN = (
    "ast av bar bh bo bpy bxr cbk ce ceb co cv diq dsb dv eml frr gv hif hsb ia ie ilo io jbo krc kv kw lez li lmo "
    "lrc mai mhr mrj mwl myv mzn nah nap nds new os pam pfl pms pnb rm rue sah sc scn sco sd sh su tyv vep vls war "
    "xal xmf yi"
)
UNKNOWN = frozenset(_UNKNOWN.split())


def test_the_two_identifiers_know_these_languages_of_lid_176_and_no_others():
    first, second = identifiers()
    known = {code for code in LID_176 if normal_code(code) in first.known | second.known}
    assert len(LID_176) == 176
    assert LID_176 - known == UNKNOWN


TRADITIONAL = [
    "臺北市政府宣布，自下個月起，市區公車將全面採用電子票證，乘客上下車都必須刷卡。部分長者擔心不會使用。",
    "香港天文台表示，受東北季候風影響，未來數日氣溫將逐步下降，市區最低氣溫約十二度，新界再低兩三度。",
    "根據民法第一百八十四條規定，因故意或過失，不法侵害他人之權利者，負損害賠償責任。違反保護他人之法律者亦同。",
    "市議會昨天決定把舊校舍賣給一家私人開發商，儘管居民們表示抗議。",
]


@pytest.mark.parametrize("text", TRADITIONAL)
def test_traditional_chinese_is_not_taken_for_korean(text):
    result, doc = identify(text)
    assert isinstance(result, Document)
    assert doc.language == "zh"
