"""Chunks are split as spaCy's blank tokenizer splits them, in every language that it counts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import spacy
from spacy.util import compile_prefix_regex, get_lang_class

from crawler.stages.quality.chunks import ChunkSplitter, SpecialCases, module_of
from crawler.stages.quality.tokenizers import SPACY
from tests.stages.quality.test_quality_tokens import SENTENCES

CODES = sorted({code for code in SPACY.values() if code != "en"})
MOST_KEYS = 1_500
FRAMES = ("{}", "({})", "{},", "«{}»", "{}.", "x{}", "{}-x", "/{}")
PIECES = (  # noqa: SIM905  # a list of these would be three screens
    "a A b S s t l d x Foo BAR foo été Straße слово ΛΑΜΔΑ λάμδα 人 e m ki nya A\u0301 0 1 42 3.14 1ère km mm MB hPa "
    "°C °F ² µm etc www http:// :// // .. ... … … -- --- - – — 's ’S n't ' ’ '' “ ” „ « » \" ` ( ) [ ] { } < > , . : ; "
    "! ? ¿ ¡ _ # * & $ € £ % ‰ = + / @ ~ ^ | \\ § ° © → ™ · ، ؟ । 。 ، ـ .org .de de. Mr. z.B. -e -ACEASTA -AI -nya"
).split()


def keys(code):
    """The special cases of a language as chunks, a sample of them where they are many."""
    rules = get_lang_class(code).Defaults.tokenizer_exceptions
    texts = sorted({"".join(key.split()) for key in rules} - {""})
    return random.Random(code).sample(texts, min(MOST_KEYS, len(texts)))


def chunks(code):
    """The cases alone, among marks, glued to each other, in other letters; words; all mixed up."""
    found = keys(code)
    made = [frame.format(key) for key in found for frame in FRAMES]
    made += [f"{a}{glue}{b}" for a, b in pairwise(found) for glue in ("-", "", "/")]
    made += [change(key) for key in found for change in (str.upper, str.lower, str.title)]
    made += " ".join(SENTENCES).split()
    made += ["".join(random.Random(f"{code} {n}").choices(PIECES, k=1 + n % 7)) for n in range(1_000)]
    unique = list(dict.fromkeys(chunk for chunk in made if chunk.strip() and len(chunk) <= 64))
    random.Random(code).shuffle(unique)
    return unique


@pytest.mark.parametrize("code", CODES)
def test_tokens_are_those_of_a_tokenizer_that_has_all_special_cases_from_the_beginning(code):
    split, mixed = ChunkSplitter(code), chunks(code)
    nlp = spacy.blank(code)
    for start in range(0, len(mixed), 100):
        batch = mixed[start : start + 100]
        with nlp.memory_zone():
            expected = {chunk: tuple(token.text for token in nlp.make_doc(chunk)) for chunk in batch}
        assert dict(zip(batch, split(batch), strict=True)) == expected


@pytest.mark.parametrize("code", CODES)
def test_every_language_takes_the_plain_tokenizer_of_spacy(code):
    assert get_lang_class(code).default_config["nlp"]["tokenizer"] == {"@tokenizers": "spacy.Tokenizer.v1"}


@pytest.mark.parametrize("code", ["nl", "ru"])
def test_what_was_split_before_does_not_change_the_tokens(code):
    mixed = chunks(code)
    together = ChunkSplitter(code)(mixed)
    for chunk, tokens in list(zip(mixed, together, strict=True))[:50]:
        assert ChunkSplitter(code)([chunk]) == [tokens]


def test_letters_alone_need_no_special_case_unless_there_is_one_of_their_own():
    asked = []
    split = ChunkSplitter("de")
    within = split._cases.within
    split._cases.within = lambda chunk: asked.append(chunk) or within(chunk)
    assert split(["Haus", "Haus,", "z.B.", "x" * 100 + "."]) == [
        ("Haus",),
        ("Haus", ","),
        ("z.B.",),
        ("x" * 100, "."),
    ]
    assert asked == ["z.B."]


RULES = {"a": 1, "ab": 2, "bc.": 3, "d e": 4, " ": 5, "xyz": 6}


@pytest.mark.parametrize(
    ("chunk", "given"),
    [("ab", ["ab"]), ("(abc.)", ["ab", "bc."]), ("d-e", []), ("cde", ["d e"]), ("b", []), ("xy", [])],
)
def test_a_special_case_is_given_out_for_the_first_chunk_that_holds_it(chunk, given):
    cases = SpecialCases(RULES)
    assert list(cases.within(chunk)) == [(key, RULES[key]) for key in given]
    assert list(cases.within(chunk)) == []


def test_special_cases_of_one_character_are_given_out_first():
    assert list(SpecialCases(RULES).of_one_character()) == [("a", 1)]


def test_french_is_imported_by_a_module_of_our_own():
    assert [module_of(code) for code in ("fr", "nl")] == ["crawler.stages.quality.french", "spacy.lang.nl"]


@pytest.mark.parametrize("code", CODES)
def test_every_prefix_is_one_at_the_beginning_alone(code):
    data = get_lang_class(code).Defaults
    found = compile_prefix_regex(data.prefixes)
    assert {match.start() for chunk in chunks(code) if (match := found.search(f"人{chunk}"))} <= {0}


def test_a_name_that_is_one_of_spacys_own_is_split_like_any_other():
    assert ChunkSplitter("de")(["IS_ALPHA,", "(x,IS_ALPHA)"]) == [("IS_ALPHA", ","), ("(", "x", ",", "IS_ALPHA", ")")]
    with_a_case = ["x.IS_ALPHA", "IS_ALPHA:)"]  # which spaCy would be asked for
    assert ChunkSplitter("de")(with_a_case) == [("x", ".", "IS_ALPHA"), ("IS_ALPHA", ":", ")")]
