"""Where the requests went: by domain and shape of URL, what they brought, for whoever decides what to crawl next.

Read from the records of a corpus, so it needs no frontier: what was asked is in `shards/` or `rejected/`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from crawler.document import DropReason
from crawler.storage.files.place import REJECTED, SHARDS, Place
from crawler.storage.files.shards import read_records
from crawler.urls.shape import shape_of

if TYPE_CHECKING:
    from rich.console import RenderableType

TOP = 20
MOST_SHAPES = 20_000
"""Shapes that are told apart; what comes later counts as one."""
MOST_RECORDS = 200_000
"""Records that are read, the first of each file alike: the report of a large corpus stays quick."""
OTHERS = "(all other shapes)"
_NOT_ASKED = frozenset(
    {DropReason.ROBOTS_DISALLOWED, DropReason.NETWORK_FORBIDDEN, DropReason.WITHDRAWN, DropReason.SAME_PAGE}
)


@dataclass(slots=True)
class Brought:
    """What the requests to one shape of a domain brought. `reasons`: of those that were not kept."""

    domain: str
    shape: str
    example: str
    requests: int = 0
    kept: int = 0
    tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def tokens_a_request(self) -> float:
        """The figure to act on."""
        return self.tokens / self.requests

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        names = ("domain", "shape", "example", "requests", "kept", "tokens")
        return {name: getattr(self, name) for name in names} | {"reasons": dict(self.reasons.most_common())}


def read(corpus_dir: str, most_records: int | None = None) -> list[Brought]:
    """Every shape, the one with the most requests first. Raises: StorageError where a file is damaged."""
    place, found = Place(corpus_dir), dict[tuple[str, str], Brought]()
    files = [entry for entry in place.manifest()["files"] if entry["kind"] in (SHARDS, REJECTED)]
    most = max(1, (most_records or MOST_RECORDS) // max(1, len(files)))
    for entry in files:
        for record in islice(read_records(place, entry["path"]), most):
            _count(found, record, kept=entry["kind"] == SHARDS)
    return sorted(found.values(), key=lambda b: (-b.requests, b.domain, b.shape))


def _count(found: dict[tuple[str, str], Brought], record: dict[str, Any], *, kept: bool) -> None:
    reason = None if kept else DropReason.of(str(record.get("reason")))
    if reason is not None and (reason.is_hold or reason in _NOT_ASKED):
        return  # no request was spent
    url, domain = str(record["url"]), str(record.get("domain") or "")
    key = domain, shape_of(url)
    if key not in found and len(found) >= MOST_SHAPES:
        key = domain, OTHERS
    row = found.setdefault(key, Brought(*key, url))
    row.requests += 1
    if kept:
        row.kept += 1
        row.tokens += int(record.get("token_estimate") or 0)
    else:
        row.reasons[str(record.get("reason"))] += 1


def sections(found: list[Brought]) -> Iterator[tuple[str, RenderableType]]:
    """Title and table for the terminal; nothing where nothing was asked."""
    if found:
        more = f" ({TOP} of {len(found):,})" if len(found) > TOP else ""
        yield f"Where the requests went, and what they brought{more}", _table(found[:TOP])


def _table(rows: list[Brought]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("requests", "kept", "tokens a request"):
        table.add_column(name, justify="right")
    table.add_column("shape", overflow="fold")
    table.add_column("not kept", overflow="fold")
    for row in rows:
        reasons = ", ".join(f"{why} {n:,}" for why, n in row.reasons.most_common(3))
        figures = (f"{row.requests:,}", f"{row.kept:,}", f"{row.tokens_a_request:,.0f}")
        table.add_row(*figures, Text(row.shape), Text(reasons, "dim"))
    return table
