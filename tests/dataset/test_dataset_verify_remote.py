"""`gristmill dataset verify --fix` where the corpus is: in an object store, after workers that never come back."""

import datetime
import shutil

import fsspec
import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset import verify as verify_module
from crawler.dataset.remote import SILENT_SECONDS, close_runs, finish_remote, open_runs, spooled
from crawler.dataset.verify import fix, verify
from crawler.operations.declared import WrongCall
from crawler.operations.verify import WORK
from crawler.storage.corpus.corpus import CHECKPOINT_SECONDS, Corpus
from crawler.storage.corpus.manifest import Ledger
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support.clock import FakeClock
from tests.support.operations import problems_of
from tests.support.process import scrapy


@pytest.fixture
def bucket(store, tmp_path):
    return f"{store}/{tmp_path.name}"


@pytest.fixture
def memory(tmp_path):
    url = f"memory://{tmp_path.name}"
    yield url
    if fsspec.filesystem("memory").exists(url):
        fsspec.filesystem("memory").rm(url, recursive=True)


def opened(url, tmp_path, name="w1", clock=None, **settings):
    spool = tmp_path / f"spool-{name}"
    config = from_mapping({"CORPUS_DIR": url, "CORPUS_SPOOL_DIR": str(spool), "WORKER_ID": name, **settings})
    corpus = Corpus(config, **({"clock": clock} if clock else {}))
    corpus.open()
    return corpus


def lost(corpus):
    """What SIGKILL leaves of a worker whose spool goes with it."""
    for writer in (corpus._archive, corpus._kept, corpus._rejected):
        writer.abandon()
    shutil.rmtree(corpus.place.root)


def aged(url, seconds, name="crawl-w1"):
    file = fsspec.filesystem("memory").store[f"/{url.removeprefix('memory://')}/manifest.d/{name}.json"]
    file.modified -= datetime.timedelta(seconds=seconds)


def command(url, *options):
    return problems_of(WORK, url, *options)


def urls(url):
    place = Place(url)
    files = [e["path"] for e in place.manifest()["files"] if e["kind"] != "archive"]
    return sorted(record["url"] for path in files for record in read_records(place, path))


def present(url):
    return {f"{folder}/{name}" for folder in ("shards", "rejected") for name in Place(url).listing(folder)}


def twice(url, tmp_path, kept, **settings):
    for name, numbers in (("w1", (1, 2)), ("w2", (2, 3))):
        corpus = opened(url, tmp_path, name, **settings)
        for number in numbers:
            corpus.keep(kept(number))
        corpus.close()


@pytest.mark.parametrize("shape", ["jsonl.zst", "parquet"])
def test_a_page_delivered_twice_is_there_once_in_the_bucket_after_fix(bucket, tmp_path, kept, shape):
    twice(bucket, tmp_path, kept, SHARD_FORMAT=shape)
    assert "1 surplus record:" in scrapy("dataset", "verify", bucket).stderr
    done = scrapy("dataset", "verify", "--fix", bucket)
    assert done.returncode == 0 and "removed 1 surplus record\n" in done.stdout, done.stderr + done.stdout
    assert urls(bucket) == [f"https://example.org/{n}" for n in (1, 2, 3)]
    assert present(bucket) == {entry["path"] for entry in Place(bucket).manifest()["files"]}


def test_a_file_beside_the_corpus_is_as_wrong_in_an_object_store_as_on_a_disk(memory, tmp_path, kept):
    """Whoever reads shards/* reads it: a stranger's file, and one that a killed worker did not come to list."""
    twice(memory, tmp_path, kept)
    place = Place(memory)
    assert command(memory) == ["1 surplus record: each page may be there once; use --fix"]
    assert command(memory, "--fix") == []
    place.put("shards/notes.txt", b"of a person, whom no reader takes for a shard")
    place.put("shards/more.jsonl.gz", b"")
    place.put("shards/crawl-w2-000007.jsonl.zst", b"")
    stranger, unfinished = command(memory)
    assert stranger == (
        "shards/more.jsonl.gz: not in the manifest, but readers of shards/* find it; move it out of the corpus"
    )
    assert unfinished.startswith("1 file in no manifest, such as shards/crawl-w2-000007.jsonl.zst: a worker")


def test_a_file_of_a_worker_that_may_be_at_work_is_no_fault_of_an_object_store(memory, tmp_path, kept):
    corpus = opened(memory, tmp_path)
    corpus.keep(kept(1))
    Place(memory).put("shards/crawl-w1-000007.jsonl.zst", b"")
    assert command(memory) == []
    lost(corpus)


@pytest.mark.parametrize("step", ["publish", "save", "merge", "remove"])
def test_a_fix_that_is_killed_loses_nothing_and_the_next_one_ends_it(memory, tmp_path, kept, monkeypatch, step):
    twice(memory, tmp_path, kept)

    def killed(*_args, **_values):
        raise SystemExit(step)

    with spooled(Place(memory)) as place, monkeypatch.context() as patch:
        found = verify(place)
        if step == "merge":
            answers = iter((place.manifest(),))
            patch.setattr(verify_module, "merge", lambda _: next(answers, None) or killed())
        else:
            patch.setattr(Ledger if step == "save" else Place, step, killed)
        with pytest.raises(SystemExit, match=step):
            fix(place, found.surplus)
    assert set(urls_of_ledgers(memory)) == {f"https://example.org/{n}" for n in (1, 2, 3)}
    assert command(memory, "--fix") == []
    assert urls(memory) == [f"https://example.org/{n}" for n in (1, 2, 3)]
    assert present(memory) == {entry["path"] for entry in Place(memory).manifest()["files"]}


def urls_of_ledgers(url):
    place = Place(url)
    names = [f"manifest.d/{name}" for name in place.listing("manifest.d") if name.endswith(".json")]
    paths = [entry["path"] for name in names for entry in place.load_json(name)["files"]]
    return [record["url"] for path in paths for record in read_records(place, path)]


def test_files_of_a_worker_killed_between_upload_and_ledger_are_listed(bucket, tmp_path, kept, exchange, monkeypatch):
    corpus = opened(bucket, tmp_path)
    corpus.archive(exchange(1))
    corpus.keep(kept(1))
    corpus.commit()

    def killed(*_):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add", killed)
        for seal in (corpus._archive.seal, corpus._kept.seal):
            with pytest.raises(SystemExit):
                seal()
    lost(corpus)
    with spooled(Place(bucket)) as place:
        close_runs(place, open_runs(place), silent=0)
        assert finish_remote(place) == 2
    assert verify(Place(bucket)).damage == [] and urls(bucket) == ["https://example.org/1"]


# --- workers that never come back ------------------------------------------------------------------------------------
def test_a_living_workers_run_is_never_closed(bucket, tmp_path, kept):
    corpus = opened(bucket, tmp_path)
    done = scrapy("dataset", "verify", "--fix", "--close-runs", "--yes", bucket)
    assert done.returncode == 1 and "crawl-w1" in done.stdout and "stays open" in done.stdout
    assert "1 run without an end" in done.stderr + done.stdout
    assert [run.writer for run in open_runs(Place(bucket))] == ["crawl-w1"]
    corpus.keep(kept(1))
    corpus.close()
    assert command(bucket, "--fix") == []


def test_the_run_of_a_lost_worker_is_closed_at_its_last_sign_of_life(memory, tmp_path, kept):
    lost(opened(memory, tmp_path))
    aged(memory, SILENT_SECONDS + 60)
    with pytest.raises(StorageError, match=r"1 run without an end: crawl-w1 \(silent for 96\d s\).*--close-runs"):
        command(memory, "--fix")
    assert command(memory, "--fix", "--close-runs") == ["nothing was changed; add --yes to close these runs"]
    assert len(open_runs(Place(memory))) == 1
    assert command(memory, "--fix", "--close-runs", "--yes") == []
    assert open_runs(Place(memory)) == []
    [run] = Place(memory).manifest()["runs"]
    assert run["ended"] >= run["started"] and run["recovered"] == []


def test_a_run_whose_worker_speaks_while_the_person_is_asked_stays_open(memory, tmp_path):
    corpus = opened(memory, tmp_path)
    aged(memory, SILENT_SECONDS + 60)
    with spooled(Place(memory)) as place:
        runs = open_runs(place)
        corpus._ledger.save()
        assert runs[0].silent > SILENT_SECONDS and close_runs(place, runs) == []
    corpus.close()


def test_a_worker_without_pages_still_gives_signs_of_life(memory, tmp_path):
    clock = FakeClock()
    corpus = opened(memory, tmp_path, clock=clock)
    aged(memory, 1000)
    clock.advance(CHECKPOINT_SECONDS - 1)
    corpus.rest()
    assert open_runs(Place(memory))[0].silent >= 1000
    clock.advance(1)
    corpus.rest()
    assert open_runs(Place(memory))[0].silent < 1000
    corpus.close()


def test_close_runs_is_for_an_object_store_and_goes_with_fix(folder, memory, tmp_path):
    folder.opened("w1").close()
    opened(memory, tmp_path).close()
    for words in ([str(folder.path), "--fix", "--close-runs"], [memory, "--close-runs"]):
        with pytest.raises(WrongCall, match="--close-runs goes with --fix and the URL of a corpus in an object store"):
            command(*words)
    with pytest.raises(WrongCall, match="--yes answers the question of --close-runs"):
        command(memory, "--fix", "--yes")


# --- ledgers and manifest --------------------------------------------------------------------------------------------
def test_what_the_manifest_lacks_after_a_kill_is_said_and_merged_by_fix(memory, tmp_path, kept, capsys):
    corpus = opened(memory, tmp_path, clock=FakeClock(), SHARD_MAX_DOCUMENTS=1)
    for number in range(3):
        corpus.keep(kept(number))
    lost(corpus)
    lacks = "manifest.json lacks or still lists 1 file, such as shards/crawl-w1-000001"
    assert command(memory) == [] and lacks in capsys.readouterr().out  # the worker may be at work: no fault of anybody
    aged(memory, SILENT_SECONDS)
    [problem] = command(memory)
    assert problem.startswith(lacks) and "--fix" in problem
    assert command(memory, "--fix", "--close-runs", "--yes") == []
    assert len(urls(memory)) == 2  # the third was in no sealed file: its lease expires, and it is fetched again


def test_a_torn_manifest_in_a_store_is_written_again_from_the_ledgers(memory, tmp_path, kept):
    twice(memory, tmp_path, kept)
    Place(memory).put("manifest.json", b'{"format": ')
    with pytest.raises(StorageError, match=r"manifest.json: not JSON .*`gristmill dataset verify --fix memory://"):
        command(memory)
    assert command(memory, "--fix") == [] and len(urls(memory)) == 3


def test_a_torn_ledger_in_a_store_is_named_with_what_to_do_and_that_helps(memory, tmp_path, kept):
    twice(memory, tmp_path, kept)
    whole = Place(memory).load_json("manifest.d/crawl-w2.json")
    Place(memory).put("manifest.d/crawl-w2.json", b'{"files": [')
    with pytest.raises(StorageError, match=r"manifest.d/crawl-w2.json: not JSON .*copy the corpus to a disk"):
        command(memory)
    copy, fs = tmp_path / "copy", fsspec.filesystem("memory")
    fs.get(memory, str(copy), recursive=True)
    assert scrapy("dataset", "repair", copy).returncode == 0
    ledger = orjson.loads((copy / "manifest.d" / "crawl-w2.json").read_bytes())
    assert ledger["files"] == whole["files"]
    for name in ("manifest.d/crawl-w2.json", "manifest.json"):
        Place(memory).put(name, (copy / name).read_bytes())
    assert command(memory, "--fix") == []
