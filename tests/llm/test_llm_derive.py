"""What follows from a passage by a rule, and what does not: the second list is the longer one."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.llm.derive import derived
from crawler.llm.fields import DATE, NUMBER, UNIT, VERBATIM, Field

FOLLOWS: list[tuple[str, str, Any, str, str]] = [
    # rule, passage, value, language, the words that it follows from
    (VERBATIM, "It was built by Ada Smith in spring.", "Ada Smith", "en", "Ada Smith"),
    (VERBATIM, "built by Ada\n  Smith", "Ada Smith", "en", "Ada\n  Smith"),
    (VERBATIM, "東京タワーは高い", "東京タワー", "ja", "東京タワー"),
    (NUMBER, "It has 12 rooms", 12, "en", "12"),
    (NUMBER, "costs 1,234.50 today", 1234.5, "en", "1,234.50"),
    (NUMBER, "kostet 1.234,50 heute", 1234.5, "de", "1.234,50"),
    (NUMBER, "1,234 people", 1234, "en", "1,234"),
    (NUMBER, "1,234 Liter", 1.234, "de", "1,234"),
    (NUMBER, "12 345 habitants", 12345, "fr", "12 345"),
    (NUMBER, "1’234’567 Einwohner", 1234567, "de", "1’234’567"),
    (NUMBER, "at −7 degrees", -7, "en", "−7"),
    (NUMBER, "0.125 of it", 0.125, "de", "0.125"),
    (NUMBER, "pH 3,7", 3.7, "", "3,7"),
    (NUMBER, "عدد ١٢ بيتا", 12, "ar", "١٢"),
    (DATE, "on 2026-03-04.", "2026-03-04", "", "2026-03-04"),
    (DATE, "am 4.3.2026 eröffnet", "2026-03-04", "de", "4.3.2026"),
    (DATE, "le 04/03/2026", "2026-03-04", "fr", "04/03/2026"),
    (DATE, "on 25/03/2026", "2026-03-25", "en", "25/03/2026"),
    (DATE, "on 4 March 2026", "2026-03-04", "en", "4 March 2026"),
    (DATE, "on March 4th, 2026", "2026-03-04", "en", "March 4th, 2026"),
    (DATE, "am 4. März 2026", "2026-03-04", "de", "4. März 2026"),
    (DATE, "el 4 de marzo de 2026", "2026-03-04", "es", "4 de marzo de 2026"),
    (DATE, "4 marca 2026", "2026-03-04", "pl", "4 marca 2026"),
    (DATE, "2026年3月4日に", "2026-03-04", "ja", "2026年3月4日"),
    (UNIT, "holds 1.7 l of water", 1.7, "en", "1.7 l"),
    (UNIT, "holds 1700 ml of water", 1.7, "en", "1700 ml"),
    (UNIT, "hält 1,7 l", 1.7, "de", "1,7 l"),
]
DOES_NOT: list[tuple[str, str, Any, str, str]] = [
    # rule, passage, value, language, why
    (VERBATIM, "a catalogue of parts", "cat", "en", "cut out of a word"),
    (VERBATIM, "built by Ada Smith", "Ada Jones", "en", "not there"),
    (VERBATIM, "built by Ada Smith", "", "en", "says nothing"),
    (NUMBER, "It has 120 rooms", 12, "en", "cut out of a number"),
    (NUMBER, "It has 12 rooms", 13, "en", "another number"),
    (NUMBER, "It has twelve rooms", 12, "en", "no number is written"),
    (NUMBER, "1.234 pieces", 1234, "", "nobody knows the language"),
    (NUMBER, "1.234 pieces", 1234, "en", "another number in this language"),
    (NUMBER, "version 1.2.3", 1.2, "en", "a version"),
    (NUMBER, "paper A4", 4, "en", "part of a name"),
    (NUMBER, "on 2026-03-04", 4, "en", "part of a date"),
    (NUMBER, "pages 3-5", -5, "en", "a range"),
    (DATE, "on 03/04/2026", "2026-04-03", "en", "English writes both orders"),
    (DATE, "on 03/04/2026", "2026-03-04", "en", "English writes both orders"),
    (DATE, "on 03/04/2026", "2026-04-03", "", "nobody knows the language"),
    (DATE, "in March 2026", "2026-03-01", "en", "no day is written"),
    (DATE, "on 31.2.2026", "2026-02-31", "de", "no such day"),
    (DATE, "on 4 March 2026", "4 March 2026", "en", "not the form that was asked for"),
    (UNIT, "holds 1.7 of them", 1.7, "en", "no unit"),
    (UNIT, "holds 1.7 kg", 1.7, "en", "another unit"),
    (UNIT, "holds 1.7 ml", 1.7, "en", "a thousandth of it"),
    (UNIT, "1.7 large cups", 1.7, "en", "a word that begins like the unit"),
]


def field(by: str) -> Field:
    return Field("it", by, unit="l" if by == UNIT else "")


@pytest.mark.parametrize(("by", "text", "value", "language", "words"), FOLLOWS)
def test_a_value_that_is_written_follows_from_exactly_its_words(
    by: str, text: str, value: Any, language: str, words: str
) -> None:
    found = derived(field(by), value, (0, len(text)), text, language or None)
    assert found is not None
    assert (found.value, text[slice(*found.span)]) == (value, words)


@pytest.mark.parametrize(("by", "text", "value", "language", "why"), DOES_NOT, ids=[each[-1] for each in DOES_NOT])
def test_a_value_in_doubt_is_not_derived(by: str, text: str, value: Any, language: str, why: str) -> None:
    assert derived(field(by), value, (0, len(text)), text, language or None) is None


def test_a_passage_that_cuts_a_number_gives_no_value() -> None:
    text = "It has 1200 rooms and 12 doors."
    begin = text.index("1200")
    assert derived(field(NUMBER), 12, (begin, begin + 2), text, "en") is None
    assert derived(field(NUMBER), 1200, (begin, begin + 4), text, "en") is not None


def test_money_is_read_with_its_sign_before_or_behind() -> None:
    price = Field("price", UNIT, unit="EUR")
    for text, language in (("only €19.99 now", "en"), ("nur 19,99 € heute", "de"), ("EUR 19.99", "en")):
        assert derived(price, 19.99, (0, len(text)), text, language) is not None
    assert derived(price, 19.99, (0, 7), "$ 19.99", "en") is None
