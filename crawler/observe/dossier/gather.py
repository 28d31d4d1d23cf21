"""Gathers what is known of the pages somebody asks about: basis, control files, opt-outs, withdrawals, copies.

Records, the log of withdrawals and every version that is there are read, also of folders that were made of the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from crawler.dataset.containing import containing
from crawler.dataset.entries import Wanted, entries_about
from crawler.dataset.pages import page_name
from crawler.dataset.registry.holdings import Trace, trace
from crawler.dataset.rewrite import records_in
from crawler.storage.files.place import PAGES, Place
from crawler.storage.files.records import Record, is_held
from crawler.urls.canonicalize import canonicalize, host_of

MOST_PAGES = 1_000
"""Pages that are listed; the others are counted."""


@dataclass(frozen=True, slots=True)
class Question:
    """One of: a domain with its subdomains, the URL of a page, the name of a person."""

    domain: str = ""
    url: str = ""
    person: str = ""

    def __str__(self) -> str:
        """As a heading."""
        if self.person:
            return f"the person {self.person}"
        return f"the domain {self.domain}" if self.domain else f"the page {self.url}"


@dataclass(slots=True)
class ControlFile:
    """A control file as it was read. name: robots.txt, or its URL. status: what robots.txt meant (docs/policy.md)."""

    host: str
    name: str
    status: str
    fetched_at: str
    sha256: str
    pages: int = 0


@dataclass(slots=True)
class Dossier:
    """The answer. states: pages by what became of them; where: for a person, kinds of places by page; unread: what
    could not be looked at, so that nothing is proven about it.
    """

    question: Question
    corpus: str
    version: int
    pages: list[dict[str, Any]] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    bases: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    files: dict[tuple[str, ...], ControlFile] = field(default_factory=dict)
    optouts: Counter[tuple[str, str, str, str, str]] = field(default_factory=Counter)
    personal: Counter[str] = field(default_factory=Counter)
    withdrawals: list[dict[str, Any]] = field(default_factory=list)
    copies: list[dict[str, Any]] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    where: dict[str, set[str]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Records, listed or not."""
        return self.states.total()

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types, without the name of a person."""
        return {
            "corpus": self.corpus,
            "version": self.version,
            "records": self.total,
            "states": dict(self.states),
            "pages": self.pages,
            "control_files": [{n: getattr(f, n) for n in ControlFile.__slots__} for f in self.files.values()],
            "withdrawals": self.withdrawals,
            "copies": self.copies,
            "unread": self.unread,
        }


def gather(place: Place, question: Question, *, progress: Callable[[str], object] = lambda _: None) -> Dossier:
    """Read the corpus and what was made of it. Raises: StorageError; ValueError where a name has no letters."""
    found = Dossier(question, place.url, place.manifest().get("version", 1))
    wanted = _wanted(place, question, found, progress)
    for record in records_in(place, PAGES):
        if wanted.matches(record):
            _add(found, record)
    found.withdrawals = list(_withdrawals(place, wanted))
    if wanted.names or wanted.domains:
        _copies(found, trace(place.url, [], wanted, progress=progress))
    return found


def _wanted(place: Place, question: Question, found: Dossier, progress: Callable[[str], object]) -> Wanted:
    if question.domain:
        return Wanted(domains=frozenset({question.domain.strip().lower()}))
    if question.url:
        return Wanted(names=frozenset({question.url, canonicalize(question.url) or question.url}))
    named = containing(place, question.person, progress=progress)
    found.where, found.unread = dict(named.pages), list(named.problems)
    return Wanted(names=frozenset(named.pages))


def _add(found: Dossier, record: Record) -> None:
    state = "held" if is_held(record) else "kept" if "reason" not in record else "rejected"
    found.states[state] += 1
    if state == "kept":
        found.bases[_basis(record)] += 1
        found.personal.update(record.get("pii_entity_types") or ())
    _control_file(found, record)
    for signal in record.get("optout_signals") or ():
        said = tuple(str(signal.get(name) or "") for name in ("protocol", "carrier", "value", "verdict"))
        found.optouts[(*said, record.get("reason") or "kept")] += 1  # type: ignore[index]
    if len(found.pages) < MOST_PAGES:
        names = ("url", "crawled_at", "first_seen", "word_count", "license_tag", "license_tier", "license_reviewer")
        row = {name: record.get(name) for name in (*names, "license_reviewed", "robots_status")}
        row |= {"state": state, "reason": record.get("reason"), "redacted": record.get("pii_entity_types") or []}
        found.pages.append(row | {"found_in": sorted(found.where.get(page_name(record), ()))})


def _basis(record: Record) -> tuple[str, str, str, str]:
    names = ("license_tag", "license_tier", "license_reviewer", "license_reviewed")
    tag, tier, reviewer, day = (str(record.get(name) or "") for name in names)
    return tag, tier, reviewer, day


def _control_file(found: Dossier, record: Record) -> None:
    try:
        host = host_of(record["url"])
    except ValueError:
        return
    if record.get("robots_status"):
        status, read_at, digest = (str(record.get(f"robots_{n}") or "") for n in ("status", "fetched_at", "sha256"))
        _seen(found, ControlFile(host, "robots.txt", status, read_at, digest))
    for file in record.get("control_files") or ():
        url, protocol, digest, read_at = (str(file.get(n) or "") for n in ("url", "protocol", "sha256", "fetched_at"))
        _seen(found, ControlFile(host, url, protocol, read_at, digest))


def _seen(found: Dossier, file: ControlFile) -> None:
    key = (file.host, file.name, file.status, file.fetched_at, file.sha256)
    found.files.setdefault(key, file).pages += 1


def _withdrawals(place: Place, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Those that took out one of the pages, or refuse one of them from now on."""
    for entry in entries_about([place], wanted):
        names = ("number", "time", "by", "reason", "reach", "pages", "taken_back")
        yield {name: getattr(entry, name) for name in names}


def _copies(found: Dossier, seen: Trace) -> None:
    found.folders, found.unread = seen.folders, [*found.unread, *seen.unread]
    for holding in seen.holdings:
        documents = sum(held.documents for held in holding.files)
        decisions = sum(held.decisions for held in holding.files)
        facts: dict[str, Any] = {
            "folder": holding.folder,
            "version": holding.version.get("number"),
            "stands": holding.stands,
        }
        facts |= {"sha256": holding.version["sha256"], "operation": holding.version["operation"], "tags": holding.tags}
        found.copies.append(facts | {"documents": documents, "decisions": decisions})
