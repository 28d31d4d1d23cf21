"""How long does `gristmill explore` take on a large corpus, and how much memory does it hold?

`python -m bench.speed.explore [--records 1000000]`

Makes a corpus of records with distinct scores, domains and times (one in four rejected) with its index, kept under
`bench/.cache`, serves it with the real command and asks for its pages over HTTP. Prints seconds by the clock and the
CPU time and memory of the server; times by the clock mean something on a quiet machine only.
"""

from __future__ import annotations

import argparse
import http.client
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from bench.machine import commit, machine
from bench.places import PROJECT
from bench.web.prose import prose
from crawler.document import Document, Drop, DropReason
from crawler.storage.corpus.manifest import Ledger, merge
from crawler.storage.files.place import INDEX, REJECTED, SHARDS, Place
from crawler.storage.files.record_index import refresh
from crawler.storage.files.records import encode, record_of, rejection_of
from crawler.storage.files.shards import ShardWriter
from crawler.storage.types import Sealed

WRITER = "bench"
TOKEN = "a-token-of-the-bench"
COMMIT_EVERY = 5_000
ASKED = {
    "corpus page, all figures": "/0/",
    "documents, first page": "/0/documents",
    "a filter by domain and score": "/0/documents?where=domain%3Dd17.example&where=quality_score%3E%3D0.5",
    "words in title or URL": "/0/documents?q=page-4242",
    "sorted by quality": "/0/documents?sort=quality_score",
    "text search, first page": "/0/documents?text=harbour",
    "what if": "/0/what-if?QUALITY_MIN_SCORE=0.6",
}


def fill(folder: Path, records: int, seed: int = 0) -> None:
    """A corpus whose records differ in what pages filter by."""
    place, rng = Place(str(folder)), random.Random(seed)
    place.claim()
    ledger = Ledger(place, WRITER)
    texts = ["\n".join(prose(f"explore {n}", 250)) for n in range(50)]
    writers = {kind: _writer(folder, kind, ledger) for kind in (SHARDS, REJECTED)}
    for number in range(records):
        doc = _document(number, rng, texts)
        if number % 4:
            writers[SHARDS].add(encode(record_of(doc)))
        else:
            reason = rng.choice((DropReason.LOW_QUALITY, DropReason.TOO_SHORT, DropReason.NEAR_DUPLICATE))
            writers[REJECTED].add(encode(rejection_of(doc, Drop("quality", reason, "detail"))))
        if number % COMMIT_EVERY == 0:
            for writer in writers.values():
                writer.commit()
    for writer in writers.values():
        writer.seal()
    ledger.save()
    merge(place)


def filled(records: int, cache: Path = PROJECT / "bench" / ".cache") -> Path:
    """The corpus of so many records with its index, made where it is missing; a half-made one never has its name."""
    folder = cache / f"explore-{records}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="explore-", dir=cache) as draft:
            fill(Path(draft) / "corpus", records)
            (Path(draft) / "corpus").rename(folder)
    refresh(Place(str(folder)), folder / INDEX)
    return folder


def _writer(folder: Path, kind: str, ledger: Ledger) -> ShardWriter:
    def sealed(path: Path, entry: Sealed) -> None:
        ledger.add(f"{kind}/{path.name}", entry)

    return ShardWriter(
        folder / kind, WRITER, shard_format="jsonl.zst", max_bytes=512 * 2**20, first_number=0, on_seal=sealed
    )


def _document(number: int, rng: random.Random, texts: list[str]) -> Document:
    url, score = f"https://d{number % 997}.example/page-{number}", round(rng.betavariate(8, 2), 4)
    signals = {"profile": "prose", "gopher_words": rng.randrange(50, 3000), "fineweb_short_lines": score / 2}
    return Document(
        url=url, canonical_url=url, domain=f"d{number % 997}.example", doc_id=f"sha256:{number:064x}",
        title=f"Page {number}", text=rng.choice(texts), language=rng.choice(("en", "en", "en", "de", "fr")),
        language_score=round(rng.betavariate(20, 1), 4), quality_score=score, quality_signals=signals,
        word_count=rng.randrange(50, 3000), token_estimate=rng.randrange(60, 5000), extractor="trafilatura-fast",
        crawled_at=f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}T12:00:00Z", text_allowed=True, done=["pii"],
    )  # fmt: skip


def measure(folder: Path) -> dict[str, float]:
    """Seconds by what was asked; "CPU seconds" and "memory, MB" of the server at its end."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "scrapy", "explore", "--no-open", "--token", TOKEN, str(folder)]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().partition("/?")[0].rpartition(":")[2])
        found = {"start, until the address is printed": time.perf_counter() - started}
        cookie = _ask(port, f"/?token={TOKEN}")[2].partition(";")[0]
        while _ask(port, "/0/documents?where=domain%3D", cookie)[0] == 503:
            time.sleep(0.2)
        found["until every record is read"] = time.perf_counter() - started
        for name, path in ASKED.items():
            begun = time.perf_counter()
            status, body, _ = _ask(port, path, cookie)
            assert status == 200, body
            found[name] = time.perf_counter() - begun
        server = psutil.Process(process.pid)
        found["CPU seconds"] = sum(server.cpu_times()[:2])
        found["memory, MB"] = server.memory_info().rss / 1e6
        return found
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def _ask(port: int, path: str, cookie: str = "") -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body, answer.headers.get("set-cookie") or ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    args = parser.parse_args()
    found = measure(filled(args.records))
    print(f"{args.records:,} records; {machine()}; {commit()}")
    for name, value in found.items():
        print(f"{name:40} {value:10.2f}")


if __name__ == "__main__":
    main()
