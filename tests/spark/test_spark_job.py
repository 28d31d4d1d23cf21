"""The batch job on a real local Spark, next to the replay spider on the same archives."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.dataset.deduplication.found import Duplicates
from crawler.dataset.export import export
from crawler.dataset.living import Living
from crawler.dataset.query import query
from crawler.dataset.rewrite import read_files
from crawler.dataset.verify import verify
from crawler.explore.catalogue import Catalogue
from crawler.observe.report.summary import summarise
from crawler.operations import exclude, mix
from crawler.storage.corpus.version import manifest_hash, versions_of
from crawler.storage.files.place import Place
from crawler.storage.files.records import encode
from crawler.storage.files.shards import read_records
from tests.support.archives import edited, exchange, html, two_archives, write
from tests.support.operations import answer_of
from tests.support.places import PROJECT

POISON = Path(__file__).parent / "poison"
TWO = ("--master", "local[2]")


def reasons(records):
    return {record["warc_record_id"]: (record["url"], record["stage"], record["reason"]) for record in records}


def content(folder):
    """The hash of every listed file, all that is there, and what the run says of itself but for time and commit."""
    (run,) = manifest_of(folder)["runs"]
    said = {name: run[name] for name in ("counters", "config_digest", "judging_parts", "archives", "origins", "unread")}
    here = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and "registry" not in p.parts)
    return {entry["path"]: entry["sha256"] for entry in manifest_of(folder)["files"]}, here, said


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_bytes())


def counters_of(folder):
    return manifest_of(folder)["runs"][-1]["counters"]


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
    assert counters_of(tmp_path / "job") == {"kept": 3, "rejected": 3, "withdrawn": 2, "replaced": 6}


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


def test_what_the_job_wrote_is_a_corpus_like_that_of_the_replay(judged):
    folder, job, _ = judged
    place, replayed = Place(str(folder / "job")), Place(str(folder / "replay"))
    findings = verify(place)
    assert (findings.damage, findings.surplus, findings.beside.strangers) == ([], [], [])
    manifest, other = place.manifest(), replayed.manifest()
    assert manifest["counts"]["kept"] == len(job.kept) == other["counts"]["kept"]
    assert manifest["counts"]["rejected"] == len(job.rejected)
    assert counters_of(folder / "job") == {"kept": len(job.kept), "rejected": len(job.rejected), "replaced": 1}
    (run,), (replay,) = manifest["runs"], other["runs"]
    same = ("kind", "archives", "policy", "config_digest", "judging_digest", "judging_parts", "crawl_id", "worker_id")
    assert {name: run[name] for name in same} == {name: replay[name] for name in same}
    assert len(run["archives"]) == 2 and run["versions"]["spark"]
    shards = [entry for entry in manifest["files"] if entry["kind"] == "shards"]
    assert [entry["path"] for entry in shards] == [f"shards/crawl-w-{n:06d}.jsonl.zst" for n in range(2)]
    assert all(entry["accounts"] and entry["made_by"] for entry in shards)
    assert versions_of(place)[manifest_hash(place)]["operation"] == "replay"
    assert not any(path.name.startswith(".spark") for path in (folder / "job").iterdir())


def test_operations_on_a_corpus_work_on_that_of_a_job(judged, tmp_path):
    pytest.importorskip("duckdb", reason="duckdb is optional")
    folder, job, _ = judged
    with query(Place(str(folder / "job")), "SELECT canonical_url FROM documents ORDER BY 1") as (_, rows):
        assert [url for (url,) in rows] == sorted(record["canonical_url"] for record in job.kept)
    corpus = tmp_path / "corpus"
    shutil.copytree(folder / "job", corpus)
    place = Place(str(corpus))
    export(place, tmp_path / "export", "jsonl.gz", max_bytes=10**6, now=1.8e9)
    assert len(list((tmp_path / "export" / "data").iterdir())) == 1
    with Duplicates([str(corpus)], from_mapping({"STAGE_WORKERS": 0}), keep=["order"]) as duplicates:
        assert not duplicates.found.pairs
    told = summarise(str(corpus))
    assert (told.kept, told.rejected, told.state) == (len(job.kept), len(job.rejected), "finished")
    catalogue = Catalogue(place, tmp_path / "explore.duckdb")
    catalogue.start()
    assert catalogue.wait(60) and not catalogue.problem and catalogue.done == len(job.kept) + len(job.rejected)
    catalogue.close()
    spec = {"tokens": 1_200, "tolerance": 1, "sources": {"all": {"corpus": str(corpus), "epochs": 1}}}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    mixed = answer_of(mix.WORK, "--out", tmp_path / "mixed", tmp_path / "spec.json")
    assert not mixed.problems and mixed.facts["documents"]
    wish = ("--url", job.kept[0]["url"], "--reason", "a letter", "--yes")
    assert not answer_of(exclude.WORK, *wish, corpus).problems
    assert {record["url"] for record in Living(place).kept()} == {record["url"] for record in job.kept[1:]}
    assert job.kept[0]["text"].encode() not in b"".join(p.read_bytes() for p in corpus.rglob("*") if p.is_file())
    assert verify(place).damage == []


def test_documents_of_a_corpus_and_of_others_become_one_corpus_that_refuses_what_that_one_withdraws(
    judged, run_job, tmp_path
):
    """Withdrawn before the job: never in it. Withdrawn from the source after it: nobody is shown it any more."""
    folder, _, replay = judged
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(folder / "replay", source)
    before, after = (record["url"] for record in replay.kept[:2])
    assert not answer_of(exclude.WORK, "--url", before, "--reason", "a letter", "--yes", source).problems
    pages = {f"https://t.org/{n}": "\n\n".join(prose(f"theirs {n}", 260)) for n in range(3)}
    theirs = tmp_path / "theirs.jsonl.gz"
    with gzip.open(theirs, "wb") as file:
        rows = [{"link": url, "content": text, "synthetic": url.endswith("0")} for url, text in pages.items()]
        rows += [{"link": "https://u.org/copy", "content": pages["https://t.org/1"]}, {"content": "of nobody"}]
        file.writelines(encode(row) for row in rows)
    fields = ("--field", "text=content", "--field", "url=link")
    job = run_job(
        "", out, *TWO, "--documents", str(source), "--documents", str(theirs), *fields, SHARD_FORMAT="parquet"
    )
    assert job.done.returncode == 0, job.done.stderr
    place = Place(str(out))
    kept = {record["url"]: record for record in Living(place).kept()}
    assert kept.keys() == {record["url"] for record in replay.kept[1:]} | pages.keys()
    assert kept["https://t.org/0"]["synthetic"] is True and "synthetic" not in kept["https://t.org/1"]
    assert kept["https://t.org/1"]["warc_file"] == str(theirs) in place.manifest()["runs"][-1]["archives"]
    gone = {r["url"]: r["reason"] for e in read_files(place, ("rejected",)) for r in read_records(place, e["path"])}
    assert gone == {"https://u.org/copy": "exact_duplicate", f"{theirs}#5": "broken_record"}
    assert verify(place).damage == []
    assert not answer_of(exclude.WORK, "--url", after, "--reason", "a letter", "--yes", source).problems
    assert {record["url"] for record in Living(place).kept()} == kept.keys() - {after}
    assert versions_of(place)[manifest_hash(place)]["parents"][0]["place"]


def test_submitting_with_more_cores_changes_no_byte(run_job, submit_job, tmp_path):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.warc.gz", [exchange(f"https://{name}.org/{n}", html(n)) for n in range(2)])
    pattern = f"{tmp_path}/*.warc.gz"
    one = run_job(pattern, tmp_path / "one", "--master", "local[1]")
    two = submit_job(pattern, tmp_path / "two", "local[2]")
    assert (one.done.returncode, two.done.returncode) == (0, 0), one.done.stderr + two.done.stderr
    assert len(content(tmp_path / "one")[0]) == 2
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_a_folder_with_an_earlier_result_is_left_alone(run_job, tmp_path):
    archive = write(tmp_path / "a.warc.gz", [exchange("https://e.org/", html(1))])
    (tmp_path / "job" / "mine").mkdir(parents=True)
    job = run_job(str(archive), tmp_path / "job", *TWO)
    assert job.done.returncode == 1
    assert "expected an empty or new folder" in job.done.stderr
    assert [path.name for path in (tmp_path / "job").iterdir()] == ["mine"]


def test_a_page_that_kills_its_process_costs_itself_alone_and_a_lost_executor_costs_nothing(
    run_job, tmp_path, monkeypatch
):
    monkeypatch.setenv("EXECUTED", str(tmp_path / "executed"))
    monkeypatch.setenv("SPARK_HOME", str(Path(find_spec("pyspark").origin).parent))
    for name, pages in {"a": ("one", "poison", "two"), "b": ("three", "executioner")}.items():
        write(tmp_path / f"{name}.warc.gz", [exchange(f"https://{name}.org/{page}", html(page)) for page in pages])
    cluster = ("--master", "local-cluster[2,1,1024]")
    job = run_job(f"{tmp_path}/*.warc.gz", tmp_path / "job", *cluster, path=f"{POISON}{os.pathsep}{PROJECT}")
    assert job.done.returncode == 0, job.done.stderr
    assert "CoarseGrainedExecutorBackend" in (tmp_path / "executed").read_text()
    assert [record["url"].rpartition("/")[2] for record in job.kept] == ["one", "two", "three", "executioner"]
    (poison,) = job.rejected
    assert (poison["stage"], poison["reason"]) == ("stages", "stage_crashed")
    assert poison["detail"] == "worker process ended: SIGKILL"
    assert verify(Place(str(tmp_path / "job"))).damage == []


def test_an_unreadable_archive_is_named_and_the_others_are_written(run_job, tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(b"this is no archive at all")
    write(tmp_path / "b.warc.gz", [exchange("https://example.org/one", html("one"))])
    job = run_job(f"{tmp_path}/*.warc.gz", tmp_path / "job", *TWO)
    assert job.done.returncode == 1
    assert f"error: {tmp_path}/a.warc.gz: no WARC record could be read" in job.done.stderr
    assert [record["url"] for record in job.kept] == ["https://example.org/one"]
    assert manifest_of(tmp_path / "job")["runs"][0]["unread"].keys() == {f"{tmp_path}/a.warc.gz"}


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
