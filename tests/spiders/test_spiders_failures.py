"""Which failure is whose: what the spider's errback tells the frontier."""

from __future__ import annotations

import asyncio

import pytest
from twisted.python.failure import Failure

from crawler.document import Drop, DropReason
from crawler.frontier.model import Fault, Lease
from crawler.middlewares.outcomes import TryLater
from crawler.spiders.failures import outcome_of
from crawler.urls.link import Link

DROP = Drop("fetch", DropReason.HTTP_ERROR, "HTTP 503")
LEASE = Lease(link=Link("https://a.example/"), token="0.1.a", scope="a.example")


class Frontier:
    """Notes what it is told; what it does with that is tested elsewhere."""

    def __init__(self) -> None:
        self.told: list[object] = []

    async def retry(self, token: str, not_before: float | None, reason: str, *, fault: Fault) -> bool:
        self.told.append(fault)
        return True

    async def block(self, url: str, until: float, reason: str) -> None:
        self.told.append(until)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (TryLater(DROP), [Fault.HOST]),
        (TryLater(DROP, None, host_wide=True), [Fault.LOAD]),
        (TryLater(DROP, 99.0, host_wide=True), [99.0, Fault.HOST]),
    ],
    ids=["no answer or 5xx", "429 or 503", "with Retry-After"],
)
def test_a_failure_is_the_hosts_and_overload_without_a_time_slows_everybody_down(error, told):
    frontier = Frontier()
    assert asyncio.run(outcome_of(Failure(error), LEASE, frontier)) is None
    assert frontier.told == told
