"""The corpora that are merged: whether they can be, and which record of a page stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from crawler.dataset.concerned import page_line
from crawler.dataset.pages import page_key
from crawler.dataset.refused import PASSED, Refusals, address_of
from crawler.dataset.rewrite import check_alone
from crawler.dataset.supersede import is_pending, way_out
from crawler.dataset.verify import is_final
from crawler.dataset.withdrawals import PageLine
from crawler.document import DropReason
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, HELD, PAGES, REJECTED, SHARDS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_records
from crawler.storage.types import Entry, Manifest

RULE = "the later fetch of a page stays, a verdict before none"
"""A visit that says nothing of the page (on hold, failed, unchanged) has no verdict."""
_SAYS_NO, _PASSED = 1, 2
"""What the record that stands of a page may say: an opt-out; or it is of before one, or before the end of a licence."""
_KINDS = {SHARDS: "kept", REJECTED: "rejected", HELD: "held", ARCHIVE: "archived"}


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus and the version of it that is read."""

    place: Place
    manifest: Manifest
    sha256: str

    @classmethod
    def of(cls, place: Place) -> Source:
        """Raises: StorageError where it is no corpus, of a newer format, or a worker writes it."""
        sha256 = manifest_hash(place)
        manifest = place.manifest()
        if any(run["ended"] is None for run in manifest["runs"]):
            raise StorageError(
                f"{place.url}: a worker writes this corpus, or was killed and its files are not sealed: end the crawl, "
                "or run `gristmill dataset verify --fix` on it first"
            )
        if not place.remote:
            check_alone(place)
            sha256, manifest = manifest_hash(place), place.manifest()
        if is_pending(manifest):
            raise StorageError(
                f"{place.url}: later visits have replaced records that are still there: {way_out(place)}"
            )
        return cls(place, manifest, sha256)

    def files(self) -> list[Entry]:
        """Its files with records of pages, in the order in which they are read."""
        return [entry for entry in self.manifest["files"] if entry["kind"] in PAGES]

    def lineage(self) -> dict[str, object]:
        """What it is, by hash, and how much it has."""
        counts = dict.fromkeys(_KINDS.values(), 0)
        for entry in self.manifest["files"]:
            if name := _KINDS.get(entry["kind"]):
                counts[name] += entry["documents"]
        return {"manifest_sha256": self.sha256, "version": self.manifest.get("version", 1), **counts}


def sources_of(places: Sequence[Place]) -> list[Source]:
    """Raises: StorageError with a sentence where the corpora cannot be merged."""
    if len(places) < 2:
        raise StorageError("a merge needs two corpora at least")
    found = [Source.of(place) for place in places]
    known: dict[str, str] = {}
    for source in found:
        if other := known.get(source.sha256):
            same = other == source.place.url
            what = "is given twice" if same else f"is the same version of the same corpus as {other}"
            raise StorageError(f"{source.place.url} {what}: name each corpus once")
        known[source.sha256] = source.place.url
    return found


@dataclass(slots=True)
class Choice:
    """Which records stay. Needs about 0.3 kB of memory a page. pages: lines for the log of what is refused.

    over: pages of which nothing stays but a verdict, by key: their latest visit found an opt-out, or was before one, or
    before the end of a licence. optouts: lines for the log of the former.
    """

    read: int = 0
    replaced: int = 0
    several: int = 0
    withdrawn: int = 0
    pages: list[PageLine] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)  # addresses of records that are refused
    over: set[bytes] = field(default_factory=set)
    optouts: list[PageLine] = field(default_factory=list)
    _again: set[bytes] = field(default_factory=set)  # pages with several records
    _best: dict[bytes, tuple[tuple[bool, str, bool], int, int, int]] = field(default_factory=dict)

    def stays(self, number: int, record: Record) -> bool:
        """Whether the record with this number, in the order of reading, is that of its page."""
        return self._best[page_key(record)][1] == number

    def is_gone(self, record: Record) -> bool:
        """Whether a withdrawal refuses it."""
        return address_of(record["url"]) in self.gone

    def look(self, source: int, entry: Entry, record: Record, *, has_passed: bool) -> None:
        """Take note of the next record."""
        rank = (is_final(record.get("reason")), record.get("crawled_at") or "", entry["kind"] == SHARDS)
        end = _PASSED if has_passed else _SAYS_NO if record.get("reason") == DropReason.OPTOUT else 0
        key, number = page_key(record), self.read
        self.read += 1
        known = self._best.get(key)
        if known is None:
            self._best[key] = (rank, number, 1 << source, end)
            return
        self.replaced += 1
        self._again.add(key)
        self.several += known[2].bit_count() == 1 and not known[2] >> source & 1
        if rank > known[0]:
            self._best[key] = (rank, number, known[2] | 1 << source, end)
        else:
            self._best[key] = (*known[:2], known[2] | 1 << source, known[3])

    def end(self, records: Iterable[tuple[int, Entry, Record]]) -> None:
        """Find what is `over`. Earlier records and raw pages go, as after a recrawl. records: all, once more; they are
        read only where there is such a page.
        """
        ends = {key: known[3] for key, known in self._best.items() if known[3]}
        self.over = {key for key, end in ends.items() if end == _PASSED or key in self._again}
        for _, entry, record in records if self.over else ():
            if (key := page_key(record)) not in self.over:
                continue
            kept = entry["kind"] == SHARDS
            self.gone.add(address_of(record["url"]))
            self.withdrawn += kept
            if ends[key] == _SAYS_NO and (kept or record.get("warc_file")):
                self.optouts.append(page_line(record, kept=kept))

    def refuse(self, record: Record, entry: Entry, number: int) -> None:
        """A withdrawal refuses the record. number: of the withdrawal in the log of the new corpus; 0: of another."""
        if entry["kind"] == REJECTED and not (record.get("text") or record.get("warc_file")):
            return  # its source has taken out what there was
        self.withdrawn += 1
        self.gone.add(address_of(record["url"]))
        if number:
            self.pages.append({**page_line(record, kept=entry["kind"] == SHARDS), "number": number})


def choose(
    sources: Sequence[Source], own: Refusals, behind: Refusals, progress: Callable[[int], object] = lambda _: None
) -> Choice:
    """Read every record once. own: what the log of the new corpus refuses; behind: what corpora behind it do, too.

    Raises: StorageError where a file is damaged.
    """
    found = Choice()
    for source, entry, record in records_of(sources):
        licence = own.licences.get(str(record.get("license_tag") or ""))
        mine, theirs = own.of_record(record) or licence, behind.of_record(record)
        refusal = next((each for each in (mine, theirs) if each not in (None, PASSED)), None)
        found.look(source, entry, record, has_passed=refusal is None and PASSED in (mine, theirs))
        if refusal is not None:
            found.refuse(record, entry, refusal.number if refusal is mine else 0)
        if found.read % 1_000 == 0:
            progress(found.read)
    found.end(records_of(sources))
    return found


def records_of(sources: Sequence[Source]) -> Iterator[tuple[int, Entry, Record]]:
    """Every record of all sources, in their order: number of the source, file, record. Raises: StorageError."""
    for number, source in enumerate(sources):
        for entry in source.files():
            for record in read_records(source.place, entry["path"]):
                yield number, entry, record
