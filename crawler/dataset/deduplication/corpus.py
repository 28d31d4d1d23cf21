"""What remains of deduplicated sources is a corpus of its own; its manifest names the sources and the rule.

Nothing is fetched or judged again, and no source is changed. The archives stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from crawler.config import Config
from crawler.dataset.annotations.joined import carry
from crawler.dataset.annotations.tables import annotation_files, key_of
from crawler.dataset.combined import Archives, after, runs_of
from crawler.dataset.deduplication.found import Duplicates
from crawler.dataset.outside import check_apart, check_outside
from crawler.dataset.select import COMMIT_EVERY, take_back
from crawler.dataset.withdrawals import inherit
from crawler.dedup.index import Scheme
from crawler.stages.fingerprint import exact_id
from crawler.storage.corpus.manifest import Ledger, makers_of, merge
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.version import manifest_hash, register
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import SHARDS, Place
from crawler.storage.files.records import Record, encode
from crawler.storage.files.shards import ShardWriter
from crawler.storage.types import DeduplicatedFrom, Entry, Manifest, Run, Sealed

WRITER = "dedup"


def write(duplicates: Duplicates, target: Place, *, now: float) -> Run:
    """Write what remains to `target`; answers its run, as the manifest of the new corpus lists it.

    What a source has withdrawn is left out, and refused by the new corpus from then on. Equal sources give equal
    shards.
    Raises: StorageError where the target is in use, no document remains, a document has no URL, or a source changes
    meanwhile: then nothing is written.
    """
    places = duplicates.sources.corpora()
    _check(duplicates, target, places)
    manifests = {name: place.manifest() for name, place in _named(duplicates, places).items()}
    files = [entry for manifest in manifests.values() for entry in manifest["files"] if entry["kind"] == SHARDS]
    archives = Archives()
    with ExitStack() as stack:
        existed = target.root.exists()
        target.begin("gristmill dataset dedup")
        stack.callback(take_back, target, existed=existed)
        inherit([(place, manifest_hash(place)) for place in {each.url: each for each in places}.values()], target)
        ledger = Ledger(target, WRITER)
        shards = _writer(target, ledger, files, duplicates.config)
        written = annotated = 0
        for number, name in enumerate(duplicates.names):
            place = _named(duplicates, places).get(name)
            source = _Source(name, archives.renamed(manifests.get(name), place), _has_annotations(manifests.get(name)))
            for line in source.lines(duplicates.remaining(number)):
                shards.add(line)
                written += 1
                if written % COMMIT_EVERY == 0:
                    shards.commit()
            if place is not None:
                carry(place, target, ledger, source.documents, first=annotated)
                annotated += len(annotation_files(manifests[name]["files"]))
        shards.seal()
        duplicates.check_unchanged()
        runs = runs_of(manifests.values())
        run = _run(duplicates, archives, after(runs, now))
        ledger.runs = [*runs, run]
        ledger.save()
        merge(target)
        target.finish()
        stack.pop_all()
    for place in places:
        register(place, live=True)
    register(target, sources=duplicates.sources.places())
    return run


def _check(duplicates: Duplicates, target: Place, places: list[Place]) -> None:
    target.check_finished()
    if target.listing(""):
        raise StorageError(f"{target.url}: expected an empty or new folder for what remains")
    if not target.remote:
        check_outside(Path(target.url))
    for place in places:
        check_apart(target, place)
    found = duplicates.found
    if not sum(found.stay):
        left_out = f" ({found.withdrawn:,} withdrawn ones are left out)" if found.withdrawn else ""
        raise StorageError(f"there is no document to write{left_out}; nothing was written")


def _named(duplicates: Duplicates, places: list[Place]) -> dict[str, Place]:
    """The corpora among the sources, by the name they were given."""
    others = duplicates.sources.others()
    return dict(zip((name for name in duplicates.names if name not in others), places, strict=True))


class _Source:
    """One source while its documents are written. documents: their keys, where the source has annotations."""

    def __init__(self, name: str, archives: Mapping[str, str], annotated: bool) -> None:
        self._name, self._archives, self._annotated = name, archives, annotated
        self.documents: set[bytes] = set()

    def lines(self, records: Iterable[Record]) -> Iterator[bytes]:
        """Raises: StorageError for a document that cannot be one of a corpus."""
        for record in records:
            if not record.get("url"):
                raise StorageError(
                    f"{self._name}: a document has no url, and a corpus knows its pages by it; give each a `url`, or "
                    "leave out --out and use the list"
                )
            if archive := self._archives.get(record.get("warc_file") or ""):
                record["warc_file"] = archive
            record["doc_id"] = record.get("doc_id") or exact_id(record["text"])
            if self._annotated:
                self.documents.add(key_of(record))
            yield encode(record)


def _has_annotations(manifest: Manifest | None) -> bool:
    return manifest is not None and bool(annotation_files(manifest["files"]))


def _writer(target: Place, ledger: Ledger, files: list[Entry], config: Config) -> ShardWriter:
    def sealed(path: Path, entry: Sealed) -> None:
        target.publish(f"{SHARDS}/{path.name}")
        ledger.add(f"{SHARDS}/{path.name}", entry, makers_of(files))

    storage = config.storage
    return ShardWriter(
        target.root / SHARDS,
        WRITER,
        shard_format=storage.shard_format,
        max_bytes=storage.shard_max_bytes,
        max_documents=storage.shard_max_documents,
        first_number=0,
        on_seal=sealed,
    )


def _run(duplicates: Duplicates, archives: Archives, when: str) -> Run:
    config = duplicates.config
    return {
        "kind": "dedup",
        "crawl_id": WRITER,
        "worker_id": WRITER,
        "started": when,
        "ended": when,
        "config_digest": config.digest,
        "versions": versions(),
        "counters": {},
        "archives": archives.known,
        "deduplicated_from": _origin(duplicates),
    }


def _origin(duplicates: Duplicates) -> DeduplicatedFrom:
    found, dedup = duplicates.found, duplicates.config.dedup
    thresholds: dict[str, Any] = {
        "near": dedup.threshold,
        "near_short": dedup.short_threshold,
        "short_shingles": dedup.short_shingles,
        "min_shingles": dedup.min_shingles,
    }
    gone = {"exact": 0, "near": 0, "replaced": 0}
    for pair in found.pairs:
        gone[pair.kind] += pair.documents
    return {
        "sources": duplicates.sources.lineage(),
        "rule": found.rule,
        "thresholds": thresholds,
        "scheme": orjson.loads(Scheme.of(dedup).to_json()),
        "band_bits": duplicates.band_bits,
        "read": sum(found.documents),
        "gone": gone,
        "withdrawn": found.withdrawn,
        "empty": found.empty,
    }
