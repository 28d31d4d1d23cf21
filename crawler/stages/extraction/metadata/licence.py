"""The Creative Commons licence that a page gives its text: a link that is called one, or one in its footer.

Only a licence with a version has an SPDX identifier. Sources: HTML standard, section 4.6.7.7 (rel=license); Creative
Commons, "Marking your work".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from crawler.stages.extraction.metadata.head import shown

_KINDS = r"by(?:-nc)?(?:-nd|-sa)?"
_ADDRESS = re.compile(rf"/({_KINDS}|zero)/([1-9]\.[0-9])")
_WORDS = re.compile(rf"(?:cc|creative commons) ({_KINDS}|zero) ?([1-9]\.[0-9])", re.IGNORECASE)
_NEAR = 10
"""Elements above a link among which a footer is looked for."""


def find_licence(links: Iterable[Any]) -> str | None:
    """SPDX identifier of the licence that these `<a>` of a page name; None where none names one with its version.

    A link with rel=license goes before a link in a footer.
    """
    below = None
    for link in links:
        address, rel = link.get("href") or "", link.get("rel")
        if rel and "license" in rel.lower().split():
            if found := _spdx(address, shown(link)):
                return found
        elif below is None and _may_name_one(address, link.text or "") and _is_in_footer(link):
            below = _spdx(address, shown(link))
    return below


def _may_name_one(address: str, text: str) -> bool:
    return "/by" in address or "/zero/" in address or "CC " in text or "reative" in text


def _spdx(address: str, text: str) -> str | None:
    """Of what stands in an address; else of what stands in a text."""
    match = _ADDRESS.search(address) or _WORDS.search(text)
    if match is None:
        return None
    kind = match[1].upper()
    return f"CC0-{match[2]}" if kind == "ZERO" else f"CC-{kind}-{match[2]}"


def _is_in_footer(link: Any) -> bool:
    for _, element in zip(range(_NEAR), link.iterancestors(), strict=False):
        names = f"{element.get('class') or ''} {element.get('id') or ''}"
        if element.tag == "footer" or (element.tag == "div" and "footer" in names):
            return True
    return False
