"""Seeds out of a topic of Kafka: the value of a message is what an entry of the start list may be.

Whoever reads confirms what it has handed on; a message that was not confirmed is read again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawler.stream.kafka_client import ANSWER_SECONDS, bounds, kafka, log, made, partitions_of, settings_of
from crawler.stream.message import StreamError
from crawler.stream.target import Address


class SeedTopic:
    """One topic, all partitions of it; the group says how far it is read. Two readers bring a seed twice, which does no
    harm.

    `left_out` counts messages without a value. Raises: StreamError where no broker answers, or there is no such topic.
    """

    def __init__(self, address: Address, group: str, client_config: Path | None) -> None:
        self._topic, self._shown = address.name, address.shown
        ours = {"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        self._consumer: Any = made("Consumer", {**settings_of(address, client_config), **ours})
        self._lanes = range(partitions_of(self._consumer, self._topic, self._shown))
        confirmed = self._confirmed()
        self._consumer.assign([kafka().TopicPartition(self._topic, lane, at) for lane, at in confirmed.items()])
        self._next: dict[int, int] = {}
        self.left_out = 0

    def _confirmed(self) -> dict[int, int]:
        """Where the group goes on in each partition: behind what it has confirmed, else at the beginning."""
        library = kafka()
        wanted = [library.TopicPartition(self._topic, lane) for lane in self._lanes]
        try:
            found = self._consumer.committed(wanted, timeout=ANSWER_SECONDS)
        except library.KafkaException as error:
            raise StreamError(
                f"{self._shown}: does not say how far the topic is read ({error.args[0].str()}); run the command again"
            ) from None
        return {one.partition: max(one.offset, library.OFFSET_BEGINNING) for one in found}

    def close(self) -> None:
        """Let go of the brokers."""
        self._consumer.close()

    def read(self, most: int) -> list[bytes]:
        """The values of the next messages; empty where none came for half a second."""
        found = []
        for one in self._consumer.consume(most, 0.5):
            if one.error() is not None:
                log.warning("%s: %s", self._shown, one.error().str())
                continue
            self._next[one.partition()] = one.offset() + 1
            if one.value() is None:
                self.left_out += 1
            else:
                found.append(bytes(one.value()))
        return found

    def done(self) -> None:
        """Confirm all that was read. Where the broker does not take it now it is confirmed the next time, or read
        again: a seed that comes twice is known by then."""
        if not self._next:
            return
        library = kafka()
        at = [library.TopicPartition(self._topic, lane, offset) for lane, offset in self._next.items()]
        try:
            self._consumer.commit(offsets=at, asynchronous=False)
        except library.KafkaException as error:
            log.warning("%s: what was read is not confirmed yet (%s)", self._shown, error.args[0].str())
        else:
            self._next.clear()

    def is_at_end(self) -> bool:
        """True where the group has confirmed all that is in the topic."""
        confirmed = self._confirmed()
        ends = {lane: bounds(self._consumer, self._topic, lane, self._shown) for lane in self._lanes}
        return all(end <= first or confirmed.get(lane, -1) >= end for lane, (first, end) in ends.items())
