"""A signpost is a line that points away from the text and says nothing itself.

"Read more: …", "Lesen Sie auch", "Sign up for our newsletter", "View comments", a photographer's credit: extractors
keep them because they stand between paragraphs. They are told by how they begin (`signpost_phrases.py`), by their
length and by what follows. Prose is not touched, nor is code. `See also`, `note`, `source` and the like stay: in
reference works they are content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.stages.extraction.signpost_phrases import (
    CONTROLS,
    CREDITS,
    FORMS,
    INVITATIONS,
    LEAD_INS,
    SHARERS,
    alternatives,
    literals,
)

LONGEST = 200
"""Characters; longer lines are paragraphs."""
LONGEST_CREDIT = 120
"""Characters of a credit: it is a note, no sentence."""
LONGEST_FORM = 400
"""Characters of an invitation to leave an address, with its small print."""

_HEADLINE = r"(?: ?[:|»›>→…]+.{0,160})?[.!]?"
_SIGNPOST = re.compile(
    rf"(?:- |[»›→▶+•*] ?)?(?:{alternatives(LEAD_INS)}{_HEADLINE}|{alternatives(CONTROLS)}[.!»›>→…]*)", re.IGNORECASE
)
_SHARER = rf"{alternatives(SHARERS)}(?: \d{{1,7}})?"
_BUTTONS = re.compile(
    rf"tweet|pin it|\| ?{_SHARER}(?: ?[|·•/] ?{_SHARER}){{0,12}}(?: ?\|)?"
    rf"|{_SHARER}(?:(?: ?[|·•/] ?{_SHARER}){{1,12}}| ?\|)",
    re.IGNORECASE,
)
_CREDIT = re.compile(alternatives(CREDITS), re.IGNORECASE)
_BY_NAME = re.compile(r"\(?(?:Photo|Image|Picture|Illustration|Video)s? (?:by|via|courtesy of) [A-ZÀ-Þ@][^:]{1,60}\)?")
_FORM = re.compile(alternatives(FORMS), re.IGNORECASE)
_FORM_WORDS = literals(FORMS)
_INVITATION = re.compile(rf"\b{alternatives(INVITATIONS)}", re.IGNORECASE)
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
    if len(stripped) <= LONGEST and (
        _SIGNPOST.fullmatch(stripped) or _BUTTONS.fullmatch(stripped) or _is_credit(stripped)
    ):
        return True
    return has_forms and len(stripped) <= LONGEST_FORM and bool(_FORM.search(stripped) and _INVITATION.search(stripped))


def _is_credit(line: str) -> bool:
    return len(line) <= LONGEST_CREDIT and (_CREDIT.match(line) is not None or _BY_NAME.fullmatch(line) is not None)


def _tidy(lines: Iterable[str]) -> list[str]:
    """At most the empty lines that were there: what a removed line stood between falls together."""
    result: list[str] = []
    for line in lines:
        if line or (result and result[-1]):
            result.append(line)
    return result
