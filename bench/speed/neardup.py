"""The duplicate index beside datasketch's `MinHashLSH`: documents a second and bytes a document.

`python -m bench.speed.neardup [--documents 100000] [--peer-redis-documents 3000] [--only NAME …]`. Every contestant
gets the same signatures (one in five nearly that of an earlier document), checks each document and inserts it where it
is new. Each runs in a process of its own, those with a server on an embedded Valkey of their own. Ours answers the
exact and the near question, stores owners and signatures and verifies; the peer answers the near question by bands
alone. Bytes are a document that was inserted. At the end: signatures a second of one core at 600 shingles.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import redis
from datasketch import MinHash, MinHashLSH

from crawler.config import from_mapping
from crawler.dedup.index import DedupIndex
from crawler.dedup.memory_index import MemoryIndex
from crawler.dedup.redis_index import RedisIndex
from crawler.server.embedded import EmbeddedServer
from crawler.stages.fingerprint import SCHEME, SEED, FingerprintStage

CONFIG = from_mapping({}).dedup
BANDS, ROWS = CONFIG.bands, CONFIG.rows
IN_FLIGHT = 64
BLOCK = 1000
BARS = {"documents a second": 4000, "bytes a document": 550, "signatures a second": 1300}


@dataclass(frozen=True, slots=True)
class Result:
    """rate: check-and-inserts a second; memory: bytes, of the server or of this process; cpu in seconds."""

    documents: int
    found: int
    seconds: float
    client_cpu: float
    server_cpu: float
    memory: int
    again: float  # questions a second about documents it knows


def documents(count: int, seed: int = 1) -> Iterator[tuple[str, str, np.ndarray]]:
    """(URL, doc_id, signature). Every fifth is an earlier one with 4 of its positions changed: similarity 0.96."""
    rnd = np.random.default_rng(seed)
    width, kept = BANDS * ROWS, np.empty((0, BANDS * ROWS), dtype=np.uint32)
    for start in range(0, count, BLOCK):
        block = rnd.integers(0, 2**32, (min(BLOCK, count - start), width), dtype=np.uint32)
        for row in range(0, len(block), 5) if len(kept) else ():
            block[row] = kept[rnd.integers(len(kept))]
            block[row, rnd.choice(width, 4, replace=False)] += 1
        kept = block[1::5].copy() if start == 0 else kept
        for row, signature in enumerate(block, start):
            url = f"https://www.example-{row % 997}.org/section/{row % 13}/article-{row}.html"
            yield url, f"sha256:{hashlib.sha256(url.encode()).hexdigest()}", signature


async def ask_ours(index: DedupIndex, count: int) -> int:
    """Check and insert, as many at a time as a busy worker has pages under way. Returns the duplicates."""
    waiting, found = [], 0
    for url, doc_id, signature in documents(count):
        waiting.append(index.check(doc_id, signature.tobytes(), 500, url))
        if len(waiting) == IN_FLIGHT:
            found += sum(match is not None for match in await asyncio.gather(*waiting))
            waiting.clear()
    return found + sum(match is not None for match in await asyncio.gather(*waiting))


def ask_peer(lsh: MinHashLSH, count: int) -> int:
    """The same for datasketch: query, then insert where nothing was found."""
    found = 0
    for url, _, signature in documents(count):
        minhash = MinHash(num_perm=BANDS * ROWS, hashvalues=signature, seed=SEED, scheme=SCHEME)
        if lsh.query(minhash):
            found += 1
        elif url not in lsh:
            lsh.insert(url, minhash, check_duplication=False)
    return found


def measured(ask: Callable[[int], int], count: int, server: redis.Redis | None) -> Result:
    """Ask `count` questions, then the same again, less what making them costs."""
    gc.collect()
    before, cpu = _memory(server), _server_cpu(server)
    started, own = time.perf_counter(), time.process_time()
    found = ask(count)
    seconds, client = time.perf_counter() - started, time.process_time() - own
    gc.collect()
    memory, server_cpu = _memory(server) - before, _server_cpu(server) - cpu
    started = time.perf_counter()
    ask(count)
    again = time.perf_counter() - started
    started, own = time.perf_counter(), time.process_time()
    sum(1 for _ in documents(count))
    making, making_cpu = time.perf_counter() - started, time.process_time() - own
    return Result(count, found, seconds - making, client - making_cpu, server_cpu, memory, count / (again - making))


def _memory(server: redis.Redis | None) -> int:
    if server is not None:
        return int(server.info("memory")["used_memory"])
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _server_cpu(server: redis.Redis | None) -> float:
    info = server.info("cpu") if server is not None else {}
    return float(info.get("used_cpu_user", 0)) + float(info.get("used_cpu_sys", 0))


def our_redis(count: int) -> Result:
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(folder) as url, asyncio.Runner() as runner:
        index = RedisIndex(url, CONFIG, crawl_id="bench")
        runner.run(index.open())
        with redis.Redis.from_url(url) as server:
            result = measured(lambda n: runner.run(ask_ours(index, n)), count, server)
        runner.run(index.close())
        return result


def our_memory(count: int) -> Result:
    with asyncio.Runner() as runner:
        index = MemoryIndex(CONFIG)
        return measured(lambda n: runner.run(ask_ours(index, n)), count, None)


def peer_redis(count: int) -> Result:
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(folder) as url:
        path = url.removeprefix("unix://")
        storage = {"type": "redis", "basename": b"bench", "redis": {"unix_socket_path": path}}
        lsh = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS), storage_config=storage)
        with redis.Redis.from_url(url) as server:
            return measured(lambda n: ask_peer(lsh, n), count, server)


def peer_memory(count: int) -> Result:
    lsh = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    return measured(lambda n: ask_peer(lsh, n), count, None)


CONTESTANTS = {
    "this project, Valkey": our_redis,
    "this project, memory": our_memory,
    "datasketch, memory": peer_memory,
    "datasketch, Valkey": peer_redis,
}


def signatures(seconds: float = 3.0, shingles: int = 600) -> float:
    """Signatures a second of one core, from the shingles on."""
    stage = FingerprintStage(CONFIG)
    pieces = np.random.default_rng(1).integers(0, 2**64, shingles, dtype=np.uint64)
    stage.signature(pieces)
    count, started = 0, time.process_time()
    while (used := time.process_time() - started) < seconds:
        stage.signature(pieces)
        count += 1
    return count / used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000])
    parser.add_argument("--peer-redis-documents", type=int, default=3_000, help="it is that slow")
    parser.add_argument("--only", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    options = parser.parse_args()
    print(
        f"{'':22} {'documents':>9} {'found':>7} {'doc/s':>7} {'again/s':>8} {'client µs':>9} {'server µs':>9} "
        f"{'bytes':>6}"
    )
    for count in options.documents:
        for name in options.only:
            asked = min(count, options.peer_redis_documents) if name == "datasketch, Valkey" else count
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                r = pool.apply(CONTESTANTS[name], (asked,))
            print(
                f"{name:22} {asked:9,} {r.found:7,} {asked / r.seconds:7,.0f} {r.again:8,.0f} "
                f"{1e6 * r.client_cpu / asked:9.0f} {1e6 * r.server_cpu / asked:9.0f} "
                f"{r.memory / (asked - r.found):6.0f}"
            )
    print(f"signatures of 600 shingles: {signatures():,.0f} a second of one core")
    print("bars: " + ", ".join(f"{name} {value:,}" for name, value in BARS.items()))


if __name__ == "__main__":
    main()
