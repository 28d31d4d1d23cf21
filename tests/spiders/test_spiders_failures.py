"""Which failure is whose: what the spider's errback tells the frontier."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.exceptions import IgnoreRequest
from twisted.python.failure import Failure

from crawler.document import Drop, DropReason
from crawler.frontier.model import Fault, Lease
from crawler.middlewares.outcomes import Denied, Held, TryLater
from crawler.spiders.failures import drop_of, next_of, outcome_of
from crawler.urls.canonicalize import Address
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


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (Denied(DROP), DROP),
        (Held(DROP, 99.0, "https://a.example"), DROP),
        (TryLater(DROP), DROP),
        (IgnoreRequest("too far"), Drop("fetch", DropReason.DOWNLOAD_FAILED, "IgnoreRequest: too far")),
        (ValueError("no such page"), Drop("fetch", DropReason.DOWNLOAD_FAILED, "ValueError: no such page")),
    ],
)
def test_a_page_that_is_asked_for_once_has_its_verdict_whatever_went_wrong(error, verdict):
    assert drop_of(error) == verdict


def test_a_chain_that_is_too_long_or_loops_is_told_with_at_most_512_characters_of_its_next_url():
    lease = Lease(link=Link("https://a.example/2", redirects=("https://a.example/1",)))
    long = f"https://a.example/{'x' * 900}"
    loop = Lease(link=Link(long))
    too_long, looped = next_of(long, lease, 1, Address), next_of(long, loop, 9, Address)
    assert isinstance(too_long, Drop) and isinstance(looped, Drop)
    assert (too_long.reason, looped.reason) == (DropReason.TOO_MANY_REDIRECTS, DropReason.TOO_MANY_REDIRECTS)
    assert too_long.detail == f"more than 1, next would be {long}"[:512]
    assert looped.detail == f"loops back to {long}"[:512]
    assert next_of(long, lease, 2, Address) == Address(long)
