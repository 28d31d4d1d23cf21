"""Which archived pages can other settings judge otherwise? A page that was rejected before they count cannot change.

Runs say which sections of their settings had which digest (`judging_parts`), records say which stage rejected them.
Where a run is of an older version, the code is another one, or pages were visited again (an earlier visit decides about
copies of its text), every page may change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from crawler.config import Config
from crawler.stages.chain import STAGES
from crawler.storage.corpus.judged import judging_digests, judging_parts
from crawler.storage.files.records import Record, is_held
from crawler.storage.types import Manifest
from crawler.version import __version__

_FIRST = {
    "extraction": "parse",
    "language": "language",
    "quality": "quality",
    "pii": "extraction",
    "decontamination": "contamination",
    "classify": "classify",
    "dedup": "fingerprint",
}
"""Section of settings: the first stage whose records they can change. Personal data leaves rejected pages, too; any
section that is not named here counts from the beginning."""
_BEFORE = frozenset({"fetch", "archive", "optout"})
"""Stages of verdicts that stand before the chain of stages begins."""
_READ = STAGES.index("extraction")


class Affected:
    """What settings change in one corpus. records: all of it, read once, where the pages of a domain are compared."""

    def __init__(self, manifest: Manifest, config: Config, records: Iterable[Record]) -> None:
        self._config = config
        self._digests, self._parts = judging_digests(manifest), judging_parts(manifest)
        self._first: dict[str, int] = {}  # by config_digest: place of the first stage that may say something else
        self._visited_again = any(version["operation"] == "recrawl" for version in manifest.get("lineage", []))
        rule = config.extraction
        self._few = rule.yield_pages + rule.yield_window if rule.yield_share else None
        self._read: Counter[str] = Counter()
        if self._few is not None:
            self._read.update(record["domain"] for record in records if _place(record) >= _READ)

    def may_change(self, record: Record) -> bool:
        """True where these settings may give the page of a record another verdict or another text."""
        first = self._first_of(record.get("config_digest") or "", record.get("pipeline_version") or "")
        if first > len(STAGES):
            return False
        place = _place(record)
        return self._visited_again or place >= first or (place >= _READ and self._may_be_compared(record["domain"]))

    def _first_of(self, digest: str, version: str) -> int:
        if version != __version__:
            return 0
        if digest not in self._first:
            self._first[digest] = self._compare(digest)
        return self._first[digest]

    def _compare(self, digest: str) -> int:
        if digest == self._config.digest or self._digests.get(digest) == self._config.judging_digest:
            return len(STAGES) + 2
        before, now = self._parts.get(digest), self._config.judging_parts
        if before is None:
            return 0
        return min((_begins(name) for name in now if before.get(name) != now[name]), default=len(STAGES) + 2)

    def _may_be_compared(self, domain: str) -> bool:
        """Whether the pages of a domain are enough for a quarantine by yield: then each decides about the others."""
        return self._few is not None and self._read[domain] > self._few


def _begins(section: str) -> int:
    return STAGES.index(_FIRST[section]) if section in _FIRST else 0


def _place(record: Record) -> int:
    """How far the page of a record came: the place of the stage that rejected it; behind all where it was kept, held or
    a duplicate, or drawn in a browser, which sends it through twice.
    """
    drawn = record.get("method_used") in {"js", "captured"} or "browser" in (record.get("render_signals") or {})
    if drawn or "reason" not in record or is_held(record):
        return len(STAGES)
    if (stage := record.get("stage")) in _BEFORE:
        return -1
    return STAGES.index(stage) if stage in STAGES else len(STAGES)
