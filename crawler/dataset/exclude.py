"""A site owner says no, or a licence is revoked, after the crawl: what was kept goes, and stays away.

`find` looks what a wish concerns, `withdraw` does it: a new version of the corpus without the documents, the archive
without their pages, rejected records without text. `withdrawals.jsonl` is written first and says what was wished and
which URLs went, so that a call which was cut off is finished by the next one, and a later crawl refuses what it names.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NotRequired, TypedDict, cast
from urllib.parse import urlsplit

import orjson

from crawler.dataset.rewrite import Rewritten, check_alone, read_files, rewrite
from crawler.dataset.verify import finish_dead_writers
from crawler.dataset.versions import Cause
from crawler.document import DropReason
from crawler.storage.archive.cdxj import with_index
from crawler.storage.archive.erasure import erase_pages
from crawler.storage.corpus.recovery import lock_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, PAGES, REPLACED, SHARDS, Place
from crawler.storage.files.records import TEXT_FIELDS, Record, is_held
from crawler.storage.files.shards import read_records
from crawler.storage.types import Sealed
from crawler.times import rfc3339

WITHDRAWALS = "withdrawals.jsonl"
DERIVED = ("report.html", "stats.json", "eu_summary.md", "eu_summary.json", "croissant.json", "README.md")
"""Descriptions of the version that is withdrawn; they may quote from it, so they go, and can be made again."""
NOT_GIVEN = "not given"
"""Who asked for a withdrawal, where nobody said it."""
WRITER = ".withdrawal"
"""Whose lock a withdrawal holds: of no worker, so a rewrite does not ask for it."""
_POINTERS = ("warc_file", "warc_record_id", "warc_offset")


class WishLine(TypedDict):
    """One wish in the log. refused: domains that no later crawl may ask; rule: of the caller's, may be empty.

    by: who asked; lines of older versions do not say it.
    """

    kind: Literal["withdrawal"]
    number: int
    time: str
    refused: list[str]
    reason: str
    domains: list[str]
    licences: list[str]
    rule: str
    by: NotRequired[str]


class PageLine(TypedDict):
    """One page that went, without text. number: of the wish."""

    kind: Literal["page"]
    was: Literal["kept", "rejected"]
    url: str
    canonical_url: str
    domain: str | None
    doc_id: str | None
    content_hash: str | None
    license_tag: str | None
    number: int


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to go: everything to which all of these conditions apply that are given.

    domains: with all their subdomains, written as in the record's `domain`. licences: license_tag of the record.
    revoked: a rule of the caller's (an allowlist that no longer grants a page), named by `rule` for the log.
    refused: domains that no later crawl into this corpus may ask. by: who asked, for the log.
    """

    reason: str
    domains: frozenset[str] = frozenset()
    licences: frozenset[str] = frozenset()
    revoked: Callable[[Record], bool] | None = None
    rule: str = ""
    refused: frozenset[str] = frozenset()
    by: str = NOT_GIVEN

    def concerns(self, record: Record) -> bool:
        """True for a kept or rejected record that is to go."""
        return (
            (not self.domains or covers(self.domains, record["url"]))
            and (not self.licences or record.get("license_tag") in self.licences)
            and (self.revoked is None or self.revoked(record))
        )

    def is_logged_as(self, line: WishLine) -> bool:
        """True where this line of the log is about the same wish."""
        said = (line["reason"], line["domains"], line["licences"], line["rule"], line.get("by", NOT_GIVEN))
        return said == (self.reason, sorted(self.domains), sorted(self.licences), self.rule, self.by)

    def line(self, number: int, now: float) -> WishLine:
        """What the log says of it."""
        return {
            "kind": "withdrawal",
            "number": number,
            "time": rfc3339(now),
            "refused": sorted(self.refused),
            "reason": self.reason,
            "domains": sorted(self.domains),
            "licences": sorted(self.licences),
            "rule": self.rule,
            "by": self.by,
        }


@dataclass(slots=True)
class Concerned:
    """What a wish concerns now. `pages` are URLs with hashes, without text."""

    kept: int = 0
    words: int = 0
    rejected: int = 0
    with_text: int = 0  # rejected records that carry text
    archived: int = 0  # records of both kinds that point into the archive
    raw: int = 0  # of these, those with a page there: the visit that found it unchanged left a record without one
    domains: Counter[str] = field(default_factory=Counter)  # kept documents
    licences: Counter[str] = field(default_factory=Counter)
    pages: list[PageLine] = field(default_factory=list)
    unseen: set[str] = field(default_factory=set)  # domains and licences of the wish that no record has
    names: set[str] = field(default_factory=set)  # domains and licences that records have

    @property
    def nothing(self) -> bool:
        """True where no text and no raw page is left to take away."""
        return not (self.kept or self.with_text or self.archived)


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What `withdraw` did. `urls` (canonical) and `refused` are those of the whole wish, earlier calls included."""

    rewritten: Rewritten
    found: Concerned
    removed_files: list[str]
    urls: list[str]
    refused: frozenset[str]
    by: str


def covers(domains: frozenset[str], url: str) -> bool:
    """True where the URL's host is one of the domains or lies below one; a domain with a port covers that port only."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return False
    if port and f"{host}:{port}" in domains:
        return True
    labels = host.split(".")
    return any(".".join(labels[i:]) in domains for i in range(len(labels)))


def find(place: Place, wish: Wish) -> Concerned:
    """Read every record, change nothing. Raises: StorageError where there is no corpus or a file is damaged."""
    found = Concerned(unseen={*wish.domains, *wish.licences})
    for entry in read_files(place, PAGES):
        for record in read_records(place, entry["path"]):
            _tick_off(found, record)
            if wish.concerns(record):
                _count(found, record, kept=entry["kind"] == SHARDS)
    return found


def withdraw(
    place: Place, wish: Wish, *, now: float, operation: str = "dataset exclude", replacing_runs: int | None = None
) -> Withdrawn:
    """Do what `find` announced, for what crashed workers left, too; safe to repeat after a crash at any moment.

    `operation` names it in the lineage, which also gets `replacing_runs` (see `Cause`).

    Raises: StorageError while a worker or another withdrawal is at work (then nothing is written down, either), on a
    damaged file or a failing disk.
    """
    finish_dead_writers(place)
    with ExitStack() as stack:
        lock = lock_of(place, WRITER)  # of two at once the second would write over the lines of the first
        if not lock.acquire():
            raise StorageError(f"{place.url}: another withdrawal is running; try again when it has ended")
        stack.callback(lock.release)
        check_alone(place)
        cause = Cause(operation, wish.reason, now, keeps_old=False, replacing_runs=replacing_runs)
        return _withdraw(place, wish, cause)


def _withdraw(place: Place, wish: Wish, cause: Cause) -> Withdrawn:
    found = find(place, wish)
    refused, pages = _log(place, wish, found.pages, cause.now)
    going = _Going(place, wish, frozenset(page["url"] for page in pages))
    done = rewrite(place, going.decide, cause, folders=PAGES, archive=going.archive)
    removed = [name for name in (*DERIVED, *_drafts(place), *_replaced(place)) if place.remove(name)]
    return Withdrawn(done, found, removed, sorted({page["canonical_url"] for page in pages}), refused, wish.by)


def is_begun(place: Place, wish: Wish) -> bool:
    """True where an earlier call wrote the wish down: this one may have to finish it. Raises: StorageError."""
    return _entry_of(wish, withdrawals(place)) is not None


def _entry_of(wish: Wish, entries: list[WishLine]) -> WishLine | None:
    return next((entry for entry in entries if wish.is_logged_as(entry)), None)


def mistyped(found: Concerned) -> list[str]:
    """A sentence for each domain or licence of the wish that nothing in the corpus has, with the names most alike."""
    known = sorted(found.names - {""})
    near = {name: difflib.get_close_matches(name, known, n=3, cutoff=0.7) for name in sorted(found.unseen)}
    return [
        f"{name}: no record of this corpus has it, so nothing was changed"
        + (f"; did you mean {' or '.join(alike)}?" if alike else "")
        for name, alike in near.items()
    ]


class _Going:
    """The two decisions of the rewrite: which pages leave the archives, and what becomes of each record.

    gone: URLs that the log names. Archives come before the records that point into them, in the order of their paths.
    """

    def __init__(self, place: Place, wish: Wish, gone: frozenset[str]) -> None:
        self._wish, self._gone = wish, gone
        self._by_domain = bool(wish.domains) and not wish.licences and wish.revoked is None
        self._hashes = {entry["path"]: entry["sha256"] for entry in read_files(place, (ARCHIVE,))}
        self._moved: dict[str, str] = {}

    def archive(self, corpus: Place, old: str, new: Path) -> tuple[Sealed, int] | None:
        """The archive without the pages that go."""
        erased = erase_pages(corpus, old, new, self._goes, sha256=self._hashes[old])
        if erased:
            self._moved[old] = f"{new.parent.name}/{new.name}"
        return erased

    def decide(self, record: Record) -> Record | None:
        """A record that is not concerned follows its archive; a rejected one loses its text, a kept one goes."""
        if not self._wish.concerns(record):
            file = record.get("warc_file")
            return record | {"warc_file": self._moved[file]} if file in self._moved else record
        return None if "reason" not in record or is_held(record) else without_text(record)

    def _goes(self, url: str) -> bool:
        return url in self._gone or (self._by_domain and covers(self._wish.domains, url))


def withdrawals(place: Place) -> list[WishLine]:
    """Every wish so far: reason, domains, licences, rule, time; oldest first. Raises: StorageError."""
    return [line for line in log_lines(place) if line["kind"] == "withdrawal"]


def removed_by(place: Place) -> Counter[int]:
    """Documents that each wish removed, by its number in the log. Raises: StorageError."""
    return Counter(line["number"] for line in log_lines(place) if line["kind"] == "page" and line["was"] == "kept")


def refused_domains(place: Place) -> frozenset[str]:
    """The domains that no later crawl may ask."""
    return frozenset(domain for wish in withdrawals(place) for domain in wish["refused"])


def refused_licences(place: Place) -> frozenset[str]:
    """The licences that were withdrawn whatever the domain."""
    return frozenset(tag for wish in withdrawals(place) if not wish["domains"] for tag in wish["licences"])


def _tick_off(found: Concerned, record: Record) -> None:
    found.names |= {record.get("domain") or "", record.get("license_tag") or ""}
    if found.unseen:
        tag = record.get("license_tag")
        found.unseen = {name for name in found.unseen if name != tag and not covers(frozenset({name}), record["url"])}


def _count(found: Concerned, record: Record, *, kept: bool) -> None:
    text = any(record.get(name) for name in TEXT_FIELDS)
    archived = record.get("warc_file") is not None
    found.archived += archived
    found.raw += archived and record.get("reason") != DropReason.UNCHANGED
    if kept:
        found.kept += 1
        found.words += record.get("word_count") or 0
        found.domains[record.get("domain") or ""] += 1
        found.licences[record.get("license_tag") or "none"] += 1
    else:
        found.rejected += 1
        found.with_text += text
    if kept or text or archived:
        found.pages.append(_page_line(record, kept=kept))


def _page_line(record: Record, *, kept: bool) -> PageLine:
    return {
        "kind": "page",
        "was": "kept" if kept else "rejected",
        "url": record["url"],
        "canonical_url": record.get("canonical_url") or record["url"],
        "domain": record.get("domain"),
        "doc_id": record.get("doc_id"),
        "content_hash": record.get("content_hash"),
        "license_tag": record.get("license_tag"),
        "number": 0,  # the log knows it
    }


def without_text(record: Record) -> Record:
    """What is left of the rejected record of a page that was withdrawn: no text, no place in an archive."""
    left_out = {*TEXT_FIELDS, "pii_spans"}
    return {name: value for name, value in record.items() if name not in left_out} | dict.fromkeys(_POINTERS)


def _log(place: Place, wish: Wish, pages: list[PageLine], now: float) -> tuple[frozenset[str], list[PageLine]]:
    """Add wish and pages to the log, before anything goes; answers what stands there now of this wish."""
    lines = list(log_lines(place))
    wished = [line for line in lines if line["kind"] == "withdrawal"]
    entry = _entry_of(wish, wished)
    if entry is None:
        entry = wish.line(len(wished) + 1, now)
        lines.append(entry)
    number = entry["number"]
    known = {line["url"]: line for line in lines if line["kind"] == "page" and line["number"] == number}
    fresh: list[PageLine] = [{**page, "number": number} for page in pages if page["url"] not in known]
    options = orjson.OPT_APPEND_NEWLINE
    place.put(WITHDRAWALS, b"".join(orjson.dumps(line, option=options) for line in [*lines, *fresh]))
    return frozenset(entry["refused"]), [*known.values(), *fresh]


def log_lines(place: Place) -> Iterator[WishLine | PageLine]:
    """What `withdrawals.jsonl` says, in order. Raises: StorageError where it cannot be read."""
    try:
        with place.open(WITHDRAWALS) as file:
            for number, line in enumerate(file, start=1):
                yield _parsed(place, line, number)
    except (FileNotFoundError, NotADirectoryError):  # a file in the place of CORPUS_DIR is told by whoever claims it
        return
    except OSError as error:
        raise StorageError(f"{place.path_of(WITHDRAWALS)}: cannot be read ({error})") from error


def _parsed(place: Place, line: bytes, number: int) -> WishLine | PageLine:
    try:
        content = orjson.loads(line)
        if content["kind"] in {"withdrawal", "page"}:
            return cast("WishLine | PageLine", content)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        pass
    raise StorageError(f"{place.path_of(WITHDRAWALS)}: line {number} is not a withdrawal; restore the file from a copy")


def _drafts(place: Place) -> list[str]:
    """What a report that was killed left of its files: they quote from records as the files do."""
    begun = tuple(f".{name}." for name in DERIVED)
    return [name for name in place.listing("") if name.startswith(begun) and name.endswith(".tmp")]


def _replaced(place: Place) -> list[str]:
    """Files of earlier versions that another operation kept: they may hold what is withdrawn."""
    steps = [step for version in place.manifest().get("lineage", []) for step in version["files"]]
    return [f"{REPLACED}/{name}" for step in steps for name in with_index(step["old"])]
