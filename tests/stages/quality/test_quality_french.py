"""spaCy's French is imported without its largest pattern, and matches what it matches with it."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from functools import cache

import pytest
import spacy
from spacy.lang.char_classes import ALPHA, ALPHA_LOWER

from crawler.stages.quality import french
from crawler.stages.quality.chunks import ChunkSplitter

FIRST_TEXT = """
import re
from re import _compiler

longest, compile = 0, _compiler.compile

def measured(pattern, flags=0):
    global longest
    longest = max(longest, len(pattern) if isinstance(pattern, str) else 0)
    return compile(pattern, flags)

_compiler.compile = measured
from crawler.stages.quality.tokenizers import fast
tokens = fast("fr").words("Un porte-monnaie, l'arc-en-ciel et le saut-de-ski d'aujourd'hui.")
print(longest, *tokens)
"""
FIRST_TOKENS = ["Un", "porte-monnaie", ",", "l'", "arc-en-ciel", "et", "le", "saut-de-ski", "d'", "aujourd'hui", "."]


def test_the_first_french_text_of_a_process_compiles_no_pattern_of_more_than_100_000_characters():
    done = subprocess.run([sys.executable, "-c", FIRST_TEXT], capture_output=True, text=True, timeout=120, check=True)
    longest, *tokens = done.stdout.split()
    assert tokens == FIRST_TOKENS
    assert 10_000 < int(longest) < 100_000  # the factored pattern was seen


@cache
def alternatives():
    from spacy.lang.fr import tokenizer_exceptions

    return tuple(tokenizer_exceptions._regular_exp)


@cache
def spacys_pattern():
    return "(?iu)" + "|".join(f"(?:{alternative})" for alternative in alternatives())


@cache
def spacys_match():
    return re.compile(spacys_pattern()).match


def spellings(regex):
    """What an alternative's beginning matches: one spelling for each way through its sets, groups and options."""
    for choice, options in (
        (r"\(\?:([^()]*)\)(\??)", lambda found: found[1].split("|")),
        (r"\[([^]]*)\](\??)", lambda found: found[1]),
        (r"(.)(\?)", lambda found: found[1]),
    ):
        if found := re.search(choice, regex):
            ways = [*options(found), *([""] if found[2] else [])]
            return [text for way in ways for text in spellings(regex[: found.start()] + way + regex[found.end() :])]
    return [regex]


def beginnings(alternative):
    short = alternative.replace(ALPHA, "\x01").replace(ALPHA_LOWER, "\x02")
    head = re.sub(r"^\^(\[\x01\]\+)?", "", short)
    return spellings(head[: re.search(r"\[[^]]*[\x01\x02]", head).start()])


TAILS = ("", "a", "Été", "porte-clé", "d’or", "ß", "ſ", "x1", ".", "a.", "-", "à-", "a\n")
STARTS = ("", "arc", "Éa", "1", "a-")
MOST_WORDS = 50_000
"""Of 1.4 million, which take a quarter of a minute."""


def words():
    """Words of every alternative, in small letters and large ones, whole, cut short and with something too much."""
    heads = {text for alternative in alternatives() for text in beginnings(alternative)}
    heads |= {change(head) for head in heads for change in (str.upper, str.title)}
    heads |= {head[:-1] for head in heads} | {head + head[-1:] for head in heads}
    made = sorted({start + head + tail for head in heads for start in STARTS for tail in TAILS})
    return random.Random(0).sample(made, MOST_WORDS)


def test_the_factored_pattern_matches_the_words_that_spacys_own_matches():
    ours = re.compile(french.factored(spacys_pattern())).match
    found = {word: bool(ours(word)) for word in words()}
    assert found == {word: bool(spacys_match()(word)) for word in found}
    assert 1_000 < sum(found.values()) < MOST_WORDS - 1_000


def test_words_of_every_alternative_are_split_as_with_spacys_own_pattern():
    chunks = [word for word in words() if word.split() == [word] and len(word) <= 64][:5_000]
    nlp = spacy.blank("fr")
    nlp.tokenizer.token_match = spacys_match()
    split = ChunkSplitter("fr")(chunks)
    with nlp.memory_zone():
        assert dict(zip(chunks, split, strict=True)) == {c: tuple(t.text for t in nlp.make_doc(c)) for c in chunks}


@pytest.mark.parametrize(
    ("pattern", "is_taken"),
    [
        (f"(?iu)(?:^ab?[{ALPHA_LOWER}]+$)|(?:^(?:c|d)[-{ALPHA_LOWER}]*$)", True),
        (f"(?iu)(?:^[{ALPHA}]+-en-[{ALPHA}]+$)", True),
        (f"(?i)(?:^a[{ALPHA_LOWER}]+$)", False),
        (f"(?iu)(?:a[{ALPHA_LOWER}]+$)", False),
        (f"(?iu)(?:^a[{ALPHA_LOWER}]+)", False),
        ("(?iu)(?:^abc$)", False),
        ("\x01", False),
    ],
)
def test_a_pattern_is_factored_only_if_it_is_built_as_expected(pattern, is_taken):
    found = french.factored(pattern)
    assert (found is not None) == is_taken
    if found:
        texts = ["ab", "aé", "a", "c-d", "cd", "arc-en-ciel", "-en-ciel", "b"]
        assert [bool(re.match(found, text)) for text in texts] == [bool(re.match(pattern, text)) for text in texts]


def test_other_patterns_are_compiled_as_they_are_and_the_import_leaves_nothing_behind():
    long, compiled = "ab" * french.BIG, re.compile("a", re.IGNORECASE)
    assert french._compiled("a+", re.IGNORECASE) == re.compile("a+", re.IGNORECASE)
    assert french._compiled(compiled) is compiled
    assert french._compiled(long).pattern == long
    assert re.compile is french._compile
