"""What a page says that it is: schema.org types of its JSON-LD and its microdata, and the type for its link previews.

Statements are hashed as names and words are (`tables.py`); which of them count is the model's to say. Sources: JSON-LD
1.1 (W3C, 2020), section 3.5 (`@type`); the HTML standard, microdata (`itemtype`); the Open Graph protocol (`og:type`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from zlib import crc32

MAX_SCRIPT = 1 << 20
"""Characters of one script that are looked at."""
_TYPE = re.compile(r'"@type"\s*:\s*(?:"([^"]{1,80})"|\[([^\]]{1,400})\])')
_NAME = re.compile(r'"([^"]{1,80})"')


def said(tree: Any, names: Iterable[str]) -> frozenset[int]:
    """Hashes of a page's statements.

    `tree` is the parsed page; `names` what its elements are called (`Walked.names`), with their `itemtype`. JSON-LD is
    searched and not parsed: a script with an error in it has said its type all the same.
    """
    found: set[str] = set()
    for element in tree.iter("meta", "script"):
        if element.tag == "meta":
            if (element.get("property") or element.get("name") or "").strip().lower() == "og:type":
                found.add(f"og {(element.get('content') or '').strip().lower()}")
        elif "ld+json" in (element.get("type") or "").lower() and (text := element.text):
            for one, several in _TYPE.findall(text[:MAX_SCRIPT]):
                found.update(f"ld {_last(name)}" for name in ([one] if one else _NAME.findall(several)))
    for own in names:
        if "schema.org/" in own:
            found.update(f"md {_last(name)}" for name in own.split() if "schema.org/" in name)
    return frozenset(crc32(statement.encode("utf-8", "replace")) for statement in found)


def _last(name: str) -> str:
    """A type without the address of its vocabulary."""
    return name.rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1].lower()
