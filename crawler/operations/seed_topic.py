"""`gristmill seed --topic kafka://HOST/TOPIC`: what a topic holds waits in the start list for the crawl's workers.

They judge it as they judge what anybody puts there: by the scope of the crawl, and what is no seed they name in the
log. A message is confirmed to the broker once the server has its seed on the disk.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.operations.answer import Answer

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.frontier.client import Frontier

_AT_ONCE = 500


def declare(parser: argparse.ArgumentParser) -> None:
    """The topic."""
    group = parser.add_argument_group("Seeds from Kafka, for a crawl that runs or will")
    group.add_argument("--topic", metavar="URL", help='kafka://HOST/TOPIC, a URL or {"url": …, "priority": …} each')
    group.add_argument("--follow", action="store_true", help="wait for what comes, until Ctrl-C")
    group.add_argument("--client-config", metavar="FILE", type=Path, help="settings of the Kafka client (TLS, SASL)")


def pour(config: Config, key: str, opts: argparse.Namespace) -> Answer:
    """Move the seeds of a topic to the list at `key`. Raises: StreamError, FrontierError."""
    from crawler.frontier.operate import with_frontier
    from crawler.server.lists import append
    from crawler.stream.message import StreamError
    from crawler.stream.seed_topic import SeedTopic
    from crawler.stream.target import address_of

    address = address_of(opts.topic)
    if address.kind != "kafka":
        raise StreamError(
            f"{address.shown}: expected kafka://HOST/TOPIC; a Redis stream is read by the workers themselves"
        )
    queued = 0

    async def work(frontier: Frontier) -> None:
        nonlocal queued
        while True:
            entries = await asyncio.to_thread(topic.read, _AT_ONCE)
            if entries:
                await append(frontier.connection, key, entries)
                queued += len(entries)
            await asyncio.to_thread(topic.done)
            if not entries and not opts.follow and await asyncio.to_thread(topic.is_at_end):
                return

    with closing(SeedTopic(address, f"gristmill-{config.crawl.crawl_id}", opts.client_config)) as topic:
        try:
            with_frontier(config, work, begins=True)
        except KeyboardInterrupt:  # what was not confirmed is read again
            if not opts.follow:
                raise
        left_out = topic.left_out
    lines = [f"{number_of(queued, 'seed')} of {address.shown} wait in {key} for the workers of the crawl"]
    lines += [f"{number_of(left_out, 'message')} without a value: left out"] if left_out else []
    return Answer({"added": 0, "known": 0, "refused": {}, "queued": queued}, lines)
