"""Corpora in a folder of their own, with a clock and ids that the test owns."""

from __future__ import annotations

import itertools
import uuid
from pathlib import Path
from typing import Any

import orjson

from crawler.config import from_mapping
from crawler.document import Document, Exchange
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of
from crawler.storage.files.shards import read_lines


def document(number: int, **values: Any) -> Document:
    url = f"https://example.org/{number}"
    text = f"The text of page {number}. " * 5
    made = {
        "url": url,
        "canonical_url": url,
        "domain": "example.org",
        "text": text,
        "title": f"Page {number}",
        "language": "en",
        "quality_score": 0.75,
        "word_count": 30,
        "crawled_at": f"2026-01-01T00:00:{number % 60:02d}Z",
        "crawl_id": "crawl",
        "text_allowed": True,
        "done": ["pii"],
    }
    return Document(**(made | values))


def exchange(number: int, body: bytes = b"<p>hello</p>", **values: Any) -> Exchange:
    made = {
        "method": "GET",
        "url": f"https://example.org/{number}",
        "status": 200,
        "request_headers": [(b"User-Agent", b"CorpusBot/1")],
        "response_headers": [(b"Content-Type", b"text/html; charset=utf-8")],
        "body": body,
        "ip_address": "192.0.2.7",
        "fetched_at": 1_767_225_600.0 + number,
    }
    return Exchange(**(made | values))


class Folder:
    """A corpus folder and what is in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ticks = itertools.count(1_767_225_600)
        self.ids = itertools.count(1)

    def corpus(self, worker: str = "w1", **settings: Any) -> Corpus:
        config = from_mapping({"CORPUS_DIR": str(self.path), "WORKER_ID": worker, **settings})
        return Corpus(config, clock=lambda: float(next(self.ticks)), new_id=lambda: str(uuid.UUID(int=next(self.ids))))

    def opened(self, worker: str = "w1", **settings: Any) -> Corpus:
        corpus = self.corpus(worker, **settings)
        corpus.open()
        return corpus

    def filled(self, numbers: range, worker: str = "w1", **settings: Any) -> None:
        corpus = self.opened(worker, **settings)
        for number in numbers:
            corpus.keep(record_of(document(number)))
        corpus.close()

    def names(self, folder: str) -> list[str]:
        return sorted(p.name for p in (self.path / folder).iterdir())

    def records(self, folder: str = "shards") -> list[dict[str, Any]]:
        paths = [p for p in sorted((self.path / folder).iterdir()) if not p.name.startswith(".")]
        return [orjson.loads(line) for path in paths for line in read_lines(path)]

    def manifest(self) -> dict[str, Any]:
        return orjson.loads((self.path / "manifest.json").read_bytes())
