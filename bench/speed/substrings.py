"""Repeated passages in real texts: `python -m bench.speed.substrings TEXTS.jsonl [--megabytes 100] [--remove]`.

TEXTS.jsonl comes from `python -m bench.web.texts FOLDER TEXTS.jsonl`. Writes its first MEGABYTES of text into a corpus
in a temporary folder, searches it, and prints seconds (wall clock and CPU), peak memory, bytes a word and the report.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

from crawler.config import from_mapping
from crawler.dataset import substrings
from crawler.document import Document
from crawler.number import number_of
from crawler.operations import substrings as commands
from crawler.stages.fingerprint import exact_id
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of


def records(path: Path, limit: float, unique: bool) -> Iterator[Document]:
    """Documents until `limit` bytes of text are there; with `unique` without exact copies, as a crawl leaves them."""
    size, seen = 0, set()
    with path.open("rb") as file:
        for line in file:
            values = orjson.loads(line)
            key = exact_id(values["text"])
            if unique and key in seen:
                continue
            seen.add(key)
            size += len(values["text"].encode())
            if size > limit:
                return
            yield Document(**values, crawl_id="bench")


def write(folder: str, path: Path, limit: float, unique: bool) -> tuple[int, int]:
    """A corpus of these texts: documents, bytes of text."""
    corpus = Corpus(from_mapping({"CORPUS_DIR": folder, "WORKER_ID": "bench"}))
    corpus.open()
    documents = size = 0
    for doc in records(path, limit, unique):
        corpus.keep(record_of(doc))
        documents, size = documents + 1, size + len(doc.text.encode())
        if documents % 1_000 == 0:
            corpus.commit()
    corpus.close()
    return documents, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--min-tokens", type=int, default=50)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--memory", type=commands.size, default="8G")
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("--unique", action="store_true", help="leave exact copies out, as a crawl does")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        documents, size = write(folder, options.texts, options.megabytes * 1e6, options.unique)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        wall, cpu = time.perf_counter(), time.process_time()
        place = Place(folder)
        found = substrings.find(place, min_tokens=options.min_tokens, memory=options.memory)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(
            f"{documents:,} documents, {size / 1e6:.1f} MB of text: "
            f"{wall:.1f} s, {cpu:.1f} s CPU, {number_of(found.blocks, 'block')}"
        )
        print(
            f"memory: peak {peak / 1e6:,.0f} MB ({before / 1e6:,.0f} MB before the search), "
            f"{(peak - before) * found.blocks / found.words:.0f} bytes a word, "
            f"{(peak - before) * found.blocks / size:.1f} a byte of text"
        )
        print("\n".join(commands.substring_lines(found)))
        if options.remove:
            cpu = time.process_time()
            done = substrings.remove(place, found, min_words=150, now=time.time())
            print(f"\nremoval: {time.process_time() - cpu:.1f} s CPU; {done}")
            again = substrings.find(place, min_tokens=options.min_tokens, memory=options.memory)
            print(f"afterwards {again.surplus:,} of {again.words:,} words stood before")


if __name__ == "__main__":
    main()
