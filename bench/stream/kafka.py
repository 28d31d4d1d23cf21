"""`python -m bench.stream.kafka --runs N --kills N`: a sender to Kafka dies again and again; the table ends equal.

The cluster is librdkafka's mock in a process of its own: real clients and protocol, no disk. Each run changes the
corpus (pages, withdrawals, operations, a recrawl), kills the sender by SIGKILL once it sends, takes the broker away or
has it refuse requests, and compares the consumer's table with `gristmill dataset export`. Messages that came twice are
counted.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import confluent_kafka
import orjson

from bench.machine import commit, machine
from bench.stream.kills import Corpus, started
from tests.support.kafka import mock_cluster
from tests.support.streaming import Line, exported

PARTITIONS = 3
LONGEST = 2.5
"""Seconds for which the sender lives on at most after its first message; a page is sent 1 to 2 after it came."""
PATIENCE = 120.0
"""Seconds for a sender to start and to send."""
REFUSALS = ("fail 7 6 20", "fail 7", "fail 20 20 6")
"""Error codes of the next Produce requests: timed out, no leader, not enough replicas after append."""


@dataclass(slots=True)
class Result:
    """What happened, and how it ended. twice: messages whose epoch and sequence a partition has already had."""

    events: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    twice: int = 0
    table: int = 0
    differ: int = 0
    lacks: str = ""


def run(folder: Path, kills: int, seed: int) -> Result:
    """One corpus, one topic, so many kills."""
    chance, result = random.Random(seed), Result()  # not for secrets
    with mock_cluster("pages", PARTITIONS) as broker, (folder / "sender.log").open("ab") as log:
        line = Line(folder / "corpus", f"kafka://{broker.address}/pages", folder)
        corpus = Corpus(folder / "corpus", chance)
        corpus.change()
        words = [sys.executable, "-m", "crawler.commands.gristmill", "stream", str(line.corpus), "--to", line.url]
        sender: subprocess.Popen[bytes] | None = None
        try:
            for _ in range(kills):
                result.events[corpus.change()] += 1
                trouble, before = chance.choice(["none", "away", *REFUSALS]), _count(broker.address)
                result.events[trouble.partition(" ")[0]] += 1
                if trouble.startswith("fail"):
                    broker.tell(trouble)
                sender = started([*words, "--follow", "--state", str(folder / "state")], log)
                _until_more(broker.address, before, sender)
                if trouble == "away":
                    broker.tell("down")
                if chance.random() < 0.5:  # else it dies in the middle of what it has begun to send
                    result.events[corpus.change()] += 1
                    time.sleep(chance.uniform(0.5, LONGEST))
                sender.kill()
                sender.wait()
                result.events["kills"] += 1
                if trouble == "away":
                    broker.tell("up")
        finally:
            if sender is not None:
                sender.kill()
                sender.wait()
        line.send()
        result.lacks = line.read()
        table, export = line.table(), exported(line.corpus)
        result.messages, result.twice = _told(broker.address)
    result.table = len(table)
    result.differ = sum(table.get(key) != export.get(key) for key in table.keys() | export.keys())
    return result


def _count(address: str) -> int:
    """Messages in the topic."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": address, "group.id": "look"})
    try:
        places = [confluent_kafka.TopicPartition("pages", lane) for lane in range(PARTITIONS)]
        return sum(consumer.get_watermark_offsets(place, timeout=20)[1] for place in places)
    finally:
        consumer.close()


def _until_more(address: str, before: int, sender: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while _count(address) <= before:
        if sender.poll() is not None or time.monotonic() > end:
            raise RuntimeError("the sender has sent nothing: see sender.log")


def _told(address: str) -> tuple[int, int]:
    """Messages in the topic, and how many of them came before under the same epoch and sequence."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": address, "group.id": "count"})
    seen: Counter[Any] = Counter()
    try:
        for lane in range(PARTITIONS):
            place = confluent_kafka.TopicPartition("pages", lane)
            first, end = consumer.get_watermark_offsets(place, timeout=20)
            consumer.assign([confluent_kafka.TopicPartition("pages", lane, first)])
            read = first
            while read < end:
                for one in consumer.consume(500, 0.2):
                    if one.error() is None:
                        value, read = orjson.loads(one.value() or b""), (one.offset() or 0) + 1
                        seen[lane, value["epoch"], value["sequence"]] += 1
    finally:
        consumer.close()
    return seen.total(), seen.total() - len(seen)


def main() -> int:
    """Print each run; 1 where a table is not the export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--kills", type=int, default=4, help="in each run (4)")
    parser.add_argument("--seed", type=int, default=1)
    opts = parser.parse_args()
    wrong, all_of_them = 0, Counter[str]()
    for number in range(opts.runs):
        with tempfile.TemporaryDirectory() as folder:
            found = run(Path(folder), opts.kills, opts.seed + number)
        wrong += bool(found.differ or found.lacks)
        all_of_them += found.events
        twice = f"{found.messages} messages, {found.twice} twice"
        print(f"{number + 1:3} {twice}; table {found.table}, {found.differ} differ, lacks {found.lacks or 'nothing'}",
              flush=True)  # fmt: skip
    print(f"{dict(all_of_them)}; {machine()}, commit {commit()}")
    print(f"{opts.runs} runs: {wrong} tables are not the export")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
