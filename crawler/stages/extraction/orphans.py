"""An orphan is a heading whose list of links the extractor left out: "19 Methods:" with nothing behind it.

The lists are noted on the tree, before the extractor, with what stands before and behind each; on the text, a heading
goes where it is followed by what stood behind the list.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

MIN_LINKS = 3
"""Links from which a list is one of links."""
MIN_LINKED = 0.8
"""Share of its text in links."""
LONGEST = 100
"""Characters of a heading, or of a line with a colon at its end."""
MAX_LISTS = 200
"""Lists noted on a page."""
_SAME = 40
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def lists_of_links(tree: Any) -> dict[str, str]:
    """What stands directly before a list of links, heading or lead-in, and the beginning of what stands behind it."""
    found: dict[str, str] = {}
    for element in tree.iter("ul", "ol"):
        before = _neighbour(element, "getprevious")
        heading = _text(before) if before is not None and before.tag in (*_HEADINGS, "p") else ""
        is_lead = before is not None and (before.tag in _HEADINGS or heading.endswith(":"))
        if is_lead and 0 < len(heading) <= LONGEST and _is_of_links(element):
            found[heading] = _text(_neighbour(element, "getnext"))[:_SAME]
            if len(found) >= MAX_LISTS:
                break
    return found


def without_orphans(text: str, lists: dict[str, str]) -> str:
    """The text without headings of lists that are gone: what stood behind the list follows them, or nothing does."""
    lines = text.split("\n")
    kept = [
        line for line, following in zip(lines, [*lines[1:], ""], strict=True) if not _is_orphan(line, following, lists)
    ]
    return text if len(kept) == len(lines) else "\n".join(kept)


def _is_orphan(line: str, following: str, lists: dict[str, str]) -> bool:
    behind = lists.get(line)
    if behind is None:
        return False
    return not following.strip() or (bool(behind) and following.lstrip("- ").startswith(behind))


def _neighbour(element: Any, direction: str) -> Any:
    """The element before or behind, or that of the element around it, where it is the first or last there."""
    found = getattr(element, direction)()
    around = element.getparent()
    return found if found is not None or around is None else getattr(around, direction)()


def _is_of_links(element: Any) -> bool:
    links = list(islice(element.iter("a"), 1_000))
    if len(links) < MIN_LINKS:
        return False
    return sum(len(_text(link)) for link in links) >= MIN_LINKED * len(_text(element))


def _text(element: Any) -> str:
    if element is None:
        return ""
    text = element.text_content() if len(element) else element.text or ""
    return " ".join(text.split())
