"""In an object store without a common server a writer's name belongs to one process, too."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid

import pytest

from crawler.config import from_mapping
from crawler.storage.corpus import claim as claims
from crawler.storage.corpus.claim import StoreClaim
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import Place


@pytest.fixture
def store(tmp_path):
    """A store that all spools of this test reach."""
    return f"memory://{uuid.uuid4().hex}"


def corpus_in(store: str, spool, **settings: object) -> Corpus:
    spool.mkdir(exist_ok=True)
    return Corpus(from_mapping({"CORPUS_DIR": store, "CORPUS_SPOOL_DIR": str(spool), "WORKER_ID": "w1", **settings}))


def test_two_spools_with_one_name_in_one_store_are_refused_before_anything_is_touched(store, tmp_path):
    first = corpus_in(store, tmp_path / "a")
    first.open()
    before = first.place.content("manifest.d/crawl-w1.json")
    with pytest.raises(StorageError, match="another live process writes as 'crawl-w1'; give each worker a WORKER_ID"):
        corpus_in(store, tmp_path / "b").open()
    assert first.place.content("manifest.d/crawl-w1.json") == before
    first.close()
    second = corpus_in(store, tmp_path / "b")
    second.open()
    second.close()


def test_the_restarted_process_on_its_own_spool_takes_its_name_over_at_once(store, tmp_path):
    first = corpus_in(store, tmp_path / "a")
    first.lock()
    os.close(first._lock._fd)  # as the end of a killed process does; its lock file stays
    again = corpus_in(store, tmp_path / "a")
    assert again.lock() == first.token
    again.unlock()
    first._lock._fd = None
    first.unlock()


def test_the_name_of_a_process_whose_spool_is_lost_is_free_when_its_claim_has_ended(store, tmp_path, monkeypatch):
    first = corpus_in(store, tmp_path / "a")
    first.lock()
    second = corpus_in(store, tmp_path / "b")
    with pytest.raises(StorageError, match="free again after 40 s"):
        second.lock()
    monkeypatch.setattr(claims, "LIFE_SECONDS", 0.0)
    monkeypatch.setattr(claims, "_SETTLING", 0.0)
    second.lock()
    first._claim.renew()
    with pytest.raises(StorageError, match="another live process"):
        first._claim.check()
    first.unlock()
    assert second._claim._holder() == second.token.encode(), "who has lost the name leaves it alone"
    second.unlock()


def test_with_a_server_that_knows_all_workers_the_store_is_not_asked(store, tmp_path):
    corpus = corpus_in(store, tmp_path / "a", REDIS_URL="redis://127.0.0.1:6379")
    corpus.lock()
    assert not [name for name in corpus.place.listing("manifest.d") if "claim" in name]
    corpus.unlock()


def test_a_process_that_lost_its_name_writes_nothing_more(store, tmp_path):
    corpus = corpus_in(store, tmp_path / "a")
    corpus.open()
    corpus.place.put("manifest.d/.crawl-w1.claim", b"somebody else")
    corpus._claim.renew()
    with pytest.raises(StorageError, match="another live process writes as"):
        corpus.commit()
    corpus.close()


def test_a_lock_names_the_process_that_was_killed_with_it(tmp_path):
    path = tmp_path / "w.lock"
    child = f"""
import os, signal
from pathlib import Path
from crawler.storage.files.locks import WriterLock
assert WriterLock(Path({str(path)!r}), "the first").acquire()
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", child], check=False).returncode == -9
    lock = WriterLock(path, "2nd")
    assert lock.acquire() and lock.predecessor == "the first" and path.read_text() == "2nd"
    lock.release()
    assert lock.acquire() and lock.predecessor == ""
    lock.release()


def test_a_claim_that_vanished_from_the_store_is_made_again(store, tmp_path):
    place = Place(store, str(tmp_path))
    place.claim()
    claim = StoreClaim(place, "w", "mine")
    claim.take()
    place.remove("manifest.d/.w.claim")
    claim.renew()
    claim.check()
    assert place.content("manifest.d/.w.claim") == b"mine"
    claim.release()
    assert place.listing("manifest.d") == []


def test_of_two_commands_that_make_a_corpus_in_one_new_folder_one_is_refused_and_removes_nothing(tmp_path):
    first, second = Place(str(tmp_path / "new")), Place(str(tmp_path / "new"))
    first.begin("gristmill dataset select")
    with pytest.raises(StorageError, match="`gristmill dataset select` is at work or was cut off here"):
        second.begin("gristmill dataset merge")
    first.put("manifest.json", b"{}")
    assert (tmp_path / "new" / "manifest.json").exists()
