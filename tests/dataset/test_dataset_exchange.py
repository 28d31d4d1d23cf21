"""A page comes out of the archive with what was noted for it, and never with another page's."""

from __future__ import annotations

import pytest

from crawler.dataset.exchange import exchange_of
from crawler.storage.archive.cdxj import index_of
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import Folder, document, exchange


@pytest.fixture
def archived(tmp_path):
    """A corpus whose archive has four pages, each with evidence of its own; and their records."""
    folder = Folder(tmp_path / "corpus")
    made = folder.opened()
    for number in range(4):
        found = made.archive(exchange(number, body=b"page %d" % number, evidence=b'{"of": %d}' % number))
        place = {"warc_file": found.file, "warc_offset": found.offset, "warc_record_id": found.record_id}
        made.keep(record_of(document(number, **place)))
    made.close()
    return Place(str(folder.path)), folder.records()


def test_each_page_has_its_own_bytes_and_evidence(archived):
    place, records = archived
    found = [exchange_of(place, record) for record in records]
    assert [(one.url, one.body, one.evidence) for one in found] == [
        (f"https://example.org/{n}", b"page %d" % n, b'{"of": %d}' % n) for n in range(4)
    ]


def test_without_an_index_a_page_has_its_bytes_and_no_evidence(archived):
    place, records = archived
    for record in records:
        (place.root / index_of(str(record["warc_file"]))).unlink(missing_ok=True)
    found = [exchange_of(place, record) for record in records]
    assert [(one.body, one.evidence) for one in found] == [(b"page %d" % n, b"") for n in range(4)]
