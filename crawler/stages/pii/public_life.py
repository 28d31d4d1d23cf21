"""`PublicLife` says which names of a text stay: of officials in office, of fiction and its casts, and what is no name.

A model of names takes "Dark Angel" for somebody, and a private sentence may tell the plot of a novel. Titles of office
and words about films stand beside such names; a first word that the text also has in small letters is no given name.
"""

from __future__ import annotations

import re
from functools import cached_property

from crawler.stages.pii.context_words import any_of
from crawler.stages.pii.page import Hit
from crawler.stages.text.tables import alternatives, sections

_LINES = sections(__package__, "public_words.txt")
_GIVEN = frozenset(" ".join(_LINES["given"]).split())
_OFFICE_BEFORE = re.compile(rf"(?<!\w)(?<!vice )(?<!former ){alternatives(_LINES['offices'])}[.,]? \Z", re.IGNORECASE)
_OFFICE_BEHIND = re.compile(
    rf",? (?:\([DRI]-[A-Z][A-Za-z.]{{1,6}}\)|the (?:\w+ )?{alternatives(_LINES['offices'])}(?!\w))"
)
_FICTION = re.compile(rf"(?<!\w)(?:{any_of(' '.join(_LINES['fiction']))})(?!\w)")
_AWARD = re.compile(rf"(?<!\w)(?:{any_of(' '.join(_LINES['awards']))})(?!\w)")
_NOT_BEHIND = re.compile(
    r"[-‑](?:winning|nominated|era|style|like)|['’]s? (?:law|theorem)(?!\w)|, [A-Z]{2}(?![\w.@])"
    rf"| (?:{any_of(' '.join(_LINES['institutions']))})(?!\w)"
)
_QUOTED = re.compile(r"[\"“„«]\Z"), re.compile(r"[\"”“»]")
_SMALL_WORD = re.compile(r"(?<!\S)[a-z]{3,}(?=[,;:.!?)]?(?:\s|\Z))")  # no part of an address
_REACH = 250
_LEAST = 4  # words about fiction that make a page one about it
_SENTENCE_END = re.compile(r"[.!?][\"”’)]?\s+(?=[\"“(]?[A-ZÀ-Þ])|\n")
_ABBREVIATED = re.compile(r"(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sen|Gov|Rep|Gen|Jr|Sr)\.\Z")


class PublicLife:
    """A text, and which of the names in it stay. What needs the whole of the text is made when a name asks."""

    def __init__(self, text: str) -> None:
        self._text = text

    def keeps(self, hit: Hit, *, is_told_of: bool) -> bool:
        """True where the name stays. is_told_of: a sentence tells of the person; else an identifier is beside it."""
        if self._is_no_name(hit) or self._is_in_office(hit):
            return True
        return is_told_of and (self._is_about_fiction or self._is_in_a_public_sentence(hit))

    def _is_no_name(self, hit: Hit) -> bool:
        before, behind = self._text[max(0, hit.start - 1) : hit.start], self._text[hit.end : hit.end + 24]
        if before.isalnum() or before in {"-", "#", "\u2011"} or _NOT_BEHIND.match(behind):
            return True
        if _QUOTED[0].match(before) and _QUOTED[1].match(behind):
            return True
        first = self._text[hit.start : hit.end].split()[0].lower()
        return first not in _GIVEN and first in self._small_words

    def _is_in_office(self, hit: Hit) -> bool:
        before = self._text[max(0, hit.start - 60) : hit.start]
        return bool(_OFFICE_BEFORE.search(before) or _OFFICE_BEHIND.match(self._text, hit.end))

    def _is_in_a_public_sentence(self, hit: Hit) -> bool:
        start, end = max(0, hit.start - _REACH), min(len(self._text), hit.end + _REACH)
        for mark in _SENTENCE_END.finditer(self._text, start, hit.start):
            if not _ABBREVIATED.search(self._text, max(0, mark.start() - 6), mark.start() + 1):
                start = mark.end()
        behind = _SENTENCE_END.search(self._text, hit.end, end)
        sentence = self._text[start : behind.start() if behind else end].lower()
        return bool(_FICTION.search(sentence) or _AWARD.search(sentence))

    @cached_property
    def _is_about_fiction(self) -> bool:
        """Words about films, novels and plays stand in it again and again, two different ones at least."""
        found = _FICTION.findall(self._text.lower())
        often = len(self._text) / 2_500  # about one in 400 words
        return len(found) >= max(_LEAST, often) and len(set(found)) > 1

    @cached_property
    def _small_words(self) -> frozenset[str]:
        return frozenset(_SMALL_WORD.findall(self._text))
