"""spaCy's expressions are compiled in less time, and match what spaCy's match."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from spacy.lang.char_classes import ALPHA, ALPHA_LOWER, ALPHA_UPPER, LIST_ICONS
from spacy.util import get_lang_class

from crawler.stages.quality import expressions
from crawler.stages.quality.expressions import sets_compiled_once, shortened

COMPILER = import_module("re._compiler")
EVERY_CHARACTER = "".join(map(chr, range(0x110000)))


@pytest.mark.parametrize("letters", [f"[{ALPHA}]", f"[{ALPHA_LOWER}]", f"[0-9{ALPHA_UPPER}]", LIST_ICONS[0]])
def test_a_shortened_set_holds_the_same_characters(letters):
    assert len(shortened(letters)) < len(letters)
    assert re.sub(shortened(letters), "", EVERY_CHARACTER) == re.sub(letters, "", EVERY_CHARACTER)


@pytest.mark.parametrize("expression", [r"\u005b-\\u00e9", r"\\\u00e9", r"[\]\-\u005d]", r"\w\d\.\N{EM DASH}"])
def test_escapes_that_mean_something_else_stay_as_they_are(expression):
    short, text = shortened(expression), EVERY_CHARACTER + expression
    assert re.findall(short, text) == re.findall(expression, text)


@pytest.mark.parametrize("code", ["de", "id", "ru"])
def test_an_expression_compiled_with_known_sets_is_the_same_instruction_by_instruction(code):
    data = get_lang_class(code).Defaults
    for expression in (*data.prefixes, *data.suffixes, *data.infixes):
        expected = COMPILER._code(COMPILER._parser.parse(expression), 0)
        with sets_compiled_once():
            for _ in range(2):
                assert COMPILER._code(COMPILER._parser.parse(expression), 0) == expected


@pytest.mark.parametrize("flags", [re.IGNORECASE, re.IGNORECASE | re.ASCII])
def test_a_set_is_known_with_the_letter_case_that_counted(flags):
    expression = "[\u0101-\u0200x]"
    expected = [COMPILER._code(COMPILER._parser.parse(expression, each), each) for each in (0, flags)]
    with sets_compiled_once():
        for _ in range(2):
            assert [COMPILER._code(COMPILER._parser.parse(expression, each), each) for each in (0, flags)] == expected
        exact, either = re.compile("[\u0101-\u0200x]"), re.compile("[\u0101-\u0200x]", re.IGNORECASE)
    assert [exact.match("X"), exact.match("\u0100")] == [None, None]
    assert either.match("X")
    assert either.match("\u0100")


def test_a_set_is_compiled_once_and_the_compiler_is_as_before_afterwards(monkeypatch):
    asked, original = [], COMPILER._optimize_charset
    monkeypatch.setattr(expressions, "_sets", {})
    monkeypatch.setattr(COMPILER, "_optimize_charset", lambda *given: asked.append(given) or original(*given))
    counting = COMPILER._optimize_charset
    with sets_compiled_once():
        re.compile("(?<=[\u0250-\u02ff])-(?=[\u0250-\u02ff])")
    assert [given[0] for given in asked if len(given[0]) == 1 and given[0][0][1] == (0x250, 0x2FF)] == [asked[0][0]]
    assert COMPILER._optimize_charset is counting


def test_an_error_in_an_expression_leaves_the_compiler_as_it_was():
    original = COMPILER._optimize_charset
    with pytest.raises(re.error), sets_compiled_once():
        re.compile("[")
    assert COMPILER._optimize_charset is original


def test_without_the_function_of_this_python_expressions_are_compiled_as_usual(monkeypatch):
    monkeypatch.setattr(expressions, "_NAME", "_no_such_function")
    with sets_compiled_once():
        assert re.compile("[\u0300-\u03ff]b").match("\u0300b")
