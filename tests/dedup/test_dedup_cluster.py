"""On a Redis Cluster an index lies in one slot, so its script may do what it does."""

import asyncio
import contextlib
import random
import socket
import subprocess
import time

import pytest
import redis

from crawler.dedup.index import Match
from crawler.dedup.redis_index import RedisIndex
from crawler.server.embedded import find_binary


@pytest.fixture
def cluster_url(tmp_path):
    """One server in cluster mode that owns all slots: it refuses whatever would cross slots."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = f"--port {port} --bind 127.0.0.1 --cluster-enabled yes --appendonly no --cluster-port {port - 6000}"
    process = subprocess.Popen([find_binary(), *options.split(), "--save", ""], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        with contextlib.closing(redis.Redis(port=port)) as client:
            until(client.ping)
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            until(lambda: "cluster_state:ok" in str(client.execute_command("CLUSTER", "INFO")))
        yield f"redis://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def until(condition):
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(redis.exceptions.ConnectionError):
            if condition():
                return
        assert time.monotonic() < deadline
        time.sleep(0.02)  # polled: a server that starts cannot be waited for


def test_the_index_works_on_a_cluster(cluster_url, dedup_config):
    random_ = random.Random(1)
    texts = [(f"sha256:{random_.randbytes(32).hex()}", random_.randbytes(480), 100) for _ in range(300)]

    async def scenario():
        index = RedisIndex(cluster_url, dedup_config, crawl_id="c")
        await index.open()
        try:
            for site in ("a:", "b:"):
                answers = await asyncio.gather(*(index.check(*text, f"{site}{n}") for n, text in enumerate(texts)))
                seen[site] = answers
            seen["freed"] = await index.forget(["a:7", "a:299"])
        finally:
            await index.close()

    seen = {}
    asyncio.run(scenario())
    assert seen["a:"] == [None] * 300
    assert seen["b:"] == [Match(f"a:{n}", 1.0, exact=True) for n in range(300)]
    assert seen["freed"] == 2
