"""Settings of the Kafka client, and what both ends of a topic ask a broker.

TLS and SASL come by reference: from a file of librdkafka's properties, in which `$NAME` stands for a variable of the
environment, and from STREAM_PASSWORD for the user in the address. No secret is on the command line or in the log.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from crawler.stream.message import StreamError
from crawler.stream.target import PASSWORD, Address

log = logging.getLogger(__name__)
OF_WITHDRAWALS = ".withdrawals"
"""Follows the name of the topic."""
ANSWER_SECONDS = 20.0
LARGEST = 1_000_000
"""librdkafka's and the brokers' usual `message.max.bytes`."""


def kafka() -> Any:
    """The client library. Raises: StreamError where it is not installed."""
    try:
        import confluent_kafka  # late: only streams to Kafka need it
    except ImportError:
        raise StreamError("confluent-kafka: not installed; run pip install 'gristmill[stream]'") from None
    return confluent_kafka


def settings_of(address: Address, file: Path | None) -> dict[str, str]:
    """Of producer and consumer alike. Raises: StreamError where the file is unreadable or names what is not set."""
    found = {"bootstrap.servers": address.server, "client.id": "gristmill-stream"}
    found |= _read(file) if file is not None else {}
    if address.user:
        if PASSWORD not in os.environ:
            raise StreamError(f"{address.shown}: the address names a user; set the password in {PASSWORD}")
        found |= {"sasl.username": address.user, "sasl.password": os.environ[PASSWORD]}
    return found


def _read(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StreamError(f"{file}: cannot be read ({error}); give the file of the client's settings") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not name:
            raise StreamError(f"{file}: line {number}: expected name=value of a librdkafka setting")
        if value.startswith("$"):
            if value[1:] not in os.environ:
                raise StreamError(f"{file}: line {number}: {name} stands in {value}, which is not set; export it")
            value = os.environ[value[1:]]
        found[name] = value
    return found


def made(kind: str, settings: dict[str, Any]) -> Any:
    """A `Producer` or `Consumer`. Raises: StreamError where a setting is none."""
    library = kafka()
    try:
        return getattr(library, kind)(settings, logger=log)
    except library.KafkaException as error:
        raise StreamError(f"--client-config: {error.args[0].str()}") from None


def partitions_of(client: Any, topic: str, shown: str) -> int:
    """How many partitions a topic has. Raises: StreamError where no broker answers, or there is no such topic."""
    library = kafka()
    try:
        found = client.list_topics(topic, timeout=ANSWER_SECONDS).topics[topic]
    except library.KafkaException as error:
        raise StreamError(
            f"{shown}: no broker answers ({error.args[0].str()}); start it, or correct the address or --client-config"
        ) from None
    if found.error is not None or not found.partitions:
        raise StreamError(
            f"{shown}: there is no such topic ({found.error}); create it, then run the same command again"
        )
    return len(found.partitions)


def bounds(consumer: Any, topic: str, lane: int, shown: str) -> tuple[int, int]:
    """First offset of a partition, and the one behind its last. Raises: StreamError where no broker answers."""
    library = kafka()
    try:
        found = consumer.get_watermark_offsets(library.TopicPartition(topic, lane), timeout=ANSWER_SECONDS)
    except library.KafkaException as error:
        raise StreamError(f"{shown}: no broker answers ({error.args[0].str()}); run the same command again") from None
    if found is None:
        raise StreamError(f"{shown}: no broker answers within {ANSWER_SECONDS:.0f} s; run the same command again")
    return int(found[0]), int(found[1])
