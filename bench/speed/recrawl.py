"""What a second run costs, and what remembering the first one costs.

`python -m bench.speed.recrawl visits [URLS]` (default 100,000): memory and speed of remembered visits on a Valkey of
its own. `python -m bench.speed.recrawl site [PAGES] [PACKAGE …]` (default 1,500 a package): crawls real documentation
twice and compares bytes and CPU, the embedded server's included; nginx sends ETag and Last-Modified.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.places import PROJECT
from bench.speed.measure import measured
from bench.web.realweb import RealWeb, RealWebError, serve
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Wire
from crawler.frontier.visits import visit_entry
from crawler.recrawl.decay import Past
from crawler.recrawl.visit import Intervals, Visit
from crawler.server.embedded import EmbeddedServer
from crawler.storage.files.shards import read_lines
from crawler.urls.link import Link

BATCH = 32  # leases a call, as a busy worker asks for them
HOSTS = 2_000
SERVER_DEFAULT = 64  # hash-max-listpack-value of a server that nobody configured


def urls(count: int) -> list[str]:
    """Addresses of a usual length, 40 to 75 characters."""
    tails = ["title-" * n + ".html" for n in range(5)]
    return [f"https://www.site-{n % HOSTS}.example/{n % 17}/articles/{n:07d}-{tails[n % 5]}" for n in range(count)]


def visit_of(n: int) -> Visit:
    """A kept page with nginx's validators."""
    at = 1_760_000_000 + n % 100_000
    tag, date = f'"{at:x}-{5_000 + n % 90_000:x}"', "Sun, 01 Mar 2026 12:00:00 GMT"
    digest = n.to_bytes(16, "little")
    return Visit(
        at, at, at, digest, status=200, size=n, kept=True, reusable=True, etag=tag, last_modified=date,
        text=n.to_bytes(10, "little"), past=Past(0.3, 0.8, n % 90_000),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Speed:
    """URLs a second by the clock; microseconds of CPU a URL on both sides, which a busy machine distorts less."""

    rate: float
    server: float
    client: float

    def __str__(self) -> str:
        return f"{self.rate:,.0f}/s, CPU a URL {self.server:.1f} µs in the server, {self.client:.1f} µs in the client"


async def timed(frontier: Frontier, work: Awaitable[int]) -> Speed:
    """Await the work, which answers how many URLs it moved."""

    async def server_seconds() -> float:
        found = await frontier.connection.redis.info("cpu")
        return float(found["used_cpu_user"] + found["used_cpu_sys"])

    started, client, server = time.perf_counter(), time.process_time(), await server_seconds()
    done = await work
    seconds, client = time.perf_counter() - started, time.process_time() - client
    return Speed(done / seconds, (await server_seconds() - server) / done * 1e6, client / done * 1e6)


async def finish_all(frontier: Frontier, remembered: bool) -> int:
    """Lease and settle everything."""
    done = 0
    while leases := (await frontier.lease(BATCH)).leases:
        wire = Wire(frontier.now(), 0.1)
        visits = [visit_entry(lease.url, visit_of(done + i)) if remembered else b"" for i, lease in enumerate(leases)]
        await frontier.settle([(lease.token, wire, visit) for lease, visit in zip(leases, visits, strict=True)])
        done += len(leases)
    return done


async def measure_visits(url: str, count: int, remembered: bool, listpack: int) -> float:
    """Print speeds and answer the bytes a remembered URL needs, as MEMORY USAGE counts them."""
    frontier = Frontier(url, "bench", Limits(delay=0, concurrency=10**6))
    await frontier.open()
    redis = frontier.connection.redis
    await redis.config_set("hash-max-listpack-value", listpack)
    found = urls(count)
    for start in range(0, count, 5_000):
        await frontier.put(
            [Link(u, depth=1, mark=0, parent="abc", source="aB3_") for u in found[start : start + 5_000]]
        )
    print(f"  lease and ack {await timed(frontier, finish_all(frontier, remembered))}")
    keys = [frontier.prefix(0) + "due"] + [k async for k in redis.scan_iter(f"{frontier.prefix(0)}v:*", count=1000)]
    used = sum([await redis.memory_usage(key, samples=0) or 0 for key in keys]) / count
    if remembered:
        print(f"  sweep {await timed(frontier, frontier.visits.sweep(Intervals(0, 0, 0)))}")
    await frontier.close()
    return used


def compare_visits(count: int) -> None:
    """Print what remembering costs, each case on a server of its own."""
    for name, remembered, listpack in (
        ("nothing remembered", False, 1024),
        ("visits remembered", True, 1024),
        ("visits remembered by a server with its defaults", True, SERVER_DEFAULT),
    ):
        print(name)
        with tempfile.TemporaryDirectory() as folder, EmbeddedServer(folder) as url:
            used = asyncio.run(measure_visits(url, count, remembered, listpack))
        print(f"  {used:.1f} bytes a finished URL, its place in the schedule included")


def crawl(web: RealWeb, folder: Path, pages: int, again: bool) -> tuple[float, float, dict[str, int]]:
    """One crawl: CPU seconds, wall-clock seconds, counters of the run. Raises: RealWebError."""
    settings = {
        "CORPUS_DIR": folder / "corpus",
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": urlsplit(web.seeds[0]).port,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "PROGRESS": "off",
        "LOG_LEVEL": "ERROR",
        "FRONTIER_MAX_PAGES_PER_DOMAIN": pages,
        "RECRAWL": int(again),
        "RECRAWL_INTERVAL_SECONDS": 0,
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", f"url={','.join(web.seeds)}"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    corpus = (folder / "corpus").resolve()
    cost = measured(command, folder / "output.log", cwd=PROJECT, limit_seconds=1800, daemons_in=corpus)
    if cost.code:
        raise RealWebError(f"the crawl ended with code {cost.code}:\n{(folder / 'output.log').read_text()[-3000:]}")
    manifest = json.loads((folder / "corpus" / "manifest.json").read_text())
    return cost.cpu_seconds, cost.seconds, manifest["runs"][-1]["counters"]


def measure_site(pages: int, packages: list[str]) -> None:
    """Print both runs side by side."""
    with tempfile.TemporaryDirectory() as temporary, serve(packages, Path(temporary)) as web:
        folder = Path(temporary)
        runs = [crawl(web, folder, pages, again) for again in (False, True)]
        for name, (cpu, seconds, counters) in zip(("first", "second"), runs, strict=True):
            kind = {
                k: counters.get(f"recrawl/{k}", 0) for k in ("new", "changed", "unchanged", "gone", "moved", "decayed")
            }
            print(
                f"{name} run: {counters['downloader/request_count']:,} requests, "
                f"{counters['downloader/response_bytes']:,} bytes, {cpu:.1f} s CPU, {seconds:.1f} s, "
                f"{counters.get('outcome/kept', 0):,} kept, {kind if name == 'second' else ''}"
            )
        (cpu, _, first), (cpu_again, _, second) = runs
        received = second["downloader/response_bytes"] / first["downloader/response_bytes"]
        print(f"second / first: {received:.1%} of the bytes, {cpu_again / cpu:.1%} of the CPU ({web.server})")
        kept = Counter(
            json.loads(line)["url"]
            for path in (folder / "corpus" / "shards").glob("*.jsonl*")
            for line in read_lines(path)
        )
        print(f"{sum(n > 1 for n in kept.values())} documents kept twice")
        verify = [sys.executable, "-m", "scrapy", "dataset", "verify", str(folder / "corpus")]
        done = subprocess.run(verify, cwd=PROJECT, capture_output=True, text=True, check=False)
        print(f"gristmill dataset verify: exit code {done.returncode}; {done.stdout.strip().splitlines()[-1:]}")


def main() -> None:
    """Run one of the two."""
    what, *rest = sys.argv[1:] or ["visits"]
    if what == "site":
        measure_site(int(rest[0]) if rest else 1_500, rest[1:] or ["postgresql-doc-15"])
        return
    compare_visits(int(rest[0]) if rest else 100_000)


if __name__ == "__main__":
    main()
