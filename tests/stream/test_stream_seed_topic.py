"""Seeds out of a topic wait in the start list of the crawl, confirmed once they are there."""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import sys

import pytest
import redis

from crawler.config import from_mapping
from crawler.frontier.operate import with_frontier
from crawler.operations.seed_topic import pour
from crawler.scheduler.start_urls import StartUrls
from crawler.server.errors import FrontierMisconfigured
from crawler.stream.message import StreamError
from tests.support.kafka import mock_cluster
from tests.support.places import PROJECT
from tests.support.process import clean_environment, options

confluent_kafka = pytest.importorskip("confluent_kafka", reason="confluent-kafka is optional")
KEY = "corpus:start_urls"


@pytest.fixture
def broker():
    with mock_cluster("seeds", 2) as broker:
        yield broker


def poured(broker, redis_url, tmp_path, topic="seeds"):
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "corpus"), "REDIS_URL": redis_url})
    url = f"kafka://{broker.address}/{topic}" if "://" not in topic else topic
    return pour(config, KEY, argparse.Namespace(topic=url, follow=False, client_config=None))


def produce(broker, *values):
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.address})
    for number, value in enumerate(values):
        producer.produce("seeds", value, partition=number % 2)
    assert producer.flush(30) == 0


def test_every_seed_of_a_topic_is_in_the_list_once_also_after_a_second_call(broker, redis_url, tmp_path):
    seeds = [f"https://example.org/{number}".encode() for number in range(30)]
    produce(broker, *seeds, None)
    answer = poured(broker, redis_url, tmp_path)
    assert answer.facts["queued"] == 30
    assert "1 message without a value: left out" in answer.lines
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        assert sorted(client.lrange(KEY, 0, -1)) == sorted(seeds)
        produce(broker, b'{"url": "https://example.org/late", "priority": 3}')
        assert poured(broker, redis_url, tmp_path).facts["queued"] == 1
        assert client.llen(KEY) == 31


def test_what_cannot_be_put_is_read_again(broker, redis_url, tmp_path):
    produce(broker, b"https://example.org/1")
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        client.set(KEY, "somebody else's")
        with pytest.raises(FrontierMisconfigured, match="is no list"):
            poured(broker, redis_url, tmp_path)
        client.delete(KEY)
        assert poured(broker, redis_url, tmp_path).facts["queued"] == 1
        assert client.lrange(KEY, 0, -1) == [b"https://example.org/1"]


DIES = """
import os, signal, sys
from crawler.commands.gristmill import main
from crawler.stream.seed_topic import SeedTopic
SeedTopic.done = lambda topic: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(main())
"""


def test_a_command_that_is_killed_before_it_confirms_leaves_each_seed_once_in_the_frontier(broker, redis_url, tmp_path):
    seeds = {f"https://example.org/{number}" for number in range(8)}
    produce(broker, *map(str.encode, seeds))
    settings = {"CORPUS_DIR": str(tmp_path / "corpus"), "REDIS_URL": redis_url}
    words = ["seed", "--topic", f"kafka://{broker.address}/seeds", *options(settings)]
    killed = subprocess.run([sys.executable, "-c", DIES, *words], cwd=PROJECT, env=clean_environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        waiting = client.llen(KEY)
    assert 0 < waiting <= 8
    assert poured(broker, redis_url, tmp_path).facts["queued"] == 8, "nothing was confirmed"

    async def work(frontier):
        door = StartUrls(frontier.connection, KEY, lambda url: True, frontier.put)
        assert await door.take() == waiting + 8
        return (await frontier.counts()).seen

    assert with_frontier(from_mapping(settings), work) == 8


def test_a_redis_stream_is_for_the_workers_to_read(broker, redis_url, tmp_path):
    with pytest.raises(StreamError, match="read by the workers themselves"):
        poured(broker, redis_url, tmp_path, topic="redis://localhost/seeds")
