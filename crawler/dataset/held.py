"""Held pages wait for a person in `held/KIND/`: `waiting` finds them, `release` keeps them, `confirm` rejects them.

Both make the next version of the corpus. A released page is a kept one from then on; of a confirmed one no text stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crawler.dataset.exclude import covers
from crawler.dataset.pages import identity
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.rewrite import Decide, Decision, Rejection, Release, Rewritten, records_in, rewrite
from crawler.dataset.supersede import is_pending, standing
from crawler.dataset.verify import finish_dead_writers
from crawler.dataset.versions import Cause
from crawler.storage.files.place import HELD, Place
from crawler.storage.files.records import OF_TEXT, Record, held_kind, released

RELEASE, CONFIRM = "dataset held release", "dataset held confirm"


@dataclass(frozen=True, slots=True)
class Choice:
    """Held pages to which all of these apply that are given. kind: as in `held/KIND/`; urls: as in the record."""

    kind: str = ""
    urls: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()

    def takes(self, record: Record) -> bool:
        """True for a record that still has its text: a withdrawal leaves none."""
        return (
            bool(record.get("text"))
            and self.kind in {"", held_kind(record["reason"])}
            and (not self.urls or not self.urls.isdisjoint({record["url"], record.get("canonical_url")}))
            and (not self.domains or covers(self.domains, record["url"]))
            and (not self.languages or (record.get("language") or "unknown") in self.languages)
        )


def waiting(place: Place, choice: Choice) -> Iterator[Record]:
    """The records of held pages, but for those that a later visit replaced. Raises: StorageError."""
    stale = _stale(place)
    return (record for record in records_in(place, (HELD,)) if choice.takes(record) and identity(record) not in stale)


def release(place: Place, choice: Choice, *, now: float, reason: str) -> Rewritten:
    """Put them among the kept documents, but for what the corpus refuses by now: that stays where it is.

    Raises: StorageError while a worker is at work, or where a disk fails.
    """
    refused = refusals_of([place])

    def decide(record: Record) -> Record | Release:
        return Release(released(record)) if refused.of_record(record) is None else record

    return _decide(place, choice, decide, Cause(RELEASE, reason, now))


def confirm(place: Place, choice: Choice, *, now: float, reason: str) -> Rewritten:
    """Leave of them a rejected record without text, also in earlier versions. Raises as `release`."""
    return _decide(place, choice, _confirmed, Cause(CONFIRM, reason, now, keeps_old=False))


def _decide(place: Place, choice: Choice, decide: Decide, cause: Cause) -> Rewritten:
    finish_dead_writers(place)
    stale = _stale(place)

    def judged(record: Record) -> Decision:
        return decide(record) if choice.takes(record) and identity(record) not in stale else record

    return rewrite(place, judged, cause, folders=(HELD,))


def _confirmed(record: Record) -> Rejection:
    left = {name: value for name, value in record.items() if name not in OF_TEXT}
    return Rejection(left | {"reason": f"{held_kind(record['reason'])}_confirmed"})


def _stale(place: Place) -> set[bytes]:
    return standing(place).stale if is_pending(place.manifest()) else set()
