"""The quality rules recognise texts of entries: chats, glossaries and bibliographies, whose lines end without a mark.

Each line begins with a name, a term or an author, and what stands behind it is what somebody wrote. They are told by
their form, in every language; what is left is judged like any other text, so that a menu stays one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from crawler.stages.quality.punctuation import ends_a_sentence
from crawler.stages.text.words import count_words

LEAST, SHARE = 8, 0.7
"""Lines that are entries, and their share of all."""
LEAST_WORDS = 4.0
"""Mean words of what stands behind a name or a term: values of a data sheet have fewer."""
DIFFERENT = 0.8
"""Share of the entries that say something else than those before."""
_ENTRY = re.compile(
    r"\s*(?:[-•*]\s)?(?:[\[(]?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp][Mm])?[\])]?,?\s{0,2}(?:-\s)?)?"
    r"(?:<([^<>\n]{1,40})>|([^\W\d_][^\n:：–—]{0,39}?)(?:\s?[:：]|\s[–—-](?=\s)))\s{0,2}(?=\S)"
)
_YEAR = re.compile(r"\d(?:(?<=1)[5-9]|(?<=2)0)\d\d(?<!\d\d{4})(?!\d)")
_AUTHOR = re.compile(r"(?:\[\d{1,3}\]|\(?\d{1,3}[.)])?\s{0,2}[^\W\d_a-z]")
_SOURCE = re.compile(
    r"\d\s?[-–—]\s?\d|\d\s?\(\d|\bdoi\b|\bISBN\b|\bpp?\.|\bvols?\.|\beds?\.|\bet al\b|\b[^\W\d_a-z]\.[,;\s]|[“”«»„‘]"
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def entries_in(text: str, language: str = "") -> str:
    """What the entries of such a text say, as sentences in paragraphs; "" for any other text."""
    lines = [line for line in text.split("\n") if line.strip()]
    if found := _most(lines, _ENTRY.match):
        said = [match.string[match.end() :].strip() for match in found]
        names = [match[1] or match[2] for match in found]
        if _say_something(said) and not _is_form(names):
            return _in_paragraphs(said, language)
    dated = [match.string for match in _most(lines, _YEAR.search)]
    references = [match.string for match in _most(dated, _AUTHOR.match) if _SOURCE.search(match.string)]
    titles = [" ".join(_WORD.findall(line)) + "." for line in references]
    return "\n".join(titles) if _are_enough(len(titles), len(lines)) and _say_something(titles) else ""


def _most(lines: list[str], find: Callable[[str], re.Match[str] | None]) -> list[re.Match[str]]:
    """What is found in the lines; nothing as soon as too many are known to have none."""
    found, without = list[re.Match[str]](), 0
    for line in lines:
        if match := find(line):
            found.append(match)
        else:
            without += 1
            if without > (1 - SHARE) * len(lines):
                return []
    return found if len(found) >= LEAST else []


def _say_something(said: list[str]) -> bool:
    return sum(map(count_words, said)) >= LEAST_WORDS * len(said) and len(set(said)) >= DIFFERENT * len(said)


def _is_form(names: list[str]) -> bool:
    """True for one label, or the same three and more again and again in one order: entries of a database, no chat."""
    different = len(set(names))
    again = sum(one == other for one, other in zip(names, islice(names, different, None), strict=False))
    in_order = 2 < different < len(names) and again >= DIFFERENT * (len(names) - different)
    return different == 1 or in_order


def _in_paragraphs(said: list[str], language: str) -> str:
    """How long an answer is says nothing of a chat, so four are a line."""
    ended = [line if ends_a_sentence(line, language) else f"{line}." for line in said]
    return "\n".join(" ".join(ended[at : at + 4]) for at in range(0, len(ended), 4))


def _are_enough(number: int, lines: int) -> bool:
    return number >= LEAST and number >= SHARE * lines
