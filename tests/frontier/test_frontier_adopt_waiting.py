"""A URL that its dead worker had recorded is done wherever it waits; what somebody works on is left alone."""

from __future__ import annotations

from crawler.frontier.adopt import adopt_waiting, reclaim
from crawler.frontier.model import Mark
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack

HOSTS = ("a", "b", "c", "d")


def urls(*names: str) -> dict[str, bytes]:
    return {f"https://{name}.example/": b"" for name in names}


def test_recorded_urls_are_done_in_their_queue_on_a_pause_and_when_they_are_suspects(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link(url) for url in urls(*HOSTS)])
        a, b, c, _ = (await frontier.lease(4)).leases
        await frontier.nack(b.token, clock.now + 500.0, "HTTP 500")
        await frontier.mark([(c.token, Mark.IN_HAND)])
        clock.advance(10.0)
        (leased,) = (await frontier.lease(1, in_hand=1)).leases  # the others return
        assert leased.url == a.url
        assert await adopt_waiting(frontier, urls(*HOSTS, "unknown")) == 3
        counts = await frontier.counts()
        assert (counts.done, counts.leased, counts.queued) == (3, 1, 0)
        assert await adopt_waiting(frontier, urls(*HOSTS)) == 0
        assert await ack(frontier, [(leased.token, 0.1)]) == [True]
        assert not await frontier.connection.redis.exists(
            *(frontier.prefix(0) + k for k in ("suspects", "alone", "why"))
        )

    frontier_run(scenario, lease_seconds=10.0, delay=0.0)


def test_leases_of_a_process_that_is_certainly_gone_return_at_once_and_those_of_others_stay(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put([Link(url) for url in urls(*HOSTS)])
        frontier.bearer = "aaaaaaaa"
        gone = (await frontier.lease(2)).leases
        frontier.bearer = "bbbbbbbb"
        stay = (await frontier.lease(2)).leases
        await frontier.mark([(gone[0].token, Mark.IN_HAND)])
        assert await reclaim(frontier, "aaaaaaaa") == 2
        assert await frontier.extend([lease.token for lease in stay]) == []
        suspect = (await frontier.lease(4)).leases
        assert [(lease.url, lease.alone) for lease in suspect] == [(gone[0].url, True)]
        assert [lease.url for lease in (await frontier.lease(4)).leases] == [gone[1].url]

    frontier_run(scenario, lease_seconds=1000.0, delay=0.0)
