"""What the personal-data stage finds and misses, held by floors that nobody can lower silently."""

import time
from collections import Counter

import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from bench.quality.eval_pii import names, score, shortfalls
from bench.quality.pii_set import passages
from crawler.config import from_mapping
from crawler.stages.pii import context_words
from crawler.stages.pii.id_rules import ID_RULES
from crawler.stages.pii.recognise import find
from crawler.stages.pii.redact import resolve
from crawler.stages.pii.stage import check_models


def test_the_labelled_set_covers_eight_languages_with_as_many_decoys_as_hits():
    cases = list(passages())
    hits = Counter(case.language for case in cases if case.spans)
    decoys = Counter(case.language for case in cases if not case.spans)
    assert len(cases) >= 400
    assert len(hits) >= 8
    assert all(decoys[language] >= hits[language] for language in hits)
    assert sum(len(case.spans) for case in cases) <= decoys.total()


def test_every_label_of_the_set_lies_in_its_text_and_ids_are_unique():
    cases = [case for name in ("structured", "known", "persons") for case in passages(name)]
    assert len({case.id for case in cases}) == len(cases)
    for case in cases:
        for start, end, entity in case.spans:
            assert case.text[start:end] == case.text[start:end].strip() != "", (case.id, entity)


def test_both_halves_of_the_set_hold_every_language_and_stay_what_they_are():
    halves = {half: list(passages("structured", half)) for half in ("dev", "held")}
    assert {case.language for case in halves["dev"]} == {case.language for case in halves["held"]}
    assert abs(len(halves["dev"]) - len(halves["held"])) < 100
    assert next(passages("structured")).half == next(passages("structured")).half


@pytest.mark.parametrize("half", ["dev", "held"])
def test_structured_types_stay_above_their_floors(half):
    result = score(passages("structured", half))
    assert shortfalls("structured", result) == [], "\n".join(result.mistakes)


@pytest.mark.skipif(bool(check_models(from_mapping({}).pii)), reason="the English model is not installed")
def test_names_beside_identifiers_stay_above_their_floors():
    with_model, without = names("contextual")
    assert shortfalls("persons", with_model) == [], "\n".join(with_model.mistakes)
    assert without.total["false"] == 0


def test_what_was_right_once_stays_right():
    result = score(passages("known"))
    assert shortfalls("known", result) == [], "\n".join(result.mistakes)


def test_every_kind_of_identity_number_is_found_somewhere_in_the_labelled_sets():
    labelled = {entity for name in ("structured", "known") for case in passages(name) for _, _, entity in case.spans}
    assert {rule.entity for rule in ID_RULES} - labelled == set()


def found(text, raw, language):
    at = text.index(raw)
    return any((hit.start, hit.end, hit.entity) == (at, at + len(raw), "PHONE_NUMBER") for hit in find(text, language))


def test_international_numbers_of_every_country_are_found_without_any_word_beside_them():
    missed = []
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        for kind in (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE):
            example = phonenumbers.example_number_for_type(region, kind)
            for style in (PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.E164):
                raw = phonenumbers.format_number(example, style) if example else ""
                if raw and not found(f"You find her under {raw} on most days.", raw, "en"):
                    missed.append(raw)
    assert missed == []


LABELS = {
    "en": "Call {} now", "de": "Telefon: {} ab neun", "fr": "Tél. {} le matin", "es": "Teléfono {} por la tarde",
    "it": "Tel. {} la sera", "pt": "Telefone: {} hoje", "nl": "Telefoon: {} vandaag", "pl": "Tel. {} dzis",
    "sv": "Tel: {} idag", "fi": "Puh. {} iltaisin", "da": "Tlf. {} i dag", "no": "Telefon {} i dag",
    "cs": "Tel.: {} dnes", "ru": "Тел. {} сегодня", "uk": "Телефон: {} щодня", "tr": "Telefon: {} ",
    "ja": "電話 {} まで", "zh": "电话：{} 联系", "ko": "전화 {} ",
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(LABELS))
def test_labelled_local_numbers_are_found_in_the_regions_of_the_language(language):
    missed = []
    for region in context_words.REGIONS[language]:
        for kind in (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE):
            example = phonenumbers.example_number_for_type(region, kind)
            national = phonenumbers.format_number(example, PhoneNumberFormat.NATIONAL)
            spellings = {national, national.replace(" ", "-"), national.replace(" ", "")}
            missed += [(region, raw) for raw in spellings if not found(LABELS[language].format(raw), raw, language)]
    assert missed == []


HOSTILE = [
    "@",
    "1",
    "1 ",
    "a@a.",
    "a.b@",
    "(",
    "+1",
    "[at]",
    "a [at] b [dot] ",
    "1.",
    "2001:",
    "DE89 3704 ",
    "1A",
    "0x",
]
HOSTILE += [
    "ssn 1",
    "+49 30 901820 ",
    "4111 1111 1111 1111 ",
    " dot com",
    "passport 123456789 ",
    "tel 0",
    "x@example.org ",
]


@pytest.mark.parametrize("seed", HOSTILE)
def test_no_repetition_of_an_anchor_makes_the_search_quadratic(seed):
    """Sixteen times the text may cost 64 times the CPU at most; quadratic work would cost 256 times."""

    def cost(characters):
        text = seed * (characters // len(seed))
        start = time.process_time()
        resolve(find(text, "en"))
        return time.process_time() - start

    assert cost(80_000) < 64 * max(0.005, min(cost(5_000) for _ in range(3)))
