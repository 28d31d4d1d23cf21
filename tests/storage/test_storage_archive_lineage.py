"""The manifest says of every shard which archives, configuration and software its records come from."""

import hashlib

import orjson
import pytest

from crawler.dataset.rewrite import rewrite
from crawler.dataset.select import Selection, select
from crawler.dataset.verify import fix, verify
from crawler.dataset.versions import Cause
from crawler.storage.corpus.manifest import Ledger, merge
from crawler.storage.files.place import Place


def crawled(folder, kept, exchange, numbers=range(6), worker="w1", **settings):
    """Pages that are archived and kept; the archive has several files."""
    corpus = folder.opened(worker, ARCHIVE_MAX_BYTES=2000, **settings)
    for number in numbers:
        place = corpus.archive(exchange(number))
        values = {"warc_file": place.file, "warc_record_id": place.record_id, "warc_offset": place.offset}
        corpus.keep(kept(number, config_digest=corpus._config.digest, pipeline_version="1.2.3", **values))
    corpus.close()
    return Place(str(folder.path))


def entries(folder, kind):
    return [entry for entry in folder.manifest()["files"] if entry["kind"] == kind]


def test_a_shard_names_its_archives_with_hash_and_number_of_records(folder, kept, exchange):
    crawled(folder, kept, exchange)
    (shard,) = entries(folder, "shards")
    archives = {entry["path"]: entry for entry in entries(folder, "archive")}
    assert len(archives) > 1 and shard["archives"].keys() == archives.keys()
    for path, source in shard["archives"].items():
        assert source == {"documents": archives[path]["documents"], "sha256": archives[path]["sha256"]}


def test_a_shard_names_its_run_configuration_and_versions(folder, kept, exchange):
    crawled(folder, kept, exchange)
    manifest = folder.manifest()
    (shard,), (run,) = entries(folder, "shards"), manifest["runs"]
    assert shard["config_digests"] == {run["config_digest"]: 6} and shard["pipeline_versions"] == {"1.2.3": 6}
    (made_by,) = shard["made_by"]
    assert made_by == {name: run[name] for name in ("crawl_id", "worker_id", "started", "config_digest", "versions")}
    assert made_by["versions"]["fastwarc"] and made_by["versions"]["trafilatura"]


def test_an_archive_that_still_grows_has_no_hash_yet(folder, kept, exchange):
    corpus = folder.opened(SHARD_MAX_BYTES=1024)
    for number in range(3):
        corpus.keep(kept(number, warc_file=corpus.archive(exchange(number)).file))
    assert entries(folder, "shards")[0]["archives"]["archive/crawl-w1-000000.warc.gz"]["sha256"] is None
    assert verify(Place(str(folder.path))).damage == []
    corpus.close()
    hashes = {entry["path"]: entry["sha256"] for entry in entries(folder, "archive")}
    for shard in entries(folder, "shards"):
        assert {path: source["sha256"] for path, source in shard["archives"].items()} == hashes


def test_what_a_crashed_run_wrote_is_its_own_and_not_that_of_who_recovered_it(folder, kept, exchange):
    crashed = folder.opened("w1")
    crashed.keep(kept(1, warc_file=crashed.archive(exchange(1)).file))
    crashed.commit()
    for writer in (crashed._kept, crashed._rejected, crashed._archive):
        writer.abandon()
    crashed._lock.release()
    crawled(folder, kept, exchange, range(2, 4), worker="w1")
    first, second = entries(folder, "shards")
    assert [first["made_by"][0]["started"], second["made_by"][0]["started"]] == [
        run["started"] for run in folder.manifest()["runs"]
    ]


def test_a_rewrite_and_a_fix_keep_where_the_records_come_from(folder, kept, exchange):
    place = crawled(folder, kept, exchange)
    (before,) = entries(folder, "shards")
    rewrite(
        place,
        lambda record: record | {"title": "new"} if record["url"].endswith(("0", "1")) else record,
        Cause("test", "titles", 1.8e9),
    )
    (after,) = entries(folder, "shards")
    assert after["path"] != before["path"]
    assert (after["archives"], after["made_by"]) == (before["archives"], before["made_by"])
    crawled(folder, kept, exchange, range(1), worker="w1")
    findings = verify(place)
    assert findings.damage == [] and len(findings.surplus) == 1
    fix(place, findings.surplus)
    assert verify(place).damage == []
    assert all(len(shard["made_by"]) == 1 and shard["archives"] for shard in entries(folder, "shards"))


def test_a_subset_says_where_its_records_come_from_although_the_archive_stays(tmp_path, folder, kept, exchange):
    source = crawled(folder, kept, exchange)
    hashes = {entry["path"]: entry["sha256"] for entry in entries(folder, "archive")}
    subset = type(folder)(tmp_path / "subset")
    select(source, Place(str(subset.path)), Selection(languages=frozenset({"en"})), max_bytes=2**20, now=1.8e9)
    (shard,) = entries(subset, "shards")
    assert {path: found["sha256"] for path, found in shard["archives"].items()} == hashes
    assert shard["made_by"] == entries(folder, "shards")[0]["made_by"]
    assert verify(Place(str(subset.path))).damage == []


def test_a_replay_names_the_archives_that_it_read_with_their_hashes(tmp_path, folder, kept, exchange):
    crawled(folder, kept, exchange)
    own, foreign = folder.path / "archive" / "crawl-w1-000000.warc.gz", tmp_path / "foreign.warc.gz"
    foreign.write_bytes(own.read_bytes() * 2)
    replayed = type(folder)(tmp_path / "replayed")
    corpus = replayed.opened()
    names = [str(own), str(foreign), "s3://bucket/x.warc.gz", str(tmp_path / "gone.warc.gz")]
    for number, name in enumerate(names):
        corpus.keep(kept(number, warc_file=name))
    corpus.close()
    (shard,) = entries(replayed, "shards")
    known = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (own, foreign)}
    assert shard["archives"] == {name: {"documents": 1, "sha256": known.get(name)} for name in names}
    assert replayed.manifest()["runs"][0]["archives"] == known
    assert verify(Place(str(replayed.path))).damage == []


@pytest.mark.parametrize("change", ["count", "hash"])
def test_a_shard_whose_sources_are_not_those_of_the_manifest_is_damage(folder, kept, exchange, change):
    place = crawled(folder, kept, exchange)
    ledger = Ledger(place, "crawl-w1")
    shard = next(entry for entry in ledger.files.values() if entry["kind"] == "shards")
    first = next(iter(shard["archives"]))
    if change == "count":
        shard["archives"][first] += 1
    else:
        ledger.files.pop(first)
    ledger.save()
    merge(place)
    (damage,) = verify(place).damage
    assert ("other archives than the manifest" if change == "count" else f"come from {first}") in damage


def test_a_manifest_from_before_the_lineage_is_still_in_order(folder, kept, exchange):
    place = crawled(folder, kept, exchange)
    path = folder.path / "manifest.d" / "crawl-w1.json"
    ledger = orjson.loads(path.read_bytes())
    for entry in ledger["files"]:
        for name in ("archives", "config_digests", "pipeline_versions", "made_by", "index", "revisits"):
            entry.pop(name, None)
    path.write_bytes(orjson.dumps(ledger))
    merge(place)
    assert verify(place).damage == []
