"""What a crawl of a given size needs, from measured constants: `python -m bench.scale simulate`.

No crawl of that size is run. Bytes are reliable; rates are those of the slowest machine that was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

GB = 1e9
SERVER_GB = 32
"""Memory of one server that holds a part of the frontier."""
RESERVE = 1.5
"""Workers are asked to do two thirds of what they can."""
FILE_BYTES = 512e6
"""Of a shard or an archive."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Constants, each with the command that measures it; docs/scaling.md names machine and day."""

    seen_bytes: float = 9.1  # a known URL in the seen-set: bench.speed.frontier
    queued_bytes: float = 65.0  # a queued URL, the seen-set aside: bench.speed.frontier
    visit_bytes: float = 195.0  # a visited URL that is remembered: bench.speed.recrawl visits
    index_bytes: float = 474.0  # a document in the duplicate index: bench.speed.neardup
    server_ms: float = 0.8  # the server's CPU for a page of a whole crawl, everything: bench, by process
    page_ms: float = 62.0  # CPU of a page, all stages, on the slowest machine: make bench
    worker_pages: float = 30.0  # a second, of one worker on two cores of that machine: make bench
    worker_gib: float = 1.1
    round_bytes: float = 2_200.0  # shuffled for an undecided document in one round: duplicates in Spark, 10⁵ documents
    round_cpu: float = 28.3 / 92_000  # executors' CPU seconds for the same
    undecided: float = 0.57  # share of the documents that share a bucket at first
    left: float = 0.45  # share of the undecided that a round leaves: between .3 and .5
    block: int = 20_000  # undecided documents that one task decides in their order: crawler.dedup.rounds
    duckdb_cpu: float = 57.6e-6  # CPU seconds of a document: bench.scale --documents 1000000


@dataclass(frozen=True, slots=True)
class Crawl:
    """What is to be crawled. fresh: new URLs that a page brings; kept: share of the pages; delay: seconds between
    requests to a domain; core_hour: its price, in any currency.
    """

    pages: float = 1e9
    days: float = 30.0
    fresh: float = 5.0
    kept: float = 0.4
    page_bytes: float = 9e3  # in the archive, compressed
    record_bytes: float = 2e3  # of a kept page, compressed
    delay: float = 1.0
    executor_cores: int = 4
    core_hour: float = 0.04


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    part: str
    computed: str
    needs: str


def rounds_of(documents: float, measured: Measured) -> tuple[int, float]:
    """Rounds until one task decides the rest, and in how many rounds each document is looked at on average."""
    waiting, number, looked = documents * measured.undecided, 0, 0.0
    while waiting > measured.block:
        looked += waiting
        waiting *= measured.left
        number += 1
    return number, (looked + waiting) / documents if documents else 0.0


def simulate(crawl: Crawl, measured: Measured | None = None) -> list[Row]:
    """The table. Raises: ValueError where a figure is not above 0."""
    m = measured or Measured()
    if min(crawl.pages, crawl.days, crawl.page_bytes, crawl.record_bytes, crawl.executor_cores) <= 0:
        raise ValueError("pages, days, bytes and cores: expected numbers above 0")
    rate, kept, urls = crawl.pages / crawl.days / 86_400, crawl.pages * crawl.kept, crawl.pages * crawl.fresh
    queued = max(0.0, urls - crawl.pages)
    frontier = (urls * m.seen_bytes + queued * m.queued_bytes + crawl.pages * m.visit_bytes) / GB
    servers = max(1, math.ceil(frontier / SERVER_GB))
    workers = math.ceil(rate * RESERVE / m.worker_pages)
    cores = rate * m.page_ms / 1000
    number, looked = rounds_of(crawl.pages, m)
    spark_hours = crawl.pages * looked * m.round_cpu / 3600
    crawl_hours = crawl.pages * m.page_ms / 1000 / 3600
    shuffle = crawl.pages * looked * m.round_bytes
    return [
        Row("pages a second", f"{_n(crawl.pages)} in {crawl.days:g} days", _n(rate)),
        Row("seen-set", f"{_n(urls)} × {m.seen_bytes:g} B", _bytes(urls * m.seen_bytes)),
        Row("queues, at the end", f"{_n(queued)} × {m.queued_bytes:g} B", _bytes(queued * m.queued_bytes)),
        Row("visits (`RECRAWL_REMEMBER`)", f"{_n(crawl.pages)} × {m.visit_bytes:g} B",
            _bytes(crawl.pages * m.visit_bytes)),
        Row("frontier in all", f"servers of {SERVER_GB} GB", f"{_bytes(frontier * GB)}: {_n(servers)}"),
        Row("servers' CPU", f"{_n(rate)} × {m.server_ms:g} ms", f"{_n(rate * m.server_ms / 1000)} cores"),
        Row("duplicate index", f"{_n(kept)} × {m.index_bytes:g} B",
            _bytes(kept * m.index_bytes) + (": in rounds instead" if kept > 1e8 else "")),
        Row("workers' CPU", f"{_n(rate)} × {m.page_ms:g} ms", f"{_n(cores)} cores"),
        Row("workers of two cores", f"{_n(rate)} × {RESERVE:g} / {m.worker_pages:g} a second",
            f"{_n(workers)}, {_bytes(workers * m.worker_gib * 2**30)} of memory"),
        Row("domains at the same time", f"{_n(rate)} × {crawl.delay:g} s", f"at least {_n(rate * crawl.delay)}"),
        Row("network, in", f"{_n(rate)} × {_bytes(crawl.page_bytes)}", f"{_bytes(rate * crawl.page_bytes)} a second"),
        Row("archive", f"{_n(crawl.pages)} × {_bytes(crawl.page_bytes)}",
            f"{_bytes(crawl.pages * crawl.page_bytes)}, {_n(crawl.pages * crawl.page_bytes / FILE_BYTES)} files"),
        Row("shards", f"{_n(kept)} × {_bytes(crawl.record_bytes)}", _bytes(kept * crawl.record_bytes)),
        Row("duplicates in Spark: rounds", f"{m.undecided:g} undecided, {m.left:g} of them after each",
            f"{number} and a last task"),
        Row("of it shuffled", f"{_n(crawl.pages)} × {looked:.2f} × {m.round_bytes / 1000:g} kB", _bytes(shuffle)),
        Row("executors' CPU", f"{_n(crawl.pages)} × {looked:.2f} × {1e6 * m.round_cpu:.0f} µs",
            f"{_n(spark_hours)} core-hours: {_n(spark_hours / crawl.executor_cores)} hours of one executor of "
            f"{crawl.executor_cores} cores"),
        Row("duplicates in DuckDB", f"{_n(crawl.pages)} × {1e6 * m.duckdb_cpu:.0f} µs",
            f"{_n(crawl.pages * m.duckdb_cpu / 3600)} core-hours on one machine"),
        Row("money for CPU", f"({_n(crawl_hours)} + {_n(spark_hours)}) core-hours × {crawl.core_hour:g}",
            _n((crawl_hours + spark_hours) * crawl.core_hour)),
    ]  # fmt: skip


def table(crawl: Crawl) -> str:
    """As Markdown."""
    lines = ["| part | computed | needs |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {row.part} | {row.computed} | {row.needs} |" for row in simulate(crawl))]) + "\n"


def _n(value: float) -> str:
    if value >= 1e8:
        exponent = math.floor(math.log10(value))
        return f"{value / 10**exponent:.2g} × 10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    if value < 10:
        return f"{value:.2g}"
    return f"{float(f'{value:.3g}'):,.0f}"


def _bytes(value: float) -> str:
    for unit, size in (("PB", 1e15), ("TB", 1e12), ("GB", GB), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{_n(value / size)} {unit}"
    return f"{value:.0f} B"
