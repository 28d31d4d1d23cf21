"""The sink answers after the fsync that covers a record; one failure reaches everybody who waits."""

import asyncio
import os
import threading

import pytest

from crawler.pipelines.sink import Sink
from crawler.storage.files.errors import StorageError


def run(scenario):
    return asyncio.run(scenario)


def test_a_record_is_on_the_disk_when_keep_returns(folder, kept, exchange):
    async def scenario():
        sink = Sink(folder.corpus(), commit_seconds=0.01)
        await sink.open()
        place = await sink.archive(exchange(1))
        await sink.keep(kept(1))
        on_disk = folder.records()
        await sink.close()
        return place, on_disk

    place, on_disk = run(scenario())
    assert [record["title"] for record in on_disk] == ["Page 1"]
    assert place.file == "archive/crawl-w1-000000.warc.gz"
    assert folder.manifest()["counts"] == {"kept": 1, "rejected": 0, "archived": 1, "files": 2} | {
        "bytes": folder.manifest()["counts"]["bytes"]
    }


def test_many_waiters_share_one_commit(folder, kept, monkeypatch):
    corpus = folder.corpus()
    commits = []
    commit = corpus.commit
    monkeypatch.setattr(corpus, "commit", lambda: (commits.append(threading.current_thread().name), commit())[1])

    async def scenario():
        sink = Sink(corpus, commit_seconds=60, max_batch=50)
        await sink.open()
        await asyncio.gather(*(sink.keep(kept(n)) for n in range(50)))
        await sink.close()

    run(scenario())
    assert commits == ["corpus-writer"]
    assert len(folder.records()) == 50


def test_order_of_the_calls_is_the_order_of_the_records(folder, kept):
    async def scenario():
        sink = Sink(folder.corpus(), commit_seconds=0)
        await sink.open()
        await asyncio.gather(*(sink.keep(kept(n)) for n in range(40)))
        await sink.close()

    run(scenario())
    assert [record["title"] for record in folder.records()] == [f"Page {n}" for n in range(40)]


def test_a_failing_disk_fails_every_waiter_and_tells_the_crawl_once(folder, kept, monkeypatch):
    told = []

    async def scenario():
        sink = Sink(folder.corpus(), commit_seconds=60, max_batch=3)
        sink.on_failure.append(told.append)
        await sink.open()
        monkeypatch.setattr(os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        outcomes = await asyncio.gather(*(sink.keep(kept(n)) for n in range(3)), return_exceptions=True)
        with pytest.raises(StorageError, match="No space left"):
            await sink.keep(kept(4))
        monkeypatch.undo()
        await sink.close()
        return sink, outcomes

    sink, outcomes = run(scenario())
    assert [type(outcome) for outcome in outcomes] == [StorageError] * 3
    assert sink.failed is told[0] and len(told) == 1
    folder.opened("w1").close()  # the lock is free again


def test_a_record_without_json_form_fails_alone(folder, kept):
    async def scenario():
        sink = Sink(folder.corpus(), commit_seconds=0.01)
        await sink.open()
        outcomes = await asyncio.gather(sink.keep({"url": object()}), sink.keep(kept(1)), return_exceptions=True)
        await sink.close()
        return sink.failed, outcomes

    failed, (broken, fine) = run(scenario())
    assert failed is None and isinstance(broken, TypeError) and fine is None
    assert len(folder.records()) == 1


def test_a_folder_that_cannot_be_opened_ends_the_thread(folder):
    folder.path.write_text("a file")
    before = threading.active_count()

    async def scenario():
        sink = Sink(folder.corpus())
        with pytest.raises(StorageError, match="CORPUS_DIR"):
            await sink.open()
        await sink.close()

    run(scenario())
    assert [t.name for t in threading.enumerate() if t.name == "corpus-writer" and t.is_alive()] == []
    assert threading.active_count() <= before


def test_close_commits_what_is_waiting_and_may_be_called_twice(folder, kept):
    async def scenario():
        sink = Sink(folder.corpus(), commit_seconds=60)
        await sink.open()
        waiting = asyncio.ensure_future(sink.keep(kept(1)))
        await asyncio.sleep(0)  # the task has handed its record over
        await sink.close()
        await waiting
        await sink.close()

    run(scenario())
    assert len(folder.records()) == 1


def test_a_cancelled_waiter_does_not_disturb_the_others(folder, kept):
    async def scenario():
        sink = Sink(folder.corpus(), commit_seconds=60, max_batch=2)
        await sink.open()
        first = asyncio.ensure_future(sink.keep(kept(1)))
        await asyncio.sleep(0)
        first.cancel()
        await sink.keep(kept(2))
        await sink.close()

    run(scenario())
    assert len(folder.records()) == 2


def broken(*_):
    raise ValueError("nobody expected this")


@pytest.mark.parametrize("step", ["commit", "rest", "delivered"])
def test_an_error_that_nobody_expects_reaches_every_waiter_and_stops_the_crawl(folder, kept, monkeypatch, step):
    told = []

    async def scenario():
        corpus = folder.corpus()
        sink = Sink(corpus, commit_seconds=0.01, rest_seconds=0.01)
        sink.on_failure.append(told.append)
        await sink.open()
        await sink.keep(kept(1))
        monkeypatch.setattr(type(corpus), step, property(broken) if step == "delivered" else broken, raising=False)
        outcomes = []
        while not told:
            outcomes += await asyncio.gather(*(sink.keep(kept(n)) for n in range(3)), return_exceptions=True)
            await asyncio.sleep(0.02)  # the thread has rested
        with pytest.raises(StorageError, match="ValueError: nobody expected this"):
            await sink.keep(kept(4))
        monkeypatch.undo()
        await sink.close()
        return [outcome for outcome in outcomes if outcome is not None]

    outcomes = run(asyncio.wait_for(scenario(), 30))
    assert all(isinstance(outcome, StorageError) for outcome in outcomes)
    assert len(told) == 1 and "the same command continues" in str(told[0])
    folder.opened("w1").close()  # the lock is free again
    assert folder.records()[0]["title"] == "Page 1"


def test_an_error_that_nobody_expects_while_the_files_are_sealed_fails_the_crawl(folder, kept, monkeypatch):
    async def scenario():
        corpus = folder.corpus()
        sink = Sink(corpus, commit_seconds=0.01)
        await sink.open()
        await sink.keep(kept(1))
        monkeypatch.setattr(corpus, "_seal_all", broken)
        with pytest.raises(StorageError, match="nobody expected this"):
            await sink.close()

    run(asyncio.wait_for(scenario(), 30))
    monkeypatch.undo()
    folder.opened("w1").close()
    assert len(folder.records()) == 1
