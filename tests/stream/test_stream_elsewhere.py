"""A stream whose ends are elsewhere: a corpus in a store, a server behind TLS, a topic whose sender is killed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from crawler.config import from_mapping
from crawler.server.embedded import EmbeddedServer
from crawler.server.errors import FrontierError
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import Folder, document
from tests.support.streaming import Line, exported, stream_at
from tests.support.tls import Secured, behind_tls

pytest.importorskip("duckdb", reason="duckdb is optional")


def assert_equal(line: Line) -> int:
    assert line.read() == ""
    expected = exported(line.corpus)
    assert line.table() == expected
    return len(expected)


def upload(url: str, spool: Path, worker: str, numbers: range) -> Corpus:
    """Pages of one worker in the store; its corpus is still open."""
    corpus = Corpus(from_mapping({"CORPUS_DIR": url, "CORPUS_SPOOL_DIR": str(spool), "WORKER_ID": worker}))
    corpus.open()
    for number in numbers:
        corpus.keep(record_of(document(number)))
    return corpus


def test_a_corpus_in_a_store_is_sent_once_it_is_uploaded_and_the_table_is_the_export(
    store: str, redis_url: str, tmp_path: Path
) -> None:
    url = f"{store}/streamed"
    upload(url, tmp_path / "spool", "w1", range(30)).close()
    line = Line(url, stream_at(redis_url), tmp_path)
    assert line.send() == {"begin": 1, "record": 30, "complete": 1}
    assert assert_equal(line) == 30
    second = upload(url, tmp_path / "spool", "w2", range(30, 40))
    second.commit()
    assert line.send() == {}, "what is not uploaded yet may still be lost"
    second.close()
    assert line.send() == {"record": 10}
    assert assert_equal(line) == 40


def test_a_server_with_a_password_takes_the_stream_of_who_has_it_in_the_environment(
    server: EmbeddedServer, folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.filled(range(3))
    with contextlib.closing(redis.Redis.from_url(server.url)) as client:
        client.config_set("requirepass", "Sesame/7@")
    line = Line(folder.path, stream_at(server.url), tmp_path)
    with pytest.raises(FrontierError, match="refuses the user or the password"):
        line.send()
    monkeypatch.setenv("STREAM_PASSWORD", "Sesame/8@")
    with pytest.raises(FrontierError, match="refuses the user or the password") as caught:
        line.send()
    assert "Sesame" not in str(caught.value)
    monkeypatch.setenv("STREAM_PASSWORD", "Sesame/7@")
    assert line.send()["record"] == 3
    assert assert_equal(line) == 3


@pytest.fixture
def secured(redis_url: str, tmp_path: Path) -> Iterator[Secured]:
    with behind_tls(redis_url, tmp_path) as found:
        yield found


def test_a_stream_behind_tls_arrives_where_the_authority_is_named_and_nothing_is_sent_where_not(
    secured: Secured, folder: Folder, tmp_path: Path
) -> None:
    folder.filled(range(12))
    stranger = Line(folder.path, f"{secured.url}/pages", tmp_path / "stranger")
    with pytest.raises(FrontierError, match="certificate"):
        stranger.send()
    line = Line(folder.path, f"{secured.url}/pages?ssl_ca_certs={secured.authority}", tmp_path)
    assert line.send()["record"] == 12
    assert assert_equal(line) == 12


def test_a_sender_to_kafka_that_is_killed_leaves_a_table_that_is_the_export(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is optional")
    from bench.stream.kafka import run

    result = run(tmp_path, kills=2, seed=5)
    assert result.events["kills"] == 2
    assert (result.lacks, result.differ) == ("", 0)
    assert result.table > 0
    assert result.messages > result.table
