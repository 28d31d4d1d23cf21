"""The entries of a log of withdrawals that concern a page, a domain or a person's pages: who asked, when, and why.

Read for people. Whether a page is refused `crawler/dataset/refused.py` says alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.dataset.withdrawals import WITHDRAWALS, Line, Reach, WishLine, covers, log_lines, reach_of

if TYPE_CHECKING:
    from crawler.storage.files.place import Place
    from crawler.storage.files.records import Record


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page by its URLs or doc_id, or domains with their subdomains; neither: what was withdrawn."""

    names: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()

    def matches(self, record: Record) -> bool:
        """True for a record of the page, or of the domains."""
        if self.names & {record.get("url"), record.get("canonical_url"), record.get("doc_id")}:
            return True
        return bool(self.domains) and covers(self.domains, record.get("url") or "")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One withdrawal, as far as somebody asks. pages: of those asked for, that it took out. undone: when, by whom and
    why it was taken back; empty where it was not.
    """

    log: str
    number: int
    time: str
    by: str | None
    reason: str
    reach: Reach
    pages: int
    undone: str

    @property
    def taken_back(self) -> bool:
        """True where it refuses nothing any more."""
        return bool(self.undone)

    def __str__(self) -> str:
        """Its number, its day and its reason; who asked is said where somebody may know it."""
        return f"entry {self.number} of {self.log} ({self.time[:10]}, {self.reason})"


def entries_in(places: Iterable[Place]) -> dict[tuple[str, int], LogEntry]:
    """Every entry by its log and number, without a count of pages. Raises: StorageError."""
    found = dict[tuple[str, int], LogEntry]()
    for place in places:
        log, lines = place.path_of(WITHDRAWALS), list(log_lines(place))
        gone = _undone(lines)
        found |= {(log, e["number"]): _entry(e, log, 0, gone) for e in lines if e["kind"] == "withdrawal"}
    return found


def entries_about(
    places: Iterable[Place], wanted: Wanted, also: Collection[tuple[str, int]] = ()
) -> Iterator[LogEntry]:
    """Those that took out one of the pages, or speak of their addresses or domains. also: log and number of others.

    Raises: StorageError where a log cannot be read.
    """
    for place in places:
        log, lines = place.path_of(WITHDRAWALS), list(log_lines(place))
        gone = _undone(lines)
        pages = Counter(line["number"] for line in lines if line["kind"] == "page" and wanted.matches(dict(line)))
        for line in lines:
            if line["kind"] != "withdrawal":
                continue
            number = line["number"]
            if pages[number] or (log, number) in also or _speaks_of(line, wanted):
                yield _entry(line, log, pages[number], gone)


def _undone(lines: Iterable[Line]) -> dict[int, str]:
    undos = (line for line in lines if line["kind"] == "undo")
    return {line["number"]: f"{line['time'][:10]}, {line['by']}: {line['reason']}" for line in undos}


def _entry(line: WishLine, log: str, pages: int, gone: Mapping[int, str]) -> LogEntry:
    number, said = line["number"], (line["time"], line.get("by"), line["reason"], reach_of(line))
    return LogEntry(log, number, *said, pages, gone.get(number, ""))


def _speaks_of(line: WishLine, wanted: Wanted) -> bool:
    urls, domains = line.get("urls", []), frozenset(line["domains"]) | frozenset(line["refused"])
    if any(covers(domains, name) for name in wanted.names) or wanted.names & frozenset(urls):
        return True
    return any(covers(wanted.domains, url) for url in urls) or any(
        covers(wanted.domains, f"https://{one}/") or covers(domains, f"https://{two}/")
        for one in domains
        for two in wanted.domains
    )
