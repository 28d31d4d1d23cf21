"""What a wish concerns: the records of its pages, and copies of their texts. Looks, and changes nothing."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from crawler.dataset.pages import page_name, redirect_of
from crawler.dataset.refused import address_of, addresses_of
from crawler.dataset.rewrite import read_files
from crawler.dataset.text_prints import TextPrint, TextPrints, printed
from crawler.dataset.withdrawals import NOT_GIVEN, PageLine, Reach, WishLine, covers, reach_of
from crawler.storage.archive.cdxj import index_of, scan, urls_in
from crawler.storage.files.journal import disk
from crawler.storage.files.place import ANNOTATIONS, ARCHIVE, SHARDS, Place
from crawler.storage.files.records import TEXT_FIELDS, Record, is_held
from crawler.storage.files.shards import read_records
from crawler.times import rfc3339
from crawler.urls.canonicalize import host_of


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to go: everything to which all of these conditions apply that are given, and every record of its pages.

    domains: with all their subdomains, written as in the record's `domain`. licences: license_tag of the record.
    urls: canonical, whatever the spelling in the record. revoked: a rule of the caller's (an allowlist that no longer
    grants a page), named by `rule` for the log. refused: domains that no later crawl into this corpus may ask. by: who
    asked, for the log. reach: what is refused later of the pages; "text" takes copies under other addresses, too.
    raw: true for the URL of a raw page that goes whatever the records say.
    """

    reason: str
    domains: frozenset[str] = frozenset()
    licences: frozenset[str] = frozenset()
    revoked: Callable[[Record], bool] | None = None
    rule: str = ""
    refused: frozenset[str] = frozenset()
    by: str = NOT_GIVEN
    urls: frozenset[str] = frozenset()
    reach: Reach = "address"
    raw: Callable[[str], bool] | None = None

    @property
    def addresses(self) -> frozenset[str]:
        """Of the URLs that it names."""
        return frozenset(map(address_of, self.urls))

    def concerns(self, record: Record) -> bool:
        """True for a kept or rejected record that is to go, as far as the record says."""
        return (
            (not self.domains or covers(self.domains, record["url"]))
            and (not self.licences or record.get("license_tag") in self.licences)
            and (not self.urls or bool(self.addresses & (addresses_of(record) | _led_from(record))))
            and (self.revoked is None or self.revoked(record))
        )

    def is_logged_as(self, line: WishLine) -> bool:
        """True where this line of the log is about the same wish."""
        mine = self.line(line["number"], 0.0)
        said = {**_UNSAID, **line, "reach": reach_of(line)}
        return all(said[name] == mine[name] for name in _SAME)  # type: ignore[literal-required]

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
            "urls": sorted(self.urls),
            "reach": self.reach,
        }


def _led_from(record: Record) -> frozenset[str]:
    """Addresses that led to the record's page: whoever asks for its removal may know it by one of them."""
    return frozenset(address_of(url) for url in record.get("redirects") or ())


_UNSAID = {"by": NOT_GIVEN, "urls": [], "domains": [], "licences": [], "rule": "", "reason": ""}
"""What a line means that an older version wrote."""
_SAME = ("reason", "domains", "licences", "rule", "by", "urls", "reach")
"""What two lines about one wish have in common."""


@dataclass(slots=True)
class Concerned:
    """What a wish concerns now. `pages` are URLs with hashes, without text."""

    kept: int = 0
    words: int = 0
    held: int = 0  # records of pages that wait for a person
    rejected: int = 0
    with_text: int = 0  # rejected records that carry text
    archived: int = 0  # records of both kinds that point into the archive
    raw: int = 0  # raw pages in the archives of this corpus, each capture of a page by itself
    domains: Counter[str] = field(default_factory=Counter)  # kept documents
    licences: Counter[str] = field(default_factory=Counter)
    pages: list[PageLine] = field(default_factory=list)
    unseen: set[str] = field(default_factory=set)  # domains and licences of the wish that no record has
    names: set[str] = field(default_factory=set)  # domains and licences that records have
    copies: list[str] = field(default_factory=list)  # URLs of records that go because their text is that of a page
    texts: dict[str, TextPrint] = field(default_factory=dict)  # of the pages that go, by doc_id
    archives: set[str] = field(default_factory=set)  # files that have these
    unknown: set[str] = field(default_factory=set)  # URLs of the wish that no record has
    alike: list[str] = field(default_factory=list)  # some URLs of their hosts

    @property
    def nothing(self) -> bool:
        """True where no text and no raw page is left to take away."""
        return not (self.kept or self.held or self.with_text or self.archived or self.raw)


_MOST_ALIKE = 2_000
"""URLs of the same hosts that are looked at for one that was meant."""


def find(place: Place, wish: Wish) -> Concerned:
    """Read every record, change nothing. Raises: StorageError where there is no corpus or a file is damaged."""
    found = Concerned(unseen={*wish.domains, *wish.licences}, unknown=set(wish.urls))
    pages, hosts = _Pages(), frozenset(host_of(url) for url in wish.urls)
    for record, kept in _records(place):
        _tick_off(found, record, hosts)
        if wish.concerns(record):
            _count(found, record, kept=kept)
            made = pages.add(record, with_text=wish.reach == "text")
            found.texts |= {made.doc_id: made} if made else {}
    if wish.reach == "text" or (wish.reach == "address" and (wish.revoked or wish.licences)):
        _find_others(place, wish, found, pages)
    going = RawPages(wish, found.pages)
    for archive, urls in raw_pages(place):
        if count := sum(map(going.goes, urls)):
            found.raw += count
            found.archives.add(archive)
    return found


def ends_of(place: Place, urls: Iterable[str]) -> dict[str, str]:
    """Where those of these addresses lead that a crawl recorded as redirects, each step by itself: URL to URL, both
    canonical. Whoever asks about a page may know it by an address that led there. Raises: StorageError.
    """
    steps = {}
    for record, _ in _records(place):
        if (end := redirect_of(record)) is not None:
            steps[address_of(page_name(record))] = page_name(record), end
    found, waiting = dict[str, str](), [address_of(url) for url in urls]
    while waiting:
        step = steps.pop(waiting.pop(), None)
        if step is not None:
            found[step[0]] = step[1]
            waiting.append(address_of(step[1]))
    return found


class RawPages:
    """Which pages leave the archives. pages: those of the records that the wish concerns."""

    def __init__(self, wish: Wish, pages: Iterable[PageLine]) -> None:
        self._wish = wish
        self._name = address_of if wish.reach != "nothing" else str
        self._gone = frozenset(self._name(page["url"]) for page in pages) | wish.addresses
        self._by_domain = bool(wish.domains) and not (wish.licences or wish.urls) and wish.revoked is None

    def named(self, url: str) -> bool:
        """True for the address of one of these records, or of the wish."""
        return self._name(url) in self._gone

    def goes(self, url: str) -> bool:
        """True for a raw page at this address."""
        if self._wish.raw is not None and self._wish.raw(url):
            return True
        return self.named(url) or (self._by_domain and covers(self._wish.domains, url))


def _records(place: Place) -> Iterator[tuple[Record, bool]]:
    """Each record, and whether it is kept."""
    for entry in read_files(place, folders_of_records(place)):
        for record in read_records(place, entry["path"]):
            yield record, entry["kind"] == SHARDS


def folders_of_records(place: Place) -> tuple[str, ...]:
    """Every folder of this corpus with records of pages: kept, rejected, held."""
    return tuple(sorted({entry["kind"] for entry in place.manifest()["files"]} - {ARCHIVE, ANNOTATIONS}))


def raw_pages(place: Place, *, audit: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Each archive of a corpus, and the address of each raw page in it, by its index; where that is lost or damaged,
    and for an audit, by itself. A revisit record has no page. Raises: StorageError where it cannot be read.
    """
    for entry in read_files(place, (ARCHIVE,)):
        urls = None if audit else _indexed(place, entry["path"])
        if urls is None:
            with place.open_listed(entry["path"]) as file, disk(entry["path"]):
                urls = [page.url for page in scan(file) if not page.revisit]
        yield entry["path"], urls


def _indexed(place: Place, archive: str) -> list[str] | None:
    try:
        return list(urls_in(place.content(index_of(archive))))
    except (OSError, ValueError, KeyError):
        return None


@dataclass(slots=True)
class _Pages:
    """The pages that go, by all that tells another record of them, or a copy."""

    addresses: set[str] = field(default_factory=set)
    prints: TextPrints[bool] = field(default_factory=TextPrints)

    def add(self, record: Record, *, with_text: bool) -> TextPrint | None:
        """The fingerprints of its text, where it has one and they are wanted."""
        self.addresses |= addresses_of(record)
        if not (with_text and record.get("text")):
            return None
        made = printed(record["text"])
        self.prints.add(made, True)
        return made

    def has_text_of(self, record: Record) -> bool:
        """True for a record of a copy: its text is that of a page, or it was rejected as its duplicate."""
        if not self.prints:
            return False
        if record.get("text"):
            return self.prints.find(printed(record["text"])) is not None
        return address_of(record.get("dup_of") or "") in self.addresses


def _find_others(place: Place, wish: Wish, found: Concerned, pages: _Pages) -> None:
    """Other records of the same pages, and copies of their texts under other addresses."""
    known = frozenset(pages.addresses)
    for record, kept in _records(place):
        if wish.concerns(record):
            continue
        if known & addresses_of(record):
            _count(found, record, kept=kept)
        elif pages.has_text_of(record):
            _count(found, record, kept=kept)
            found.copies.append(record["url"])


def _tick_off(found: Concerned, record: Record, hosts: frozenset[str]) -> None:
    found.names |= {record.get("domain") or "", record.get("license_tag") or ""}
    if found.unseen:
        tag = record.get("license_tag")
        found.unseen = {name for name in found.unseen if name != tag and not covers(frozenset({name}), record["url"])}
    if found.unknown:
        mine = addresses_of(record) | _led_from(record)
        found.unknown = {url for url in found.unknown if address_of(url) not in mine}
        if len(found.alike) < _MOST_ALIKE and covers(hosts, record["url"]):
            found.alike.append(record.get("canonical_url") or record["url"])


def _count(found: Concerned, record: Record, *, kept: bool) -> None:
    text = any(record.get(name) for name in TEXT_FIELDS)
    archived = record.get("warc_file") is not None
    found.archived += archived
    if kept:
        found.kept += 1
        found.words += record.get("word_count") or 0
        found.domains[record.get("domain") or ""] += 1
        found.licences[record.get("license_tag") or "none"] += 1
    elif is_held(record):
        found.held += 1
    else:
        found.rejected += 1
        found.with_text += text
    if kept or text or archived:
        found.pages.append(page_line(record, kept=kept))


def page_line(record: Record, *, kept: bool) -> PageLine:
    """What the log says of a page that goes; its number is that of no withdrawal yet."""
    return {
        "kind": "page",
        "was": "kept" if kept else "held" if is_held(record) else "rejected",
        "url": record["url"],
        "canonical_url": record.get("canonical_url") or record["url"],
        "domain": record.get("domain"),
        "doc_id": record.get("doc_id"),
        "content_hash": record.get("content_hash"),
        "license_tag": record.get("license_tag"),
        "number": 0,  # the log knows it
    }


def mistyped(found: Concerned) -> list[str]:
    """A sentence for each domain or licence of the wish that nothing in the corpus has, with the names most alike."""
    known = sorted(found.names - {""})
    near = {name: difflib.get_close_matches(name, known, n=3, cutoff=0.7) for name in sorted(found.unseen)}
    return [f"{name}: no record of this corpus has it, so nothing was changed{_or(near[name])}" for name in near]


def unknown(found: Concerned, known: Mapping[str, str]) -> list[str]:
    """A sentence for each URL of the wish that no record has, with the URLs most alike. known: of URLs that are refused
    already, by which entry.
    """
    return [f"{url}: {_unknown(found, url, known.get(url, ''))}" for url in sorted(found.unknown)]


def _unknown(found: Concerned, url: str, entry: str) -> str:
    if entry:
        return f"no record of this corpus has it: it was withdrawn before, by {entry}"
    near = difflib.get_close_matches(url, found.alike, n=3, cutoff=0.7)
    return f"no record of this corpus has it; it is refused from now on{_or(near)}"


def _or(alike: list[str]) -> str:
    return f"; did you mean {' or '.join(alike)}?" if alike else ""
