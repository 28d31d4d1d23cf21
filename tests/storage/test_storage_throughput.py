"""What a writer says of the files it has sealed is what the manifest says of them."""

from __future__ import annotations

import itertools

from crawler.config import from_mapping
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import FOLDERS, Place
from crawler.storage.files.throughput import Throughput, Totals


def in_the_manifest(url: str, folder: str) -> tuple[int, int, int]:
    entries = [entry for entry in Place(url).manifest()["files"] if entry["kind"] == folder]
    return len(entries), sum(e["bytes"] for e in entries), sum(e["documents"] for e in entries)


def test_files_bytes_and_records_are_those_of_the_manifest_also_where_files_are_full_before_the_end(
    tmp_path, kept, rejected, exchange
):
    settings = {"CORPUS_DIR": str(tmp_path / "corpus"), "SHARD_MAX_DOCUMENTS": 2}
    corpus = Corpus(from_mapping(settings))
    corpus.open()
    for number in range(5):
        corpus.archive(exchange(number))
        corpus.keep(kept(number))
        corpus.commit()
    assert corpus.throughput.totals["shards"].files == 2, "two files were full; the third grows"
    corpus.reject(rejected(9))
    corpus.close()
    found = {folder: (t.files, t.bytes, t.records) for folder, t in corpus.throughput.totals.items()}
    assert found == {folder: in_the_manifest(settings["CORPUS_DIR"], folder) for folder in FOLDERS}
    assert found["shards"][0] == 3
    assert all(t.seal_seconds > 0 < t.delivery_seconds for t in corpus.throughput.totals.values() if t.files)


def test_the_time_of_an_upload_is_delivery_and_not_sealing(tmp_path, kept, monkeypatch):
    passed = [0.0]
    settings = {"CORPUS_DIR": f"memory://{tmp_path.name}", "CORPUS_SPOOL_DIR": str(tmp_path / "spool")}
    corpus = Corpus(from_mapping(settings))
    corpus.throughput = Throughput(lambda: passed[0])
    corpus.open()
    publish = corpus.place.publish

    def slow(relative: str) -> None:
        passed[0] += 7.0 if relative.startswith("shards/") else 0.0
        publish(relative)

    monkeypatch.setattr(corpus.place, "publish", slow)
    corpus.keep(kept(1))
    passed[0] += 100.0  # nothing to do with the output
    corpus.close()
    shards = corpus.throughput.totals["shards"]
    assert (shards.files, shards.seal_seconds, shards.delivery_seconds) == (1, 0.0, 7.0)


def test_each_file_of_several_that_are_sealed_together_has_its_own_time():
    clock = itertools.count(step=3.0)
    throughput = Throughput(lambda: next(clock))
    throughput.begin()
    entry = {"bytes": 10, "documents": 2}
    for folder in ("archive", "shards", "shards"):
        throughput.sealed(folder, entry)
        throughput.delivered(folder)
    assert throughput.totals["shards"] == Totals(2, 20, 4, 6.0, 6.0)
    assert throughput.totals["archive"] == Totals(1, 10, 2, 3.0, 3.0)
    assert throughput.totals["rejected"] == Totals()
