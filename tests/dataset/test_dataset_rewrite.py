"""A new version of the corpus: what changed, where it comes from, and that a crash leaves the old or the new one."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from crawler.dataset.rewrite import Rejection, corpus_place, read_files, rewrite, tidy
from crawler.dataset.verify import finish_dead_writers, fix, verify
from crawler.dataset.versions import Cause
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support.places import PROJECT

HERE = Path(__file__).parent


def unchanged(record):
    return record


def without(*numbers):
    return lambda record: None if record["title"] in {f"Page {n}" for n in numbers} else record


def run(folder, decide, **values):
    cause = Cause("dataset test", "a test", 1_800_000_000.0, keeps_old=values.pop("keep_old", True))
    return rewrite(Place(str(folder.path)), decide, cause, **values)


def healthy(folder):
    found = verify(Place(str(folder.path)))
    return not found.damage and not found.surplus


def titles(folder):
    place = Place(str(folder.path))
    return [r["title"] for entry in read_files(place) for r in read_records(place, entry["path"])]


@pytest.fixture
def two_files(folder):
    folder.filled(range(3), worker="w1")
    folder.filled(range(3, 6), worker="w2")
    return folder


def test_a_dropped_record_is_gone_and_the_counts_say_so(two_files):
    done = run(two_files, without(1))
    assert (done.version, done.seen, done.dropped, done.changed, done.files) == (2, 6, 1, 0, 1)
    assert titles(two_files) == ["Page 3", "Page 4", "Page 5", "Page 0", "Page 2"]
    manifest = two_files.manifest()
    assert manifest["counts"]["kept"] == 5 and manifest["version"] == 2
    assert healthy(two_files)


def test_a_file_without_a_change_stays_the_same_file(two_files):
    before = {entry["path"]: entry for entry in two_files.manifest()["files"]}
    run(two_files, without(1))
    after = {entry["path"]: entry for entry in two_files.manifest()["files"]}
    assert after["shards/crawl-w2-000000.jsonl.zst"] == before["shards/crawl-w2-000000.jsonl.zst"]
    assert "shards/crawl-w1-000000.jsonl.zst" not in after


def test_the_lineage_names_operation_reason_time_counts_files_and_the_old_manifest(two_files):
    old = (two_files.path / "manifest.json").read_bytes()
    run(two_files, without(1))
    [lineage] = two_files.manifest()["lineage"]
    assert lineage["operation"] == "dataset test" and lineage["reason"] == "a test"
    assert lineage["time"] == "2027-01-15T08:00:00.000Z"
    assert lineage["counts"] == {"changed": 0, "rejected": 0, "dropped": 1}
    assert lineage["previous"] == {"path": "manifest.0001.json", "sha256": hashlib.sha256(old).hexdigest()}
    assert (two_files.path / "manifest.0001.json").read_bytes() == old
    [step] = lineage["files"]
    assert step["old"] == "shards/crawl-w1-000000.jsonl.zst" and step["documents"] == 2
    assert step["new"] in {entry["path"] for entry in two_files.manifest()["files"]}
    [retired] = two_files.manifest()["retired"]
    assert retired["replaced_by"] == step["new"] and retired["removed"] == 1


def test_a_kept_old_file_moves_out_of_the_way_unchanged(two_files):
    path = two_files.path / "shards/crawl-w1-000000.jsonl.zst"
    old = path.read_bytes()
    run(two_files, without(1))
    assert not path.exists()
    assert (two_files.path / "replaced/shards/crawl-w1-000000.jsonl.zst").read_bytes() == old


def test_a_withdrawal_removes_the_text_from_the_disk_in_every_version(two_files):
    run(two_files, lambda record: record | {"language": "xx"})
    run(two_files, without(1), keep_old=False)
    files = [path for path in two_files.path.rglob("*") if path.is_file() and "jsonl" in path.name]
    assert {path.parent.name for path in files} == {"shards"}
    assert sorted(r["title"] for r in two_files.records()) == [f"Page {n}" for n in (0, 2, 3, 4, 5)]
    assert healthy(two_files)


def test_a_rejection_leaves_the_shards_for_the_rejected_records(two_files, rejected):
    def decide(record):
        return Rejection(rejected(4)) if record["title"] == "Page 4" else record

    done = run(two_files, decide)
    assert (done.rejected, done.dropped, done.files) == (1, 0, 2)
    assert [r["url"] for r in two_files.records("rejected")] == ["https://example.org/4"]
    manifest = two_files.manifest()
    assert manifest["counts"]["kept"] == 5 and manifest["counts"]["rejected"] == 1
    assert healthy(two_files), "each URL is there exactly once"


def test_changed_records_keep_their_place_and_the_new_counts_are_computed(two_files):
    done = run(two_files, lambda record: record | {"word_count": 7} if record["title"] == "Page 1" else record)
    assert done.changed == 1
    assert titles(two_files)[3:] == ["Page 0", "Page 1", "Page 2"]
    assert sum(entry.get("words", 0) for entry in two_files.manifest()["files"]) == 5 * 30 + 7


def test_without_a_change_there_is_no_new_version(two_files):
    before = two_files.manifest()
    names = two_files.names("shards")
    done = run(two_files, unchanged)
    assert (done.version, done.seen, done.files) == (1, 6, 0)
    assert two_files.manifest() == before and two_files.names("shards") == names


def test_a_file_that_loses_every_record_has_no_successor(two_files):
    run(two_files, without(0, 1, 2))
    [step] = two_files.manifest()["lineage"][0]["files"]
    assert step["new"] is None
    assert titles(two_files) == ["Page 3", "Page 4", "Page 5"] and healthy(two_files)


def test_versions_follow_one_another(two_files):
    run(two_files, without(0))
    run(two_files, without(2))
    manifest = two_files.manifest()
    assert [step["version"] for step in manifest["lineage"]] == [2, 3] and manifest["version"] == 3
    second = orjson.loads((two_files.path / "manifest.0002.json").read_bytes())
    assert second["version"] == 2 and second["counts"]["kept"] == 5
    assert titles(two_files) == ["Page 3", "Page 4", "Page 5", "Page 1"] and healthy(two_files)


def test_rejected_records_are_rewritten_where_the_caller_asks(folder, rejected):
    corpus = folder.opened("w1")
    for number in range(3):
        corpus.reject(rejected(number))
    corpus.close()
    done = run(folder, without(1), folders=("shards", "rejected"))
    assert done.dropped == 1 and len(folder.records("rejected")) == 2 and healthy(folder)


def test_a_crawl_that_goes_on_afterwards_adds_to_the_new_version(two_files):
    run(two_files, without(1))
    two_files.filled(range(6, 8), worker="w1")
    assert titles(two_files).count("Page 6") == 1 and "Page 1" not in titles(two_files)
    assert two_files.manifest()["version"] == 2 and healthy(two_files)
    run(two_files, without(6))
    assert two_files.manifest()["version"] == 3 and healthy(two_files)


def test_surplus_records_leave_a_rewritten_file_as_they_leave_any_other(two_files, kept):
    run(two_files, lambda record: record | {"language": "xx"})
    corpus = two_files.opened("w3")
    corpus.keep(kept(1, crawled_at="2026-06-01T00:00:00Z"))
    corpus.close()
    place = Place(str(two_files.path))
    assert fix(place, verify(place).surplus) == 1
    assert healthy(two_files) and finish_dead_writers(place) == 0 and tidy(place) == 0
    assert sorted(titles(two_files)) == [f"Page {n}" for n in range(6)]
    manifest = two_files.manifest()
    assert manifest["version"] == 2 and len(manifest["lineage"]) == 1
    assert len(two_files.names("shards")) == 3


def test_a_worker_at_work_stops_the_rewrite(two_files):
    alive = two_files.opened("w3")
    with pytest.raises(StorageError, match="finished crawl"):
        run(two_files, without(1))
    alive.close()
    assert run(two_files, without(1)).dropped == 1


def test_what_a_dead_worker_left_is_part_of_the_rewrite(two_files, kept):
    dead = two_files.opened("w3")
    dead.keep(kept(9))
    dead.commit()
    for writer in (dead._kept, dead._rejected, dead._archive):  # what the end of its process does
        writer.abandon()
    dead._lock.release()
    assert run(two_files, without(9)).dropped == 1
    assert healthy(two_files)


def test_an_error_in_the_decision_leaves_everything_as_it_was(two_files):
    before = (two_files.path / "manifest.json").read_bytes()
    names = {folder: two_files.names(folder) for folder in ("shards", "rejected", "manifest.d")}

    def failing(record):
        if record["title"] == "Page 1":
            raise ValueError("no")
        return Rejection({"url": record["url"], "reason": "low_quality"})

    with pytest.raises(ValueError, match="no"):
        run(two_files, failing)
    assert (two_files.path / "manifest.json").read_bytes() == before
    assert {folder: two_files.names(folder) for folder in names} == names


def test_two_rewrites_do_not_run_at_once(two_files):
    def decide(record):
        with pytest.raises(StorageError, match="at work"):
            run(two_files, unchanged)

    run(two_files, decide)


def test_a_remote_corpus_is_rewritten_too(tmp_path, folder):
    url = "file://" + str(folder.path)  # a URL: files grow in a spool and are uploaded
    folder.filled(range(3), CORPUS_DIR=url, CORPUS_SPOOL_DIR=str(tmp_path / "spool"))
    with corpus_place(url) as place:
        assert place.remote
        done = rewrite(place, without(1), Cause("dataset test", "a test", 0.0, keeps_old=False))
    assert done.dropped == 1 and len(folder.names("shards")) == 1
    assert healthy(folder) and folder.manifest()["version"] == 2


@pytest.mark.parametrize("keep", ["keep", "remove"])
def test_a_death_at_any_step_leaves_the_old_or_the_new_version(tmp_path, folder, keep):
    folder.filled(range(6), worker="w1", SHARD_MAX_BYTES=4_000)
    folder.filled(range(6, 9), worker="w2")
    source, expected = folder.path, {}
    for version, urls in (("old", range(9)), ("new", [n for n in range(9) if n % 5 > 1])):
        expected[version] = sorted(f"https://example.org/{n}" for n in urls)
    command = [sys.executable, str(HERE / "rewrite_process.py"), str(source), str(tmp_path / "dead"), keep]
    steps = int(subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout)
    assert steps > 20
    seen = set()
    for step in range(1, steps + 1):
        seen.add(_check_survivor(type(folder)(tmp_path / "dead" / str(step)), expected, keep))
    assert seen == {"old", "new"}


def _check_survivor(survivor, expected, keep):
    """Valid as it was left, valid after the repair, and then one of the two versions without leftovers."""
    place = Place(str(survivor.path))
    assert healthy(survivor), survivor.path
    finish_dead_writers(place)
    assert healthy(survivor), survivor.path
    assert tidy(place) == 0
    manifest = survivor.manifest()
    version = "new" if manifest["version"] == 2 else "old"
    listed = {entry["path"] for entry in manifest["files"]}
    on_disk = {f"{kind}/{name}" for kind in ("shards", "rejected") for name in survivor.names(kind)}
    assert on_disk == {path for path in listed if not path.startswith("archive/")}
    assert sorted(r["url"] for r in survivor.records()) == expected[version]
    replaced = survivor.path / "replaced"
    assert replaced.exists() == (version == "new" and keep == "keep")
    return version
