"""The batch job on a real local Spark, next to the replay spider on the same archives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.dataset.deduplication.corpus import write as write_corpus
from crawler.dataset.deduplication.found import Duplicates
from crawler.dataset.rewrite import read_files
from crawler.dataset.verify import verify
from crawler.operations import exclude
from crawler.storage.files.place import HELD_KINDS, Place
from crawler.storage.files.shards import read_records
from tests.support.archives import edited, exchange, html, two_archives, write
from tests.support.operations import answer_of
from tests.support.places import PROJECT

POISON = Path(__file__).parent / "poison"
TWO = ("--master", "local[2]")


def reasons(records):
    return {record["warc_record_id"]: (record["url"], record["stage"], record["reason"]) for record in records}


def content(folder):
    """Everything a reader of the result reads; without the commit, which code submitted as a zip cannot name."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["versions"].pop("commit", None)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("part-*.gz")} | {"": manifest}


def by_record(records):
    return sorted(records, key=lambda record: (record["warc_file"], record["warc_offset"]))


@pytest.fixture(scope="module")
def judged(run_job, run_replay, tmp_path_factory):
    """A folder with two archives, and what job and replay made of them. To be read only."""
    folder = tmp_path_factory.mktemp("judged")
    two_archives(folder)
    pattern = f"{folder}/*.warc.gz"
    return folder, run_job(pattern, folder / "job", *TWO), run_replay(pattern, folder / "replay")


def test_the_job_writes_the_records_that_replay_writes(judged):
    _, job, replay = judged
    assert (job.done.returncode, replay.done.returncode) == (0, 0), job.done.stderr + replay.done.stderr
    assert {record["reason"] for record in job.rejected} == {
        "optout",
        "too_short",
        "not_text",
        "exact_duplicate",
        "near_duplicate",
    }
    assert reasons(job.rejected) == reasons(replay.rejected)
    assert by_record(job.kept) == by_record(replay.kept)
    assert by_record(job.rejected) == by_record(replay.rejected)


def test_the_newest_version_of_a_page_counts_and_one_that_refuses_withdraws_it_as_by_a_replay(
    run_job, run_replay, tmp_path
):
    """The archives are not in the order of their pages; of three pages with an opt-out one said yes again."""
    says_no = {"X_Robots_Tag": "noai"}
    first = [exchange(f"https://e.org/{n}", html(n), seconds=n) for n in range(5)]
    first += [exchange("https://e.org/never", html(8), seconds=70, **says_no), exchange("https://e.org/0", b"short")]
    later = [exchange(f"https://e.org/{n}", html(10 + n), seconds=90, **says_no) for n in (0, 1, 2)]
    later += [exchange("https://e.org/2", html(22), seconds=95), exchange("https://e.org/3", html(23), seconds=95)]
    write(tmp_path / "b.warc.gz", first)
    write(tmp_path / "a.warc.gz", later)
    pattern = f"{tmp_path}/*.warc.gz"
    job = run_job(pattern, tmp_path / "job", *TWO, REJECTED_TEXT="true")
    replay = run_replay(pattern, tmp_path / "replay", REJECTED_TEXT="true")
    assert (job.done.returncode, replay.done.returncode) == (0, 0), job.done.stderr + replay.done.stderr
    assert [record["url"][-1] for record in by_record(job.kept)] == ["2", "3", "4"]
    assert by_record(job.kept) == by_record(replay.kept)
    assert sorted(job.rejected, key=str) == sorted(replay.rejected, key=str)
    assert {record["reason"] for record in job.rejected if record["warc_file"] is None} == {"optout"}
    assert "6 replaced and 2 pages withdrawn by a later version" in job.done.stdout
    manifest = json.loads((tmp_path / "job" / "manifest.json").read_bytes())
    assert manifest["counts"] == {"kept": 3, "held": 0, "rejected": 3, "unread": 0, "withdrawn": 2, "replaced": 6}


def test_what_a_corpus_has_withdrawn_is_refused_as_by_a_replay_by_address_and_by_text(run_job, run_replay, tmp_path):
    """The corpus is that of CORPUS_DIR, or the one in which the archives lie."""
    write(tmp_path / "first.warc.gz", [exchange(f"https://e.org/{n}", html(n)) for n in range(2)])
    corpus, made = tmp_path / "corpus", tmp_path / "made" / "archive"
    assert run_replay(str(tmp_path / "first.warc.gz"), corpus).done.returncode == 0
    wish = ("--url", "https://e.org/0", "--reason", "a letter", "--yes")
    assert not answer_of(exclude.WORK, *wish, corpus).problems
    made.mkdir(parents=True)
    pages = {"https://e.org/0?utm_source=x": html(5), "https://f.org/same": html(0), "https://f.org/near": edited(0)}
    pages |= {"https://f.org/other": html(6)}
    write(made / "second.warc.gz", [exchange(url, body, seconds=90) for url, body in pages.items()])
    job = run_job(f"{made}/*.gz", tmp_path / "job", *TWO, CORPUS_DIR=str(corpus), REJECTED_TEXT="true")
    shutil.copy(corpus / "withdrawals.jsonl", made.parent)
    beside = run_job(f"{made}/*.gz", tmp_path / "beside", *TWO, CORPUS_DIR=str(tmp_path / "none"), REJECTED_TEXT="true")
    replay = run_replay(f"{made}/*.gz", corpus, CRAWL_ID="second", REJECTED_TEXT="true")
    for outcome in (job, beside, replay):
        assert outcome.done.returncode == 0, outcome.done.stderr
        assert {record["url"] for record in outcome.kept} - {"https://e.org/1"} == {"https://f.org/other"}
        refused = [record for record in outcome.rejected if record["reason"] == "withdrawn"]
        assert {record["url"] for record in refused} == pages.keys() - {"https://f.org/other"}
        assert not any("text" in record for record in refused)
    assert {r["detail"] for r in job.rejected} == {r["detail"] for r in replay.rejected if r["reason"] == "withdrawn"}


def test_the_manifest_counts_the_records_and_names_the_configuration(judged):
    folder, job, _ = judged
    manifest = json.loads((folder / "job" / "manifest.json").read_bytes())
    assert sorted(manifest["archives"]) == sorted(map(str, folder.glob("*.warc.gz")))
    counts = {
        "kept": len(job.kept),
        "held": 0,
        "rejected": len(job.rejected),
        "unread": 0,
        "withdrawn": 0,
        "replaced": 1,
    }
    assert manifest["counts"] == counts
    assert manifest["reasons"] == Counter(f"{record['stage']}/{record['reason']}" for record in job.rejected)
    assert manifest["reasons"]["exact/exact_duplicate"] == 1
    assert {record["config_digest"] for record in job.kept} == {manifest["config_digest"]}
    assert manifest["versions"]["spark"]
    for file in manifest["files"]:
        assert (folder / "job" / file["path"]).stat().st_size == file["bytes"]
    assert {path.name for path in (folder / "job").iterdir() if not path.name.endswith(".crc")} == {
        "kept", "rejected", "held", "manifest.json",
    }  # fmt: skip


def test_the_kept_records_become_a_corpus_that_holds(judged, tmp_path):
    pytest.importorskip("duckdb", reason="duckdb is optional")
    folder, job, _ = judged
    config = from_mapping({"STAGE_WORKERS": 0})
    with Duplicates([str(folder / "job" / "kept")], config, keep=["order"]) as duplicates:
        write_corpus(duplicates, Place(str(tmp_path / "corpus")), now=1.8e9)
        assert not duplicates.found.pairs
    place = Place(str(tmp_path / "corpus"))
    records = [record for entry in read_files(place) for record in read_records(place, entry["path"])]
    assert by_record(records) == by_record(job.kept) != []
    findings = verify(place)
    assert (findings.damage, findings.surplus) == ([], [])


def test_submitting_with_more_cores_changes_no_byte(run_job, submit_job, tmp_path):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.warc.gz", [exchange(f"https://{name}.org/{n}", html(n)) for n in range(2)])
    pattern = f"{tmp_path}/*.warc.gz"
    one = run_job(pattern, tmp_path / "one", "--master", "local[1]")
    two = submit_job(pattern, tmp_path / "two", "local[2]")
    assert (one.done.returncode, two.done.returncode) == (0, 0), one.done.stderr + two.done.stderr
    assert (
        len(content(tmp_path / "one")) == 2 * (2 + len(HELD_KINDS)) + 1
    )  # kept, rejected and each kind of held, two parts of each; manifest
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_a_folder_with_an_earlier_result_is_left_alone(run_job, tmp_path):
    archive = write(tmp_path / "a.warc.gz", [exchange("https://e.org/", html(1))])
    (tmp_path / "job" / "kept").mkdir(parents=True)
    job = run_job(str(archive), tmp_path / "job", *TWO)
    assert job.done.returncode == 1
    assert "kept exists already" in job.done.stderr
    assert [path.name for path in (tmp_path / "job").iterdir()] == ["kept"]


def test_a_page_that_kills_its_process_costs_itself_alone(run_job, tmp_path):
    archive = write(
        tmp_path / "a.warc.gz", [exchange(f"https://e.org/{name}", html(name)) for name in ("one", "poison", "two")]
    )
    job = run_job(str(archive), tmp_path / "job", "--master", "local[1,2]", path=f"{POISON}{os.pathsep}{PROJECT}")
    assert job.done.returncode == 0, job.done.stderr
    assert [record["url"] for record in job.kept] == ["https://e.org/one", "https://e.org/two"]
    (poison,) = job.rejected
    assert (poison["stage"], poison["reason"]) == ("stages", "stage_crashed")
    assert poison["detail"] == "worker process ended: SIGKILL"


def test_an_unreadable_archive_is_named_and_the_others_are_written(run_job, tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(b"this is no archive at all")
    write(tmp_path / "b.warc.gz", [exchange("https://example.org/one", html("one"))])
    job = run_job(f"{tmp_path}/*.warc.gz", tmp_path / "job", *TWO)
    assert job.done.returncode == 1
    assert f"error: {tmp_path}/a.warc.gz: no WARC record could be read" in job.done.stderr
    assert [record["url"] for record in job.kept] == ["https://example.org/one"]
    manifest = json.loads((tmp_path / "job" / "manifest.json").read_bytes())
    assert {place["archive"] for place in manifest["unread"]} == {f"{tmp_path}/a.warc.gz"}


def test_archives_that_do_not_exist_are_an_error_of_one_line(run_job, tmp_path):
    job = run_job(f"{tmp_path}/nothing-*.warc.gz", tmp_path / "job", *TWO)
    assert job.done.returncode == 1
    assert job.done.stderr.startswith(f"error: {tmp_path}/nothing-*.warc.gz: no archive matches")
    assert len(job.done.stderr.splitlines()) == 1


def test_without_java_the_error_says_what_to_install(spark_installed, tmp_path):
    archive = write(tmp_path / "a.warc.gz", [exchange("https://e.org/", html(1))])
    command = [sys.executable, "-m", "crawler.spark.job", "--archive", str(archive), "--output", str(tmp_path / "job")]
    variables = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": str(tmp_path)}
    command += ["--set", "PII_PERSON=off"]
    done = subprocess.run(command, cwd=PROJECT, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("error: no Java was found")
