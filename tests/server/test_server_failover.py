"""A crawl survives its server: a replica that is promoted under the same address goes on for it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import redis

from crawler.server.embedded import find_binary
from tests.support.ports import free_port
from tests.support.serving import DEADLINE, Gate


@contextlib.contextmanager
def running(folder: Path, port: int, *more: object) -> Iterator[tuple[subprocess.Popen[bytes], redis.Redis]]:
    folder.mkdir()
    words = ["--port", port, "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes", "--save", "", *more]
    process = subprocess.Popen([find_binary(), *map(str, words)], stdout=subprocess.DEVNULL)
    client, limit = redis.Redis(port=port), time.monotonic() + DEADLINE
    try:
        while True:
            with contextlib.suppress(redis.RedisError):
                client.ping()
                break
            assert time.monotonic() < limit and process.poll() is None
            time.sleep(0.02)  # polled: another process
        yield process, client
    finally:
        client.close()
        process.kill()
        process.wait()


def test_a_crawl_goes_on_with_the_replica_that_takes_the_place_of_its_server(crawl, make_site, tmp_path):
    """Also its user, whose password has characters that an address percent-encodes and no log may show."""
    address, aside = free_port(), free_port()
    with (
        running(tmp_path / "first", address) as (server, first),
        running(tmp_path / "second", aside, "--replicaof", "127.0.0.1", address) as (_, second),
    ):
        for client in (first, second):
            client.execute_command("ACL", "SETUSER", "crawl", "on", ">se/cret@", "~*", "&*", "+@all")
        site = make_site(pages=30)
        gate = site.gate = Gate(10)
        url = f"redis://crawl:se%2Fcret%40@127.0.0.1:{address}/0"
        worker = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, REDIS_URL=url, LOG_LEVEL="INFO")
        gate.wait()
        first.set("mark", 1)  # WAIT is about what this connection has written, and whatever came before it
        assert first.wait(1, int(DEADLINE * 1000)) == 1, "the replica has all that was answered"
        server.kill()
        server.wait()
        second.execute_command("REPLICAOF", "NO", "ONE")
        second.config_set("port", address)
        gate.open()
        _, err = worker.communicate(timeout=DEADLINE)
    assert worker.returncode == 0, err
    assert set(crawl.accounted()) == site.urls()
    assert "se/cret" not in err and "se%2F" not in err
