"""A consumer's table is the corpus, whatever becomes of the corpus: on a real Valkey."""

from __future__ import annotations

import argparse
import contextlib
import sqlite3

import orjson
import pytest
import redis

from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.rewrite import Holding, Rejection, Release, rewrite
from crawler.dataset.select import Selection, select
from crawler.dataset.supersede import supersede
from crawler.dataset.versions import Cause
from crawler.document import DropReason, Reason
from crawler.operations.declared import WrongCall
from crawler.operations.stream import declare, stream
from crawler.storage.corpus.recovery import recover
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import cut_to_last_frame
from crawler.storage.files.place import Place
from crawler.storage.files.records import released
from crawler.storage.files.shards import seal_shard
from crawler.stream.consumer import consume, main, source_of
from crawler.stream.message import PLACE, StreamError
from crawler.stream.state import FILE
from crawler.stream.table import Table
from crawler.stream.target import address_of
from tests.support.streaming import Line, exported, stream_at
from tests.support.three_domains import fill

pytest.importorskip("duckdb", reason="duckdb is optional")
NOW = 1_800_000_000.0
WRONG = ["redis://cache", "redis://cache/", "http://cache/pages", "kafka:///pages", "pages", "redis://cache/a/b"]
WRONG += ["kafka://broker/a/b", "redis://cache:x/pages", "unix:///socket"]
SECOND = "2026-02-01T00:00:00Z"


@pytest.fixture
def line(folder, redis_url, tmp_path):
    return Line(folder.path, stream_at(redis_url), tmp_path)


@pytest.fixture
def client(redis_url):
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        yield client


def assert_equal(line, table="table.duckdb"):
    assert line.read(table) == ""
    expected = exported(line.corpus)
    assert line.table(table) == expected
    return len(expected)


def messages(client, name="pages"):
    return [orjson.loads(fields[b"message"]) for _, fields in client.xrange(name)]


def test_a_finished_corpus_becomes_an_equal_table(line, folder):
    folder.filled(range(1_200))
    assert line.send() == {"begin": 1, "record": 1_200, "complete": 1}
    assert assert_equal(line) == 1_200


def test_a_second_call_sends_nothing_again(line, folder, client):
    folder.filled(range(5))
    line.send()
    length = client.xlen("pages")
    assert line.send() == {}
    assert client.xlen("pages") == length


def test_what_a_worker_has_committed_is_sent_before_its_file_is_sealed(line, folder, kept):
    corpus = folder.opened()
    corpus.keep(kept(1))
    corpus.commit()
    seen = []

    def follow(sender):
        sender.tell()
        seen.append(sender.told.kinds["record"])
        corpus.keep(kept(2))
        assert not sender.tell()  # taken, and not committed
        corpus.commit()
        sender.tell()
        seen.append(sender.told.kinds["record"])
        corpus.close()
        assert not sender.tell()  # sealed under another name, the records are those
        seen.append(sender.told.kinds["record"])

    line.sending(follow)
    assert seen == [1, 2, 2]
    assert assert_equal(line) == 2


def test_rejected_and_held_pages_are_not_sent(line, folder, kept, rejected):
    corpus = folder.opened()
    corpus.keep(kept(1))
    corpus.reject(rejected(2))
    corpus.hold(rejected(3, Reason.of("held_pii")), "pii")
    corpus.close()
    line.send()
    assert assert_equal(line) == 1


def test_a_page_that_a_person_releases_is_sent_as_released(line, folder, kept, rejected):
    corpus = folder.opened()
    corpus.keep(kept(1))
    corpus.hold(rejected(3, Reason.of("held_pii")), "pii")
    corpus.close()
    line.send()
    place = Place(str(folder.path))
    decide = lambda record: Release(released(record)) if "reason" in record else record  # noqa: E731
    rewrite(place, decide, Cause("dataset held release", "read by a person", NOW), folders=("held",))
    assert line.send() == {"release": 1}
    assert assert_equal(line) == 2


def test_a_withdrawn_page_leaves_the_table_and_its_text_the_stream(line, folder, client):
    folder.filled(range(4))
    line.send()
    client.xgroup_create("pages", "late", "0")
    assert line.read() == ""
    url = "https://example.org/2"
    withdraw(Place(str(folder.path)), Wish("asked", revoked=lambda record: record["url"] == url), now=NOW)
    assert line.send() == {"withdraw": 1}
    assert assert_equal(line) == 3
    assert [one["key"] for one in messages(client, "pages:withdrawals")] == [url]
    assert not [one for one in messages(client) if one["key"] == url and "record" in one]
    assert assert_equal(line, "late.duckdb") == 3  # the hole in the sequences is explained


def test_a_hole_that_no_withdrawal_explains_is_named(line, folder, client):
    folder.filled(range(4))
    line.send()
    client.xdel("pages", "1-3")
    assert line.read() == "the messages 3 to 3"
    assert len(line.table()) == 1
    line.send("beginning")
    assert assert_equal(line) == 4


def test_a_change_and_a_later_visit_that_found_nothing_are_told(line, folder, kept, rejected):
    folder.filled(range(4))
    line.send()
    corpus = folder.opened("w2")
    corpus.keep(kept(1, crawled_at=SECOND, text="Another text of this page. " * 5))
    corpus.reject(rejected(2, DropReason.LOW_QUALITY, crawled_at=SECOND))
    corpus.note({"recrawl/changed": 1, "recrawl/gone": 1})
    corpus.close()
    assert line.send() == {"replace": 1, "supersede": 1}
    assert assert_equal(line) == 3
    supersede(Place(str(folder.path)), now=NOW)
    assert line.send() == {}
    assert assert_equal(line) == 3


def test_an_operation_that_changes_records_while_it_is_followed_is_told(line, folder):
    folder.filled(range(5))

    def follow(sender):
        sender.tell()
        rewrite(
            Place(str(folder.path)),
            lambda record: None if record["title"] == "Page 3" else record | {"title": record["title"].upper()},
            Cause("select", "why", NOW),
        )
        sender.tell()

    assert line.sending(follow) == {"begin": 1, "record": 5, "complete": 1, "replace": 4, "remove": 1}
    assert assert_equal(line) == 4


def test_a_corpus_that_is_judged_again_while_it_is_followed_stays_the_table(line, folder, kept, rejected):
    corpus = folder.opened()
    for number in range(5):
        corpus.keep(kept(number))
    corpus.reject(rejected(5, DropReason.LOW_QUALITY, text="A text that other settings keep. " * 5))
    corpus.close()

    def decide(record):  # all that `dataset rejudge` may answer
        if record["url"].endswith("/1"):
            return Rejection(rejected(1, DropReason.LOW_QUALITY, crawled_at=record["crawled_at"]))
        if record["url"].endswith("/2"):
            return Holding(rejected(2, Reason.of("held_pii"), crawled_at=record["crawled_at"]))
        if record["url"].endswith("/3"):
            return record | {"quality_score": 0.5}
        return Release(kept(5)) if record["url"].endswith("/5") else record

    def follow(sender):
        sender.tell()
        cause = Cause("dataset rejudge", "judged again", NOW)
        rewrite(Place(str(folder.path)), decide, cause, folders=("shards", "held", "rejected"), mixed=True)
        sender.tell()

    told = line.sending(follow)
    assert (told["replace"], told["remove"], told["release"]) == (1, 2, 1)
    assert assert_equal(line) == 4


def test_a_corpus_whose_replaced_records_are_taken_out_while_it_is_followed_stays_the_table(line, folder, kept):
    folder.filled(range(4))

    def follow(sender):
        sender.tell()
        corpus = folder.opened("w2")
        corpus.keep(kept(1, crawled_at=SECOND, text="Another text of this page. " * 5))
        corpus.note({"recrawl/changed": 1})
        corpus.commit()
        sender.tell()
        corpus.close()
        supersede(Place(str(folder.path)), now=NOW)
        sender.tell()

    assert line.sending(follow) == {"begin": 1, "record": 4, "complete": 1, "replace": 1}
    assert assert_equal(line) == 4


def test_a_server_that_lost_everything_gets_everything_again(line, folder, client):
    folder.filled(range(4))
    line.send()
    assert line.read() == ""
    withdraw(Place(str(folder.path)), Wish("asked", revoked=lambda record: record["title"] == "Page 1"), now=NOW)
    client.flushall()
    assert line.send() == {"begin": 1, "record": 3, "withdraw": 1, "complete": 1}
    assert "has lost all" in line.said[-1]
    assert assert_equal(line) == 3
    assert len(messages(client, "pages:withdrawals")) == 1


def test_a_server_that_is_emptied_while_it_is_followed_gets_everything_again(line, folder, client):
    folder.filled(range(4))

    def follow(sender):
        sender.tell()
        client.flushall()
        sender.tell()

    assert line.sending(follow)["begin"] == 2
    assert assert_equal(line) == 4


def test_a_sender_that_lost_its_state_begins_anew_and_old_pages_leave_the_table(line, folder, client):
    folder.filled(range(4))
    line.send()
    assert line.read() == ""
    rewrite(
        Place(str(folder.path)),
        lambda record: None if record["title"] == "Page 3" else record,
        Cause("select", "why", NOW),
    )
    assert line.send(state="other")["begin"] == 1  # it cannot know that page 3 was ever sent
    assert "this sender did not send" in line.said[-1]
    assert assert_equal(line) == 3


def test_a_sender_whose_stream_was_taken_over_stops(line, folder):
    folder.filled(range(2))
    line.send()
    line.send(state="other")
    with pytest.raises(StreamError, match="another `gristmill stream` has started this stream over"):
        line.send()
    assert assert_equal(line) == 2


def test_from_a_sequence_what_was_sent_since_is_sent_again(line, folder, client):
    folder.filled(range(10))
    line.send()
    assert line.send(9) == {"resume": 1, "record": 4 - 1}  # begin is 1, so that sequence 9 is the eighth page
    assert assert_equal(line) == 10
    with pytest.raises(StreamError, match="has sent the sequences 1 to 16"):
        line.send(99)


def test_from_now_only_what_comes_is_sent(line, folder):
    folder.filled(range(5))
    assert line.send("now") == {"begin": 1}
    folder.filled(range(5, 7), worker="w2", CRAWL_ID="crawl")
    assert line.send() == {"record": 2}
    assert line.read() == ""
    assert sorted(line.table()) == ["https://example.org/5", "https://example.org/6"]


def test_only_what_every_group_has_read_is_trimmed(line, folder, client):
    folder.filled(range(6))
    line.send()
    assert client.xlen("pages") == 8
    assert line.read("fast.duckdb") == ""
    client.xgroup_create("pages", "slow", "1-4")
    line.send()
    assert messages(client)[0]["sequence"] == 4
    client.xgroup_destroy("pages", "slow")
    line.send()
    assert [one["sequence"] for one in messages(client)] == [8]
    assert line.read("late.duckdb") == "the beginning of epoch 1"


def test_the_stream_of_somebody_else_is_refused(line, folder, client):
    folder.filled(range(2))
    client.xadd("pages", {"mine": 1})
    with pytest.raises(StreamError, match="not a message of `gristmill stream`"):
        line.send()
    client.delete("pages")
    client.set("pages", 1)
    with pytest.raises(StreamError, match="not a stream"):
        line.send()


def test_a_page_whose_time_was_over_expires_and_may_come_back(line, folder, kept):
    folder.filled(range(3))
    line.send()
    wish = Wish(
        "its time was over",
        revoked=lambda record: record["title"] == "Page 1",
        rule="lifetimes at 2026-03-01T00:00:00Z: en",
        reach="nothing",
    )
    withdraw(Place(str(folder.path)), wish, now=NOW)
    assert line.send() == {"expire": 1}
    assert assert_equal(line) == 2
    corpus = folder.opened("w2")
    corpus.keep(kept(1, crawled_at="2027-02-01T00:00:00Z", text="Fetched again later. " * 9))
    corpus.close()
    assert line.send() == {"record": 1}
    assert assert_equal(line) == 3
    assert line.send() == {}


def test_what_the_corpus_behind_it_withdraws_leaves_the_stream_of_a_selection(line, folder, tmp_path, redis_url):
    folder.filled(range(4))
    chosen = tmp_path / "chosen"
    select(Place(str(folder.path)), Place(str(chosen)), Selection(), max_bytes=10_000, now=NOW)
    of_chosen = Line(chosen, stream_at(redis_url, "chosen"), tmp_path / "second")
    (tmp_path / "second").mkdir()

    def follow(sender):
        sender.tell()
        withdraw(Place(str(folder.path)), Wish("asked", revoked=lambda record: record["title"] == "Page 1"), now=NOW)
        sender.tell()

    assert of_chosen.sending(follow) == {"begin": 1, "record": 4, "complete": 1, "withdraw": 1}
    assert assert_equal(of_chosen) == 3


@pytest.mark.parametrize("shard_format", ["parquet", "jsonl.gz"])
def test_a_file_is_read_once_whatever_format_it_is_sealed_in(line, folder, kept, shard_format):
    corpus = folder.opened(SHARD_FORMAT=shard_format)
    corpus.keep(kept(1))
    corpus.commit()

    def follow(sender):
        sender.tell()
        corpus.keep(kept(2))
        corpus.close()
        sender.tell()
        assert not sender.tell()

    assert line.sending(follow) == {"begin": 1, "record": 2, "complete": 1}
    assert assert_equal(line) == 2


def test_a_damaged_file_is_named_and_nothing_leaves_the_table(line, folder):
    folder.filled(range(4))
    folder.filled(range(4, 8), worker="w2", CRAWL_ID="crawl")
    line.send()
    assert line.read() == ""
    (shard,) = [path for path in (folder.path / "shards").iterdir() if "w2" in path.name]
    content = shard.read_bytes()
    shard.write_bytes(content[: len(content) // 2])
    with pytest.raises(StorageError, match="w2"):
        line.send()
    assert line.read() == ""
    assert len(line.table()) == 8
    shard.write_bytes(content)
    assert line.send() == {}


def test_a_journal_that_lost_its_end_and_a_file_no_ledger_lists_are_read_for_what_they_hold(line, folder, kept):
    corpus = folder.opened()
    for number in range(3):
        corpus.keep(kept(number))
        corpus.commit()
    corpus._kept.abandon()  # as a killed worker leaves it
    (part,) = (folder.path / "shards").glob("*.part")
    part.write_bytes(part.read_bytes()[:-5])
    line.said.clear()

    def follow(sender):
        sender.tell()
        seal_shard(cut(part))  # whoever recovers dies before the ledger says so
        assert not sender.tell()

    def cut(path):
        cut_to_last_frame(path)
        return path

    assert line.sending(follow) == {"begin": 1, "record": 2, "complete": 1}
    corpus.unlock()
    recover(Place(str(folder.path)))
    assert line.send() == {}
    assert assert_equal(line) == 2


def test_one_sender_a_state_and_one_stream_a_state(line, folder, redis_url):
    folder.filled(range(2))

    def second(_):
        with pytest.raises(StorageError, match="another `gristmill stream` uses this folder"):
            line.send()

    line.sending(second)
    line.url = stream_at(redis_url, "other")
    with pytest.raises(StorageError, match=r"belongs to target .*pages, not to .*other"):
        line.send()


def test_a_password_comes_out_of_the_environment_and_is_shown_nowhere(monkeypatch):
    monkeypatch.setenv("STREAM_PASSWORD", "s/cret")
    address = address_of("rediss://me@cache:6380/2/pages?ssl_ca_certs=/ca.crt")
    assert address.server == "rediss://me:s%2Fcret@cache:6380/2?ssl_ca_certs=%2Fca.crt"
    assert (address.shown, address.name) == ("rediss://cache:6380/2/pages", "pages")
    with pytest.raises(StreamError, match="STREAM_PASSWORD") as caught:
        address_of("redis://me:geheim@cache/pages")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("url", WRONG)
def test_an_address_that_names_no_stream_is_refused_with_what_is_expected(url):
    with pytest.raises(StreamError, match="expected redis://host:port/STREAM"):
        address_of(url)


def test_a_wrong_call_of_the_command_is_told_as_one(folder):
    folder.filled(range(1))
    parser = argparse.ArgumentParser()
    declare(parser)
    with pytest.raises(WrongCall, match="--to: 'nowhere': expected redis://host:port/STREAM"):
        stream(str(folder.path), parser.parse_args(["--to", "nowhere"]))


# --- what moves within the archive -----------------------------------------------------------------------------------
def erase(line, number):
    url = f"https://birch.example/{number}"
    withdraw(Place(str(line.corpus)), Wish("asked", revoked=lambda record: record["url"] == url), now=NOW)


def test_pages_whose_archive_is_renamed_are_told_as_moved_and_need_no_embedding_again(line, client):
    fill(line.corpus)
    line.send()
    assert line.read() == ""
    told = {one["key"]: one for one in messages(client) if "record" in one}
    erase(line, 0)
    kinds = line.send()
    assert set(kinds) == {"withdraw", "moved"} and kinds["moved"] > 0
    for one in messages(client):
        if one["kind"] == "moved":
            before = told[one["key"]]
            differ = {name for name, value in one["record"].items() if before["record"][name] != value}
            assert "warc_file" in differ <= PLACE
            assert one["content"] == before["content"]
    assert assert_equal(line) == len(told) - 1


def test_a_page_whose_text_changes_while_its_archive_is_renamed_is_replaced(line, client):
    fill(line.corpus)
    line.send()
    told = {one["key"]: one["content"] for one in messages(client) if "record" in one}
    erase(line, 0)
    changed = lambda record: record | {"title": "Another"} if record["url"] in told else record  # noqa: E731
    rewrite(Place(str(line.corpus)), changed, Cause("select", "why", NOW))
    kinds = line.send()
    assert (kinds["replace"], kinds.get("moved")) == (len(told) - 1, None)
    replaced = [one for one in messages(client) if one["kind"] == "replace"]
    assert all(one["content"] != told[one["key"]] for one in replaced)
    line.send("beginning")
    again = {one["key"]: one["content"] for one in messages(client) if one["kind"] == "record"}
    assert again == {one["key"]: one["content"] for one in replaced}
    assert assert_equal(line) == len(told) - 1


def test_a_state_of_an_older_version_sends_nothing_again_and_learns_what_moves(line):
    fill(line.corpus)
    line.send()
    with contextlib.closing(sqlite3.connect(line.folder / "state" / FILE)) as state:
        state.execute("UPDATE pages SET digest = substr(digest, 1, 16)")
        state.commit()
    assert line.send() == {}
    erase(line, 0)
    assert set(line.send()) == {"withdraw", "moved"}


# --- the consumer's command ------------------------------------------------------------------------------------------
def test_a_consumer_of_a_stream_that_is_not_there_names_it_and_makes_none(line, redis_url, client, capsys):
    before = client.keys()
    assert main([stream_at(redis_url, "pagse"), str(line.folder / "table.duckdb")]) == 1
    assert "pagse: there is no such stream; correct its name" in capsys.readouterr().err
    assert client.keys() == before
    assert not (line.folder / "table.duckdb").exists()


def test_a_consumer_makes_no_stream_on_a_server_that_was_emptied(line, folder, client):
    folder.filled(range(3))
    line.send()
    source = source_of(line.url, "table")
    with contextlib.closing(source), contextlib.closing(Table(line.folder / "table.duckdb")) as table:
        consume(source, table, follow=False)
        client.flushall()
        assert source.read(table.positions()) == []
        assert client.keys() == []


def test_a_second_table_with_the_group_of_the_first_is_told_to_take_its_own(line, folder, capsys):
    folder.filled(range(3))
    line.send()
    first, second = (str(line.folder / f"{name}.duckdb") for name in ("first", "second"))
    assert main([line.url, first]) == 0
    assert capsys.readouterr().err == ""
    assert main([line.url, second]) == 0
    assert "warning: the group 'consumer' has read" in capsys.readouterr().err
    assert main([line.url, first]) == 0
    line.send()  # trims what the group has read
    assert main([line.url, str(line.folder / "third.duckdb")]) == 1
    said = capsys.readouterr().err
    assert "give each table a group of its own with --group NAME, then start the stream over" in said


def test_a_consumer_speaks_of_the_address_and_a_wrong_one_is_a_wrong_call(tmp_path, capsys):
    assert main([f"unix://{tmp_path}/none?stream=pages", str(tmp_path / "table.duckdb")]) == 1
    said = capsys.readouterr().err
    assert "correct the address" in said and "--to" not in said
    with pytest.raises(SystemExit) as ended:
        main(["nowhere", str(tmp_path / "table.duckdb")])
    assert ended.value.code == 2
