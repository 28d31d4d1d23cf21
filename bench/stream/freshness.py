"""`python -m bench.stream.freshness --pages N --held M`: how long after its commit is a page in the stream?

A worker commits a page at a time while `gristmill stream --follow` follows; M pages were in the corpus before. Then the
rate of a backfill.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
import redis

from bench.machine import commit, machine
from bench.places import PROJECT
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import Folder, document
from tests.support.process import clean_environment
from tests.support.server import durable_server
from tests.support.streaming import stream_at

PATIENCE_MILLISECONDS = 300_000


def arrived(client: redis.Redis, last: str, key: str) -> tuple[str, float]:
    """Wait until the message of a page is there: its id, and when it was seen. Raises: TimeoutError."""
    while True:
        found: Any = client.xread({"pages": last}, block=PATIENCE_MILLISECONDS)
        if not found:
            raise TimeoutError(f"no message of {key}")
        for name, fields in found[0][1]:
            last = name.decode()
            if orjson.loads(fields[b"message"])["key"] == key:
                return last, time.monotonic()


def measure(folder: Path, pages: int, held: int) -> tuple[list[float], float]:
    """Seconds of each page from commit to stream, and pages a second of the backfill before."""
    corpus_folder = Folder(folder / "corpus")
    corpus_folder.filled(range(held))
    with (
        durable_server(folder / "server") as server,
        contextlib.closing(redis.Redis.from_url(server.url, socket_timeout=None)) as client,
    ):
        words = ["stream", str(folder / "corpus"), "--to", stream_at(server.url), "--follow"]
        with subprocess.Popen(  # our own program
            [sys.executable, "-m", "crawler.commands.gristmill", *words], cwd=PROJECT, env=clean_environment()
        ) as sender:
            try:
                last, began = arrived(client, "0-0", "https://example.org/0")
                last, done = arrived(client, last, f"https://example.org/{held - 1}")
                corpus, seconds = corpus_folder.opened("w2", CRAWL_ID="crawl"), []
                chance = random.Random(1)  # not for secrets
                for number in range(held, held + pages):
                    time.sleep(chance.uniform(0.0, 2.0))  # so that the sender is anywhere between two looks
                    corpus.keep(record_of(document(number)))
                    corpus.commit()
                    at = time.monotonic()
                    last, seen = arrived(client, last, f"https://example.org/{number}")
                    seconds.append(seen - at)
                corpus.close()
            finally:
                sender.terminate()
    return seconds, (held - 1) / (done - began)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--held", type=int, default=5_000)
    opts = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds, rate = measure(Path(folder), opts.pages, opts.held)
    print(f"{machine()}, commit {commit()}")
    print(
        f"commit to stream: median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s, {opts.pages} pages"
    )
    print(f"backfill: {rate:,.0f} pages a second")


if __name__ == "__main__":
    main()
