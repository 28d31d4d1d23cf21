"""A signpost is a line that points away from the text and says nothing itself.

"Read more: …", "Lesen Sie auch", "Sign up for our newsletter", "View comments", a photographer's credit: extractors
keep them because they stand between paragraphs. They are told by how they begin (`signpost_phrases.txt`), by their
length and by what follows. Prose is not touched, nor is code. `See also`, `note`, `source` and the like stay: in
reference works they are content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import regex

from crawler.stages.text.tables import alternatives, sections

LONGEST = 200
"""Characters; longer lines are paragraphs."""
LONGEST_CREDIT = 120
"""Characters of a credit: it is a note, no sentence."""
LONGEST_FORM = 400
"""Characters of an invitation to leave an address, with its small print."""

_PHRASES = sections(__package__, "signpost_phrases.txt")
_ANY = {name: alternatives(found) for name, found in _PHRASES.items()}
_HEADLINE = r"(?: ?[:|»›>→…]+.{0,160})?[.!]?"
_SIGNPOST = re.compile(
    rf"(?:- |[»›→▶+•*] ?)?(?:{_ANY['lead_ins']}{_HEADLINE}|{_ANY['controls']}[.!»›>→…]*)", re.IGNORECASE
)
_SHARER = rf"{_ANY['sharers']}(?: \d{{1,7}})?"
_BUTTONS = re.compile(
    rf"tweet|pin it|\| ?{_SHARER}(?: ?[|·•/] ?{_SHARER}){{0,12}}(?: ?\|)?"
    rf"|{_SHARER}(?:(?: ?[|·•/] ?{_SHARER}){{1,12}}| ?\|)",
    re.IGNORECASE,
)
_CREDIT = re.compile(_ANY["credits"], re.IGNORECASE)
_BY_NAME = re.compile(r"\(?(?:Photo|Image|Picture|Illustration|Video)s? (?:by|via|courtesy of) [A-ZÀ-Þ@][^:]{1,60}\)?")
_SHORT_ONES = tuple(
    regex.compile(pattern.pattern + rest, pattern.flags & re.IGNORECASE)
    for pattern, rest in ((_SIGNPOST, ""), (_BUTTONS, ""), (_CREDIT, ".*"), (_BY_NAME, ""))
)
"""The same for the one engine that says of three characters whether a match could begin so."""
_BEGINNING, _ITEM = 3, "- "
_FORM = re.compile(_ANY["forms"], re.IGNORECASE)
_VARIABLE = re.compile(r"\(\?:[^()]*+\)|\\w\+")
"""What varies in the phrase of a form; other constructs do not stand in one."""
_FORM_WORDS = tuple(max(_VARIABLE.split(phrase), key=len) for phrase in _PHRASES["forms"])
"""The longest stretch of plain letters in each: without one of them none of the phrases match."""
_INVITATION = re.compile(rf"\b{_ANY['invitations']}", re.IGNORECASE)
_CODE = ("  ", "\t")  # indented lines are code or its output


def without_signposts(text: str) -> tuple[str, int]:
    """The text without such lines, and how many there were; everything else stays as it is, in its order."""
    lines, lower = text.split("\n"), text.lower()
    has_forms = any(word in lower for word in _FORM_WORDS)  # nearly no text: searching each line for them costs more
    kept = [line for line in lines if not is_signpost(line, has_forms=has_forms)]
    removed = len(lines) - len(kept)
    return ("\n".join(_tidy(kept)).strip("\n") if removed else text), removed


def is_signpost(line: str, *, has_forms: bool = True) -> bool:
    """True for a line that only points somewhere else, invites, credits or controls.

    has_forms: False where the whole text has none of the words without which no line invites.
    """
    stripped = line.strip()
    if not stripped or line.startswith(_CODE):
        return False
    if len(stripped) <= LONGEST and _may_begin(_beginning(stripped)) and _is_short_one(stripped):
        return True
    return has_forms and len(stripped) <= LONGEST_FORM and bool(_FORM.search(stripped) and _INVITATION.search(stripped))


def _beginning(line: str) -> str:
    """A few characters of a line that is not empty, as many behind the mark of a list item."""
    return line[: _BEGINNING + len(_ITEM)] if line.startswith(_ITEM) else line[:_BEGINNING]


@lru_cache(maxsize=16_384)
def _may_begin(beginning: str) -> bool:
    """False where no short signpost begins with these characters; what is not ASCII may be one."""
    return not beginning.isascii() or any(one.fullmatch(beginning, partial=True) for one in _SHORT_ONES)


def _is_short_one(line: str) -> bool:
    return bool(_SIGNPOST.fullmatch(line) or _BUTTONS.fullmatch(line) or _is_credit(line))


def _is_credit(line: str) -> bool:
    return len(line) <= LONGEST_CREDIT and (_CREDIT.match(line) is not None or _BY_NAME.fullmatch(line) is not None)


def _tidy(lines: Iterable[str]) -> list[str]:
    """At most the empty lines that were there: what a removed line stood between falls together."""
    result: list[str] = []
    for line in lines:
        if line or (result and result[-1]):
            result.append(line)
    return result
