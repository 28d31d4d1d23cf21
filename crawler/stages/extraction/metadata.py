"""Metadata say who wrote the page, when and under which licence; to read them is cheap and never an error.

trafilatura's parts without tag lists; the date has a module of its own (`dates.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from trafilatura.metadata import examine_meta, extract_license, extract_meta_json

from crawler.stages.extraction.bylines import find_author
from crawler.stages.extraction.dates import read_date
from crawler.stages.extraction.source import Source
from crawler.stages.extraction.title import find_title

_SPDX = re.compile(r"CC (BY(?:-NC)?(?:-ND|-SA)?|ZERO) ([1-9]\.[0-9])", re.IGNORECASE)
_NO_ANCHORS = str.maketrans(dict.fromkeys("¶\uf0c1🔗", " "))
"""Signs that documentation generators hang on headings as links to themselves."""
_MAX_CHARS = 1_000
_MAX_AUTHOR_CHARS = 200


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about itself; None where it does not."""

    title: str | None = None
    description: str | None = None
    author: str | None = None
    pub_date: str | None = None
    """ISO 8601 date."""
    license_tag: str | None = None
    """SPDX identifier of a Creative Commons licence."""


def read_metadata(
    tree: Any, url: str, max_date: str | None = None, *, search_author: bool = True, source: Source | None = None
) -> Metadata:
    """Read title, description, author, date and licence off the parsed page.

    `search_author` looks for a by-line in the page where the metadata name no author (`bylines.py`).
    `max_date` (ISO date, the day of the fetch) bounds publication dates, so that a replay finds the same one.
    `source`, the page that the tree was made of, spares searches for what it does not hold.
    Whatever a page contains, missing values are the worst that happens.
    """
    found = _attempt(examine_meta, tree)
    if found is None:
        return Metadata()
    if found.author and " " not in found.author:
        found.author = None
    found = _attempt(extract_meta_json, tree, found) or found
    author = found.author or (_attempt(find_author, tree, source) if search_author else None)
    may_be_licensed = source is None or source.may_name_a_licence()
    return Metadata(
        title=_short(found.title or _attempt(find_title, tree, url)),
        description=_short(found.description),
        author=_short(author, _MAX_AUTHOR_CHARS),
        pub_date=_date(tree, url, max_date),
        license_tag=spdx(_attempt(extract_license, tree)) if may_be_licensed else None,
    )


def spdx(licence: str | None) -> str | None:
    """SPDX identifier of trafilatura's "CC BY-SA 4.0", or None for anything that names no version."""
    match = _SPDX.fullmatch(licence or "")
    if match is None:
        return None
    kind = match[1].upper()
    return f"CC0-{match[2]}" if kind == "ZERO" else f"CC-{kind}-{match[2]}"


def _date(tree: Any, url: str, max_date: str | None) -> str | None:
    value = _attempt(read_date, tree, url, max_date)
    return str(value) if value else None


def _attempt(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The answer, or None: readers meet every kind of malformed JSON-LD, which must not cost the page its text."""
    try:
        return function(*args, **kwargs)
    except Exception:
        return None


def _short(value: str | None, limit: int = _MAX_CHARS) -> str | None:
    return " ".join(value.translate(_NO_ANCHORS).split())[:limit] or None if value else None
