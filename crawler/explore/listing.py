"""A page of documents begins behind the last one of the page before, by key: the thousandth is as quick as any."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from crawler.dataset.records.fields import FIELDS
from crawler.dataset.records.filters import FilterError
from crawler.explore.catalogue import Catalogue
from crawler.explore.filters import Filter
from crawler.storage.files.columns import fits

PAGE = 50
SHOWN = ("id", "state", "title", "url", "domain", "language", "quality_score", "token_estimate", "crawled_at", "reason",
         "detail", "license_tag")  # fmt: skip
TEXT_SECONDS = 4.0
"""How long one page may search texts; then it says how far it came, and the next page goes on."""
AROUND = 90
"""Characters that are shown on either side of a word that was looked for."""
Context = tuple[str, str, str]
_CHUNK = 2_000
_NO_PLACE = FilterError("after=…: this is not a place in a list; begin at its first page")


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents in order, `context` where a text was looked for; `total` answer the filter (texts apart); `next` shows
    what follows, None at the end.

    searched: for a search in texts, how many documents it has read for this page, else 0.
    """

    rows: list[dict[str, Any]]
    total: int
    next: Filter | None
    searched: int = 0


def listing(catalogue: Catalogue, wanted: Filter, clock: Callable[[], float] = time.monotonic) -> Listing:
    """The page that the filter asks for. Raises: NotReadyError, FilterError, StorageError."""
    where, params = wanted.sql()
    (total,) = catalogue.rows(f"SELECT count(*) FROM records WHERE {where}", params)[0]  # noqa: S608  # looked up
    if wanted.text:
        return _with_text(catalogue, wanted, int(total), clock)
    name, down = wanted.sort.removeprefix("-"), wanted.sort.startswith("-")
    behind, more = _behind(name, down, wanted.after)
    order = f'"{name}" {"DESC" if down else "ASC"} NULLS LAST, id'
    sql = f'SELECT {", ".join(SHOWN)}, "{name}" FROM records WHERE {where} AND {behind} ORDER BY {order} LIMIT ?'  # noqa: S608
    found = catalogue.rows(sql, [*params, *more, PAGE + 1])
    rows = [dict(zip(SHOWN, row[:-1], strict=True)) for row in found[:PAGE]]
    cursor = orjson.dumps([found[PAGE - 1][-1], found[PAGE - 1][0]]).decode() if len(found) > PAGE else ""
    return Listing(rows, int(total), replace(wanted, after=cursor) if cursor else None)


def _behind(name: str, down: bool, after: str) -> tuple[str, list[Any]]:
    """The condition for what follows a document: records without the value stand at the end, in either direction."""
    if not after:
        return "true", []
    try:
        value, key = orjson.loads(after)
    except (orjson.JSONDecodeError, TypeError, ValueError):
        raise _NO_PLACE from None
    kind = FIELDS[name].kind if name in FIELDS else "int64"
    if type(key) is not int or key.bit_length() > 62 or not fits(kind, value):
        raise _NO_PLACE
    if value is None:
        return f'"{name}" IS NULL AND id > ?', [key]
    return f'("{name}" {"<" if down else ">"} ? OR ("{name}" = ? AND id > ?) OR "{name}" IS NULL)', [value, value, key]


def _with_text(catalogue: Catalogue, wanted: Filter, total: int, clock: Callable[[], float]) -> Listing:
    """Search the texts of what the filter leaves, in the order of the keys, until a page is full or time is up."""
    where, params = wanted.sql()
    _, more = _behind("id", False, wanted.after)
    last, until = (more[-1] if more else -1), clock() + TEXT_SECONDS
    hits: dict[int, Context] = {}
    needles, searched = wanted.text.casefold().split(), 0
    while len(hits) < PAGE and clock() < until:
        keys = [
            row[0]
            for row in catalogue.rows(
                f"SELECT id FROM records WHERE {where} AND id > ? ORDER BY id LIMIT ?",  # noqa: S608
                [*params, last, _CHUNK],
            )
        ]
        for key, text in sorted(catalogue.texts(keys)):
            if len(hits) == PAGE:
                break
            folded, last, searched = text.casefold(), key, searched + 1
            if all(needle in folded for needle in needles):
                hits[key] = context(text, needles[0])
        if len(keys) < _CHUNK and len(hits) < PAGE:
            return Listing(_rows(catalogue, hits), total, None, searched)
    cursor = orjson.dumps([last, last]).decode()
    return Listing(_rows(catalogue, hits), total, replace(wanted, after=cursor), searched)


def context(text: str, needle: str) -> Context:
    """What stands before a word, the word, and what stands behind it; white space as one blank."""
    found = re.search(re.escape(needle), text, re.IGNORECASE)
    start, end = found.span() if found else (0, 0)  # a word that only casefold finds: the beginning of the text
    before, behind = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    return (
        ("…" if start > AROUND else "") + " ".join(before.split()) + (" " if before[-1:].isspace() else ""),
        text[start:end],
        (" " if behind[:1].isspace() else "") + " ".join(behind.split()) + ("…" if len(text) > end + AROUND else ""),
    )


def _rows(catalogue: Catalogue, hits: dict[int, Context]) -> list[dict[str, Any]]:
    marks = ", ".join("?" * len(hits)) or "NULL"
    found = catalogue.rows(f"SELECT {', '.join(SHOWN)} FROM records WHERE id IN ({marks}) ORDER BY id", [*hits])  # noqa: S608
    return [dict(zip(SHOWN, row, strict=True)) | {"context": hits[row[0]]} for row in found]
