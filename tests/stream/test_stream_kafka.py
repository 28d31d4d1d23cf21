"""A consumer's table is the corpus, over a topic too: on librdkafka's mock cluster in a process of its own."""

from __future__ import annotations

import threading

import orjson
import pytest

from crawler.dataset.exclude import Wish, withdraw
from crawler.storage.files.place import Place
from crawler.stream.kafka_client import settings_of
from crawler.stream.message import StreamError
from crawler.stream.target import address_of
from tests.support.kafka import mock_cluster
from tests.support.streaming import Line, exported

confluent_kafka = pytest.importorskip("confluent_kafka", reason="confluent-kafka is optional")
pytest.importorskip("duckdb", reason="duckdb is optional")
NOW = 1_800_000_000.0
PARTITIONS = 3


@pytest.fixture
def broker():
    with mock_cluster("pages", PARTITIONS) as broker:
        yield broker


@pytest.fixture
def line(folder, broker, tmp_path):
    return Line(folder.path, f"kafka://{broker.address}/pages", tmp_path)


def filled(folder, kept, count):
    corpus = folder.opened()
    for number in range(count):
        url = f"https://site{number % 7}.example/{number}"
        corpus.keep(kept(number, url=url, canonical_url=url))
    corpus.close()


def assert_equal(line, table="table.duckdb"):
    assert line.read(table) == ""
    expected = exported(line.corpus)
    assert line.table(table) == expected
    return len(expected)


def in_topic(broker, topic="pages"):
    """Every message of a topic: partition, headers, value."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.address, "group.id": "test"})
    try:
        lanes = consumer.list_topics(topic, timeout=20).topics[topic].partitions
        found = []
        for lane in lanes:
            _, end = consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, lane), timeout=20)
            consumer.assign([confluent_kafka.TopicPartition(topic, lane, 0)])
            while sum(one.partition() == lane for one in found) < end:
                found += [one for one in consumer.consume(500, 0.2) if one.error() is None]
        return [(one.partition(), dict(one.headers()), orjson.loads(one.value())) for one in found]
    finally:
        consumer.close()


def test_a_corpus_becomes_an_equal_table_and_stays_one(line, folder, kept, broker):
    filled(folder, kept, 60)
    told = line.send()
    assert told == {"begin": PARTITIONS, "record": 60, "complete": PARTITIONS}
    assert assert_equal(line) == 60
    url = "https://site2.example/9"
    withdraw(Place(str(folder.path)), Wish("asked", revoked=lambda record: record["url"] == url), now=NOW)
    assert line.send() == {"withdraw": 1}
    assert assert_equal(line) == 59
    assert [value["key"] for _, _, value in in_topic(broker, "pages.withdrawals")] == [url]
    hosts = {}
    for lane, headers, value in in_topic(broker):
        assert headers["sequence"] == str(value["sequence"]).encode()
        assert headers["writer"] == value["writer"].encode()
        if value["key"]:
            hosts.setdefault(value["key"].split("/")[2], set()).add(lane)
    assert len(hosts) == 7
    assert all(len(lanes) == 1 for lanes in hosts.values())


def test_requests_that_a_broker_refuses_for_a_while_lose_nothing(line, folder, kept, broker):
    filled(folder, kept, 40)
    broker.tell("fail 7 6 20 7")
    line.send()
    assert assert_equal(line) == 40


def test_a_broker_that_is_away_is_waited_for_with_a_full_queue(line, folder, kept, broker, tmp_path):
    filled(folder, kept, 40)
    settings = tmp_path / "client.properties"
    settings.write_text("# as for any client\nqueue.buffering.max.messages = 10\n")
    from contextlib import closing

    from crawler.stream.open import open_target
    from crawler.stream.sender import Sender
    from crawler.stream.state import State

    address = address_of(line.url)
    back = threading.Timer(2.0, broker.tell, ["up"])
    with (
        closing(open_target(address, settings)) as target,
        closing(State(line.folder / "state", address.shown, str(line.corpus))) as state,
    ):
        sender = Sender(Place(str(line.corpus)), state, target)
        sender.start()
        target.present(state.epoch, {})
        broker.tell("down")
        back.start()
        target.send(state_of_many(state), state.epoch)
        back.join()
        sender.tell()
    assert assert_equal(line) == 40


def state_of_many(state):
    """More messages than the client's queue takes, for the table without meaning: of pages that it does not have."""
    from crawler.stream.message import REMOVE, Message
    from crawler.stream.state import Waiting

    made = []
    for number in range(50):
        sequence = state.next_sequence(0)
        body = Message(REMOVE, f"https://x.example/{number}", state.writer, state.epoch, 0, sequence, 1, "").encoded()
        made.append(Waiting(0, sequence, b"", REMOVE, body))
    return made


def test_a_record_that_is_too_large_goes_as_a_reference(line, folder, kept, broker):
    corpus = folder.opened()
    corpus.keep(kept(1))
    corpus.keep(kept(2, text="A long text of many words. " * 50_000))
    corpus.close()
    line.send()
    assert assert_equal(line) == 2
    large = [value for _, _, value in in_topic(broker) if value["key"] == "https://example.org/2"]
    assert [(one["reference"]["line"], "record" in one) for one in large] == [(1, False)]


def test_what_comes_twice_counts_once(line, folder, kept, broker):
    filled(folder, kept, 20)
    line.send()
    assert line.read() == ""
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.address})
    url = "https://site2.example/9"
    (again,) = [(lane, value) for lane, _, value in in_topic(broker) if value["key"] == url]
    withdraw(Place(str(folder.path)), Wish("asked", revoked=lambda record: record["url"] == url), now=NOW)
    line.send()
    producer.produce("pages", orjson.dumps(again[1]), url, again[0])
    producer.flush()
    assert assert_equal(line) == 19


def test_a_broker_that_lost_the_topic_gets_everything_again(line, folder, kept, broker, tmp_path):
    filled(folder, kept, 20)
    line.send()
    assert line.read() == ""
    with mock_cluster("pages", PARTITIONS) as empty:
        settings = tmp_path / "client.properties"
        settings.write_text(f"bootstrap.servers={empty.address}\n")  # the same name leads elsewhere now
        line.client_config = settings
        assert line.send()["begin"] == PARTITIONS
        assert "has lost all" in line.said[-1]
        assert assert_equal(line) == 20


def test_settings_of_the_client_come_by_reference(tmp_path, monkeypatch):
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SASL_SSL\nssl.key.password=$KEY_PASSWORD\n")
    monkeypatch.setenv("KEY_PASSWORD", "first")
    monkeypatch.setenv("STREAM_PASSWORD", "second")
    found = settings_of(address_of("kafka://me@broker:9092/pages"), file)
    assert found["ssl.key.password"] == "first"
    assert (found["sasl.username"], found["sasl.password"]) == ("me", "second")
    monkeypatch.delenv("KEY_PASSWORD")
    with pytest.raises(StreamError, match=r"line 2: ssl.key.password stands in \$KEY_PASSWORD, which is not set"):
        settings_of(address_of("kafka://broker:9092/pages"), file)
    with pytest.raises(StreamError, match="read by everyone") as caught:
        address_of("kafka://me:second@broker:9092/pages")
    assert "second" not in str(caught.value)
