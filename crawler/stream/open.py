"""The target of an address."""

from __future__ import annotations

from pathlib import Path

from crawler.stream.target import Address, Target


def open_target(address: Address, client_config: Path | None = None) -> Target:
    """Connect. Raises: StreamError, FrontierError where the server does not answer or refuses us."""
    if address.kind == "kafka":
        from crawler.stream.kafka_target import KafkaTarget

        return KafkaTarget(address, client_config)
    from crawler.stream.redis_target import RedisTarget

    return RedisTarget(address)
