"""Held pages wait for a person in `held/KIND/`: `waiting` finds them, `release` keeps them, `confirm` rejects them.

Both make the next version of the corpus. A released page is a kept one from then on; of a confirmed one no text stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crawler.dataset.exclude import covers
from crawler.dataset.living import Living
from crawler.dataset.rewrite import Decide, Decision, Rejection, Release, Rewritten, rewrite
from crawler.dataset.verify import finish_dead_writers
from crawler.dataset.versions import Cause
from crawler.storage.files.place import HELD, Place
from crawler.storage.files.records import Record, held_kind, released, textless

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
    """The records of held pages that nothing refuses and no later visit replaced. Raises: StorageError."""
    return (record for record in Living(place).of((HELD,)) if choice.takes(record))


def release(place: Place, choice: Choice, *, now: float, reason: str) -> Rewritten:
    """Put them among the kept documents, but for what the corpus refuses by now: that stays where it is.

    Raises: StorageError while a worker is at work, or where a disk fails.
    """
    living = Living(place)

    def decide(record: Record) -> Record | Release:
        return Release(released(record)) if not living.why_not(record) else record

    return _decide(place, choice, decide, Cause(RELEASE, reason, now))


def confirm(place: Place, choice: Choice, *, now: float, reason: str) -> Rewritten:
    """Leave of them a rejected record without text, also in earlier versions. Raises as `release`."""
    return _decide(place, choice, _confirmed, Cause(CONFIRM, reason, now, keeps_old=False))


def _decide(place: Place, choice: Choice, decide: Decide, cause: Cause) -> Rewritten:
    finish_dead_writers(place)
    living = Living(place)

    def judged(record: Record) -> Decision:
        return decide(record) if choice.takes(record) and not living.is_replaced(record) else record

    return rewrite(place, judged, cause, folders=(HELD,))


def _confirmed(record: Record) -> Rejection:
    return Rejection(textless(record) | {"reason": f"{held_kind(record['reason'])}_confirmed"})
