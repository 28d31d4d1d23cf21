"""A corpus in an object store: a real server of the S3 protocol, several workers, uploads that fail, files that age."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import fsspec
import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.verify import verify
from crawler.pipelines.sink import Sink
from crawler.storage.corpus import corpus as corpus_module
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.corpus.manifest import merge
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files import place as place_module
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import MANIFEST, Place
from tests.support.clock import FakeClock


@pytest.fixture
def bucket(store, tmp_path):
    return f"{store}/{tmp_path.name}"


def worker(url, tmp_path, name="w1", clock=None, **settings):
    spool = tmp_path / f"spool-{name}"
    config = from_mapping({"CORPUS_DIR": url, "CORPUS_SPOOL_DIR": str(spool), "WORKER_ID": name, **settings})
    return Corpus(config, **({"clock": clock} if clock else {}))


def test_a_corpus_in_a_bucket_is_whole_and_encrypted_as_the_environment_says(bucket, tmp_path, kept, exchange):
    corpus = worker(bucket, tmp_path)
    corpus.open()
    corpus.archive(exchange(1))
    corpus.keep(kept(1))
    corpus.close()
    findings = verify(Place(bucket))
    assert (findings.documents, findings.damage) == (1, [])
    fs = fsspec.filesystem("s3")
    for entry in Place(bucket).manifest()["files"]:
        path = f"{bucket}/{entry['path']}".removeprefix("s3://")
        name, _, key = path.partition("/")
        told = fs.call_s3("head_object", Bucket=name, Key=key)
        assert told["ServerSideEncryption"] == "AES256", path


def test_a_large_file_is_uploaded_in_parts_and_encrypted_like_every_other(bucket, tmp_path):
    place = Place(bucket, str(tmp_path / "spool"))
    relative, size = "archive/large.warc.gz", 101 * 2**20  # the driver sends up to 100 MiB at once
    (place.root / relative).parent.mkdir(parents=True)
    with (place.root / relative).open("wb") as file:
        file.write(b"begin")
        file.seek(size - 3)
        file.write(b"end")
    place.publish(relative)
    name, _, key = f"{bucket}/{relative}".removeprefix("s3://").partition("/")
    told = fsspec.filesystem("s3").call_s3("head_object", Bucket=name, Key=key)
    assert (told["ContentLength"], told["ServerSideEncryption"]) == (size, "AES256")
    assert int(told["ETag"].strip('"').partition("-")[2]) > 1, "the number of parts"
    with place.open(relative) as file:
        assert file.read(5) == b"begin"
        file.seek(size - 3)
        assert file.read() == b"end"


def test_a_crawl_into_a_bucket_keeps_what_a_crawl_into_a_folder_keeps(bucket, tmp_path, crawl, make_site):
    site = make_site(pages=3)
    done = crawl.run(
        {"url": ",".join(site.urls())},
        NETWORK_PORTS=site.port,
        CORPUS_DIR=bucket,
        CORPUS_SPOOL_DIR=tmp_path / "spool",
        SHARD_MAX_AGE_SECONDS=1,
    )
    assert done.returncode == 0, done.stderr
    place = Place(bucket)
    counts = place.manifest()["counts"]
    assert counts["kept"] + counts["rejected"] == 3 <= counts["archived"]
    assert verify(place).damage == []


def test_twelve_workers_that_end_together_are_all_in_the_manifest(bucket, tmp_path, kept):
    names = [f"w{n}" for n in range(12)]
    together = threading.Barrier(len(names))

    def run(name):
        corpus = worker(bucket, tmp_path, name)
        corpus.open()
        corpus.keep(kept(int(name[1:])))
        corpus.commit()
        together.wait(60)
        corpus.close()

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(run, names))
    manifest = Place(bucket).manifest()
    assert {entry["writer"] for entry in manifest["files"]} == {f"crawl-{name}" for name in names}
    assert manifest["counts"]["kept"] == len(names)
    assert all(run["ended"] for run in manifest["runs"])


def test_a_manifest_that_others_replace_is_read_whole_at_any_moment(bucket, tmp_path, kept):
    corpus = worker(bucket, tmp_path)
    corpus.open()
    corpus.keep(kept(1))
    corpus.close()
    reader, writer, begun, over = Place(bucket), Place(bucket), threading.Event(), threading.Event()
    content = writer.manifest()

    def replace_again_and_again():
        number = 0
        while not over.is_set():
            number += 1
            writer.put(MANIFEST, orjson.dumps(content | {"number": number}))
            begun.set()

    thread = threading.Thread(target=replace_again_and_again)
    thread.start()
    begun.wait()
    try:
        found = [reader.manifest() for _ in range(100)]
        named = [manifest_hash(reader) for _ in range(20)]
    finally:
        over.set()
        thread.join()
    assert all(one["files"] == content["files"] for one in found)
    assert len({one["number"] for one in found}) > 1 < len(set(named)), "nobody replaced it meanwhile"


def test_a_merge_that_another_worker_overtook_is_done_again(tmp_path, kept, monkeypatch):
    url = f"memory://{tmp_path.name}"
    slow, fast = worker(url, tmp_path, "slow"), worker(url, tmp_path, "fast")
    for number, corpus in enumerate((slow, fast)):
        corpus.open()
        corpus.keep(kept(number))
    save, overtaken = Place.save_json, []

    def save_late(self, relative, content):
        last = relative == MANIFEST and self is slow.place and any(run["ended"] for run in content["runs"])
        if last and not overtaken:
            overtaken.append(True)
            fast.close()  # after the slow one has read the ledgers, before it writes what it read
        save(self, relative, content)

    monkeypatch.setattr(Place, "save_json", save_late)
    slow.close()
    manifest = Place(url).manifest()
    assert overtaken and manifest["counts"]["kept"] == 2
    assert all(run["ended"] for run in manifest["runs"])
    fsspec.filesystem("memory").rm(url, recursive=True)


def test_a_remote_corpus_without_any_ledger_merges_to_an_empty_manifest(tmp_path):
    url = f"memory://{tmp_path.name}"
    assert merge(Place(url, str(tmp_path)))["files"] == []


def test_a_running_worker_merges_a_remote_manifest_once_a_minute(tmp_path, kept, monkeypatch):
    url, clock, merges = f"memory://{tmp_path.name}", FakeClock(), []
    merge_all = corpus_module.merge
    monkeypatch.setattr(corpus_module, "merge", lambda place: merges.append(clock()) or merge_all(place))
    corpus = worker(url, tmp_path, clock=clock, SHARD_MAX_DOCUMENTS=1)
    corpus.open()
    for number in range(5):
        corpus.keep(kept(number))
        clock.advance(25)
    assert len(merges) == 2  # the first file, and the one after 60 seconds
    corpus.close()
    assert Place(url).manifest()["counts"]["kept"] == 5
    fsspec.filesystem("memory").rm(url, recursive=True)


class Failing:
    """A store that fails so many uploads before it takes one."""

    def __init__(self, fs, failures, error):
        self._fs, self.failures, self._error = fs, failures, error

    def put_file(self, *args):
        if self.failures:
            self.failures -= 1
            raise self._error
        return self._fs.put_file(*args)

    def __getattr__(self, name):
        return getattr(self._fs, name)


@pytest.fixture
def pauses(monkeypatch):
    waited = []
    monkeypatch.setattr(place_module.time, "sleep", waited.append)
    return waited


def test_an_upload_that_fails_is_tried_again(tmp_path, pauses):
    url = f"memory://{tmp_path.name}"
    place = Place(url, str(tmp_path))
    place._fs = Failing(place._fs, 2, ConnectionError("reset by peer"))
    (tmp_path / "x").write_bytes(b"content")
    place.publish("x")
    assert Place(url).open("x").read() == b"content" and pauses == [1.0, 2.0]


def test_an_upload_that_keeps_failing_stops_the_worker_and_the_next_start_brings_the_file(tmp_path, kept, pauses):
    url = f"memory://{tmp_path.name}"
    corpus = worker(url, tmp_path)
    corpus.open()
    corpus.keep(kept(1))
    corpus.commit()
    corpus.place._fs = Failing(corpus.place._fs, 99, ConnectionError("reset by peer"))
    with pytest.raises(StorageError, match=r"cannot upload to .*reset by peer"):
        corpus.close()
    assert pauses == list(place_module.UPLOAD_PAUSES)
    again = worker(url, tmp_path)
    again.open()
    again.close()
    assert Place(url).manifest()["counts"]["kept"] == 1 and verify(Place(url)).damage == []
    fsspec.filesystem("memory").rm(url, recursive=True)


def test_a_store_that_forbids_is_not_asked_again(tmp_path, pauses):
    place = Place(f"memory://{tmp_path.name}", str(tmp_path))
    place._fs = Failing(place._fs, 1, PermissionError("AccessDenied"))
    (tmp_path / "x").write_bytes(b"content")
    with pytest.raises(StorageError, match="AccessDenied"):
        place.publish("x")
    assert pauses == []


def test_a_missing_driver_is_named_with_its_extra(monkeypatch):
    def no_driver(url):
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(place_module.fsspec.core, "url_to_fs", no_driver)
    with pytest.raises(StorageError, match=r"driver of s3:// is missing: run `pip install 'gristmill\[s3\]'`"):
        Place("s3://corpora/one")
    with pytest.raises(StorageError, match="driver of other:// is missing: install its driver"):
        Place("other://corpora/one")


# --- files that age --------------------------------------------------------------------------------------------------
def sealed(folder):
    found = [path.name for kind in ("shards", "archive") for path in (folder / kind).iterdir()]
    return sorted(name for name in found if name.endswith((".zst", ".gz")))


def test_files_are_sealed_when_their_oldest_record_has_the_age(tmp_path, kept, exchange):
    clock = FakeClock()
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "WORKER_ID": "w1", "SHARD_MAX_AGE_SECONDS": "60"})
    corpus = Corpus(config, clock=clock)
    corpus.open()
    corpus.archive(exchange(1))
    corpus.keep(kept(1))
    corpus.commit()
    clock.advance(59)
    corpus.keep(kept(2))
    corpus.commit()
    assert sealed(tmp_path / "c") == []
    clock.advance(1)
    corpus.rest()
    assert sealed(tmp_path / "c") == ["crawl-w1-000000.jsonl.zst", "crawl-w1-000000.warc.gz"]
    clock.advance(3600)
    corpus.rest()  # nothing is unsealed: no empty file
    corpus.keep(kept(3))
    corpus.commit()
    assert len(sealed(tmp_path / "c")) == 2  # a new record begins a new age
    corpus.close()
    assert Place(str(tmp_path / "c")).manifest()["counts"]["kept"] == 3


def test_without_an_age_files_are_sealed_by_size_alone(tmp_path, kept):
    clock = FakeClock()
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "WORKER_ID": "w1"}), clock=clock)
    corpus.open()
    corpus.keep(kept(1))
    corpus.commit()
    clock.advance(10**7)
    corpus.rest()
    assert sealed(tmp_path / "c") == []
    corpus.close()


def test_a_worker_without_pages_seals_what_it_has(tmp_path, kept):
    clock, has_sealed = FakeClock(), threading.Event()
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "WORKER_ID": "w1", "SHARD_MAX_AGE_SECONDS": "60"})
    corpus = Corpus(config, clock=clock)
    corpus_sealed = corpus._sealed

    async def main():
        sink = Sink(corpus, commit_seconds=0.0, rest_seconds=0.01)
        await sink.open()
        corpus._kept._on_seal = lambda path, entry: (corpus_sealed(path, entry), has_sealed.set())
        await sink.keep(kept(1))
        assert not has_sealed.is_set()
        clock.advance(60)
        await asyncio.to_thread(has_sealed.wait, 30)
        assert sealed(tmp_path / "c") == ["crawl-w1-000000.jsonl.zst"]
        await sink.close()

    asyncio.run(main())


# --- what somebody waits for -----------------------------------------------------------------------------------------
def waiting(tmp_path, clock, **settings):
    corpus = worker(f"memory://{tmp_path.name}", tmp_path, clock=clock, **settings)
    return corpus, Sink(corpus, commit_seconds=0.0, rest_seconds=0.01)


def test_a_delivery_is_done_when_the_file_of_the_record_is_listed_in_the_store(tmp_path, kept):
    clock = FakeClock()
    corpus, sink = waiting(tmp_path, clock)

    async def main():
        await sink.open()
        await sink.keep(kept(1))
        first = sink.delivery()
        assert not first.done()
        clock.advance(corpus_module.UPLOAD_SECONDS)
        await asyncio.wait_for(first, 30)
        listed = Place(corpus.place.url).load_json("manifest.d/crawl-w1.json")["files"]
        assert sum(entry["documents"] for entry in listed) == 1
        await sink.keep(kept(2))
        second = sink.delivery()
        sink.hasten()
        await asyncio.wait_for(second, 30)
        await sink.keep(kept(3))
        third = sink.delivery()
        await sink.close()
        assert third.done() and sink.delivery().done()

    asyncio.run(main())
    fsspec.filesystem("memory").rm(corpus.place.url, recursive=True)


def test_so_many_records_wait_for_an_upload_and_no_more(tmp_path, kept, monkeypatch):
    monkeypatch.setattr(corpus_module, "UPLOAD_RECORDS", 3)
    corpus = worker(f"memory://{tmp_path.name}", tmp_path, clock=FakeClock())
    corpus.open()
    for number in range(7):
        corpus.keep(kept(number))
        corpus.commit()
    assert (corpus.taken, corpus.delivered) == (7, 6)
    corpus.close()
    assert corpus.delivered == 7
    fsspec.filesystem("memory").rm(corpus.place.url, recursive=True)


def test_nobody_waits_for_an_upload_in_a_folder_in_a_replay_or_with_ack_after_spool(tmp_path):
    local = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c")}))
    spool = worker(f"memory://{tmp_path.name}", tmp_path, ACK_AFTER="spool")
    replay = worker(f"memory://{tmp_path.name}", tmp_path)
    replay.kind = "replay"
    assert [corpus.acknowledges_uploads for corpus in (local, spool, replay)] == [False] * 3
    assert worker(f"memory://{tmp_path.name}", tmp_path).acknowledges_uploads


def test_a_delivery_fails_with_the_sink(tmp_path, kept, pauses):
    corpus, sink = waiting(tmp_path, FakeClock())

    async def main():
        await sink.open()
        await sink.keep(kept(1))
        delivery = sink.delivery()
        corpus.place._fs = Failing(corpus.place._fs, 99, ConnectionError("reset by peer"))
        with pytest.raises(StorageError):
            await sink.close()
        with pytest.raises(StorageError, match="reset by peer"):
            await asyncio.wait_for(delivery, 30)
        with pytest.raises(StorageError):
            await sink.delivery()

    asyncio.run(main())
    fsspec.filesystem("memory").rm(corpus.place.url, recursive=True)
