"""A corpus of three domains under two licences: kept, rejected with and without text, all in the archive."""

from __future__ import annotations

import gzip
import itertools
import uuid
from pathlib import Path
from typing import Any

import orjson
import zstandard

from crawler.config import from_mapping
from crawler.dataset.rewrite import read_files
from crawler.document import Document, Drop, DropReason, Exchange
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from crawler.storage.files.shards import read_records

DOMAINS = {"alder.example": "CC-BY-4.0", "birch.example": "CC-BY-4.0", "cedar.example": "CC0-1.0"}


def secret(domain: str, number: int) -> str:
    """A phrase that stands on one page only."""
    return f"{domain.partition('.')[0]}-phrase-{number:03d}"


def fill(corpus_dir: Path | str, pages: int = 4, **settings: str) -> None:
    """Three domains, each with kept pages and two rejected ones; every page is archived."""
    ticks, ids = itertools.count(1_767_225_600), itertools.count(1)
    values = {"CORPUS_DIR": str(corpus_dir), "WORKER_ID": "w1", "SHARD_MAX_BYTES": 6_000}
    config = from_mapping(values | settings)
    corpus = Corpus(config, clock=lambda: float(next(ticks)), new_id=lambda: str(uuid.UUID(int=next(ids))))
    corpus.open()
    for number in range(pages + 2):
        for domain, licence in DOMAINS.items():
            add(corpus, domain, licence, number, kept=number < pages)
    corpus.close()


def add(corpus: Corpus, domain: str, licence: str, number: int, *, kept: bool) -> None:
    host = f"www.{domain}" if number % 2 else domain
    url = f"https://{host}/{number}"
    text = f"{secret(domain, number)} and more words. " * 3
    exchange = Exchange(
        method="GET",
        url=url,
        status=200,
        request_headers=[(b"User-Agent", b"CorpusBot/1")],
        response_headers=[(b"Content-Type", b"text/html")],
        body=f"<title>{secret(domain, number)}</title>".encode(),
        fetched_at=1_767_225_600.0 + number,
    )
    place = corpus.archive(exchange)
    doc = Document(
        url=url,
        canonical_url=url,
        domain=domain,
        text=text,
        title=secret(domain, number),
        language="en" if number % 2 else "de",
        quality_score=number / 10,
        word_count=15,
        license_tag=licence,
        license_tier="A",
        doc_id=f"sha256:{number}",
        crawled_at=f"2026-01-01T00:00:{number:02d}Z",
        crawl_id="crawl",
        text_allowed=True,
        done=["pii"],
        warc_file=place.file,
        warc_record_id=place.record_id,
        warc_offset=place.offset,
    )
    if kept:
        corpus.keep(record_of(doc))
    else:
        corpus.reject(rejection_of(doc, Drop("quality", DropReason.LOW_QUALITY, "score 0.1")))
    corpus.commit()


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def place(self) -> Place:
        return Place(str(self.path))

    def manifest(self) -> dict[str, Any]:
        return orjson.loads((self.path / "manifest.json").read_bytes())

    def records(self, folder: str = "shards") -> list[dict[str, Any]]:
        return [r for e in read_files(self.place, (folder,)) for r in read_records(self.place, e["path"])]

    def everything(self) -> bytes:
        """All bytes on the disk under this folder, with everything compressed unpacked, too."""
        return everything(self.path)


def everything(folder: Path) -> bytes:
    return b"".join(_unpacked(path) for path in sorted(folder.rglob("*")) if path.is_file())


def _unpacked(path: Path) -> bytes:
    raw = path.read_bytes()
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return raw + str(parquet.read_table(path).to_pylist()).encode()
    if ".zst" in path.name or raw[:4] == b"\x28\xb5\x2f\xfd":
        return raw + zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
    return raw + gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
