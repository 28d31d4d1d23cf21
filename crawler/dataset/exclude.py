"""Somebody says no, or a licence is revoked, after the crawl: what was kept goes, and stays away.

`find` looks what a wish concerns, `withdraw` does it: a new version of the corpus without the documents, the archive
without their pages, rejected records without text. `withdrawals.jsonl` is written first and says what was wished and
which pages went, so that a call which was cut off is finished by the next one, and whatever is added later refuses what
it names (`crawler/dataset/refused.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler.dataset.concerned import Concerned, RawPages, Wish, find, folders_of_records, mistyped, unknown
from crawler.dataset.refused import Refusals
from crawler.dataset.rewrite import Rewritten, check_alone, read_files, rewrite
from crawler.dataset.text_prints import SCHEME, TextPrint
from crawler.dataset.verify import finish_dead_writers
from crawler.dataset.versions import Cause
from crawler.dataset.withdrawals import (
    NOT_GIVEN,
    WITHDRAWALS,
    ImageLine,
    Line,
    PageLine,
    TextLine,
    UndoLine,
    WishLine,
    covers,
    log_lines,
    reach_of,
    refused_domains,
    refused_licences,
    undone,
    withdrawals,
    write_log,
)
from crawler.storage.archive.cdxj import with_index
from crawler.storage.archive.erasure import erase_pages
from crawler.storage.corpus.answers import forgetting, withdrawn_in_batches
from crawler.storage.corpus.labels import forget_labels
from crawler.storage.corpus.recovery import lock_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, REPLACED, Place
from crawler.storage.files.records import Record, is_held, textless
from crawler.storage.types import Sealed
from crawler.times import rfc3339

__all__ = [
    "NOT_GIVEN", "WITHDRAWALS", "Concerned", "Wish", "WishLine", "Withdrawn", "covers", "find", "is_begun", "log_lines",
    "mistyped", "refusals_after", "refused_domains", "refused_licences", "undo", "unknown", "withdraw", "withdrawals",
    "without_text",
]  # fmt: skip
PUBLISHED = ("eu_summary.md", "eu_summary.html", "eu_summary.json", "croissant.json", "README.md")
"""The published documents of a corpus, an export or a mixture."""
DERIVED = ("report.html", "stats.json", *PUBLISHED)
"""Descriptions of the version that is withdrawn; they may quote from it, so they go, and can be made again."""
WRITER = ".withdrawal"
"""Whose lock a withdrawal holds: of no worker, so a rewrite does not ask for it."""
_POINTERS = ("warc_file", "warc_record_id", "warc_offset")


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What `withdraw` did. `urls` (canonical) and `refused` are those of the whole wish, earlier calls included.

    number: of the entry in the log; texts: whose fingerprints it has. batches: of language models, under way, that hold
    such pages at their provider: the job and the count of requests by the batch's id.
    """

    rewritten: Rewritten
    found: Concerned
    removed_files: list[str]
    urls: list[str]
    refused: frozenset[str]
    by: str
    number: int = 0
    texts: int = 0
    batches: Mapping[str, tuple[str, int]] = field(default_factory=dict)


def withdraw(
    place: Place, wish: Wish, *, now: float, operation: str = "dataset exclude", replacing_runs: int | None = None
) -> Withdrawn:
    """Do what `find` announced, for what crashed workers left, too; safe to repeat after a crash at any moment.

    `operation` names it in the lineage, which also gets `replacing_runs` (see `Cause`).

    Raises: StorageError while a worker or another withdrawal is at work (then nothing is written down, either), on a
    damaged file or a failing disk.
    """
    finish_dead_writers(place)
    with _alone(place), forgetting(place) as forget:
        check_alone(place)
        cause = Cause(operation, wish.reason, now, keeps_old=False, replacing_runs=replacing_runs)
        return _withdraw(place, wish, cause, forget)


def undo(place: Place, number: int, *, reason: str, by: str, now: float) -> WishLine:
    """Take a withdrawal back: from now on it refuses nothing. What it removed does not come back by this.

    Answers its line; harmless when repeated. Raises: StorageError where there is no such entry, or it refuses nothing.
    """
    with _alone(place):
        lines = list(log_lines(place))
        entry = next((each for each in lines if each["kind"] == "withdrawal" and each["number"] == number), None)
        if entry is None or entry["kind"] != "withdrawal":
            there = sum(each["kind"] == "withdrawal" for each in lines)
            raise StorageError(f"{place.path_of(WITHDRAWALS)}: has no entry {number}; it has {there}, numbered from 1")
        if reach_of(entry) == "nothing":
            raise StorageError(f"{place.path_of(WITHDRAWALS)}: entry {number} refuses nothing, so it stays as it is")
        if number not in undone(lines):
            line: UndoLine = {"kind": "undo", "number": number, "time": rfc3339(now), "reason": reason, "by": by}
            write_log(place, [*lines, line])
        return entry


def note_images(place: Place, found: Iterable[ImageLine]) -> None:
    """What stands for images that withdrawals of this corpus took out: copies of them are refused from then on.

    Raises: StorageError while another withdrawal is at work.
    """
    with _alone(place):
        lines = list(log_lines(place))
        known = {(line["number"], *line["digests"]) for line in lines if line["kind"] == "image"}
        fresh = {key: line for line in found if (key := (line["number"], *line["digests"])) not in known}
        if fresh:
            write_log(place, [*lines, *fresh.values()])


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    """Of two at once the second would write over the lines of the first."""
    lock = lock_of(place, WRITER)
    if not lock.acquire():
        raise StorageError(f"{place.url}: another withdrawal is running; try again when it has ended")
    try:
        yield
    finally:
        lock.release()


def _withdraw(place: Place, wish: Wish, cause: Cause, forget: Callable[[Collection[str]], int]) -> Withdrawn:
    found = find(place, wish)
    entry, pages = _log(place, wish, found.pages, cause.now, found.texts.values())
    urls = sorted({page["canonical_url"] for page in pages} | set(entry.get("urls", ())))
    forget(urls)
    forget_labels(place, _goes_with(Refusals.of([place])))
    going = _Going(place, wish, pages)
    done = rewrite(place, going.decide, cause, folders=folders_of_records(place), archive=going.archive)
    removed = [name for name in (*DERIVED, *_drafts(place), *_replaced(place)) if place.remove(name)]
    texts = sum(line["kind"] == "text" and line["number"] == entry["number"] for line in log_lines(place))
    refused, batches = frozenset(entry["refused"]), withdrawn_in_batches(place)
    return Withdrawn(done, found, removed, urls, refused, wish.by, entry["number"], texts, batches)


def _goes_with(refused: Refusals) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a label goes: its page is refused, or had passed when it was judged."""

    def goes(label: Mapping[str, Any]) -> bool:
        url = label.get("url")
        return isinstance(url, str) and refused.of_record({"url": url, "crawled_at": label.get("at")}) is not None

    return goes


def refusals_after(wish: Wish, found: Concerned) -> Refusals:
    """What is going to be refused once `withdraw` has done what `find` found."""
    refused = Refusals()
    refused.add([wish.line(0, 0.0), *found.pages, *(_text_line(each, 0) for each in found.texts.values())], "")
    return refused


def is_begun(place: Place, wish: Wish) -> bool:
    """True where an earlier call wrote the wish down: this one may have to finish it. Raises: StorageError."""
    return _entry_of(wish, list(log_lines(place))) is not None


def _entry_of(wish: Wish, lines: list[Line]) -> WishLine | None:
    gone = undone(lines)
    wishes = (line for line in lines if line["kind"] == "withdrawal" and line["number"] not in gone)
    return next((line for line in wishes if wish.is_logged_as(line)), None)


class _Going:
    """The two decisions of the rewrite: which pages leave the archives, and what becomes of each record.

    pages: those that the log names. Archives come before the records that point into them, in the order of their paths.
    """

    def __init__(self, place: Place, wish: Wish, pages: list[PageLine]) -> None:
        self._wish = wish
        self._raw = RawPages(wish, pages)
        self._hashes = {entry["path"]: entry["sha256"] for entry in read_files(place, (ARCHIVE,))}
        self._moved: dict[str, str] = {}

    def archive(self, corpus: Place, old: str, new: Path) -> tuple[Sealed, int] | None:
        """The archive without the pages that go."""
        erased = erase_pages(corpus, old, new, self._raw.goes, sha256=self._hashes[old])
        if erased:
            self._moved[old] = f"{new.parent.name}/{new.name}"
        return erased

    def decide(self, record: Record) -> Record | None:
        """A record that is not concerned follows its archive; a rejected one loses its text, a kept one goes."""
        listed = self._wish.reach != "nothing" and self._raw.named(record["url"])
        if not (listed or self._wish.concerns(record)):
            file = record.get("warc_file")
            return record | {"warc_file": self._moved[file]} if file in self._moved else record
        return None if "reason" not in record or is_held(record) else without_text(record)


def without_text(record: Record) -> Record:
    """What is left of the rejected record of a page that was withdrawn: no text, no place in an archive."""
    return textless(record) | dict.fromkeys(_POINTERS)


def _log(
    place: Place, wish: Wish, pages: list[PageLine], now: float, prints: Iterable[TextPrint] = ()
) -> tuple[WishLine, list[PageLine]]:
    """Add wish, pages and texts to the log, before anything goes; answers what stands there now of this wish."""
    lines = list(log_lines(place))
    entry = _entry_of(wish, lines)
    if entry is None:
        entry = wish.line(sum(line["kind"] == "withdrawal" for line in lines) + 1, now)
        lines.append(entry)
    number = entry["number"]
    known = {line["url"]: line for line in lines if line["kind"] == "page" and line["number"] == number}
    fresh: list[PageLine] = [{**page, "number": number} for page in pages if page["url"] not in known]
    printed_before = {line["doc_id"] for line in lines if line["kind"] == "text" and line["number"] == number}
    texts = {each.doc_id: each for each in prints if each.doc_id not in printed_before}
    write_log(place, [*lines, *fresh, *(_text_line(each, number) for each in texts.values())])
    return entry, [*known.values(), *fresh]


def _text_line(each: TextPrint, number: int) -> TextLine:
    return {
        "kind": "text",
        "number": number,
        "scheme": SCHEME,
        "doc_id": each.doc_id,
        "signature": each.encoded,
        "shingles": each.shingles,
    }


def _drafts(place: Place) -> list[str]:
    """What a report that was killed left of its files: they quote from records as the files do."""
    begun = tuple(f".{name}." for name in DERIVED)
    return [name for name in place.listing("") if name.startswith(begun) and name.endswith(".tmp")]


def _replaced(place: Place) -> list[str]:
    """Files of earlier versions that another operation kept: they may hold what is withdrawn."""
    steps = [step for version in place.manifest().get("lineage", []) for step in version["files"]]
    return [f"{REPLACED}/{name}" for step in steps for name in with_index(step["old"])]
