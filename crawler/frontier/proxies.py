"""What workers say of the forward proxies through which they ask sites, for whoever looks at the crawl."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from crawler.frontier.shared import SharedValues

SAID_EVERY, SAID_FOR = 5.0, 120.0
"""Seconds between two words of a worker that has something to say; for how long a word holds."""


class ProxyWord(NamedTuple):
    """What one worker says of one proxy: requests through it, times that it did not serve, whether it does not now."""

    requests: int
    failures: int
    away: bool


@dataclass(frozen=True, slots=True)
class ProxyView:
    """A proxy of EGRESS_PROXIES. name: host:port; requests, failures: of `workers` workers in their runs; away: for how
    many of them it does not serve."""

    name: str
    requests: int
    failures: int
    away: int
    workers: int


async def say_of_proxies(shared: SharedValues, worker: str, words: Mapping[str, ProxyWord]) -> None:
    """Tell what this worker knows of its proxies, by host:port."""
    await shared.put_blob(f"egress:{worker}", json.dumps(words).encode(), SAID_FOR)


async def proxies_seen(shared: SharedValues, workers: Iterable[str]) -> tuple[ProxyView, ...]:
    """What these workers have said, by proxy."""
    found: dict[str, list[ProxyWord]] = {}
    for worker in workers:
        for name, word in json.loads(await shared.get_blob(f"egress:{worker}") or b"{}").items():
            found.setdefault(name, []).append(ProxyWord(*word))
    return tuple(
        ProxyView(
            name,
            sum(word.requests for word in words),
            sum(word.failures for word in words),
            sum(word.away for word in words),
            len(words),
        )
        for name, words in sorted(found.items())
    )
