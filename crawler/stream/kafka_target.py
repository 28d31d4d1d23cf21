"""A topic of Kafka: at least once. What a retry brings twice a consumer drops, by the sequence of its partition.

A page is in the partition of its host. Withdrawals also go to `TOPIC.withdrawals`, whose retention is to be unlimited.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crawler.number import number_of
from crawler.stream.kafka_client import (
    LARGEST,
    OF_WITHDRAWALS,
    bounds,
    kafka,
    log,
    made,
    partitions_of,
    settings_of,
)
from crawler.stream.message import FOR_GOOD, StreamError, decoded
from crawler.stream.state import Waiting
from crawler.stream.target import Address, Places, Present

_ENVELOPE = 8_192
"""Bytes that a message may have beside its record."""
_SAY_SECONDS = 10.0


class KafkaTarget:
    """A topic. Raises: StreamError where no broker answers at first; later it waits for one."""

    erases = False

    def __init__(self, address: Address, client_config: Path | None) -> None:
        self.url, self._topic = address.shown, address.name
        common = settings_of(address, client_config)
        self.largest = int(common.get("message.max.bytes", LARGEST)) - _ENVELOPE
        ours = {"enable.idempotence": True, "message.timeout.ms": 0, "linger.ms": 20, "compression.type": "zstd"}
        self._refused = ""
        self._producer = made("Producer", {**ours, **common, "error_cb": self._note})
        looking = {"group.id": "gristmill-stream-sender", "enable.auto.commit": False}
        self._consumer = made("Consumer", {**_shared(common), **looking, "error_cb": self._note})
        self.lanes = partitions_of(self._producer, self._topic, self.url)
        partitions_of(self._producer, self._topic + OF_WITHDRAWALS, self.url + OF_WITHDRAWALS)  # not first by a refusal
        self._epoch = 0

    def close(self) -> None:
        """Let go of the brokers; what is not confirmed stays with the sender."""
        self._producer.purge()
        self._producer.flush(1.0)
        self._consumer.close()

    def _note(self, error: Any) -> None:
        """What the client says of itself: most of it passes."""
        codes = kafka().KafkaError
        if error.fatal() or error.code() in (codes._AUTHENTICATION, codes.TOPIC_AUTHORIZATION_FAILED):
            self._refused = error.str()
        log.warning("%s: %s", self.url, error.str())

    def lane_of(self, url: str) -> int:
        """By the host, so that the pages of a site keep their order."""
        host = (urlsplit(url).hostname or "").encode("utf-8", "replace")
        return int.from_bytes(hashlib.blake2b(host, digest_size=8).digest()) % self.lanes

    def present(self, epoch: int, delivered: Places) -> Present | None:
        """What is there; where it is not what was confirmed last, the last message of each partition is read."""
        ends = {lane: bounds(self._consumer, self._topic, lane, self.url) for lane in range(self.lanes)}
        added = sum(end for _, end in ends.values())
        if not added:
            return None
        lost = any(place >= ends[lane][1] for lane, (_, place) in delivered.items() if lane in ends and place >= 0)
        if not self._epoch or any(ends[lane][1] != place + 1 for lane, (_, place) in delivered.items() if lane in ends):
            self._epoch = max((self._last_epoch(lane, *ends[lane]) for lane in ends), default=0)
        else:
            self._epoch = epoch
        return Present(self._epoch, -1, "", -1 if lost else added)

    def _last_epoch(self, lane: int, first: int, end: int) -> int:
        if end <= first:
            return 0
        library = kafka()
        self._consumer.assign([library.TopicPartition(self._topic, lane, end - 1)])
        try:
            message = self._consumer.poll(20.0)
            if message is None or message.error() is not None:
                raise StreamError(
                    f"{self.url}: the last message of partition {lane} cannot be read "
                    f"({message.error() if message else 'no answer'}); run the same command again"
                )
            return decoded(message.value() or b"", f"{self.url}, partition {lane}").epoch
        finally:
            self._consumer.unassign()

    def send(self, messages: Sequence[Waiting], epoch: int) -> Places:  # noqa: ARG002  # the messages say it
        """Return when brokers have confirmed all. Raises: StreamError where one is refused for good."""
        places: Places = {}
        failed: list[str] = []

        def confirmed(one: Waiting) -> Any:
            def take(error: Any, message: Any) -> None:
                if error is not None:
                    failed.append(f"{one.kind} {one.sequence}: {error.str()}")
                elif places.get(one.lane, (0, -1))[0] < one.sequence:
                    places[one.lane] = one.sequence, message.offset()

            return take

        def refused(error: Any, _: Any) -> None:
            if error is not None:
                failed.append(error.str())

        for one in messages:
            if one.kind in FOR_GOOD:
                self._produce(self._topic + OF_WITHDRAWALS, -1, one, refused)
            self._produce(self._topic, one.lane, one, confirmed(one))
        self._flush()
        if failed:
            raise StreamError(
                f"{self.url}: refuses {number_of(len(failed), 'message')} ({failed[0]}); all is sent again next time"
            )
        return places

    def _produce(self, topic: str, lane: int, one: Waiting, done: Any) -> None:
        """Hand a message to the client; waits while its queue is full."""
        content = decoded(one.body, self.url)
        headers = [
            ("kind", content.kind.encode()),
            ("writer", content.writer.encode()),
            ("epoch", str(content.epoch).encode()),
            ("sequence", str(one.sequence).encode()),
        ]
        key = content.key.encode("utf-8", "replace") or one.kind.encode()
        while True:
            try:
                self._producer.produce(topic, one.body, key, lane, on_delivery=done, headers=headers)
            except BufferError:
                self._check()
                self._producer.poll(0.5)
            else:
                self._producer.poll(0)
                return

    def _flush(self) -> None:
        said = time.monotonic()
        while waiting := self._producer.flush(1.0):
            self._check()
            if time.monotonic() - said > _SAY_SECONDS:
                said = time.monotonic()
                log.warning("%s: %d messages wait for a broker", self.url, waiting)

    def _check(self) -> None:
        if self._refused:
            raise StreamError(
                f"{self.url}: the broker refuses us ({self._refused}); correct --client-config or the user"
            )

    def trim(self, epoch: int) -> int | None:  # noqa: ARG002  # the topic's own retention does it
        """Kafka trims by itself."""
        return None


def _shared(settings: dict[str, str]) -> dict[str, str]:
    """What a consumer understands, too."""
    producers = ("queue.buffering.", "message.timeout", "linger", "compression", "batch.", "enable.idempotence")
    return {name: value for name, value in settings.items() if not name.startswith(producers)}
