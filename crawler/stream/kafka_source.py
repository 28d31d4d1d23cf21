"""Reads a topic of Kafka for one consumer, whose table says how far each partition is read.

The group's offsets are committed as well, for tools that show how far it is behind; nobody reads them back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawler.stream.kafka_client import bounds, kafka, log, made, partitions_of, settings_of
from crawler.stream.message import Message, decoded
from crawler.stream.table import Arrived, Position
from crawler.stream.target import Address

_AT_ONCE = 500


class KafkaSource:
    """All partitions of one topic. Raises: StreamError where no broker answers."""

    keeps_all = False
    """A compacted topic keeps the last message of each page: holes between are no loss."""
    shared = ""
    """The table says where to read on: who else has the group does not matter."""

    def __init__(self, address: Address, group: str, client_config: Path | None) -> None:
        self._topic, self._shown = address.name, address.shown
        ours = {"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        settings = {**settings_of(address, client_config), **ours}
        self._consumer: Any = made("Consumer", settings)
        self._lanes = range(partitions_of(self._consumer, self._topic, self._shown))
        self._lost: dict[int, str] = {}
        self._at: dict[int, int] = {}
        self._is_assigned = False

    def close(self) -> None:
        """Let go of the brokers."""
        self._consumer.close()

    def read(self, positions: dict[int, Position]) -> list[Arrived]:
        """The next messages; empty once every partition is read to its end."""
        if not self._is_assigned:
            self._assign(positions)
        while True:
            found = [one for one in self._consumer.consume(_AT_ONCE, 0.5) if self._is_message(one)]
            if found:
                return [self._arrived(one) for one in found]
            if self._is_at_end():
                return []

    def _assign(self, positions: dict[int, Position]) -> None:
        library, assigned = kafka(), []
        for lane in self._lanes:
            at = int(positions[lane].place) if lane in positions else 0
            first, end = bounds(self._consumer, self._topic, lane, self._shown)
            if first > at:
                self._lost[lane] = f"the messages before offset {first:,} of partition {lane}"
            self._at[lane] = max(first, at) if at <= end else first
            assigned.append(library.TopicPartition(self._topic, lane, self._at[lane]))
        self._consumer.assign(assigned)
        self._is_assigned = True

    def _is_message(self, one: Any) -> bool:
        if (error := one.error()) is None:
            return True
        if error.code() != kafka().KafkaError._PARTITION_EOF:  # public in all but its name
            log.warning("%s: %s", self._shown, error.str())
        return False

    def _is_at_end(self) -> bool:
        for one in self._consumer.position(self._consumer.assignment()):  # behind records that are no messages, too
            self._at[one.partition] = max(self._at[one.partition], one.offset)
        return all(self._at[lane] >= bounds(self._consumer, self._topic, lane, self._shown)[1] for lane in self._lanes)

    def _arrived(self, one: Any) -> Arrived:
        self._at[one.partition()] = one.offset() + 1
        message = decoded(one.value() or b"", f"{self._shown}, partition {one.partition()}, offset {one.offset()}")
        return Arrived(message, str(one.offset() + 1), self._lost.pop(one.partition(), ""))

    def done(self, positions: dict[int, Position]) -> None:
        """All before these positions is in the table."""
        library = kafka()
        at = [library.TopicPartition(self._topic, lane, int(one.place)) for lane, one in positions.items()]
        self._consumer.commit(offsets=at, asynchronous=True)

    def excused(self, message: Message, missing: range) -> bool:  # noqa: ARG002  # nobody asks
        """Holes mean nothing."""
        return True
