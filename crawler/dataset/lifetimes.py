"""Ages at which documents leave a corpus: by licence, by domain, and by what the allowlist says of a domain.

`lapsed` finds the pages whose text was fetched too long ago; `remove_lapsed` lets them go as a withdrawal does, raw
pages included, but nothing is refused to later crawls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from crawler.dataset.exclude import NOT_GIVEN, Wish, Withdrawn, withdraw
from crawler.dataset.rewrite import records_in
from crawler.dataset.withdrawals import covers
from crawler.document import DropReason
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.scope import Scope
from crawler.storage.files.place import PAGES, Place
from crawler.storage.files.records import TEXT_FIELDS, Record
from crawler.times import rfc3339

EVERYTHING_ELSE = "*"
OPERATION = "dataset expire documents"


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """`days` by licence tag or by domain with its subdomains, `*` for everything else; `scope`: allowlist entries.

    Of several that apply to a document the shortest holds.
    """

    days: Mapping[str, float]
    scope: Scope = field(default_factory=Scope)

    @classmethod
    def of(cls, pairs: Sequence[str], entries: Sequence[AllowlistEntry] = ()) -> Lifetimes:
        """From DOCUMENT_TTL_DAYS and an allowlist."""
        named = (pair.rpartition(":") for pair in pairs)
        return cls({name: float(days) for name, _, days in named}, Scope(entries=tuple(entries)))

    def __bool__(self) -> bool:
        return bool(self.days) or any(entry.ttl_days for entry in self.scope.entries)

    def __str__(self) -> str:
        said = [(name, days) for name, days in self.days.items()]
        said += [(entry.domain, entry.ttl_days) for entry in self.scope.entries if entry.ttl_days]
        return ", ".join(f"{name} {days:g} days" for name, days in sorted(said))

    def days_of(self, record: Record) -> float | None:
        """How long this document may stay; None = for ever."""
        url, tag = record["url"], record.get("license_tag")
        entry = self.scope.entry_of(url)
        found = [days for name, days in self.days.items() if name == tag or covers(frozenset({name}), url)]
        found += [entry.ttl_days] if entry is not None and entry.ttl_days else []
        return min(found, default=self.days.get(EVERYTHING_ELSE))

    def are_over(self, record: Record, now: float) -> bool:
        """True for a document that is older than it may become (now: seconds since the epoch)."""
        if not self or (days := self.days_of(record)) is None:
            return False
        return datetime.fromisoformat(record["crawled_at"]) < datetime.fromtimestamp(now, UTC) - timedelta(days)


def lapsed(place: Place, lifetimes: Lifetimes, *, now: float) -> frozenset[str]:
    """URLs whose latest text or raw page is older than it may become (now: seconds since the epoch).

    A visit that found the page unchanged renews nothing: the text is as old as the visit that brought it.
    Raises: StorageError where there is no corpus or a file is damaged.
    """
    going: dict[str, bool] = {}
    for record in records_in(place, PAGES):
        if _carries_something(record):
            going[record["url"]] = lifetimes.are_over(record, now) and going.get(record["url"], True)
    return frozenset(url for url, goes in going.items() if goes)


def wish_of(going: frozenset[str], lifetimes: Lifetimes, *, now: float, reason: str = "", by: str = NOT_GIVEN) -> Wish:
    """What is to go, as a withdrawal takes it; one of its own each time, for a page may come back and lapse again."""
    why = reason or f"older than documents may become here: {lifetimes}"
    rule = f"lifetimes at {rfc3339(now)}: {lifetimes}"
    return Wish(why, revoked=lambda record: record["url"] in going, by=by, rule=rule, reach="nothing")


def remove_lapsed(place: Place, wish: Wish, *, now: float) -> Withdrawn:
    """Let them go: records, texts of rejected ones, raw pages; the log has their URLs. Raises as `withdraw`.

    A call that was cut off is finished by the next one.
    """
    return withdraw(place, wish, now=now, operation=OPERATION)


def _carries_something(record: Record) -> bool:
    """True for a kept document and for a rejected one that has text or a raw page."""
    if record.get("reason") == DropReason.UNCHANGED:
        return False
    return "reason" not in record or bool(record.get("warc_file")) or any(record.get(name) for name in TEXT_FIELDS)
