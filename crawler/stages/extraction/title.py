"""The title is the page's own: a headline that is the name of the site, linked to its front page, is none.

trafilatura takes the only `<h1>`, or the first one that it can tell from others. Documentation generators and blogs
put the site's name into one. It is told by two signs together: all of it is a link to another page, and the page's
`<title>` ends with it, behind a dash or a bar.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

from trafilatura.metadata import extract_title

_DIVIDERS = "—–-|·•»›:"
_MAX_HEADLINES = 20


def find_title(tree: Any, url: str) -> str | None:
    """The title that the page shows or declares; None where there is none."""
    found: str | None = extract_title(tree)
    if not found:
        return None
    declared = _flat(tree.findtext(".//head/title"))
    rest = declared.removesuffix(_flat(found)).rstrip()
    if rest == declared or not rest.endswith(tuple(_DIVIDERS)):
        return found
    headlines = tree.findall(".//h1")[:_MAX_HEADLINES]
    if not any(_text(headline) == _flat(found) and _leads_away(headline, url) for headline in headlines):
        return found
    own = (text for headline in headlines if (text := _text(headline)) and not _leads_away(headline, url))
    return next(own, rest.rstrip(_DIVIDERS + " ")) or found


def _leads_away(headline: Any, url: str) -> bool:
    """True where the whole headline is a link to another page."""
    link = headline.find(".//a[@href]")
    if link is None or _text(link) != _text(headline):
        return False
    target: str = urljoin(url, link.get("href").strip())
    return target.partition("#")[0] != url.partition("#")[0]


def _text(element: Any) -> str:
    return _flat("".join(element.itertext()))


def _flat(text: str | None) -> str:
    return " ".join(text.split()) if text else ""
