"""`gristmill dataset repair`: the manifest comes back from ledgers and files, or what is missing is said."""

import json
import shutil
import sys

import pytest

from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.repair import repair
from crawler.dataset.rewrite import rewrite
from crawler.dataset.select import Selection, select
from crawler.dataset.verify import verify
from crawler.dataset.versions import Cause
from crawler.storage.corpus.version import versions_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.support import warm
from tests.support.noted import manifest_hash
from tests.support.places import PROJECT


def scrapy(*arguments):
    command = [sys.executable, "-m", "scrapy", "dataset", *map(str, arguments)]
    return warm.run(command, cwd=PROJECT, capture_output=True, text=True)


@pytest.fixture
def corpus(folder, exchange):
    """Two workers with shards, rejections and archives, and a second version with a lineage."""
    for worker, numbers in (("w1", range(4)), ("w2", range(4, 8))):
        corpus = folder.opened(worker)
        for number in numbers:
            corpus.archive(exchange(number))
        corpus.close()
        folder.filled(numbers, worker)
    place = Place(str(folder.path))
    rewrite(place, lambda r: None if r["title"] == "Page 1" else r, Cause("test", "without one", 1.8e9))
    return folder


def manifest(folder):
    return (folder.path / "manifest.json").read_bytes()


@pytest.mark.parametrize("damage", [None, b"", b'{"format": "crawler-corpus/1", "fi', b'{"format": "x"}', b"[1]"])
def test_a_manifest_that_is_gone_or_broken_comes_back_byte_for_byte(corpus, damage):
    before = manifest(corpus)
    if damage is None:
        (corpus.path / "manifest.json").unlink()
    else:
        (corpus.path / "manifest.json").write_bytes(damage)
    done = scrapy("repair", corpus.path)
    assert done.returncode == 0, done.stderr
    assert "manifest.json was broken or missing: written again" in done.stdout
    assert manifest(corpus) == before
    assert verify(Place(str(corpus.path))).damage == []


def test_whoever_meets_a_broken_manifest_is_told_of_the_repair(corpus):
    (corpus.path / "manifest.json").write_bytes(b'{"format": "crawler-corpus/1", "fi')
    with pytest.raises(StorageError, match=f"`gristmill dataset repair {corpus.path}` writes it again"):
        corpus.opened("w1")
    assert scrapy("repair", corpus.path).returncode == 0
    corpus.opened("w1").close()


def test_a_whole_corpus_is_left_as_it_is(corpus):
    before = {p: p.read_bytes() for p in corpus.path.rglob("*") if p.is_file()}
    found = repair(Place(str(corpus.path)))
    assert (found.done, found.missing) == ([], [])
    assert {p: p.read_bytes() for p in corpus.path.rglob("*") if p.is_file() and p.suffix != ".lock"} == {
        p: content for p, content in before.items() if p.suffix != ".lock"
    }


@pytest.mark.parametrize("lost", ["w1", "rewrite", "all"])
def test_ledgers_come_back_from_the_manifest(corpus, lost):
    before = manifest(corpus)
    for path in (corpus.path / "manifest.d").glob("*.json"):
        if lost == "all" or lost in path.name:
            path.unlink()
    found = repair(Place(str(corpus.path)))
    assert found.missing == [] and found.done
    assert manifest(corpus) == before


def test_a_torn_ledger_is_kept_beside_the_new_one(corpus):
    (path,) = (corpus.path / "manifest.d").glob("*-w1.json")
    path.write_bytes(path.read_bytes()[:100])
    repair(Place(str(corpus.path)))
    assert path.with_name(path.name + ".broken").stat().st_size == 100
    assert verify(Place(str(corpus.path))).damage == []


def test_with_manifest_and_ledger_gone_the_files_are_listed_and_what_they_do_not_say_is_named(folder):
    folder.filled(range(3))
    (entry,) = [e for e in folder.manifest()["files"] if e["kind"] == "shards"]
    shutil.rmtree(folder.path / "manifest.d")
    (folder.path / "manifest.json").unlink()
    done = scrapy("repair", folder.path)
    assert done.returncode == 1
    assert "when 'crawl-w1' ran, under which rules, and what it counted is no longer known" in done.stderr
    (again,) = [e for e in folder.manifest()["files"] if e["kind"] == "shards"]
    assert again == {name: value for name, value in entry.items() if name != "made_by"}
    assert verify(Place(str(folder.path))).damage == []
    standing = versions_of(Place(str(folder.path)))[manifest_hash(folder.path)]
    assert [file["path"] for file in standing["files"]] == [again["path"]]


def test_a_lost_lineage_is_not_made_up(corpus):
    (path,) = (corpus.path / "manifest.d").glob("rewrite*.json")
    path.unlink()
    (corpus.path / "manifest.json").unlink()
    files = sorted(p.name for p in (corpus.path / "shards").iterdir())
    with pytest.raises(StorageError, match="what version 2 of the corpus replaced; restore it"):
        repair(Place(str(corpus.path)))
    assert sorted(p.name for p in (corpus.path / "shards").iterdir()) == files


def test_a_deleted_shard_is_named_and_the_exit_code_says_so(corpus):
    path = next((corpus.path / "shards").iterdir())
    path.unlink()
    (corpus.path / "manifest.json").unlink()
    done = scrapy("repair", corpus.path)
    assert done.returncode == 1 and f"shards/{path.name} is listed, but missing; restore" in done.stderr
    assert json.loads(manifest(corpus))["format"] == "crawler-corpus/1"


def test_a_subset_and_a_withdrawal_come_back_too(corpus, tmp_path):
    place = Place(str(corpus.path))
    withdraw(place, Wish("a letter", frozenset({"nobody.test"})), now=1.81e9)
    target = Place(str(tmp_path / "subset"))
    select(place, target, Selection(), max_bytes=10**9, now=1.82e9)
    before = (tmp_path / "subset" / "manifest.json").read_bytes()
    shutil.rmtree(tmp_path / "subset" / "manifest.d")
    repair(target)
    (tmp_path / "subset" / "manifest.json").unlink()
    repair(target)
    assert (tmp_path / "subset" / "manifest.json").read_bytes() == before


def test_while_a_worker_is_at_work_nothing_is_repaired(folder):
    corpus = folder.opened()
    with pytest.raises(StorageError, match="is at work"):
        repair(Place(str(folder.path)))
    corpus.close()


def test_a_folder_that_is_no_corpus_stays_as_it_is(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="expected the CORPUS_DIR of a crawl"):
        repair(Place(str(tmp_path)))
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_a_manifest_of_another_version_of_the_project_is_not_written_over(corpus):
    newer = manifest(corpus).replace(b"crawler-corpus/1", b"crawler-corpus/2")
    (corpus.path / "manifest.json").write_bytes(newer)
    with pytest.raises(StorageError, match="use the version of the project that wrote it"):
        repair(Place(str(corpus.path)))
    assert manifest(corpus) == newer
