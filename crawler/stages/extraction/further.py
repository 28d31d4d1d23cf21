"""A list of other articles at the end of a text goes: link after link to pages of the same site, and nothing else.

Sites show their latest, related or best articles below a text, under headings of every kind or none, so they are told
by their links. Lists of sources lead to other sites, and headings that name references are content: both stay.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from crawler.urls.resolve import resolve

LEAST = 3
"""Links from which it is a list (chosen on one half of wcxb-dev, by domain, and confirmed on the other)."""
LARGEST_SHARE = 0.3
"""Of the text; a page whose text is mostly such a list is a list of articles itself."""
SHORTEST, LONGEST = 15, 200
"""Characters of a headline."""
MIN_WORDS = 3
GAP, LONGEST_GAP = 1, 60
"""Other lines between two headlines, and their characters: a date, a category."""
TRAIL = 2
"""Lines behind the list, such as a disclosure, of at most `LONGEST` characters each."""
LONGEST_LEAD = 120
_SIGN = re.compile(r"\s*(?:[-•*–»›→]|\d{1,2}[.)])\s+")
_DATE = re.compile(
    r"[\s–—|,:·-]{1,5}(?:[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}|\d{1,2}\.? [A-Z][a-z]{2,8}\.? \d{4}"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4})\Z"
)
_REFERENCES = re.compile(
    r"see also|references?|sources?|further reading|bibliography|external links?|footnotes?|notes|citations?|resources"
    r"|siehe auch|quellen|literatur|weblinks|voir aussi|références|véase también|referencias|vedi anche|fonti",
    re.IGNORECASE,
)


def without_further(text: str, tree: Any, url: str) -> str:
    """The text without the list of the site's other articles at its end; `tree` is the page, whose links are asked."""
    lines = text.split("\n")
    last = [line for line in lines[-(LEAST + TRAIL + (LEAST - 1) * GAP) :] if _may_be_headline(line)]
    if len(last) < LEAST or not _stand_in_links(last, tree):
        return text  # nearly every page: where its links lead need not be known
    headlines = _headlines(tree, url)
    start, end = _list_at_end(lines, [_of_link(line) in headlines or _undated(line) in headlines for line in lines])
    if start == end:
        return text
    if start and (lead := _of_link(lines[start - 1])) and len(lead) <= LONGEST_LEAD:
        if _REFERENCES.match(lead):
            return text
        start -= lead.endswith((":", "…", "...", "!", "?")) or lead in _headings(tree)
    gone = sum(map(len, lines[start:end]))
    return text if gone > LARGEST_SHARE * len(text) else "\n".join(lines[:start] + lines[end:]).rstrip("\n")


def _list_at_end(lines: list[str], linked: list[bool]) -> tuple[int, int]:
    """First line and the one behind the last; twice the same where there is no such list."""
    end = len(lines)
    while end and not linked[end - 1] and len(lines) - end < TRAIL and len(lines[end - 1]) <= LONGEST:
        end -= 1
    start = position = end
    count = gap = 0
    while position and (linked[position - 1] or (gap < GAP and len(lines[position - 1]) <= LONGEST_GAP)):
        position -= 1
        if linked[position]:
            start, count, gap = position, count + 1, 0
        else:
            gap += 1
    return (start, end) if count >= LEAST and linked[end - 1] else (end, end)


def _stand_in_links(lines: list[str], tree: Any) -> bool:
    """True where `LEAST` of the lines are texts of links, wherever these lead."""
    wanted = {_of_link(line) for line in lines} | {_undated(line) for line in lines}
    texts = ("".join(link.itertext()) if len(link) else link.text or "" for link in tree.iter("a"))
    return len({found for text in texts if (found := " ".join(text.split())) in wanted}) >= LEAST


def _headlines(tree: Any, url: str) -> set[str]:
    """Texts of links to other pages of the site that could be headlines."""
    site, found = _site(url), set()
    for link in tree.iter("a"):
        text = _flat("".join(link.itertext()))
        target = (link.get("href") or "").strip()
        if _may_be_headline(text) and target and not target.startswith("#") and _site(target, url) == site:
            found.add(text)
    return found


def _headings(tree: Any) -> set[str]:
    return {_flat("".join(heading.itertext())) for heading in tree.iter("h2", "h3", "h4", "h5", "h6")}


def _may_be_headline(line: str) -> bool:
    return (
        SHORTEST <= len(line) <= LONGEST + 30
        and not line.endswith(".")
        and len(line.split(None, MIN_WORDS)) >= MIN_WORDS
    )


def _of_link(line: str) -> str:
    """A line without the sign of its list item."""
    sign = _SIGN.match(line)
    return (line[sign.end() :] if sign else line).strip()


def _undated(line: str) -> str:
    """The same without the date behind it."""
    return _DATE.sub("", _of_link(line))


def _site(url: str, base: str = "") -> str:
    """The host to which a link leads; empty where it leads nowhere."""
    return (urlsplit(resolve(base, url) or "").hostname or "").removeprefix("www.")


def _flat(text: str) -> str:
    return " ".join(text.split())
