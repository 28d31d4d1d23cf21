"""Whoever dies, and whenever: the consumer's table ends as the export. Real processes, real SIGKILL."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import orjson
import pytest
import redis

from crawler.stream.outgoing import Outgoing
from tests.support import warm
from tests.support.places import PROJECT
from tests.support.process import clean_environment
from tests.support.server import lose_power, size_of
from tests.support.streaming import Line, exported, stream_at

pytest.importorskip("duckdb", reason="duckdb is optional")


@pytest.fixture
def line(folder, server, tmp_path):
    return Line(folder.path, stream_at(server.url), tmp_path)


def assert_equal(line, table="table.duckdb"):
    assert line.read(table) == ""
    expected = exported(line.corpus)
    assert line.table(table) == expected
    return len(expected)


def test_after_kills_of_sender_consumer_and_server_the_table_is_the_export(tmp_path):
    from bench.stream.kills import run

    result = run(tmp_path, kills=6, seed=7)
    assert result.kills.total() == 6
    assert (result.lacks, result.differ) == ("", 0)
    assert result.table == result.export > 0


def _die_in(method, *, before):
    """Make this process die when the sender comes to a step: before it, or once it is done."""
    step = getattr(Outgoing, method)

    def dying(self, *args, **kwargs):
        if not before:
            step(self, *args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(Outgoing, method, dying)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("method", ["send", "complete", "settle", "check"])
def test_a_sender_that_dies_at_a_step_sends_every_message_once(line, folder, server, method, before):
    folder.filled(range(30))
    line.send()
    folder.filled(range(30, 40), worker="w2", CRAWL_ID="crawl")
    child = os.fork()
    if not child:
        _die_in(method, before=before)
        line.send()
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    line.send()
    assert assert_equal(line) == 40
    with contextlib.closing(redis.Redis.from_url(server.url)) as client:
        assert client.xinfo_stream("pages")["entries-added"] == 42  # begin, complete, and each page once


def test_a_server_that_loses_the_end_of_its_file_gets_it_again(line, folder, server):
    folder.filled(range(10))
    line.send()
    assert line.read("early.duckdb") == line.read("late.duckdb") == ""
    size = size_of(server)
    folder.filled(range(10, 20), worker="w2", CRAWL_ID="crawl")
    line.send()
    assert line.read("late.duckdb") == ""  # has read what the server is about to lose
    lose_power(server, size)
    told = line.send()
    assert told == {"resume": 1, "record": 10}
    assert "has lost the last 10 messages" in line.said[-1]
    assert assert_equal(line, "early.duckdb") == 20
    assert assert_equal(line, "late.duckdb") == 20


def test_a_page_is_in_the_stream_seconds_after_its_verdict_is_durable(line, folder, server, kept):
    folder.filled(range(3))
    words = ["stream", str(folder.path), "--to", line.url, "--follow"]
    with (
        contextlib.closing(redis.Redis.from_url(server.url, socket_timeout=None)) as client,
        warm.Popen(
            [sys.executable, "-m", "crawler.commands.gristmill", *words],
            cwd=PROJECT,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as sender,
    ):
        try:
            seen = "0-0"
            while seen < "1-5":  # begin, three pages, complete
                seen = client.xread({"pages": seen}, block=60_000)[0][1][-1][0].decode()
            corpus = folder.opened("w2", CRAWL_ID="crawl")
            corpus.keep(kept(7))
            corpus.commit()
            found = client.xread({"pages": seen}, block=10_000)
            assert found, "nothing came in ten seconds"
            assert orjson.loads(found[0][1][0][1][b"message"])["key"] == "https://example.org/7"
            corpus.close()
            sender.send_signal(signal.SIGINT)
            said, _ = sender.communicate(timeout=60)
        finally:
            sender.kill()
    assert sender.returncode == 0
    assert "6 messages were sent" in said
    assert "4 record" in said
