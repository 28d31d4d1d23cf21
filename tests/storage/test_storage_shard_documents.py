"""A shard ends after so many documents or so many bytes, whichever comes first."""

from __future__ import annotations

import orjson
import pytest

from crawler.dataset.select import Selection, select
from crawler.storage.files.place import Place


def documents(path):
    return [entry["documents"] for entry in Place(str(path)).manifest()["files"] if entry["kind"] == "shards"]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(0, [7]), (3, [3, 3, 1]), (7, [7]), (1, [1] * 7)],
)
def test_a_shard_takes_as_many_documents_as_are_allowed(folder, limit, expected):
    folder.filled(range(7), SHARD_MAX_DOCUMENTS=limit)
    assert documents(folder.path) == expected
    assert [record["url"] for record in folder.records()] == [f"https://example.org/{n}" for n in range(7)]


def test_bytes_end_a_shard_before_its_documents_do(folder, kept):
    size = len(orjson.dumps(kept(1))) + 1
    folder.filled(range(6), SHARD_MAX_DOCUMENTS=5, SHARD_MAX_BYTES=max(1024, 2 * size + 20))
    assert documents(folder.path) == [2, 2, 2]


def test_commits_in_between_and_rejected_records_change_nothing(folder, kept, rejected):
    corpus = folder.opened(SHARD_MAX_DOCUMENTS=2)
    for number in range(5):
        corpus.keep(kept(number))
        corpus.reject(rejected(10 + number))
        corpus.commit()
    corpus.close()
    found = Place(str(folder.path)).manifest()["files"]
    assert [e["documents"] for e in found if e["kind"] == "rejected"] == [2, 2, 1]
    assert documents(folder.path) == [2, 2, 1]


def test_a_subset_keeps_to_the_same_limit(folder, tmp_path):
    folder.filled(range(5))
    target = Place(str(tmp_path / "subset"))
    select(Place(str(folder.path)), target, Selection(), max_bytes=1 << 20, max_documents=2, now=1.8e9)
    assert documents(tmp_path / "subset") == [2, 2, 1]
