"""How fast are exports, mixtures and queries of a large corpus, beside DuckDB and datatrove that do the same?

`python -m bench.speed.datasets [--records 1000000] [--only NAME …] [--again]`

Makes a corpus of records in five languages (kept in `bench/.cache`), and runs each contestant as a process of its own
on it, one after the other: MB of records as JSON a second by the clock and a second of CPU, and the largest memory
(children included). A mixture has a third of the tokens, three languages in given shares. Queries: the first makes the
index. The peers stand in `bench/speed/datasets_peers.py`. Times mean something on a quiet machine only; `--again` runs
everything twice in turn.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import yaml

from bench.machine import commit, machine
from bench.places import PROJECT
from bench.speed.measure import Cost, measured
from bench.web.prose import prose
from crawler.document import Document
from crawler.storage.corpus.manifest import Ledger, merge
from crawler.storage.files.place import SHARDS, Place
from crawler.storage.files.records import encode, record_of
from crawler.storage.files.shards import ShardWriter
from crawler.storage.types import Sealed

CACHE = PROJECT / "bench" / ".cache"
WRITER = "bench"
POOL = 2_000
"""Paragraphs of which texts are put together, three each."""
COMMIT_EVERY = 5_000
LIMIT = 3_600.0
"""Seconds that one contestant may take."""
SHARES = {"en": 0.5, "de": 0.3, "fr": 0.2}
"""Languages of the mixture."""
LANGUAGES = {"en": 40, "de": 20, "fr": 20, "es": 10, "it": 10}
"""Languages of the corpus, in parts of a hundred."""
QUERIES = {
    "query, the index is made": "SELECT count(*) FROM documents",
    "query, counts by domain": "SELECT domain, count(*), sum(token_estimate) FROM documents GROUP BY domain",
    "query, filter by quality": "SELECT url FROM documents WHERE quality_score > 0.99 AND language = 'de'",
}


def make(folder: Path, records: int, seed: int = 0) -> Path:
    """A corpus of so many kept records; made once, and whole or not there."""
    corpus, draft = folder / f"datasets-{records}", folder / f".datasets-{records}.part"
    if corpus.exists():
        return corpus
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    place, rng = Place(str(draft)), random.Random(seed)
    place.claim()
    ledger = Ledger(place, WRITER)

    def sealed(path: Path, entry: Sealed) -> None:
        ledger.add(f"{SHARDS}/{path.name}", entry)

    writer = ShardWriter(
        draft / SHARDS, WRITER, shard_format="jsonl.zst", max_bytes=512 * 2**20, first_number=0, on_seal=sealed
    )
    pool = [" ".join(prose(f"datasets {number}", 100)) for number in range(POOL)]
    for number in range(records):
        writer.add(encode(record_of(_document(number, rng, pool))))
        if number % COMMIT_EVERY == 0:
            writer.commit()
    writer.seal()
    ledger.save()
    merge(place)
    draft.rename(corpus)
    return corpus


def _document(number: int, rng: random.Random, pool: list[str]) -> Document:
    url, text = f"https://d{number % 9973}.example/page-{number}", "\n".join(rng.choices(pool, k=3))
    return Document(
        url=url, canonical_url=url, domain=f"d{number % 9973}.example", title=f"Page {number}", text=text,
        doc_id=f"sha256:{hashlib.sha256(url.encode()).hexdigest()}", extractor="trafilatura-fast",
        language=rng.choices(list(LANGUAGES), list(LANGUAGES.values()))[0], license_tier=rng.choice(("A", "B")),
        quality_score=round(rng.random(), 4), word_count=len(text.split()), token_estimate=-(-len(text.encode()) // 4),
        crawled_at="2026-01-01T12:00:00Z", text_allowed=True, done=["pii"],
    )  # fmt: skip


def contestants(corpus: Path, scratch: Path) -> dict[str, list[str]]:
    """Commands by name; each writes to a folder of its own in `scratch`."""
    entries = [e for e in Place(str(corpus)).manifest()["files"] if e["kind"] == SHARDS]
    tokens = sum(entry["tokens"] for entry in entries) // 3
    spec = scratch / "spec.yaml"
    target = {"by": "language", "shares": SHARES}
    spec.write_text(yaml.safe_dump({"tokens": tokens, "sources": {"a": {"corpus": str(corpus)}}, "targets": [target]}))
    wanted = orjson.dumps({name: share * tokens for name, share in SHARES.items()}).decode()
    ours, peer = [sys.executable, "-m", "scrapy", "dataset"], [sys.executable, "-m", "bench.speed.datasets_peers"]

    def out(name: str) -> str:
        return str(scratch / name)

    return {
        "export to Parquet, ours": [*ours, "export", "--to", "parquet", "--out", out("ours"), str(corpus)],
        "export to Parquet, DuckDB": [*peer, "duckdb-parquet", str(corpus), out("duckdb")],
        "export to Parquet, datatrove": [*peer, "datatrove-parquet", str(corpus), out("datatrove")],
        "export to jsonl.gz, ours": [*ours, "export", "--to", "jsonl.gz", "--out", out("ours"), str(corpus)],
        "export to jsonl.gz, datatrove": [*peer, "datatrove-jsonl", str(corpus), out("datatrove")],
        "mixture to Parquet, ours": [*ours, "mix", "--to", "parquet", "--out", out("ours"), str(spec)],
        "mixture to Parquet, DuckDB": [*peer, "duckdb-mix", str(corpus), out("duckdb"), wanted],
        **{name: [*ours, "query", str(corpus), sql] for name, sql in QUERIES.items()},
    }


def run(
    corpus: Path,
    scratch: Path,
    only: list[str] | None = None,
    show: Callable[[str, Cost], object] = lambda name, cost: None,  # noqa: ARG005
) -> dict[str, Cost]:
    """Every contestant once. Raises: RuntimeError with the output of one that fails."""
    shutil.rmtree(corpus / "index", ignore_errors=True)
    found = {}
    for name, command in contestants(corpus, scratch).items():
        if only and not any(part in name for part in only):
            continue
        for folder in ("ours", "duckdb", "datatrove"):
            shutil.rmtree(scratch / folder, ignore_errors=True)
        cost = measured(command, scratch / "output.txt", PROJECT, LIMIT)
        if cost.code:
            raise RuntimeError(f"{name}: {(scratch / 'output.txt').read_text()[-2_000:]}")
        found[name] = cost
        show(name, cost)
    return found


def megabytes(corpus: Path) -> float:
    """Of the records of a corpus as JSON."""
    files = Place(str(corpus)).manifest()["files"]
    return sum(entry["uncompressed_bytes"] for entry in files if entry["kind"] == SHARDS) / 1e6


def main() -> None:
    """Make, run, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", help="contestants whose name has one of these")
    parser.add_argument("--again", action="store_true", help="everything twice, in turn")
    options = parser.parse_args()
    corpus = make(CACHE, options.records)
    scratch, size = CACHE / "datasets-out", megabytes(corpus)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    print(f"{options.records:,} records, {size:,.0f} MB as JSON; {machine()}, commit {commit()}\n")
    print("| | seconds | MB/s | CPU seconds | MB a CPU second | memory, MB |\n|---|---:|---:|---:|---:|---:|")

    def show(name: str, cost: Cost) -> None:
        rates = f"{size / cost.seconds:,.0f} | {cost.cpu_seconds:,.1f} | {size / max(cost.cpu_seconds, 0.01):,.0f}"
        print(f"| {name} | {cost.seconds:,.1f} | {rates} | {cost.peak_bytes / 1e6:,.0f} |", flush=True)

    try:
        for _ in range(1 + options.again):
            run(corpus, scratch, options.only, show)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
