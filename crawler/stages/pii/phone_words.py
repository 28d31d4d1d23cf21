"""Words around a number tell a telephone number from an order, a quantity or a list.

Nouns label a number ("Tel."), verbs and the names of desks announce one ("Rückfragen unter"), and other nouns say what
it is instead ("Bestellnummer"). The words stand in `phone_words.txt`.
"""

from __future__ import annotations

import re

from crawler.stages.pii.context_words import any_of
from crawler.stages.text.tables import alternatives, sections

_LINES = sections(__package__, "phone_words.txt")
_WORDS = {name: " ".join(lines) for name, lines in _LINES.items()}
_NOUNS, _VERBS, _DESKS, _FILLERS = (_WORDS[name] for name in ("nouns", "verbs", "desks", "label_fillers"))

_MY_NUMBER = "|".join(_LINES["my_number"])
_SIGNS = "[\u260e\u260f\u2706\U0001f4de\U0001f4df\U0001f4e0\U0001f4f1\U0001f4f2\U0001f57b\U0001f57d-\U0001f581]\ufe0f?"
_PHONE_NO_SPACES = (*_WORDS["unspaced_nouns"].split(), "điện thoại", "di động", "liên hệ", _SIGNS)
"""Words in scripts without spaces, or that take endings and articles, and Unicode's signs of telephones."""


_CALLS = "|".join(re.escape(word.replace("_", " ")) for word in _WORDS["unspaced_calls"].split())

PHONE = re.compile(
    rf"(?<!\w)(?:{any_of(_NOUNS.replace(' numer', '') + ' ' + _VERBS, _MY_NUMBER)})(?!\w)"
    rf"|{'|'.join(_PHONE_NO_SPACES)}|{_CALLS}"
)
"""Somewhere near a number: then an assigned number of the region counts."""

_CALL = r"(?<!the )(?<!this )(?<!next )(?<!last )(?<!each )(?<!every )(?<!first )(?:call|ring|text)"
_FILLED = rf"(?:[ .'-]{{0,2}}(?:{any_of(_FILLERS, '番号')})(?!\w)){{0,4}}[.:：' \u00a0=]{{0,3}}\Z"
PHONE_LABEL = re.compile(rf"(?:(?<!\w)(?:{any_of(_NOUNS, _MY_NUMBER)})|{'|'.join(_PHONE_NO_SPACES)}){_FILLED}")
"""A label directly before the number: then a possible number is enough, it need not be an assigned one."""

_PERSONS = "me|us|him|her|them|you|mich|uns|moi|nous|me|nos|mi|ci|mij|ons"
CALL_LABEL = re.compile(
    rf"(?<!\w)(?:{_CALL}|(?:reach|contact|message|whatsapp|phone|text|call|ring|find|get|dial) (?:{_PERSONS})"
    rf"(?:[ ](?:up|back|directly|anytime|now|today|by (?:phone|text|sms)|(?:a )?(?:call|ring|text)))?"
    rf"|(?:give (?:{_PERSONS}) a|by) (?:call|ring|text|phone|sms)|sms (?:an|au|al|to|naar|na|para o|a)"
    rf"|(?:reached|available|contacted) (?:by (?:phone|text) )?(?:at|on|under)){_FILLED}"
    rf"|(?:{_CALLS})(?:[ \u00a0][^\s\d:：.,،=-]{{1,14}}){{0,3}}[.:：، \u00a0=]{{0,3}}\Z"
)
"""Words that tell somebody to call or to write to the number behind them: a label, but for short numbers."""

_LABEL_WORDS = any_of(_WORDS["label_words"], any_of(_NOUNS))
_NO_SPACES = "|".join(_PHONE_NO_SPACES)
LABEL_LINE = re.compile(
    rf"\W{{0,3}}(?=(?:.*(?<!\w))(?:{any_of(_NOUNS, _MY_NUMBER, '(?:contact|kontakt|contacto?) n')})"
    rf"|.*(?:{_NO_SPACES}))"
    rf"(?:(?:{_LABEL_WORDS}|{_MY_NUMBER}|{any_of(_FILLERS, '番号')}|{_NO_SPACES})[ .:：()/&,-]{{0,4}}){{1,6}}"
)
"""A line of its own above a number: nothing but words of a label, one of them about telephones (`fullmatch`)."""

_TO = any_of(_WORDS["prepositions"])
_CLITIC = r"(?:-(?:moi|nous|le|la|lui|me|nos|lhe|te|mij))?"
_WORD = r"(?:[ ,]{1,2}[^\W\d_]{1,15})"
PHONE_CUE = re.compile(
    rf"(?<!\w)(?:{any_of(_DESKS + ' ' + _VERBS.replace('call ', '').replace(' text', ''), _CALL)})"
    rf"(?:{_CLITIC}{_WORD}{{0,2}}[ ,]{{1,2}}(?:{_TO})|{_WORD}{{0,3}}[ \u00a0]?[.,:：=]|)[ \u00a0]{{0,2}}\Z"
    r"|(?<![\w/])(?:[tmfp]|tels)[.:]{0,2} ?\Z"
)
"""Close before the number, a verb of calling or the name of a desk: then an assigned number counts in any grouping."""

QUANTITY = re.compile(
    r"[ \u00a0]?(?:[€$£%°円圆元块人名个個件年万萬億亿千百台本枚册冊歩歳岁명원개년]"
    rf"|{alternatives(_LINES['units'])}(?!\w))"
)
"""Right behind a number: it counts or measures something."""

_NUMBER_WORDS = "number|numbers|no|nr|nummer|num|code|id|n°|nº|n\\.º|numéro|número|numero|numer|de|of|the|is|lautet|"
_NUMBER_WORDS += _WORDS["number_words"].replace(" ", "|")
_DESK = "(?<!atención al )(?<!service )(?<!servicio al )(?<!assistenza )(?<!apoio ao )(?<!obsługa )(?<!suporte ao )"
_NUMBER_SIGN = r"(?:number|numbers|no|nr|nummer|num|n°|nº|n\.º|n|número|numéro|numero|numer)"
_CALLED = {*f"{_NOUNS} {_VERBS} {_DESKS} {_WORDS['small_words']}".split()} - {*_WORDS["told_by_number"].split()}
_DIALLED = any_of(" ".join(_CALLED), _TO)
NOT_A_PHONE = re.compile(
    rf"(?<!\w){_DESK}(?:{any_of(_WORDS['other_numbers'])})s?"
    rf"(?:[ .:#-]{{0,3}}(?:{_NUMBER_WORDS}))*[.:# ]{{0,3}}\Z"
    rf"|(?<!\w)(?!(?:{_DIALLED})(?!\w))[^\W\d_]{{2,20}}[ .-]{{1,2}}{_NUMBER_SIGN}[.:# ]{{0,3}}\Z"
    r"|(?<!\w)(?!tele|handy|mobil|hívó|ruf|fax|festnetz|not|nood|service|kontakt|contact|hotline|info)[^\W\d_]{3,30}"
    r"(?:nummer|nr|number|szám)[.:# ]{0,3}\Z"
    rf"|(?:{any_of(_WORDS['other_unspaced'])})(?: ?(?:{_WORDS['unspaced_number'].replace(' ', '|')}))?[.:：# ]{{0,3}}\Z"
)
"""What a number is instead: the word, "number" in some form, and then the digits."""
