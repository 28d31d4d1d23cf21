"""Where the requests went: by domain and shape of URL, what they brought, for whoever decides what to crawl next.

Read from the records of a corpus, so it needs no frontier: what was asked is in `shards/` or `rejected/`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from crawler.dataset.registry.behind import refusals_of
from crawler.document import DropReason, Reason
from crawler.number import number_of
from crawler.seeds import patterns
from crawler.storage.files.accounts import took_request
from crawler.storage.files.place import PAGES, SHARDS, Place
from crawler.storage.files.shards import read_records
from crawler.urls.shape import shape_of

if TYPE_CHECKING:
    from rich.console import RenderableType

TOP = 20
WHOLE = 32
"""Characters up to which an address stands on one line, also in a narrow terminal."""
MOST_SHAPES = 20_000
"""Shapes that are told apart; what comes later counts as one."""
MOST_RECORDS = 200_000
"""Records that are read, the first of each file alike: the report of a large corpus stays quick."""
OTHERS = "(all other shapes)"


@dataclass(slots=True)
class Brought:
    """What the requests to one shape of a domain brought. `reasons`: of those that were not kept.

    `parked`: the frontier took its links off the queue as barren. `exclude`: a path pattern for the allowlist that
    leaves the shape out and nothing that was kept; empty where there is none, or no need of one.
    """

    domain: str
    shape: str
    example: str
    requests: int = 0
    kept: int = 0
    tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    parked: bool = False
    exclude: str = ""

    @property
    def tokens_a_request(self) -> float:
        """The figure to act on."""
        return self.tokens / self.requests

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        names = ("domain", "shape", "example", "requests", "kept", "tokens", "exclude")
        return {name: getattr(self, name) for name in names} | {"reasons": dict(self.reasons.most_common())}


@dataclass(slots=True)
class Domain:
    """What the requests to one domain brought; `unchanged`: visits that found a page as an earlier one had."""

    domain: str
    requests: int = 0
    kept: int = 0
    unchanged: int = 0
    tokens: int = 0
    excludes: list[str] = field(default_factory=list)

    @property
    def fruitless(self) -> int:
        """Requests that brought no document, and did not find one as it was either."""
        return self.requests - self.kept - self.unchanged

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        names = ("domain", "requests", "kept", "unchanged", "fruitless", "tokens", "excludes")
        return {name: getattr(self, name) for name in names}


def by_domain(found: list[Brought]) -> list[Domain]:
    """The domain with the most fruitless requests first: there is most to save."""
    domains: dict[str, Domain] = {}
    for row in found:
        domain = domains.setdefault(row.domain, Domain(row.domain))
        domain.requests += row.requests
        domain.kept += row.kept
        domain.unchanged += row.reasons[DropReason.UNCHANGED]
        domain.tokens += row.tokens
        domain.excludes += [row.exclude] if row.exclude else []
    return sorted(domains.values(), key=lambda d: (-d.fruitless, d.domain))


def read(corpus_dir: str, most_records: int | None = None) -> list[Brought]:
    """Every shape, the one with the most requests first; none of a corpus that was chosen from others, which lacks the
    requests that brought nothing. Raises: StorageError where a file is damaged.
    """
    place, found, paths = Place(corpus_dir), dict[tuple[str, str], Brought](), dict[str, list[str]]()
    manifest = place.manifest()
    if any(run.keys() & {"selected_from", "deduplicated_from"} for run in manifest["runs"]):
        return []
    files = [entry for entry in manifest["files"] if entry["kind"] in PAGES]
    most = max(1, (most_records or MOST_RECORDS) // max(1, len(files)))
    refused = refusals_of([place])
    for entry in files:
        for record in islice(read_records(place, entry["path"]), most):
            if refused.hides(record):
                continue
            _count(found, record, kept=entry["kind"] == SHARDS)
            if entry["kind"] == SHARDS:
                paths.setdefault(str(record.get("domain") or ""), []).append(_path(str(record["url"])))
    for row in found.values():
        if row.parked and not row.kept and row.shape != OTHERS:
            row.exclude = _pattern(row, paths.get(row.domain, []))
    return sorted((b for b in found.values() if b.requests), key=lambda b: (-b.requests, b.domain, b.shape))


def _path(url: str) -> str:
    """Path and query, as the allowlist's patterns see them."""
    return "/" + url.partition("://")[2].partition("/")[2]


def _pattern(row: Brought, kept: list[str]) -> str:
    """A pattern of the allowlist (`crawler.seeds.patterns`) for a shape; empty where it would leave out a kept page."""
    path, _, query = _path(f"https://{row.shape}").partition("?")
    path = path.replace("#", "*").replace("**", "*")
    pattern = path + ("?*" + "*".join(f"{name.replace('#', '*')}=" for name in query.split("&")) if query else "$")
    usable = not patterns.complaint(pattern) and patterns.matches(pattern, _path(row.example))
    if pattern == "/*$" or not usable or any(patterns.matches(pattern, path) for path in kept):
        return ""
    return pattern


def _count(found: dict[tuple[str, str], Brought], record: dict[str, Any], *, kept: bool) -> None:
    reason = None if kept else Reason.of(str(record.get("reason")))
    parked = reason is DropReason.HOLD_BARREN
    if not parked and reason is not None and (reason.is_hold or not took_request(record)):
        return  # no request was spent
    url, domain = str(record["url"]), str(record.get("domain") or "")
    key = domain, shape_of(url)
    if key not in found and len(found) >= MOST_SHAPES:
        key = domain, OTHERS
    row = found.setdefault(key, Brought(*key, url))
    if parked:
        row.parked = True  # no request either
        return
    row.requests += 1
    if kept:
        row.kept += 1
        row.tokens += int(record.get("token_estimate") or 0)
    else:
        row.reasons[str(record.get("reason"))] += 1


def sampled(found: list[Brought], of: int) -> str:
    """What stands behind a title where not every request is looked at. of: those that the accounts have."""
    read = sum(row.requests for row in found)
    return f", of {read:,} of {number_of(of, 'request')}" if read < of else ""


def sections(found: list[Brought], of: int = 0) -> Iterator[tuple[str, RenderableType]]:
    """Title and table for the terminal; nothing where nothing was asked. of: as in `sampled`."""
    if found:
        domains, part = by_domain(found), sampled(found, of)
        more = f" ({TOP} of {len(domains):,})" if len(domains) > TOP else ""
        yield f"Requests by domain, most without a document first{more}{part}", _domain_table(domains[:TOP])
        more = f" ({TOP} of {len(found):,})" if len(found) > TOP else ""
        yield f"Requests by shape of the URL{more}{part}", _table(found[:TOP])


def _table(rows: list[Brought]) -> Table:
    table = _with_figures("requests", "kept", "tokens a request")
    table.add_column("shape", overflow="fold", no_wrap=_stay_whole(row.shape for row in rows))
    table.add_column("not kept", overflow="fold")
    for row in rows:
        reasons = ", ".join(f"{why} {n:,}" for why, n in row.reasons.most_common(3))
        figures = (f"{row.requests:,}", f"{row.kept:,}", f"{row.tokens_a_request:,.0f}")
        table.add_row(*figures, Text(row.shape), Text(reasons, "dim"))
    return table


def _stay_whole(addresses: Iterable[str]) -> bool:
    """Short addresses are not torn: the columns beside them, which are words, give way on a narrow terminal."""
    return all(len(address) <= WHOLE for address in addresses)


def _domain_table(rows: list[Domain]) -> Table:
    table = _with_figures("requests", "brought no document", "tokens a request")
    table.add_column("domain", overflow="fold", no_wrap=_stay_whole(row.domain for row in rows))
    advises = any(row.excludes for row in rows)
    if advises:
        table.add_column("exclude in the allowlist", overflow="fold", min_width=len("allowlist"))
    for row in rows:
        figures = (f"{row.requests:,}", f"{row.fruitless:,}", f"{row.tokens / row.requests:,.0f}")
        table.add_row(*figures, Text(row.domain), *([Text(", ".join(row.excludes))] if advises else []))
    return table


def _with_figures(*names: str) -> Table:
    """A table whose first columns are figures; no word of their names is broken."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    return table
