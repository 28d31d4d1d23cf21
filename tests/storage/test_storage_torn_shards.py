"""A sealed file that ends too early is damage, however much of it can still be read."""

from __future__ import annotations

import re

import pytest

from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_lines, read_records
from tests.support.corpus_folder import Folder


@pytest.fixture(params=["jsonl.zst", "jsonl.gz", "parquet"])
def shard(request, tmp_path):
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    folder = Folder(tmp_path / "corpus")
    folder.filled(range(40), SHARD_FORMAT=request.param)
    (path,) = (folder.path / "shards").iterdir()
    return path


@pytest.mark.parametrize("left", [lambda size: size // 2, lambda size: size - 1, lambda size: 1, lambda size: 0])
def test_a_sealed_file_that_was_cut_is_an_error_that_names_it(shard, left):
    shard.write_bytes(shard.read_bytes()[: left(shard.stat().st_size)])
    place = Place(str(shard.parent.parent))
    with pytest.raises(StorageError, match=f"^{re.escape(str(shard))}: .*copy"):
        list(read_records(place, f"shards/{shard.name}"))


def test_a_line_that_is_no_json_is_named_with_its_file(tmp_path):
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "a.jsonl").write_text('{"url": "http://a.example/"}\n{"url": \n')
    with pytest.raises(StorageError, match=f"^{re.escape(str(tmp_path))}/shards/a.jsonl: line 2 is not JSON"):
        list(read_records(Place(str(tmp_path)), "shards/a.jsonl"))


def test_a_journal_may_end_within_a_frame_because_its_worker_is_still_writing(tmp_path):
    folder = Folder(tmp_path / "corpus")
    folder.filled(range(3))
    (sealed,) = (folder.path / "shards").iterdir()
    journal = tmp_path / "a.jsonl.zst.part"
    journal.write_bytes(sealed.read_bytes() + sealed.read_bytes()[:-9])
    assert len(list(read_lines(journal))) >= 3


def test_a_small_file_that_could_not_be_written_leaves_nothing_beside_it(tmp_path):
    (tmp_path / "stats.json" / "in the way").mkdir(parents=True)
    with pytest.raises(StorageError):
        Place(str(tmp_path)).put("stats.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["stats.json"]
