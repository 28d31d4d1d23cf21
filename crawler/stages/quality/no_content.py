"""The quality stage recognises pages that are no content at all, whatever their words look like.

Each recogniser looks only where such pages say it (title, first lines), and only on texts short enough to be one. The
phrases stand in `no_content_phrases.txt`. Forms are recognised by their fields (`stages/extraction/forms.py`), indexes
by their links (`stages/extraction/learned/between.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from crawler.document import DropReason, Reason
from crawler.stages.text.tables import alternatives, sections

_PHRASES = {name: alternatives(found) for name, found in sections(__package__, "no_content_phrases.txt").items()}
_SAYS = {name[5:]: re.compile(rf"\b{found}") for name, found in _PHRASES.items() if name.startswith("says_")}
_GONE = re.compile(rf"\b{_PHRASES['gone']}")
_TITLED = {name[7:]: re.compile(rf"{found}[ .!…]*+") for name, found in _PHRASES.items() if name.startswith("titled_")}
_CONSENT, _DATA = re.compile(_PHRASES["consent"]), re.compile(_PHRASES["data"])
_TITLE_PARTS = re.compile(r" [-–—|·»:/]+ |\||: ")
_SENTENCE_END = re.compile(r"[.!?\n]")
_CUT = re.compile(r"(?:…|\.\.\.)[\])]?\s*$")
_APOSTROPHE = str.maketrans("’ʼ", "''")


_ANSWERED = frozenset({"forum", "product", "documentation"})
"""Types of pages with a form to answer, to review or to order below the text."""


@dataclass(frozen=True, slots=True)
class FormLimit:
    """Up to how many words a page is nothing but a form."""

    most_words: int
    running_words: int
    """In lines of twenty words and more, outside of the fields."""
    in_article: int
    """The same of what the extractor reads as an article: it may have a form beside it."""


_LINKING = frozenset({"forum", "documentation"})
"""Types of pages in which names of authors, or what a text describes, are links."""


@dataclass(frozen=True, slots=True)
class IndexLimit:
    """From how many links, and up to how many words between them, a page is an index."""

    least_links: int = 4
    words_between: float = 32.0
    words_between_cut: float = 80.0
    """The same where at least this share of the lines is cut off:"""
    cut_lines: float = 0.2


@dataclass(frozen=True, slots=True)
class Recognisers:
    """How long a page may be that is nothing but such a message. `None` = off. Our own judgement, no paper's."""

    placeholder_max_words: int | None = 400
    soft_404_max_words: int | None = 300
    login_wall_max_words: int | None = 300
    error_page_max_words: int | None = 300
    consent_max_words: int | None = 400
    consent_per_1000_words: float = 20.0
    """Of the words that ask for consent; a banner above a text has less than half of it."""
    consent_data_words: int = 3
    """Different words about data and advertising that such a request has; a recipe for cookies has none."""
    titled_max_words: int = 80
    """Up to so many words a heading alone is enough: articles about such pages bear it too, and are longer."""
    head_chars: int = 400
    """Characters of the text in which the message must stand; the title counts too."""
    lorem_ipsum_per_1000_words: float = 2.0
    """A page of any length that repeats "lorem ipsum" or its next words so often is a placeholder."""

    form_with_password: FormLimit = FormLimit(most_words=250, running_words=100, in_article=80)
    account_max_words: tuple[int, int] = (250, 450)
    """At the address of a form for an account, without a password to write and with one."""
    form_without: FormLimit = FormLimit(most_words=160, running_words=60, in_article=35)
    """Chosen on sites of formasaurus 0.10 (docs/benchmarks.md). That a password is asked for twice says no more: pages
    of news have windows to register."""

    index: IndexLimit = IndexLimit()
    """Chosen on the same sites, and on pages of wcxb-dev that are no listing."""

    def judge_index(self, signals: Mapping[str, object], text: str, page_type: str | None) -> tuple[Reason, str] | None:
        """The reason and the numbers that condemn a text that stands between links, from what `link_signals` found."""
        links, between = signals.get("linked_blocks"), signals.get("words_between_links")
        if not isinstance(links, int) or not isinstance(between, float) or page_type in _LINKING:
            return None
        limit = self.index
        if links < limit.least_links or between > limit.words_between_cut:
            return None
        if between > limit.words_between and _cut_lines(text) < limit.cut_lines:
            return None
        return DropReason.INDEX_PAGE, f"{links} blocks are links, and {between:g} words stand between two of them"

    def judge_form(self, signals: Mapping[str, object], words: int, page_type: str | None) -> tuple[Reason, str] | None:
        """The same for a text around a form, from what `form_signals` found; a thread has one to answer it."""
        account = signals.get("account_form")
        if account and page_type not in _LINKING and words <= self.account_max_words[account == 2]:
            return DropReason.FORM_PAGE, f"{words} words at the address of a form to log in or to sign up"
        running, passwords = signals.get("form_running_words"), signals.get("form_passwords")
        if not isinstance(running, int) or not isinstance(passwords, int):
            return None
        if page_type in _ANSWERED:
            return None
        limit = self.form_with_password if passwords else self.form_without
        most_running = limit.in_article if page_type == "article" else limit.running_words
        if words > limit.most_words or running > most_running:
            return None
        return DropReason.FORM_PAGE, f"{running} of {words} words are running text beside a form"

    def judge(self, title: str | None, text: str, words: int) -> tuple[Reason, str] | None:
        """The reason and the phrase kind that condemn the page, or None."""
        heading, head = (title or "")[: self.head_chars].lower().translate(_APOSTROPHE), self._head(text)
        for reason, limit in (
            (DropReason.SOFT_404, self.soft_404_max_words),
            (DropReason.LOGIN_WALL, self.login_wall_max_words),
            (DropReason.ERROR_PAGE, self.error_page_max_words),
            (DropReason.PLACEHOLDER, self.placeholder_max_words),
        ):
            if limit is None or words > limit:
                continue
            if reason is DropReason.SOFT_404 and _says(_GONE, head):
                return reason, f"{words} words, and what they are about is gone"
            if _says(_SAYS[reason], heading) or _says(_SAYS[reason], head):
                return reason, f"{words} words, and its beginning says so"
            if words <= self.titled_max_words and any(map(_TITLED[reason].fullmatch, _headings(heading, head))):
                return reason, f"{words} words, and it is headed so"
        if self.consent_max_words is not None and words <= self.consent_max_words and self._asks(head, text, words):
            return DropReason.CONSENT_WALL, f"{words} words, which ask for consent"
        if 1000 * text.lower().count("dolor sit amet") > self.lorem_ipsum_per_1000_words * max(words, 1):
            return DropReason.PLACEHOLDER, "lorem ipsum"
        return None

    def _asks(self, head: str, text: str, words: int) -> bool:
        """True for a text that is a request to accept cookies, as consent managers phrase it, and little else."""
        if not _says(_SAYS[DropReason.CONSENT_WALL], head):
            return False
        lower = text.lower()
        asking = len(_CONSENT.findall(lower))
        return (
            1000 * asking >= self.consent_per_1000_words * max(words, 1)
            and len(set(_DATA.findall(lower))) >= self.consent_data_words
        )

    def _head(self, text: str) -> str:
        return text[: self.head_chars].lower().translate(_APOSTROPHE)


def _cut_lines(text: str) -> float:
    """The share of the lines that an ellipsis ends, 0 to 1."""
    lines = [line for line in text.splitlines() if line.strip()]
    return sum(_CUT.search(line) is not None for line in lines) / max(len(lines), 1)


def _headings(title: str, head: str) -> Iterator[str]:
    """The title and each of its parts, the first lines, and the first sentence."""
    yield title.strip()
    yield from (part.strip() for part in _TITLE_PARTS.split(title))
    yield from (line.strip(" #*-") for line in head.split("\n")[:3])
    yield _SENTENCE_END.split(head, maxsplit=1)[0].strip()


def _says(pattern: re.Pattern[str], text: str) -> bool:
    """True where the text says it itself, and does not quote it."""
    return any(not _is_quoted(text, match.start()) for match in pattern.finditer(text))


def _is_quoted(text: str, at: int) -> bool:
    """True where a quotation is open at a place of the text. “ ends a quotation that „ began."""
    depth = 0
    for char in text[:at]:
        if char in "”»" or (char in '“"' and depth):
            depth = max(depth - 1, 0)
        elif char in '„“«"':
            depth += 1
    return depth > 0
