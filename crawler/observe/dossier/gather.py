"""Gathers what is known of the pages somebody asks about: basis, control files, opt-outs, withdrawals, copies.

Records, the log of withdrawals and every version that is there are read, also of folders that were made of the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from crawler.dataset.concerned import Wish, ends_of, find, raw_pages
from crawler.dataset.containing import Having, containing
from crawler.dataset.entries import Wanted, entries_about, entries_in
from crawler.dataset.page import rank_of
from crawler.dataset.pages import page_name, redirect_of
from crawler.dataset.records.fields import SAID, state_of
from crawler.dataset.refused import Refusal, entry_of
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.registry.derived import is_corpus
from crawler.dataset.registry.holdings import Trace, derived_folders, derived_records, trace
from crawler.dataset.rewrite import records_in
from crawler.dataset.withdrawals import WITHDRAWALS, log_lines, undone
from crawler.observe.reasons import meaning
from crawler.storage.files.accounts import took_request
from crawler.storage.files.place import PAGES, Place
from crawler.storage.files.records import Record
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
    """The answer. records: that were read; states: pages by what became of them; more: pages that are not listed.

    where: of a person's pages, what each has of the name, by canonical URL; beside: folders made of the corpus that
    have it; unread: what could not be looked at, so that nothing is proven about it.
    """

    question: Question
    corpus: str
    version: int
    records: int = 0
    pages: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    states: Counter[str] = field(default_factory=Counter)
    bases: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    files: dict[tuple[str, ...], ControlFile] = field(default_factory=dict)
    optouts: Counter[tuple[str, str, str, str, str]] = field(default_factory=Counter)
    personal: Counter[str] = field(default_factory=Counter)
    withdrawals: list[dict[str, Any]] = field(default_factory=list)
    copies: list[dict[str, Any]] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    where: dict[str, Having] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)

    @property
    def total(self) -> int:
        """Pages, listed or not."""
        return len(self.pages) + self.more

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types, without the name of a person and what stands around it."""
        return {
            "corpus": self.corpus,
            "version": self.version,
            "records": self.records,
            "states": dict(self.states),
            "pages": self.pages,
            "control_files": [{n: getattr(f, n) for n in ControlFile.__slots__} for f in self.files.values()],
            "withdrawals": self.withdrawals,
            "copies": self.copies,
            "unread": self.unread,
        }


@dataclass(slots=True)
class _Page:
    """What the record that stands says of its page; row: where the page is listed."""

    rank: tuple[bool, str, bool]
    state: str
    basis: tuple[str, str, str, str]
    redacted: tuple[str, ...]
    row: dict[str, Any] | None


def gather(place: Place, question: Question, *, progress: Callable[[str], object] = lambda _: None) -> Dossier:
    """Read the corpus and what was made of it. Raises: StorageError; ValueError where a name has no letters."""
    found = Dossier(question, place.url, place.manifest().get("version", 1))
    wanted = _wanted(place, question, found, progress)
    teller = _Teller(place, found)
    pages: dict[str, _Page] = {}
    for record in records_in(place, PAGES):
        if wanted.matches(record):
            teller.add(pages, record)
    _count(found, pages)
    gone = [] if question.person else _gone(place, wanted)
    for name in [name for name in dict.fromkeys([*found.where, *gone]) if name not in pages]:
        teller.add_without_record(name)
    found.withdrawals = list(_withdrawals(place, wanted))
    asked = wanted.names or wanted.domains
    seen = trace(place.url, [], wanted, progress=progress) if asked else derived_folders(place)
    _copies(found, seen, _raw_in(seen.folders, wanted) if asked else {})
    return found


def _gone(place: Place, wanted: Wanted) -> list[str]:
    """Pages that withdrawals of this corpus took out, as far as they were not taken back."""
    lines = list(log_lines(place))
    back = undone(lines)
    pages = (line for line in lines if line["kind"] == "page" and line["number"] not in back)
    return [page_name(dict(line)) for line in pages if wanted.matches(dict(line))]


def _raw_in(folders: list[str], wanted: Wanted) -> dict[str, int]:
    """How many raw pages the archives of each of these have; of folders that are no corpora nothing."""
    found = {}
    for place in map(Place, folders):
        if is_corpus(place):
            found[place.url] = sum(
                wanted.matches({"url": url, "canonical_url": canonicalize(url, routes=True)})
                for _, urls in raw_pages(place)
                for url in urls
            )
    return found


def _wanted(place: Place, question: Question, found: Dossier, progress: Callable[[str], object]) -> Wanted:
    if question.domain:
        return Wanted(domains=frozenset({question.domain.strip().lower()}))
    if question.url:
        url = canonicalize(question.url) or question.url
        return Wanted(names=frozenset({question.url, url, *ends_of(place, [url]).values()}))
    beside = derived_records(place, progress=progress)
    named = containing(place, question.person, passages=True, beside=beside, progress=progress)
    found.where, found.beside, found.unread = dict(named.pages), named.beside, named.not_searched()
    sure = frozenset(name for name, having in named.pages.items() if having.sure)
    copies = find(place, Wish("", urls=sure, reach="text")).copies if sure else []  # as a withdrawal finds them
    return Wanted(names=frozenset({*named.pages, *copies}))


def _count(found: Dossier, pages: dict[str, _Page]) -> None:
    for page in pages.values():
        found.states[page.state] += 1
        if page.state == "kept":
            found.bases[page.basis] += 1
            found.personal.update(page.redacted)
        if page.row is None:
            found.more += 1
        else:
            found.pages.append(page.row)


class _Teller:
    """Tells how a page stands, and what is left to do about it."""

    def __init__(self, place: Place, found: Dossier) -> None:
        self._place, self._found = place, found
        self._refused = refusals_of([place])
        self._entries = entries_in(map(Place, self._refused.logs)) if self._refused else {}
        self._listed, self._said = 0, set[tuple[str, tuple[str, ...]]]()

    def add(self, pages: dict[str, _Page], record: Record) -> None:
        """Take note of a record; the page is as its latest one says."""
        found, name, rank = self._found, page_name(record), rank_of(record)
        found.records += 1
        for file in _control_files(record):
            key = file.host, file.name, file.status, file.fetched_at, file.sha256
            found.files.setdefault(key, file).pages += self._is_first(name, key)
        known = pages.get(name)
        self._optouts(record, name)
        if known is not None and known.rank >= rank:
            return
        is_listed = known.row is not None if known else self._listed < MOST_PAGES
        self._listed += known is None and is_listed
        hidden = self._refused.hides(record)
        state = "withdrawn" if hidden else state_of(record)
        row = self._row(record, name, state) if is_listed else None
        pages[name] = _Page(rank, state, _basis(record), tuple(record.get("pii_entity_types") or ()), row)

    def add_without_record(self, name: str) -> None:
        """List a page that only an archive, an older version or a folder beside the corpus has."""
        if self._listed >= MOST_PAGES:
            self._found.more += 1
            return
        self._listed += 1
        refusal = self._refused.refusal(name)
        standing = self._withdrawn(refusal) if refusal else "no record of this version has it"
        self._found.states["withdrawn"] += refusal is not None
        row = dict.fromkeys((*_ROW, *_SAID)) | {"url": name, "redacted": [], "withdrawn": refusal and standing}
        self._found.pages.append(row | self._of_person(name, "withdrawn" if refusal else "", standing))

    def _row(self, record: Record, name: str, state: str) -> dict[str, Any]:
        row = {field_name: record.get(field_name) for field_name in _ROW}
        row |= {"state": state, "reason": record.get("reason"), "redacted": record.get("pii_entity_types") or []}
        row |= {"requested": took_request(record), "leads_to": redirect_of(record)}
        row |= {"withdrawn": (refusal := self._refusal(record)) and self._withdrawn(refusal)}
        return row | self._of_person(name, state, self._standing(record, state))

    def _of_person(self, name: str, state: str, standing: str) -> dict[str, Any]:
        if not self._found.question.person:
            return {"found_in": [], "standing": None, "left": None}
        having = self._found.where.get(name, Having())
        return {"found_in": having.kinds, "standing": standing, "left": list(self._left(having, state))}

    def _refusal(self, record: Record) -> Refusal | None:
        """Why its page is refused; of one that was refused when it came, by which entry."""
        refusal = self._refused.of_record(record)
        if refusal is None and (number := entry_of(record)) is not None:
            return Refusal("text", number, self._place.path_of(WITHDRAWALS))
        return refusal

    def _standing(self, record: Record, state: str) -> str:
        if (refusal := self._refusal(record)) is not None:
            said = self._withdrawn(refusal)
            return said if state == "withdrawn" else f"{said}; the decision stays: {record['reason']}"
        if state == "kept":
            return state
        of = f", of {record['dup_of']}" if record.get("dup_of") else ""
        return f"{SAID.get(state, state)}: {record['reason']} ({meaning(record['reason'])}){of}"

    def _withdrawn(self, refusal: Refusal) -> str:
        entry = self._entries.get((refusal.log, refusal.number))
        return f"withdrawn: {entry}" if entry else "withdrawn: it opted out, or its time was over"

    def _left(self, having: Having, state: str) -> Iterator[str]:
        corpus, folders = self._place.url, self._found.beside & (having.sure | having.perhaps)
        if state == "withdrawn" and (having.sure | having.perhaps) - folders:
            yield f"run `gristmill dataset exclude --again {corpus}`"
        elif having.sure - folders:
            yield "goes with `gristmill dataset exclude --containing`, or --url"
        elif having.perhaps - folders:
            yield "look whether it is this person; it goes with `gristmill dataset exclude --url` alone"
        elif not folders and state in ("kept", "held", "rejected"):
            yield "a copy of the text of such a page, which goes with it"
        if folders:
            have = "has" if len(folders) == 1 else "have"
            how = f"`gristmill dataset lineage {corpus} --withdrawn` says what to do once it is withdrawn"
            yield f"{', '.join(sorted(folders))} {have} it: {how}"

    def _optouts(self, record: Record, name: str) -> None:
        """Each statement counts once for a page, however often it was visited."""
        for signal in record.get("optout_signals") or ():
            said = tuple(str(signal.get(part) or "") for part in ("protocol", "carrier", "value", "verdict"))
            key = (*said, record.get("reason") or "kept")
            self._found.optouts[key] += self._is_first(name, key)  # type: ignore[index]

    def _is_first(self, name: str, key: tuple[str, ...]) -> bool:
        """True where a page says or has this for the first time, however often it was visited."""
        is_new = (name, key) not in self._said
        self._said.add((name, key))
        return is_new


_ROW = ("url", "canonical_url", "crawled_at", "first_seen", "word_count", "license_tag", "license_tier",
        "license_reviewer", "license_reviewed", "robots_status", "dup_of")  # fmt: skip
_SAID = ("state", "reason", "requested", "leads_to", "withdrawn")
"""What is said of a page beside the fields of its record."""


def _basis(record: Record) -> tuple[str, str, str, str]:
    names = ("license_tag", "license_tier", "license_reviewer", "license_reviewed")
    tag, tier, reviewer, day = (str(record.get(name) or "") for name in names)
    return tag, tier, reviewer, day


def _control_files(record: Record) -> Iterator[ControlFile]:
    """What was read of a site before this visit."""
    try:
        host = host_of(record["url"])
    except ValueError:
        return
    if record.get("robots_status"):
        status, read_at, digest = (str(record.get(f"robots_{n}") or "") for n in ("status", "fetched_at", "sha256"))
        yield ControlFile(host, "robots.txt", status, read_at, digest)
    for file in record.get("control_files") or ():
        url, protocol, digest, read_at = (str(file.get(n) or "") for n in ("url", "protocol", "sha256", "fetched_at"))
        yield ControlFile(host, url, protocol, read_at, digest)


def _withdrawals(place: Place, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Those that took out one of the pages, or refuse one of them from now on."""
    for entry in entries_about([place], wanted):
        names = ("number", "time", "by", "reason", "reach", "pages", "taken_back", "undone")
        yield {name: getattr(entry, name) for name in names}


def _copies(found: Dossier, seen: Trace, raw: dict[str, int]) -> None:
    """raw: pages in archives, by folder; all versions of a corpus share them, so they are said of the current one."""
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
        pages = raw.pop(holding.folder, 0) if holding.stands else 0
        found.copies.append(facts | {"documents": documents, "decisions": decisions, "raw": pages})
    for folder, pages in raw.items():
        if pages:
            none = dict.fromkeys(("version", "sha256", "operation"))
            only_raw = {"folder": folder, "stands": True, "tags": [], "documents": 0, "decisions": 0, "raw": pages}
            found.copies.append(none | only_raw)
