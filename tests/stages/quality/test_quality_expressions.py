"""spaCy's expressions are compiled without the letters of East Asia first, and match what spaCy's match."""

from __future__ import annotations

import re

import pytest
from spacy.lang.char_classes import ALPHA, ALPHA_LOWER, ALPHA_UPPER
from spacy.util import compile_infix_regex

from crawler.stages.quality import expressions
from crawler.stages.quality.expressions import by_letters, near_letters

EVERY_CHARACTER = "".join(map(chr, range(0x110000)))
LETTERS = (ALPHA, ALPHA_LOWER, ALPHA_UPPER)
PARTS = [rf"(?<=[{ALPHA}]),(?=[{ALPHA}])", rf"(?<=[0-9{ALPHA_LOWER}])\.(?=[{ALPHA_UPPER}])"]
TEXT = "one,two a.B größe,Äpfel и,поле 2.E ❤️,❤️ \U0001f600,x x,\ufffd"
EAST_ASIAN = "草,地 가,나 ab.草地 Ａ,ｂ \U00020000,\U00020001 \U0001ee00,x \U0001f200,x"


@pytest.mark.parametrize("letters", LETTERS)
def test_near_and_left_out_letters_are_all_letters(letters):
    near, far = re.compile(f"[{near_letters(letters)}]"), expressions._FAR
    of_spacy = re.sub(f"[{letters}]", "", EVERY_CHARACTER)
    assert far.sub("", near.sub("", EVERY_CHARACTER)) == far.sub("", of_spacy)
    assert len(near_letters(letters)) < len(letters)


def compiled():
    """Who compiles, and the longest expression of each time."""
    seen = []

    def compile_parts(parts):
        seen.append("|".join(parts))
        return compile_infix_regex(parts)

    return compile_parts, seen


def test_letters_of_east_asia_are_compiled_for_the_first_text_that_has_one():
    compile_parts, seen = compiled()
    find = by_letters(compile_parts, PARTS, "finditer")
    plain = compile_infix_regex(PARTS)
    for text in (*TEXT.split(), TEXT):
        assert list(map(str, find(text))) == list(map(str, plain.finditer(text)))
    assert len(seen) == 1
    assert not any(letters in seen[0] for letters in LETTERS)
    for text in (*EAST_ASIAN.split(), EAST_ASIAN):
        assert list(map(str, find(text))) == list(map(str, plain.finditer(text)))
    assert seen[1:] == ["|".join(PARTS)]
