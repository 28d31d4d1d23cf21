"""A small consumer: keeps a DuckDB table equal to a corpus. `python -m crawler.stream.consumer URL TABLE [--follow]`.

The reference for one of your own: what it does with a message is in `table.py`.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

import orjson

from crawler.number import number_of
from crawler.problems import InputError
from crawler.server.errors import FrontierError
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import REPLACED, Place
from crawler.storage.files.shards import read_records
from crawler.stream.message import Message
from crawler.stream.table import Arrived, Position, Table
from crawler.stream.target import address_of

log = logging.getLogger(__name__)


class Source(Protocol):
    """A stream to be read."""

    keeps_all: bool
    shared: str
    """Says that another table reads with the same group; "" = none does."""

    def read(self, positions: dict[int, Position]) -> list[Arrived]:
        """The next messages; empty where none came for a moment."""

    def done(self, positions: dict[int, Position]) -> None:
        """All before these positions is in the table."""

    def excused(self, message: Message, missing: range) -> bool:
        """True where these messages are missing because what they told was withdrawn."""

    def close(self) -> None:
        """Let go of the server."""


def source_of(url: str, group: str, client_config: Path | None = None) -> Source:
    """The stream at `redis://…` or `kafka://…`. Raises: StreamError, FrontierError."""
    address = address_of(url)
    if address.kind == "kafka":
        from crawler.stream.kafka_source import KafkaSource

        return KafkaSource(address, group, client_config)
    from crawler.stream.redis_source import RedisSource

    return RedisSource(address, group)


def consume(source: Source, table: Table, *, follow: bool) -> str:
    """Read all there is, and with `follow` what comes; answers what is missing, "" = nothing. Raises: StreamError."""
    said = ""
    while True:
        arrived = source.read(table.positions())
        if arrived:
            table.take(arrived, source.excused if source.keeps_all else None)
            source.done(table.positions())
            lacks = next((at.lacks for at in table.positions().values() if at.lacks), "")
            if follow and lacks != said:
                log.warning(
                    "the stream lacks %s: the table is behind until the stream starts over", lacks or "nothing any more"
                )
            said = lacks
        elif not follow:
            positions = table.positions()
            if not positions:
                return "everything: there is no message at all"
            return said or next((at.lacks for at in positions.values() if at.lacks), "")


def resolved(place: Place, reference: str) -> bytes:
    """The record that a message refers to, as JSON. Raises: StorageError where it lies nowhere in the corpus."""
    where = orjson.loads(reference)
    for path in (where["path"], f"{REPLACED}/{where['path']}"):
        if Path(place.root / path).is_file() or place.remote:
            for line, record in enumerate(read_records(place, path)):
                if line == where["line"]:
                    return orjson.dumps(record)
    raise StorageError(f"{place.url}: has no line {where['line']} in {where['path']}; a later message refers elsewhere")


def main(words: Sequence[str] | None = None) -> int:
    """The command line; answers the exit code."""
    parser = argparse.ArgumentParser(prog="python -m crawler.stream.consumer", description=__doc__)
    parser.add_argument("url", metavar="URL", help="redis://…/STREAM or kafka://…/TOPIC, as of gristmill stream")
    parser.add_argument("table", metavar="TABLE", type=Path, help="file of the DuckDB database")
    parser.add_argument("--group", default="consumer", metavar="NAME", help="consumer group; one a table (consumer)")
    parser.add_argument("--client-config", type=Path, metavar="FILE", help="settings of the Kafka client")
    parser.add_argument("--follow", action="store_true", help="wait for what comes")
    opts = parser.parse_args(words)
    try:
        address_of(opts.url)
    except InputError as error:
        parser.error(str(error))
    try:
        with (
            closing(source_of(opts.url, opts.group, opts.client_config)) as source,
            closing(Table(opts.table)) as table,
        ):
            lacks = consume(source, table, follow=opts.follow)
            shared = source.shared
            count = table.count()
            sys.stdout.write(f"{number_of(count, 'page')} {'is' if count == 1 else 'are'} in {opts.table}\n")
    except (InputError, FrontierError, StorageError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    if lacks:
        first = f"{shared}, then " if shared else ""
        sys.stderr.write(
            f"error: {opts.url} lacks {lacks}, so that the table is behind; {first}start the stream over with "
            "`gristmill stream … --from beginning`\n"
        )
    elif shared:
        sys.stderr.write(f"warning: {shared}; what one of them has read may be dropped before the other reads it\n")
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
