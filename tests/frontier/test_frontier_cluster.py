"""On a cluster the shards spread over the slots, and every script stays in one."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from crawler.frontier.client import Frontier
from crawler.frontier.model import Candidate, Limits, PutStatus
from crawler.frontier.server import find_binary


@pytest.fixture
def cluster_url(tmp_path: Path) -> Iterator[str]:
    """One server in cluster mode that owns all slots: it refuses whatever would cross slots."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = (
        f"--port {port} --bind 127.0.0.1 --cluster-enabled yes --save --appendonly no --cluster-port {port - 5000}"
    )
    process = subprocess.Popen([find_binary(), *options.split()], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        with contextlib.closing(redis.Redis(port=port)) as client:
            until(client.ping)
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            until(lambda: "cluster_state:ok" in str(client.execute_command("CLUSTER", "INFO")))
        yield f"redis://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def until(condition) -> None:
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(redis.exceptions.ConnectionError):
            if condition():
                return
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_every_operation_works_on_a_cluster(cluster_url):
    async def scenario() -> None:
        frontier = Frontier(cluster_url, "c", Limits(delay=0.0, shards=8, tries=2, max_pages=9))
        await frontier.open()
        candidates = [Candidate(f"https://{h}.example/{i}") for h in "abcdef" for i in range(4)]
        assert set(await frontier.put(candidates)) == {PutStatus.QUEUED}
        leases = (await frontier.lease(6)).leases
        assert len({lease.scope for lease in leases}) == 6
        assert await frontier.extend([lease.token for lease in leases]) == []
        await frontier.finish([(lease.token, None) for lease in leases])
        await frontier.nack(leases[0].token, frontier.now() + 60, "failed")
        await frontier.hold(leases[1].token, frontier.now() + 60, "doubt")
        await frontier.release([leases[2].token])
        assert await frontier.ack([(lease.token, 0.1) for lease in leases[3:]]) == [True] * 3
        await frontier.block(leases[4].scope, frontier.now() + 60, "429")
        await frontier.set_delay(leases[5].scope, 3.0, "robots:x")
        await frontier.reserve("https://b.example/robots.txt")
        await frontier.purge(leases[3].scope)
        await frontier.scope_set("{}")
        await frontier.put_blob("robots", b"x", ttl=60)
        async with frontier.single_flight("robots") as first:
            assert first
        counts = await frontier.counts()
        assert (counts.done, counts.held, counts.leased) == (3, 1, 0)
        assert counts.seen == 24
        await frontier.close()

    asyncio.run(scenario())
