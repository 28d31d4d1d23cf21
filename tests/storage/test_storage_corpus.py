"""One folder, many workers, kills at any moment: what was committed is there, live workers are left alone."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import fsspec
import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.verify import verify
from crawler.document import DropReason
from crawler.policy.facts import Pace
from crawler.storage.archive.reader import read_archive
from crawler.storage.corpus.corpus import CHECKPOINT_SECONDS, Corpus
from crawler.storage.corpus.manifest import merged
from crawler.storage.corpus.recovery import recover
from crawler.storage.files.errors import StorageError
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import Folder, document
from tests.support.places import PROJECT

WRITER = Path(__file__).with_name("writer_process.py")


def start_writer(folder, worker="killed", **options):
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, str(WRITER), str(folder.path), worker]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )


def crash(corpus):
    """What the kernel does when a process dies: its files are closed as they are, its lock is gone."""
    for writer in (corpus._kept, corpus._rejected, corpus._archive):
        writer.abandon()
    if corpus._claim is not None:
        corpus._claim._ended.set()
    os.close(corpus._lock._fd)  # the lock file stays
    corpus._lock._fd = None


def kill_after(process, acknowledged):
    """Kill once so many lines were printed; the number of the last record whose commit was confirmed."""
    last = -1
    for _ in range(acknowledged):
        last = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    confirmed = [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    return int(confirmed[-1]) if confirmed else last


@pytest.mark.parametrize("acknowledged", [1, 7, 20, 33, 61])
def test_every_committed_record_survives_a_kill(folder, acknowledged):
    last = kill_after(start_writer(folder), acknowledged)
    recovered = folder.corpus("next")
    recovered.open()
    recovered.close()
    urls = [record["url"] for record in folder.records()]
    assert urls == [f"http://a.test/killed/{number}" for number in range(len(urls))]
    assert len(urls) > last
    archived = {
        (r.file, r.offset)
        for path in sorted((folder.path / "archive").glob("*.warc.gz"))
        for r in read_archive(str(path))
    }
    for record in folder.records():
        assert (str(folder.path / record["warc_file"]), record["warc_offset"]) in archived
    findings = verify(Place(str(folder.path)))
    assert (findings.damage, findings.surplus, findings.documents) == ([], [], len(urls))
    assert not [name for name in folder.names("shards") if name.endswith((".part", ".tmp"))]


def test_a_worker_with_the_name_of_a_killed_one_goes_on_with_new_numbers(folder):
    kill_after(start_writer(folder), 10)
    before = folder.names("shards")
    folder.filled(range(3), worker="killed")
    names = folder.names("shards")
    assert len(names) == len(set(names)) and len(names) >= len(before)
    assert verify(Place(str(folder.path))).damage == []


def test_a_live_workers_files_are_left_alone(folder, kept):
    alive = folder.opened("alive")
    alive.keep(kept(1))
    alive.commit()
    other = folder.corpus("other")
    assert other.open() == []
    other.close()
    assert folder.names("shards") == ["crawl-alive-000000.jsonl.zst.part"]
    alive.keep(kept(2))
    alive.close()
    assert [record["title"] for record in folder.records()] == ["Page 1", "Page 2"]


def test_a_second_live_worker_of_the_same_name_is_refused(folder):
    first = folder.opened("twin")
    with pytest.raises(StorageError, match="WORKER_ID"):
        folder.corpus("twin").open()
    first.close()
    folder.opened("twin").close()


def test_recovery_reports_what_it_finished_and_what_it_cut(folder, kept):
    crashed = folder.opened("w1")
    crashed.keep(kept(1))
    crashed.commit()
    part = folder.path / "shards" / "crawl-w1-000000.jsonl.zst.part"
    with part.open("ab") as file:
        file.write(b"torn")
    crash(crashed)
    again = folder.corpus("w2")
    [found] = again.open()
    assert (found.path, found.documents, found.cut_bytes) == ("shards/crawl-w1-000000.jsonl.zst", 1, 4)
    again.close()
    [run] = [run for run in folder.manifest()["runs"] if run["worker_id"] == "w1"]
    assert run["ended"] and run["recovered"] == [
        {"path": "shards/crawl-w1-000000.jsonl.zst", "documents": 1, "cut_bytes": 4}
    ]


def test_the_lock_of_a_worker_that_was_killed_before_it_wrote_anything_goes_and_that_of_a_live_one_stays(folder):
    folder.corpus("done").open()
    dead = folder.path / "manifest.d" / "crawl-dead.lock"
    dead.write_bytes(b"")
    live = WriterLock(folder.path / "manifest.d" / "crawl-live.lock")
    assert live.acquire()
    recover(Place(str(folder.path)))
    assert not dead.exists()
    assert live.path.exists()
    live.release()


def test_a_file_sealed_just_before_the_crash_is_listed_by_the_next_start(folder):
    folder.filled(range(3))
    ledger = folder.path / "manifest.d" / "crawl-w1.json"
    content = orjson.loads(ledger.read_bytes())
    ledger.write_bytes(orjson.dumps(content | {"files": []}))
    folder.opened("w2").close()
    assert folder.manifest()["counts"]["kept"] == 3
    assert verify(Place(str(folder.path))).damage == []


def test_the_journal_that_has_already_become_a_file_is_removed(folder):
    folder.filled(range(3))
    [name] = folder.names("shards")
    (folder.path / "shards" / f"{name}.part").write_bytes(b"anything")
    (folder.path / "shards" / f".{name}.tmp").write_bytes(b"anything")
    folder.opened("w2").close()
    assert folder.names("shards") == [name]
    assert len(folder.records()) == 3


def test_the_manifest_counts_hashes_and_names_every_run(folder, kept, rejected, exchange):
    corpus = folder.opened("w1")
    corpus.archive(exchange(1))
    corpus.keep(kept(1, license_tag="CC0-1.0"))
    corpus.reject(rejected(2))
    corpus.reject(rejected(3, DropReason.OPTOUT, "policy"))
    corpus.note({"downloader/response_count": 3})
    corpus.close()
    manifest = folder.manifest()
    assert manifest["counts"]["kept"] == 1 and manifest["counts"]["rejected"] == 2
    assert manifest["counts"]["archived"] == 1 and manifest["counts"]["files"] == 3
    [run] = manifest["runs"]
    assert run["ended"] > run["started"] and run["versions"]["crawler"]
    assert run["counters"] == {"archived": 1, "downloader/response_count": 3, "kept": 1, "rejected": 2}
    by_kind = {entry["kind"]: entry for entry in manifest["files"]}
    assert by_kind["shards"]["licences"] == {"CC0-1.0": 1}
    assert by_kind["rejected"]["reasons"] == {"policy/optout": 1, "quality/low_quality": 1}


def test_the_same_input_gives_the_same_bytes(tmp_path, kept, exchange, folder):
    contents = []
    for name in ("one", "two"):
        made = type(folder)(tmp_path / name)
        corpus = made.opened("w1")
        for number in range(20):
            corpus.archive(exchange(number))
            corpus.keep(kept(number))
            if name == "one" or number % 7 == 0:
                corpus.commit()
        corpus.close()
        files = [p for p in sorted(made.path.rglob("*")) if p.is_file() and p.parent.name in {"shards", "archive"}]
        contents.append([(p.name, p.read_bytes()) for p in files])
    assert contents[0] == contents[1]


def test_the_manifest_is_the_same_whatever_the_order_of_the_ledgers(folder):
    for worker in ("a", "b", "c"):
        folder.filled(range(2), worker=worker)
    ledgers = [orjson.loads(p.read_bytes()) for p in (folder.path / "manifest.d").glob("*.json")]
    assert merged(ledgers) == merged(ledgers[::-1]) == folder.manifest()


def test_a_worker_that_saw_nothing_leaves_no_file(folder):
    folder.opened().close()
    assert [folder.names(name) for name in ("shards", "rejected", "archive")] == [[], [], []]
    assert folder.manifest()["files"] == []


@pytest.mark.parametrize("name", ["thesis.txt", "manifest.json", "shards"])
def test_a_folder_that_is_somebody_elses_is_refused_and_left_untouched(folder, name):
    folder.path.mkdir()
    (folder.path / name).write_text("mine")
    with pytest.raises(StorageError, match=r"empty or new|give another folder"):
        folder.corpus().open()
    assert [p.name for p in folder.path.iterdir()] == [name]


def test_a_corpus_of_another_format_is_refused(folder):
    folder.path.mkdir()
    (folder.path / "manifest.json").write_text('{"format": "crawler-corpus/99"}')
    with pytest.raises(StorageError, match="crawler-corpus/99"):
        folder.corpus().open()


def test_the_embedded_servers_folder_does_not_make_a_corpus_foreign(folder):
    (folder.path / "frontier").mkdir(parents=True)
    folder.opened().close()
    assert folder.manifest()["format"] == "crawler-corpus/1"


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(folder, below):
    folder.path.write_text("a file")
    corpus = Corpus(from_mapping({"CORPUS_DIR": f"{folder.path}{below}"}))
    with pytest.raises(StorageError, match="CORPUS_DIR"):
        corpus.open()


def test_a_record_without_json_form_costs_only_itself(folder, kept):
    corpus = folder.opened()
    with pytest.raises(TypeError):
        corpus.keep({"url": object()})
    corpus.keep(kept(1))
    corpus.close()
    assert len(folder.records()) == 1


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4500, 4500))


def test_a_full_disk_is_a_clear_error_and_what_was_committed_stays_readable(folder):
    process = start_writer(folder, preexec_fn=limit_file_size)
    out, err = process.communicate(timeout=60)
    assert process.returncode != 0 and "StorageError" in err and "run the same command again" in err
    folder.opened("next").close()
    assert len(folder.records()) > int(out.splitlines()[-1])
    assert verify(Place(str(folder.path))).damage == []


def test_after_a_failure_nothing_more_is_taken_and_close_lets_go(folder, kept, monkeypatch):
    corpus = folder.opened()
    corpus.keep(kept(1))
    corpus.commit()
    monkeypatch.setattr(os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    corpus.keep(kept(2))
    with pytest.raises(StorageError, match="No space left"):
        corpus.commit()
    with pytest.raises(StorageError, match="No space left"):
        corpus.keep(kept(3))
    corpus.close()
    monkeypatch.undo()
    folder.opened("w1").close()
    assert folder.records()[0]["title"] == "Page 1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file that is always full")
def test_a_disk_that_is_full_when_the_index_of_an_archive_is_written_is_a_sentence_and_close_lets_go(
    folder, kept, exchange
):
    corpus = folder.opened()
    corpus.archive(exchange(1))
    corpus.keep(kept(1))
    corpus.commit()
    draft = corpus._archive._draft
    draft._file.close()
    draft._file = Path("/dev/full").open("r+b")  # noqa: SIM115  # the corpus closes it
    corpus.archive(exchange(2))
    with pytest.raises(StorageError, match=r"No space left on device\. What was committed stays readable"):
        corpus.close()
    folder.opened("w1").close()
    assert folder.records()[0]["title"] == "Page 1"


def test_files_of_a_remote_corpus_grow_in_the_spool_and_are_uploaded_when_sealed(tmp_path, kept, exchange):
    url = f"memory://{tmp_path.name}"
    spool = tmp_path / "spool"
    corpus = Corpus(from_mapping({"CORPUS_DIR": url, "CORPUS_SPOOL_DIR": str(spool), "WORKER_ID": "w1"}))
    corpus.open()
    corpus.archive(exchange(1))
    corpus.keep(kept(1))
    corpus.commit()
    assert [p.name for p in (spool / "shards").iterdir()] == ["crawl-w1-000000.jsonl.zst.part"]
    assert Place(url).listing("shards") == []
    corpus.close()
    assert list((spool / "shards").iterdir()) == []
    findings = verify(Place(url))
    assert (findings.files, findings.documents, findings.damage) == (2, 1, [])
    fsspec.filesystem("memory").rm(url, recursive=True)


def test_what_a_crash_left_in_the_spool_reaches_the_remote_corpus(tmp_path, kept):
    settings = {"CORPUS_DIR": f"file://{tmp_path}/remote", "CORPUS_SPOOL_DIR": f"{tmp_path}/spool", "WORKER_ID": "w1"}
    crashed = Corpus(from_mapping(settings))
    crashed.open()
    crashed.keep(kept(1))
    crashed.commit()
    crash(crashed)
    again = Corpus(from_mapping(settings))
    assert [found.path for found in again.open()] == ["shards/crawl-w1-000000.jsonl.zst"]
    again.close()
    assert [p.name for p in (tmp_path / "remote" / "shards").iterdir()] == ["crawl-w1-000000.jsonl.zst"]
    assert verify(Place(settings["CORPUS_DIR"])).documents == 1


def test_a_lock_that_is_held_for_a_moment_is_waited_for(tmp_path):
    held, wanted = WriterLock(tmp_path / "w.lock"), WriterLock(tmp_path / "w.lock")
    assert held.acquire()
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            held.release()

    assert wanted.acquire_within(5.0, pause)
    assert len(pauses) == 3
    assert not held.acquire_within(0.5, pauses.append)


def test_a_folder_whose_name_no_manifest_can_carry_is_refused_before_anything_is_made(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    with pytest.raises(StorageError, match=r"caf\\xe9: a name that is not UTF-8, .*; give the folder another name"):
        Place(name)
    assert list(tmp_path.iterdir()) == []


def test_a_run_says_the_fastest_pace_that_was_in_force_while_it_was_at_work(tmp_path):
    paces = [Pace(2.0, "domain", 1)]
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "DOWNLOAD_DELAY": 9}), pace=lambda: paces[-1])
    corpus.open()
    assert corpus.place.load_json(f"manifest.d/{corpus.writer}.json")["runs"][0]["policy"]["delay_seconds"] == 2.0
    paces.append(Pace(0.5, "domain", 4))
    corpus.deliver()
    corpus._save()
    paces.append(Pace(5.0, "domain", 2))
    corpus.close()
    (run,) = corpus.place.manifest()["runs"]
    assert (run["policy"]["delay_seconds"], run["policy"]["requests_at_a_time"]) == (0.5, 4)


def test_a_worker_with_nothing_to_write_leaves_its_latest_counters_to_whoever_finds_it_killed(tmp_path) -> None:
    folder = Folder(tmp_path / "idle")
    corpus = folder.opened()
    corpus.keep(record_of(document(1)))
    corpus.commit()
    for spent in range(2 * int(CHECKPOINT_SECONDS)):  # each look at the clock is a second
        corpus.note({"stage/cpu_ms": spent})
    (ledger,) = (tmp_path / "idle" / "manifest.d").glob("*.json")
    assert orjson.loads(ledger.read_bytes())["runs"][-1]["counters"]["stage/cpu_ms"] >= CHECKPOINT_SECONDS - 1
    corpus.close()
