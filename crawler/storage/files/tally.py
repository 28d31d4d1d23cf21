"""What a file contains, counted while its lines pass: the numbers behind the manifest and the report.

Counts are additive, so the totals of a corpus are the sum over its files. Memory is bounded: at most `MAX_NAMES`
domains are listed per file (the most frequent), the rest is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from crawler.storage.files.accounts import Accounts
from crawler.storage.types import Counts, FileFacts, Sealed

MAX_NAMES = 10_000
SCORE_BINS = 20
HISTOGRAMS = ("quality_score", "language_score", "extraction_confidence", "extraction_yield", "word_count")
"""Scores in twenty equal bins from 0 to 1; word_count in powers of two (bin n: from 2^n to 2^(n+1) - 1)."""


_FIELDS = {
    "domains": "domain",
    "languages": "language",
    "licences": "license_tag",
    "extractors": "extractor",
    "page_types": "page_type",
    "archives": "warc_file",
    "config_digests": "config_digest",
    "pipeline_versions": "pipeline_version",
}
"""Counts of records by the value of one field: name of the counts, and the field."""
_NAMES = ("reviews", "reasons", "pii_types", "names_uncovered")
"""Counts by what is read out of several."""


class Tally:
    """Counts records of one file. `entry()` is its manifest entry, without path."""

    def __init__(self) -> None:
        self.documents = 0
        self.words = self.tokens = self.characters = 0
        self.first: str | None = None
        self.last: str | None = None
        self.names: dict[str, Counter[str]] = {key: Counter() for key in (*_FIELDS, *_NAMES)}
        self.histograms: dict[str, Counter[int]] = {name: Counter() for name in HISTOGRAMS}
        self.accounts = Accounts()

    def add(self, record: dict[str, Any]) -> None:
        """Count one kept or rejected record."""
        self.documents += 1
        self.accounts.add(record)
        self.words += record.get("word_count") or 0
        self.tokens += record.get("token_estimate") or 0
        self.characters += record.get("char_count") or 0
        self._see_time(record.get("crawled_at"))
        for key, name in _FIELDS.items():
            self._count(key, record.get(name))
        if record.get("license_tier"):
            self._count("reviews", review_of(record))
        for kind in record.get("pii_entity_types") or ():
            self._count("pii_types", kind)
        if (record.get("language_signals") or {}).get("pii_names") == "uncovered":
            self._count("names_uncovered", record.get("language") or "unknown")
        if reason := record.get("reason"):
            self._count("reasons", f"{record.get('stage')}/{reason}")
        for name in HISTOGRAMS:
            if (value := record.get(name)) is not None:
                self.histograms[name][bin_of(name, float(value))] += 1

    def entry(self, file: FileFacts, uncompressed_bytes: int) -> Sealed:
        """Plain JSON types, keys in a fixed order, zero counts left out."""
        most = {key: _most(counter) for key, counter in self.names.items()}
        sealed: Sealed = {
            "sha256": file["sha256"],
            "bytes": file["bytes"],
            "uncompressed_bytes": uncompressed_bytes,
            "documents": self.documents,
            "first_crawled_at": self.first,
            "last_crawled_at": self.last,
            "words": self.words,
            "tokens": self.tokens,
            "characters": self.characters,
            "domain_count": len(self.names["domains"]),
            "domains": most["domains"],
            "languages": most["languages"],
            "licences": most["licences"],
            "reviews": most["reviews"],
            "reasons": most["reasons"],
            "extractors": most["extractors"],
            "pii_types": most["pii_types"],
            "archives": most["archives"],
            "config_digests": most["config_digests"],
            "pipeline_versions": most["pipeline_versions"],
            "histograms": {
                name: {str(key): bins[key] for key in sorted(bins)} for name, bins in self.histograms.items() if bins
            },
            "lengths": self.accounts.length_entry(),
            "accounts": self.accounts.entry(),
        }
        if most["names_uncovered"]:
            sealed["names_uncovered"] = most["names_uncovered"]
        if most["page_types"]:
            sealed["page_types"] = most["page_types"]
        return sealed

    def _count(self, key: str, name: str | None) -> None:
        if name:
            self.names[key][name] += 1

    def _see_time(self, moment: str | None) -> None:
        if moment:
            self.first = min(self.first or moment, moment)
            self.last = max(self.last or moment, moment)


def review_of(record: dict[str, Any]) -> str:
    """Who reviewed the licence of a record from the allowlist, and when, such as "Jo Doe, 2026-01-31"."""
    known = (record.get("license_reviewer"), record.get("license_reviewed"))
    return ", ".join(map(str, filter(None, known))) or "no review recorded"


def bin_of(name: str, value: float) -> int:
    """The bin of a value of one of the `HISTOGRAMS`."""
    if name == "word_count":
        return int(math.log2(value)) if value >= 1 else 0
    return min(SCORE_BINS - 1, max(0, int(value * SCORE_BINS)))


def _most(counter: Counter[str]) -> Counts:
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:MAX_NAMES]
    return dict(sorted(ranked))
