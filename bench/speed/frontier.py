"""What the frontier costs: URLs a second in and out, the slowest lease, and bytes of memory a URL, against its bars.

`python -m bench.speed.frontier [--urls N] [--hosts N] [--json] [--no-peer]` starts an embedded Valkey in a temporary
folder (append-only file on, as in a crawl), fills it as a crawl does, page by page, and takes some of it out again, on
the event loop of a crawl (uvloop where it is installed). Client and server share the machine; their CPU is given apart,
in microseconds a URL. The peer is scrapy-redis on the same server.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import redis
from scrapy import Request, Spider
from scrapy.utils.misc import load_object
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import PriorityQueue

from crawler.config import FrontierConfig
from crawler.frontier.client import Frontier
from crawler.frontier.model import Lease, Limits, PutStatus, Wire
from crawler.frontier.outcome import KEPT, SHORT, packed_outcome
from crawler.server.embedded import EmbeddedServer
from crawler.settings import ASYNCIO_EVENT_LOOP
from crawler.urls.link import Link, source_id
from crawler.urls.shape import shape_id_of

LINKS, OWN = 160, 120  # links of a page; those that stay on its host
BIG = 5_000  # candidates of a big batch
AT_ONCE = 4  # calls under way, as one worker with its requests has them; the server still answers one after the other
TICK = 0.02  # seconds the clock moves on for 32 leases: enough hosts are ready for every batch to be full
TEXT = """
guide archive reference install notes history release index chapter appendix tutorial library module function section
article report summary review research community project design language system network storage memory process thread
signal socket kernel package version change update support manual example question answer forum
"""
WORDS = TEXT.split()


Kind = tuple[int, int]  # leases at a time, callers at once


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `bar`: what it has to reach; `most` says that the bar is an upper bound."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    most: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """1.0 and more: the bar is reached."""
        if self.bar is None:
            return None
        return self.bar / self.value if self.most else self.value / self.bar


class Web:
    """URLs of an invented web: few hosts with very many pages, very many hosts with few (Zipf, exponent 0.9)."""

    def __init__(self, hosts: int, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._serial = 0
        kinds = ("www.", "www.", "", "docs.", "blog.")
        self._hosts = [f"{kinds[n % 5]}{WORDS[n % len(WORDS)]}-{n}.example" for n in range(hosts)]
        self._random.shuffle(self._hosts)
        total, self._cumulative = 0.0, []
        for rank in range(1, hosts + 1):
            total += rank**-0.9
            self._cumulative.append(total)

    def hosts(self, n: int) -> list[str]:
        return self._random.choices(self._hosts, cum_weights=self._cumulative, k=n)

    def url(self, host: str) -> str:
        """A URL never seen before; 72 characters on average."""
        self._serial += 1
        words = "-".join(self._random.choices(WORDS, k=self._random.choice((1, 2, 2, 3, 3, 4, 6))))
        return f"https://{host}/{self._random.choice(WORDS)}/{words}-{self._serial}.html"

    def page(self, depth: int) -> list[Link]:
        """The links of one page."""
        (own,) = self.hosts(1)
        hosts, page = [own] * OWN + self.hosts(LINKS - OWN), self.url(own)
        parent, source = shape_id_of(page), source_id(page)
        return [
            Link(self.url(host), priority=-depth, depth=depth, mark=n % 5, parent=parent, source=source)
            for n, host in enumerate(hosts)
        ]


@dataclass(slots=True)
class Meter:
    """Wall clock and CPU of both sides between two moments."""

    server: redis.Redis
    seconds: float = 0.0
    client_cpu: float = 0.0
    server_cpu: float = 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        cpu, wall, own = self._cpu(), time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - wall
        self.client_cpu += time.process_time() - own
        self.server_cpu += self._cpu() - cpu

    def _cpu(self) -> float:
        info: Any = self.server.info("cpu")
        return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])

    def shares(self, n: int) -> str:
        return f"client {1e6 * self.client_cpu / n:.1f} µs, server {1e6 * self.server_cpu / n:.1f} µs of CPU a URL"


async def put_pages(frontier: Frontier, web: Web, urls: int, meter: Meter) -> int:
    """Page by page, each waiting for its answer; a few pages at a time, as a worker has them."""
    done = 0

    async def work(pages: Iterator[list[Link]]) -> None:
        for page in pages:
            await frontier.put(page)

    while done < urls:
        pages = [web.page(depth=1 + done * 4 // urls) for _ in range(64)]
        waiting = iter(pages)
        with meter.running():
            await asyncio.gather(*(work(waiting) for _ in range(AT_ONCE)))
        done += sum(map(len, pages))
    return done


async def put_batches(frontier: Frontier, web: Web, urls: int, meter: Meter) -> int:
    done = 0
    while done < urls:
        batch = [c for _ in range(BIG // LINKS + 1) for c in web.page(depth=3)]
        with meter.running():
            answers = await frontier.put(batch)
        assert set(answers) == {PutStatus.QUEUED}
        done += len(batch)
    return done


async def lease_and_ack(
    frontier: Frontier, clock: Clock, size: int, rounds: int, meter: Meter, at_once: int
) -> tuple[int, list[float]]:
    """Batches out and settled at once, by so many at the same time; how many, and how long each lease call took."""
    times, leased, turns = [], 0, iter(range(rounds))

    async def work() -> None:
        nonlocal leased
        for _ in turns:
            clock.now += TICK * size / 32
            began = time.perf_counter()
            batch = await frontier.lease(size)
            times.append(time.perf_counter() - began)
            assert len(batch.leases) == size, "the hosts of this web are too few for such a rate"
            await frontier.settle([outcome(lease, n) for n, lease in enumerate(batch.leases)])
            leased += len(batch.leases)

    with meter.running():
        await asyncio.gather(*(work() for _ in range(at_once)))
    return leased, times


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def outcome(lease: Lease, n: int) -> tuple[str, Wire, bytes, bytes]:
    """Two pages of three are kept; each tells the frontier what it brought."""
    brought = (SHORT, 0.0) if n % 3 == 0 else (KEPT, 300.0 + 10 * n)
    return (
        lease.token,
        Wire(lease.granted_at, 0.05),
        b"",
        packed_outcome(lease, *brought),
    )


async def quiet(server: redis.Redis) -> None:
    """Wait until the server does not rewrite its file: the child process would compete for one of two cores."""
    while True:
        info: Any = server.info("persistence")
        if not info["aof_rewrite_in_progress"] and not info["aof_rewrite_scheduled"]:
            return
        await asyncio.sleep(0.2)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def page_cost(frontier: Frontier, web: Web, links: int = 200, pages: int = 60) -> tuple[float, float]:
    """Median seconds of a put with all links new, and of the same put again."""
    lists = [[Link(web.url(host), depth=2) for host in web.hosts(links)] for _ in range(pages)]
    fresh = [await _timed(partial(frontier.put, page)) for page in lists]
    known = [await _timed(partial(frontier.put, page)) for page in lists]
    return percentile(fresh, 0.5), percentile(known, 0.5)


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


def memory_by_kind(server: redis.Redis, prefix: str) -> dict[str, int]:
    """Bytes of the crawl's keys, names and entries in the key space included, by the first part of the names."""
    sums: dict[str, int] = {}
    keys = [key for key in server.scan_iter(count=5000) if key.decode().startswith("{" + prefix)]
    for start in range(0, len(keys), 2000):
        pipe = server.pipeline(transaction=False)
        for key in keys[start : start + 2000]:
            pipe.memory_usage(key, samples=0)
        for key, size in zip(keys[start : start + 2000], pipe.execute(), strict=True):
            kind = key.decode().partition("}:")[2].partition(":")[0]
            sums[kind] = sums.get(kind, 0) + int(size or 0)
    return sums


async def measure(url: str, server: redis.Redis, urls: int, hosts: int, shards: int, queued: int) -> list[Figure]:
    clock, web, defaults = Clock(), Web(hosts), FrontierConfig()
    empty: Any = server.info("memory")
    frontier = Frontier(
        url,
        "bench",
        Limits(
            delay=1.0,
            shards=shards,
            lease_seconds=3600.0,
            max_queued=queued,
            barren=defaults.barren_pages,
            explore=defaults.explore,
        ),
        now=clock,
    )
    await frontier.open()
    await frontier.control.order_by_value()
    try:
        figures, total = [], 0
        for name, put, share in (("PUT, page by page", put_pages, 0.7), ("PUT, big batches", put_batches, 0.3)):
            meter = Meter(server)
            n = await put(frontier, web, round(urls * share), meter)
            total += n
            figures.append(Figure(name, n / meter.seconds, "URLs/s", 50_000, note=meter.shares(n)))
        figures += bytes_figures(server, empty, total)
        figures += await leases(frontier, server, clock, urls)
        fresh, known = await page_cost(frontier, web)
        figures.append(Figure("page with 200 new links", 1000 * fresh, "ms"))
        figures.append(Figure("page with 200 known links", 1000 * known, "ms"))
        return figures
    finally:
        await frontier.close()


SIZES, BLOCKS = (16, 32), 4
"""Leases at a time; so many blocks of each take turns, because a scope of which more is known costs more."""


async def leases(frontier: Frontier, server: redis.Redis, clock: Clock, urls: int) -> list[Figure]:
    """Both sizes in turns: by several callers at once, and by one alone, who says how long a lease takes."""
    meters = {(size, at_once): Meter(server) for size in SIZES for at_once in (AT_ONCE, 1)}
    counted = dict.fromkeys(meters, 0)
    taken: dict[Kind, list[float]] = {kind: [] for kind in meters}
    for _ in range(BLOCKS):
        for kind, meter in meters.items():
            await quiet(server)
            size, at_once = kind
            rounds = urls * (2 if at_once > 1 else 1) // 50 // BLOCKS // size
            n, times = await lease_and_ack(frontier, clock, size, rounds, meter, at_once)
            counted[kind] += n
            taken[kind] += times
    return [f for size in SIZES for f in _lease_figures(size, meters, counted, taken)]


def _lease_figures(
    size: int, meters: dict[Kind, Meter], counted: dict[Kind, int], taken: dict[Kind, list[float]]
) -> list[Figure]:
    many, alone = (size, AT_ONCE), (size, 1)
    n, times = counted[many], taken[many]
    note = f"{AT_ONCE} at once; {meters[many].shares(n)}; LEASE p99 {1000 * percentile(times, 0.99):.2f} ms"
    rate = Figure(f"LEASE+ACK, {size} at a time", n / meters[many].seconds, "URLs/s", 35_000, note=note)
    n, times = counted[alone], taken[alone]
    median, speed = 1000 * percentile(times, 0.5), n / meters[alone].seconds
    note = f"alone: median {median:.2f} ms, {len(times)} calls, {speed:,.0f} URLs/s"
    slowest = 1000 * percentile(times, 0.99)
    return [rate, Figure(f"LEASE of {size}, p99", slowest, "ms", 1.0, most=True, note=note)]


def bytes_figures(server: redis.Redis, empty: dict[str, Any], total: int) -> list[Figure]:
    full: Any = server.info("memory")
    kinds = memory_by_kind(server, "bench.")
    used = (full["used_memory"] - empty["used_memory"]) / total
    data = (full["used_memory_dataset"] - empty["used_memory_dataset"]) / total
    parts = ", ".join(
        f"{kind} {size / total:.1f}" for kind, size in sorted(kinds.items(), key=lambda k: -k[1]) if size > total / 20
    )
    rest = f"fragmentation {full['mem_fragmentation_ratio']:.2f}"
    return [
        Figure(
            "memory a URL, all included", used, "B", 85, most=True, note=f"dataset {data:.1f}, {rest}, {total} URLs"
        ),
        Figure("memory a seen URL", kinds.get("s", 0) / total, "B", 10, most=True),
        Figure("memory a queued URL", (sum(kinds.values()) - kinds.get("s", 0)) / total, "B", note=f"by key: {parts}"),
    ]


def measure_peer(server: redis.Redis, urls: int) -> list[Figure]:
    """scrapy-redis: its duplicate filter and its queue as its scheduler uses them, a request at a time."""
    web, spider = Web(20_000), Spider("peer")
    before: Any = server.info("memory")
    filter_ = RFPDupeFilter(server, "peer:dupefilter")
    queue = PriorityQueue(server, spider, "peer:requests")
    requests = [Request(c.url, priority=c.priority) for _ in range(urls // LINKS) for c in web.page(2)]
    began = time.perf_counter()
    for request in requests:
        if not filter_.request_seen(request):
            queue.push(request)
    put = len(requests) / (time.perf_counter() - began)
    after: Any = server.info("memory")
    began = time.perf_counter()
    while queue.pop() is not None:
        pass
    pop = len(requests) / (time.perf_counter() - began)
    size = (after["used_memory"] - before["used_memory"]) / len(requests)
    return [
        Figure("scrapy-redis: enqueue", put, "URLs/s", note=f"{len(requests)} requests"),
        Figure("scrapy-redis: pop", pop, "URLs/s", note="without leases: what is popped is lost with its worker"),
        Figure("scrapy-redis: memory a URL", size, "B"),
    ]


def table(figures: list[Figure]) -> str:
    lines = ["| | measured | bar | ratio | |", "|---|---|---|---|---|"]
    for f in figures:
        bar = "" if f.bar is None else f"{'≤' if f.most else '≥'} {f.bar:,.0f} {f.unit}"
        ratio = "" if f.ratio is None else f"{f.ratio:.2f}"
        digits = 0 if f.value >= 1000 else 2 if f.unit == "ms" else 1
        lines.append(f"| {f.name} | {f.value:,.{digits}f} {f.unit} | {bar} | {ratio} | {f.note} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.frontier", description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--max-queued", type=int, default=FrontierConfig().max_queued_per_domain)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        url = stack.enter_context(EmbeddedServer(Path(folder)))
        server = stack.enter_context(contextlib.closing(redis.Redis.from_url(url)))
        with asyncio.Runner(loop_factory=load_object(ASYNCIO_EVENT_LOOP) if ASYNCIO_EVENT_LOOP else None) as runner:
            work = measure(url, server, options.urls, options.hosts, options.shards, options.max_queued)
            figures = runner.run(work)
        if not options.no_peer:
            figures += measure_peer(server, min(options.urls, 20_000))
    print(json.dumps([{**asdict(f), "ratio": f.ratio} for f in figures], indent=1) if options.json else table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
