"""What a look at the frontier costs that has very many domains: CPU of server and exporter, and the longest command.

`python -m bench.speed.scrape [--domains N] [--looks N]` starts an embedded Valkey, puts two URLs of each domain, and
looks as `gristmill frontier export` does when Prometheus asks. Exit code 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import redis

from bench.speed.frontier import Figure, Meter, table
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.frontier.overview import overview
from crawler.observe.metrics.export import FRESH_SECONDS, MOST_SHARE
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link

BATCH = 5_000
COMMAND_MS = 20.0
"""Longest time for which one command of a look may keep the server from others; judgement: a lease takes 1 ms."""


async def measure(url: str, server: redis.Redis, domains: int, looks: int) -> list[Figure]:
    """Fill the frontier, then look."""
    frontier = Frontier(url, "bench", Limits(delay=1.0))
    await frontier.open()
    try:
        names = [f"https://host-{n}.example/{page}" for n in range(domains) for page in "ab"]
        for start in range(0, len(names), BATCH):
            await frontier.put([Link(name, depth=1) for name in names[start : start + BATCH]])
        meter = Meter(server)
        server.config_set("slowlog-log-slower-than", 0)
        server.config_set("slowlog-max-len", 100_000)
        server.slowlog_reset()
        with meter.running():
            for _ in range(looks):
                view = await overview(frontier)
        return [_checked(view.hosts, domains), *_figures(meter, looks, _longest_command(server))]
    finally:
        await frontier.close()


def _checked(seen: int, domains: int) -> Figure:
    return Figure("domains seen", seen, "domains", domains)


def _figures(meter: Meter, looks: int, longest: float) -> list[Figure]:
    wall, server, client = (value / looks for value in (meter.seconds, meter.server_cpu, meter.client_cpu))
    every = max(FRESH_SECONDS, wall / MOST_SHARE)
    return [
        Figure("a look, wall clock", 1000 * wall, "ms", note=f"so the exporter looks at most every {every:.0f} s"),
        Figure("a look, server", 1000 * server, "ms", note="of CPU"),
        Figure("a look, exporter", 1000 * client, "ms", note="of CPU"),
        Figure("server's core taken by looks", 100 * server / every, "%", 100 * MOST_SHARE, most=True),
        Figure("longest command of a look", longest, "ms", COMMAND_MS, most=True),
    ]


def _longest_command(server: redis.Redis) -> float:
    """Milliseconds for which the server answered nobody else."""
    log: Any = server.slowlog_get(100_000)
    return max(int(entry["duration"]) for entry in log) / 1000


def main() -> int:
    """Print the table. Returns 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", type=int, default=100_000)
    parser.add_argument("--looks", type=int, default=3)
    opts = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        EmbeddedServer(Path(folder)) as url,
        contextlib.closing(redis.Redis.from_url(url)) as server,
    ):
        figures = asyncio.run(measure(url, server, opts.domains, opts.looks))
    print(table(figures))
    return int(any(figure.ratio is not None and figure.ratio < 1 for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
