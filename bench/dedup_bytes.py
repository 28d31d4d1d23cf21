"""Memory and speed of the duplicate index: `python -m bench.dedup_bytes [DOCUMENTS]` (default 20,000).

Fills an embedded Valkey with random signatures, asks about all of them again, and prints bytes and questions a second.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
import time

import numpy as np

from crawler.config import from_mapping
from crawler.frontier.server import EmbeddedServer
from crawler.pipelines.dedup_redis import RedisIndex


async def fill(index: RedisIndex, count: int, in_flight: int = 64) -> None:
    """Put `count` different documents to both questions, `in_flight` at a time."""
    random = np.random.default_rng(1)
    signatures = random.integers(0, 2**32, (count, 112), dtype=np.uint32)

    async def ask(number: int) -> None:
        url = f"https://www.example-{number % 97}.org/section/article-{number}.html"
        await index.check_exact("sha256:" + hashlib.sha256(url.encode()).hexdigest(), url)
        await index.check_near(signatures[number].tobytes(), 500, url)

    for start in range(0, count, in_flight):
        await asyncio.gather(*(ask(number) for number in range(start, min(start + in_flight, count))))


async def measure(url: str, count: int) -> None:
    """Print the figures."""
    index = RedisIndex(url, from_mapping({}).dedup, crawl_id="bench")
    await index.open()
    before = (await index.client.info("memory"))["used_memory"]
    for name in ("new documents", "known documents"):
        start = time.perf_counter()
        await fill(index, count)
        print(f"{name}: {count / (time.perf_counter() - start):,.0f} a second (exact and near)")
    after = (await index.client.info("memory"))["used_memory"]
    print(f"memory: {(after - before) / count:.0f} bytes a document")
    await index.close()


def main() -> None:
    """Run on a server of its own."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer(folder) as url:
        asyncio.run(measure(url, count))


if __name__ == "__main__":
    main()
