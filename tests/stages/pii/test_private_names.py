"""Names in sentences about a private life go; holders of copyright, history and streets stay; uncovered pages count."""

import dataclasses
import time
from itertools import pairwise

import pytest

from bench.quality.eval_pii import ALL_MODELS, private, score, shortfalls
from bench.quality.pii_set import passages
from crawler.config import ConfigError, from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.stages.pii.private_life import private_sentences
from crawler.stages.pii.stage import PiiStage, check_models
from crawler.storage.files.records import holding_of, record_of
from crawler.storage.files.tally import Tally

needs_english = pytest.mark.skipif(bool(check_models(from_mapping({}).pii)), reason="the English model is missing")
needs_both = pytest.mark.skipif(
    bool(check_models(from_mapping({"PII_MODELS": ALL_MODELS}).pii)), reason="the English or French model is missing"
)
FILLER = "The meadow behind the mill is cut twice a year, and nobody hurries. " * 20


def run(text, language="en", **settings):
    doc = Document(url="http://a.example/", text=text, language=language)
    return doc, PiiStage(from_mapping(settings).pii)(doc)


@needs_english
@pytest.mark.parametrize(
    "sentence",
    [
        "Laura Bennett works for Fernbank Logistics, earns 84,000 dollars and is treated at Lakeside clinic.",
        "Michael Turner suffers from depression, his doctor wrote.",
        "Grace Okafor and her husband adopted a son last spring.",
        "Daniel Whitfield lives at 14 Orchard Lane.",
        "The court convicted Peter Marsh of theft.",
        "Maria Lopez was a patient of the hospital in Leeds.",
    ],
)
def test_a_name_goes_where_its_sentence_tells_of_pay_health_family_home_or_a_conviction(sentence):
    doc, _ = run(f"{FILLER}\n{sentence} {FILLER}")
    assert "[PERSON]" in doc.text
    assert doc.pii_entity_types == ["PERSON"]
    assert not run(f"{FILLER}\n{sentence} {FILLER}", PII_PERSON="off")[0].pii_flag


@needs_english
def test_the_same_name_stays_in_a_sentence_that_tells_nothing_private():
    doc, _ = run(FILLER + "Laura Bennett spoke about compilers in May. Prices rose. " + FILLER)
    assert "Laura Bennett spoke" in doc.text
    doc, _ = run(FILLER + "Maria Lopez built the hospital in Leeds. " + FILLER)
    assert "Maria Lopez built" in doc.text  # one weak word alone


@needs_english
@pytest.mark.parametrize(
    "line",
    [
        "Copyright 2019 Anna Bergstrom <anna@bergstrom-code.se>",
        "(c) 2021 Anna Bergstrom and her husband, anna@bergstrom-code.se",
        "SPDX-FileCopyrightText: 2020 Anna Bergstrom <anna@bergstrom-code.se>",
    ],
)
def test_the_holder_in_a_copyright_notice_keeps_the_name_and_loses_the_address(line):
    doc, _ = run(f"{FILLER}\n{line}\n{FILLER}")
    assert "Anna Bergstrom" in doc.text
    assert "anna@" not in doc.text


@needs_english
def test_the_same_line_without_its_notice_loses_the_name():
    assert (
        "Anna Bergstrom" not in run(f"{FILLER}\nWritten by Anna Bergstrom <anna@bergstrom-code.se>\n{FILLER}")[0].text
    )


@pytest.mark.parametrize(
    "text",
    [
        "Charles Darwin married his cousin Emma Wedgwood in 1839.",  # history
        "A parent process of Guido Rossum waits for its child.",
        "Payroll Pro and Salary Guide are products.",
        "his wife left town",  # nobody named
        "",
    ],
)
def test_history_products_and_sentences_without_a_name_are_not_private(text):
    assert list(private_sentences(text, "en")) == []


def test_a_sentence_ends_at_its_full_stop_and_not_at_an_abbreviation():
    text = "Prices rose. Mr. J. Doe Miller and his wife moved to St. Ives. The end came."
    assert [text[a:b].strip() for a, b in private_sentences(text, "en")] == [
        "Mr. J. Doe Miller and his wife moved to St. Ives."
    ]


SEEDS = [
    "his wife ",
    "Ann Lee's wife. ",
    "earns 1 ",
    "12 A B C Street ",
    "Mr. Street ",
    "diagnosed\n",
    "A B, 1 C Road ",
]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_repetition_of_an_anchor_makes_the_search_quadratic(seed):
    """Sixteen times the text may cost 64 times the CPU at most; quadratic work would cost 256 times."""

    def cost(characters):
        text = seed * (characters // len(seed))
        start = time.process_time()
        spans = list(private_sentences(text, "en"))
        assert all(a < b <= c for (a, b), (c, _) in pairwise(spans))
        return time.process_time() - start

    assert cost(80_000) < 64 * max(0.005, min(cost(5_000) for _ in range(3)))


@needs_both
@pytest.mark.parametrize("half", ["dev", "held"])
def test_names_in_private_sentences_stay_above_their_floors_in_two_languages(half):
    result = private(half)
    assert set(result.languages) == {"en", "fr"}
    assert shortfalls("context", result) == [], "\n".join(result.mistakes)


@pytest.mark.parametrize("half", ["dev", "held"])
def test_telephones_cards_and_addresses_of_eight_languages_stay_above_their_floors(half):
    result = score(passages("contact", half))
    assert len(result.languages) == 8
    assert shortfalls("contact", result) == [], "\n".join(result.mistakes)


@pytest.mark.parametrize("name", ["contact", "context"])
def test_the_sets_have_about_as_many_decoys_as_hits_and_every_label_in_its_text(name):
    cases = list(passages(name))
    hits = sum(bool(case.spans) for case in cases)
    assert len({case.id for case in cases}) == len(cases)
    assert 0.9 < hits / (len(cases) - hits) < 1.2
    assert all(case.text[a:b].strip() == case.text[a:b] != "" for case in cases for a, b, _ in case.spans)


# --- languages without a model ---------------------------------------------------------------------------------------
def test_a_page_in_a_language_without_a_model_is_kept_and_counted():
    doc, outcome = run(FILLER, language="de")
    assert outcome is doc
    assert doc.language_signals["pii_names"] == "uncovered"
    tally = Tally()
    tally.add(record_of(doc))
    assert tally.names["names_uncovered"] == {"de": 1}


def test_every_such_page_waits_for_a_person_where_the_setting_says_so():
    doc, outcome = run(FILLER + "Schreib an max@beispiel.de. ", language="de", PII_UNCOVERED="hold")
    assert outcome is doc
    assert (doc.hold.stage, doc.hold.reason) == ("pii", DropReason.HELD_PII)
    assert "'de'" in doc.hold.detail
    record = holding_of(doc, doc.hold)
    assert record["text"] == doc.text
    assert "max@" not in doc.text
    assert run(FILLER, language="de", PII_UNCOVERED="hold")[0].hold


@pytest.mark.parametrize(("language", "person"), [("en", "contextual"), ("de", "off")])
def test_a_covered_language_and_names_that_may_stay_are_not_set_aside(language, person):
    doc, outcome = run(FILLER, language=language, PII_UNCOVERED="hold", PII_PERSON=person)
    assert outcome is doc
    assert doc.hold is None
    assert "pii_names" not in doc.language_signals


def test_another_word_for_the_setting_is_an_error():
    with pytest.raises(ConfigError):
        from_mapping({"PII_UNCOVERED": "quarantine"})
    assert dataclasses.asdict(from_mapping({}).pii)["uncovered"] == "signs"


# --- density ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", ["user{}@lists.debian.org", "linux-{}@vger.kernel.org", "gcc{}-help@gcc.gnu.org"])
def test_public_mailing_lists_are_redacted_and_make_no_page_dense(form):
    text = "Lists: " + ", ".join(form.format(number) for number in range(30))
    doc, outcome = run(text, PII_PERSON="off")
    assert outcome is doc
    assert doc.pii_span_count == 30


def test_addresses_of_persons_make_a_page_dense():
    outcome = run("Members: " + ", ".join(f"jane{n}@fernbank.net" for n in range(30)), PII_PERSON="off")[1]
    assert isinstance(outcome, Drop)
    assert outcome.reason is DropReason.TOO_SHORT


# --- cards and addresses of machines ---------------------------------------------------------------------------------
def found(text, language="en"):
    return run(text, language, PII_PERSON="off", PII_MAX_DENSITY=1.0)[0].text


def test_a_labelled_card_goes_whole_whoever_issued_it():
    assert found("Card number: 8600 1234 5678 9012 (Uzcard)") == "Card number: [CREDIT_CARD] (Uzcard)"
    assert found("Kartennummer 6390 0212 3456 7890 8", "de") == "Kartennummer [CREDIT_CARD]"


def test_a_labelled_number_that_fails_luhn_and_an_unlabelled_one_of_no_issuer_stay():
    for text in ("Card number: 8600 1234 5678 9013", "Parcel 8600123456789012 left."):
        assert found(text) == text


def test_what_was_released_is_a_version_and_who_did_something_is_an_address():
    for text in ("Upgrade to 5.10.63.1 first.", "Requires glibc (>= 2.36.90.1).", "libfoo 8.45.77.2 leaks."):
        assert found(text) == text
    assert found("The page was updated by 81.2.69.160 today.") == "The page was updated by [IP_ADDRESS] today."
    assert found("Fixed: visitor 81.2.69.160 was blocked.") == "Fixed: visitor [IP_ADDRESS] was blocked."
