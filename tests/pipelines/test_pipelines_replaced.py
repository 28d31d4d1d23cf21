"""The end of a run: what it replaced leaves the corpus, is left to somebody at work, or is an error."""

import asyncio
import logging

import pytest

from crawler.document import DropReason
from crawler.pipelines.replaced import take_out_replaced
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place


@pytest.fixture
def refused(folder, kept, rejected):
    """Two kept pages, and a later record in which one of them refuses."""
    corpus = folder.opened()
    for number in range(2):
        corpus.keep(kept(number))
    corpus.close()
    corpus = folder.opened("w2")
    corpus.reject(rejected(1, DropReason.OPTOUT, "optout", crawled_at="2026-02-01T00:00:00Z"))
    corpus.close()
    return folder


def end(folder):
    asyncio.run(take_out_replaced(Place(str(folder.path)), None, again=True, ended=True))


def test_a_refused_page_is_withdrawn(refused, kept):
    end(refused)
    assert [record["url"] for record in refused.records()] == [kept(0)["url"]]


def test_a_worker_that_is_still_at_work_does_it_at_its_own_end(refused, caplog):
    other = refused.opened("w3")
    with caplog.at_level(logging.WARNING):
        end(refused)
    assert "gristmill dataset supersede" in caplog.text and "'w3' is at work" in caplog.text
    other.close()
    assert len(refused.records()) == 2


def test_what_could_not_be_withdrawn_is_an_error_that_says_what_to_do(refused):
    (shard,) = (refused.path / "shards").glob("*.jsonl*")
    shard.unlink()
    with pytest.raises(StorageError, match=r"every page is recorded, but .* still there: .*dataset supersede"):
        end(refused)


@pytest.mark.parametrize(("again", "doubled"), [(True, False), (False, True), (False, False)])
def test_parts_that_share_a_store_leave_to_a_person_what_there_is_to_take_out(folder, kept, rejected, again, doubled):
    corpus = folder.opened()
    corpus.keep(kept(0))
    corpus.close()
    corpus = folder.opened("w2")
    if again:
        corpus.reject(rejected(0, DropReason.OPTOUT, "optout", crawled_at="2026-02-01T00:00:00Z"))
    corpus.keep(kept(0 if doubled else 1, crawled_at="2026-03-01T00:00:00Z"))
    corpus.close()
    place = Place(f"file://{folder.path}")
    assert place.remote
    ends = take_out_replaced(place, None, again=again, ended=True, parts=2)
    if again or doubled:
        with pytest.raises(StorageError, match=r"still there: .*gristmill dataset supersede"):
            asyncio.run(ends)
    else:
        asyncio.run(ends)
