"""What lives in a corpus: the one view for whoever shows, compares, learns from or hands on its documents.

A record lives while it is kept and the latest of its page, while nothing refuses it (the corpus, one that it was made
of, one that is read beside it), and while it is no older than documents may become. Files as they lie are for those who
keep a corpus in order: they withdraw, rewrite, verify and repair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from crawler.dataset.lifetimes import Lifetimes
from crawler.dataset.pages import identity
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import corpora_behind, refusals_of
from crawler.dataset.registry.derived import is_corpus
from crawler.dataset.rewrite import records_in
from crawler.dataset.supersede import endings_in, read_all_versions, read_latest, stale_in
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record

WITHDRAWN, LAPSED = "withdrawn", "older than documents may become"
"""Why a record is left out of the view."""


def refused_by(places: Iterable[Place]) -> Refusals:
    """What all of these corpora and folders have to leave out, because one of them, or one that they were made of,
    refuses it, or because a later visit in one of them found the page gone, moved or closed to us.

    What is only too old in one of them is no matter of the others. Raises: StorageError.
    """
    given = list(places)
    found = Refusals.of([*given, *corpora_behind(given)])
    found.expired.clear()
    for place in given:
        if is_corpus(place):
            for record in endings_in(place):
                found.end(record)
    return found


@dataclass(slots=True)
class Living:
    """The living records of a corpus. read, left_out: how many were looked at, and not shown, by reason.

    lifetimes, now: ages that documents may reach, at this time (seconds since the epoch). beside: what other corpora
    refuse that are read together with this one (`refused_by`).
    """

    place: Place
    lifetimes: Lifetimes = field(default_factory=lambda: Lifetimes({}))
    now: float = 0.0
    beside: Refusals = field(default_factory=Refusals)
    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    _refused: Refusals | None = None
    _stale: set[bytes] | None = None

    def kept(self, *, all_versions: bool = False) -> Iterator[Record]:
        """The documents, in the order of the files. all_versions: also those that later versions or visits replaced.

        Raises: StorageError where a list of withdrawals cannot be read, or a file is damaged.
        """
        return self._living(read_all_versions(self.place) if all_versions else read_latest(self.place))

    def of(self, folders: tuple[str, ...]) -> Iterator[Record]:
        """The records of these folders (kept, held, rejected) that no later visit replaced. Raises: as `kept`."""
        return self._living(record for record in records_in(self.place, folders) if not self.is_replaced(record))

    def _living(self, records: Iterator[Record]) -> Iterator[Record]:
        self.read = 0
        self.left_out.clear()
        for record in records:
            self.read += 1
            if why := self.why_not(record):
                self.left_out[why] += 1
            else:
                yield record

    def why_not(self, record: Record) -> str:
        """Why a record is left out although it is there; "" where it is not."""
        if self._refused is None:
            self._refused = refusals_of([self.place])
        if self._refused.of_record(record) or self.beside.of_record(record):
            return WITHDRAWN
        return LAPSED if self.lifetimes.are_over(record, self.now) else ""

    def has(self, record: Record) -> bool:
        """True for a record of this corpus that the view shows: for a rewrite, which is given all of them."""
        return not (self.is_replaced(record) or self.why_not(record))

    def is_replaced(self, record: Record) -> bool:
        """True where a later visit replaced it."""
        if self._stale is None:
            self._stale = stale_in(self.place)
        return bool(self._stale) and identity(record) in self._stale
