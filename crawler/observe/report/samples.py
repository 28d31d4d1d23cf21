"""Some documents to read by eye: chosen by hash, so the same corpus always shows the same ones."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import refusals_of
from crawler.number import number_of
from crawler.storage.files.place import REJECTED, SHARDS, Place
from crawler.storage.files.shards import read_records

EXCERPT = 600
MAX_FILES = 4
"""Files of each folder that are read, spread over the corpus: samples of a large corpus stay quick."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One document as the report shows it. `excerpt` is empty where the text may not be shown."""

    kept: bool
    verdict: str
    url: str
    facts: str
    title: str
    excerpt: str


def pick(corpus_dir: str, count: int, most_records: int | None = None) -> list[Sample]:
    """Up to `count` kept and `count` rejected documents, of the first `most_records` of each file that is read.

    Raises: StorageError where there is no corpus or a file is damaged.
    """
    place = Place(corpus_dir)
    files = place.manifest()["files"]
    found: list[Sample] = []
    refused = refusals_of([place])
    for kind in (SHARDS, REJECTED):
        paths = [entry["path"] for entry in files if entry["kind"] == kind]
        records = _records(place, paths[:: max(1, -(-len(paths) // MAX_FILES))], most_records, refused)
        chosen = heapq.nsmallest(count, records, key=rank)
        found += [sample_of(record, kept=kind == SHARDS) for record in chosen]
    return found


def _records(place: Place, paths: list[str], most: int | None, refused: Refusals) -> Iterator[dict[str, Any]]:
    for path in paths:
        yield from (record for record in islice(read_records(place, path), most) if not refused.hides(record))


def rank(record: Mapping[str, Any]) -> bytes:
    """The place of a record in a choice that is the same every time, and evenly spread."""
    return hashlib.blake2b(str(record.get("canonical_url")).encode(), digest_size=8).digest()


def sample_of(record: Mapping[str, Any], *, kept: bool) -> Sample:
    """What a person sees of one record; the text only where the record has it."""
    text = " ".join((record.get("text") or "").split())
    return Sample(
        kept=kept,
        verdict="kept" if kept else f"{record['stage']}/{record['reason']}",
        url=record["url"],
        facts=" · ".join(_facts(record)),
        title=record.get("title") or "",
        excerpt=text[:EXCERPT] + ("…" if len(text) > EXCERPT else ""),
    )


def _facts(record: Mapping[str, Any]) -> Iterator[str]:
    if record.get("language"):
        yield str(record["language"])
    if record.get("quality_score") is not None:
        yield f"quality {record['quality_score']:.2f}"
    detail = str(record.get("detail") or "")
    if (words := record.get("word_count")) and not detail.startswith(f"{words} word"):
        yield number_of(words, "word")
    if record.get("license_tag"):
        yield str(record["license_tag"])
    if detail:
        yield detail
    if (like := record.get("dup_of")) and like not in detail:
        yield f"like {like}"
