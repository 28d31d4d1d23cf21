"""A by-line is searched where the markup speaks of authors, in a small copy of those places instead of the whole page.

trafilatura's author search copies the page, prunes it and asks every element three regular expressions. Its expressions
look at an element's own attributes only, so the elements that could match, with their ancestors, give the same answer.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lxml.etree import XPath
from trafilatura.metadata import extract_author

from crawler.stages.extraction.excerpt import excerpt_of
from crawler.stages.extraction.source import Source

_CUES = (
    "uthor",
    "byl",
    "Byl",
    "BBL",
    "username",
    "screenname",
    "writer",
    "zuozhe",
    "bianji",
    "xiaobian",
    "channel-name",
    "submitted-by",
    "posted-by",
    "journalist",
)
"""Every attribute value that trafilatura's author expressions accept contains one of them."""
_IN_BYTES = {cue: cue.encode() for cue in _CUES}
_ELEMENT = b"<AUTHOR"
"""In other spellings it contains a cue."""


def find_author(tree: Any, source: Source | None = None) -> str | None:
    """The by-line that trafilatura finds in `tree`, or None. `source`: the page that the tree was made of."""
    cues = _CUES
    if source is not None and source.is_plain:
        cues = tuple(cue for cue, found in _IN_BYTES.items() if found in source.html)
        if not cues and _ELEMENT not in source.html:
            return None
    places = _places(cues)(tree)
    if not places:
        return None
    found: str | None = extract_author(excerpt_of(places))
    return found


@cache
def _places(cues: tuple[str, ...]) -> XPath:
    """Elements with a cue in an attribute that is no address, and `<author>`. One expression for each set of cues."""
    says = " or ".join(f'contains(., "{cue}")' for cue in cues) or "false()"
    return XPath(f"//@*[({says}) and name() != 'href' and name() != 'src']/..|//author")
