"""Bookmarks never run ahead of the records, are tied to a configuration, and belong to one process at a time."""

import asyncio

import pytest

from crawler.config import from_mapping
from crawler.dedup.loading import remember
from crawler.dedup.make import make_index
from crawler.document import Drop, DropReason
from crawler.stages.fingerprint import FingerprintStage
from crawler.storage.corpus.bookmarks import Bookmark, Bookmarks, kept_texts, spot_of, spots_behind
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from crawler.urls.canonicalize import canonicalize


@pytest.fixture
def place(tmp_path):
    made = Place(str(tmp_path / "corpus"))
    made.claim()
    return made


def test_an_archive_without_a_bookmark_begins_at_its_beginning(place):
    assert Bookmarks(place, "c", "d").of("x.warc.gz") == Bookmark(0, finished=False)


def test_a_bookmark_is_there_once_it_is_saved_and_not_before(place):
    marks = Bookmarks(place, "c", "d")
    marks.claim("x.warc.gz").release()
    marks.reach("x.warc.gz", Bookmark(10))
    marks.reach("x.warc.gz", Bookmark(20))
    assert marks.of("x.warc.gz") == Bookmark()
    marks.save()
    assert Bookmarks(place, "c", "d").of("x.warc.gz") == Bookmark(20)
    assert Bookmarks(place, "c", "d").of("y.warc.gz") == Bookmarks(place, "other", "d").of("x.warc.gz") == Bookmark()


def test_a_torn_bookmark_is_the_beginning_and_one_of_other_settings_is_refused(place):
    marks = Bookmarks(place, "c", "d")
    marks.claim("x.warc.gz").release()
    marks.reach("x.warc.gz", Bookmark(20, finished=True))
    marks.save()
    with pytest.raises(StorageError, match="with other settings"):
        Bookmarks(place, "c", "e").of("x.warc.gz")
    [path] = (place.root / "manifest.d" / "replay-c").iterdir()
    path.write_bytes(b'{"offset": 2')
    assert marks.of("x.warc.gz") == Bookmark()


def test_an_archive_in_the_hands_of_another_is_refused_until_it_lets_go(place):
    held = Bookmarks(place, "c", "d").claim("x.warc.gz")
    with pytest.raises(StorageError, match="part=1/2"):
        Bookmarks(place, "c", "d").claim("x.warc.gz")
    Bookmarks(place, "c", "d").claim("y.warc.gz").release()
    held.release()
    Bookmarks(place, "c", "d").claim("x.warc.gz").release()


def test_what_is_recorded_behind_a_bookmark_is_found_in_the_records(folder, document):
    corpus = folder.opened()
    for number in range(6):
        at = {"warc_file": "x.warc.gz", "warc_offset": 100 * number, "warc_record_id": f"<{number}>"}
        if number % 2:
            corpus.keep(record_of(document(number, **at)))
        else:
            corpus.reject(rejection_of(document(number, **at), Drop("quality", DropReason.LOW_QUALITY)))
    corpus.keep(record_of(document(9)))
    corpus.close()
    place = Place(str(folder.path))
    found = spots_behind(place, {"x.warc.gz": Bookmark(300)}, canonicalize)
    assert found == {spot_of("x.warc.gz", 100 * n, f"<{n}>", f"https://example.org/{n}") for n in (3, 4, 5)}
    named = spots_behind(place, {"x.warc.gz": Bookmark(500)}, lambda url: f"{url}?named")
    nameless = spots_behind(place, {"x.warc.gz": Bookmark(500)}, lambda url: None)
    assert named == {spot_of("x.warc.gz", 500, "<5>", "https://example.org/5?named")}
    assert nameless == {spot_of("x.warc.gz", 500, "<5>", "https://example.org/5")}
    marks = {"x.warc.gz": Bookmark(300, finished=True), "y.warc.gz": Bookmark()}
    assert spots_behind(place, marks, canonicalize) == set()
    assert [owner for owner, _ in kept_texts(place)] == [f"https://example.org/{n}" for n in (1, 3, 5, 9)]


async def _owner_of(config, place, doc):
    index = make_index(config)
    await remember(index, config, place)
    FingerprintStage(config.dedup)(doc)
    match = await index.check(doc.doc_id, doc.signature, doc.shingle_count, doc.canonical_url)
    return match.owner if match else None


def test_an_index_in_memory_knows_after_a_restart_whose_a_text_is(folder, document):
    folder.filled(range(3))
    place, config = Place(str(folder.path)), from_mapping({"CORPUS_DIR": str(folder.path)})
    again, copy = document(1), document(1, url="https://example.org/copy", canonical_url="https://example.org/copy")
    assert asyncio.run(_owner_of(config, place, again)) is None
    assert asyncio.run(_owner_of(config, place, copy)) == "https://example.org/1"
