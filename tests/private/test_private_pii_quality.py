"""What the personal-data stage finds and misses, held by floors that nobody can lower silently."""

import importlib.util
import sys
import time
from pathlib import Path

import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from crawler.stages import pii_words
from crawler.stages.pii_redact import resolve
from crawler.stages.pii_rules import find

ROOT = Path(__file__).resolve().parents[2]
FLOORS = {"precision": 0.97, "recall": 0.97}  # over all types of pii_cases.txt
PER_TYPE = {"EMAIL_ADDRESS": 1.0, "PHONE_NUMBER": 0.97, "CREDIT_CARD": 1.0, "IBAN_CODE": 1.0, "IP_ADDRESS": 1.0}


@pytest.fixture(scope="module")
def evaluation():
    spec = importlib.util.spec_from_file_location("private_eval_pii", ROOT / "bench/eval_pii.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def outcome(evaluation):
    return evaluation.score(person="off")


def test_the_labelled_set_covers_eight_languages_with_hits_and_decoys(evaluation):
    cases = list(evaluation.cases(evaluation.DEFAULT))
    assert len({language for language, _, _ in cases}) >= 8
    assert sum(1 for _, _, spans in cases if not spans) >= 40
    assert sum(len(spans) for _, _, spans in cases) >= 80


def test_structured_types_stay_above_their_floors(evaluation, outcome):
    counts, mistakes = outcome
    for entity, floor in PER_TYPE.items():
        precision, recall = evaluation.precision_recall(counts[entity])
        assert min(precision, recall) >= floor, mistakes


def test_all_structured_types_together_stay_above_the_floors(evaluation, outcome):
    counts, mistakes = outcome
    structured = [row for entity, row in counts.items() if entity not in {"PERSON", "NRP"}]
    precision, recall = evaluation.precision_recall(sum(structured[1:], structured[0]))
    assert precision >= FLOORS["precision"], mistakes
    assert recall >= FLOORS["recall"], mistakes


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
    for region in pii_words.REGIONS[language]:
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
