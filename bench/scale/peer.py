"""The same texts through datatrove's MinHash (0.10, its own defaults, its three steps) and through ours, each in a
process of its own: CPU seconds with those of its children, from texts to the list of what goes.

Ours makes fingerprints and decides in rounds, verified and in order; datatrove takes components of unverified pairs.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bench.scale.duplicates import CONFIG
from bench.scale.files import texts
from crawler.dataset.records.database import connect, fill
from crawler.dedup.index import Questions
from crawler.dedup.rounds import TEXTS, bucket_keys, find_gone
from crawler.dedup.rounds_duckdb import DuckTables
from crawler.document import Document
from crawler.stages.fingerprint import FingerprintStage


def load(folder: Path, count: int) -> list[tuple[str, str]]:
    """Name and text of the first so many files."""
    return list(islice(texts(folder), count))


def ours(found: list[tuple[str, str]], work: Path) -> dict[str, Any]:
    """CPU seconds from texts to verdicts, and how many go."""
    before = _cpu()
    with connect(work / "peer.duckdb", work, threads=1) as database:
        fill(database, "texts", TEXTS, _rows(found))
        gone = find_gone(DuckTables(database))
    return {"ours_cpu_seconds": round(_cpu() - before, 1), "ours_go": gone}


def _rows(found: list[tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    stage, questions = FingerprintStage(CONFIG), Questions(CONFIG)
    for place, (name, text) in enumerate(found):
        doc = Document(url="", text=text)
        stage(doc)
        asked = questions.about(doc.doc_id, doc.signature, doc.shingle_count)
        yield place, name, asked.digest, asked.signature, bucket_keys(asked.bands), asked.needed


def datatroves(found: list[tuple[str, str]], work: Path) -> dict[str, Any]:
    """The same of datatrove's three steps."""
    import xxhash
    from datatrove.data import Document as TheirDocument
    from datatrove.pipeline.dedup.minhash import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature

    documents = [TheirDocument(text=text, id=name) for name, text in found]
    signatures, buckets, removed = (str(work / name) for name in ("signatures", "buckets", "removed"))
    before = _cpu()
    first = MinhashDedupSignature(signatures)
    first._hash_func = lambda text: xxhash.xxh64_intdigest(text.encode())  # its own takes text, which xxhash 4 refuses
    for _ in first.run(iter(documents), rank=0, world_size=1) or ():
        pass
    step = MinhashDedupBuckets(signatures, buckets)
    for rank in range(step.config.num_buckets):
        step.run(None, rank, step.config.num_buckets)
    MinhashDedupCluster(buckets, removed).run(None, 0, 1)
    took = round(_cpu() - before, 1)
    gone = sum(path.stat().st_size for path in Path(removed).rglob("*.remove")) // 4
    return {"datatrove_cpu_seconds": took, "datatrove_goes": gone}


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
