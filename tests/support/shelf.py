"""Corpora of made-up prose in which chosen passages stand more than once."""

from __future__ import annotations

from pathlib import Path

import orjson

from crawler.config import from_mapping
from crawler.document import Document
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.storage.files.shards import read_lines


class Shelf:
    """A corpus folder: fill it with texts, read them back."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, *texts: str, **settings: object) -> Place:
        made = {"CORPUS_DIR": str(self.path), "WORKER_ID": "w1"} | settings
        corpus = Corpus(from_mapping(made), clock=lambda: 1_767_225_600.0)
        corpus.open()
        for number, text in enumerate(texts):
            url = f"https://site{number % 2}.test/{number}"
            doc = Document(url=url, canonical_url=url, domain=f"site{number % 2}.test", text=text, crawl_id="crawl")
            doc.word_count, doc.char_count = len(text.split()), len(text)
            corpus.keep(record_of(doc))
        corpus.close()
        return Place(str(self.path))

    def records(self, folder: str = "shards") -> list[dict[str, object]]:
        manifest = Place(str(self.path)).manifest()
        paths = [entry["path"] for entry in manifest["files"] if entry["kind"] == folder]
        found = [orjson.loads(line) for path in paths for line in read_lines(self.path / path)]
        return sorted(found, key=lambda record: int(record["url"].rpartition("/")[2]))

    def texts(self) -> list[str]:
        return [str(record["text"]) for record in self.records()]
