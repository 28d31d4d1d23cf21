"""/live says whether the event loop of a worker turns, /ready whether its frontier answers it."""

from __future__ import annotations

import asyncio
import contextlib
import time
import urllib.error
import urllib.request

import pytest
from prometheus_client.registry import Collector

from crawler.observe.metrics.endpoint import served
from crawler.observe.metrics.health import LIVE_SECONDS, Pulse, silence
from tests.support.clock import FakeClock
from tests.support.ports import free_port
from tests.support.server import kill
from tests.support.serving import DEADLINE


class NoMetrics(Collector):
    def collect(self):
        return iter(())


def asked(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def until(address: str, status: int) -> str:
    end = time.monotonic() + DEADLINE
    while True:
        with contextlib.suppress(OSError):
            found, text = asked(address)
            if found == status:
                return text
        assert time.monotonic() < end, f"{address} did not come to answer {status}"
        time.sleep(0.05)


def test_a_loop_that_does_not_turn_is_told_after_a_minute_and_not_before():
    clock = FakeClock()
    pulse = Pulse(clock)

    async def main() -> None:
        beating = asyncio.ensure_future(pulse.beat())
        with served(NoMetrics(), "127.0.0.1", 0, {"/live": pulse.problem}) as port:
            await asyncio.sleep(0)
            clock.advance(LIVE_SECONDS)  # from here on this coroutine holds the loop
            assert asked(f"http://127.0.0.1:{port}/live") == (200, "ok\n")
            clock.advance(1.0)
            assert asked(f"http://127.0.0.1:{port}/live") == (503, "the event loop has not turned for 61 s\n")
            assert asked(f"http://127.0.0.1:{port}/metrics")[0] == 200
            while pulse.problem():
                await asyncio.sleep(0.01)
            assert asked(f"http://127.0.0.1:{port}/live") == (200, "ok\n")
        beating.cancel()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answered_at", "said"),
    [
        (None, "the frontier has not answered yet"),
        (0.0, "the frontier has not answered yet"),
        (940.0, ""),
        (939.0, "the frontier has not answered for 61 s; a lease ends after 120 s"),
    ],
)
def test_a_frontier_that_is_silent_for_half_a_lease_ends_readiness(answered_at, said):
    assert silence(answered_at, 120.0, now=1000.0) == said


def test_a_worker_is_not_ready_while_its_server_is_away_and_lives_all_the_same(crawl, make_site, server):
    port = free_port()
    site = make_site(pages=1)
    process = crawl.start(
        {"url": site.url(0)},
        NETWORK_PORTS=site.port,
        METRICS_PORT=port,
        REDIS_URL=server.url,
        FRONTIER_IDLE_SECONDS=0,
        FRONTIER_LEASE_SECONDS=4,
    )
    root = f"http://127.0.0.1:{port}"
    assert until(root + "/ready", 200) == "ok\n"
    kill(server)
    assert "a lease ends after 4 s" in until(root + "/ready", 503)
    assert asked(root + "/live") == (200, "ok\n")
    server.ensure()
    until(root + "/ready", 200)
    process.terminate()
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
