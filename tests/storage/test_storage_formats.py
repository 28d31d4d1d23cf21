"""Formats of other packages: names and suffixes that are free, and files whose format is not installed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.problems import InputError
from crawler.storage.corpus.recovery import owner_of, recover
from crawler.storage.files import formats
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import BUILT_IN, Format, format_of, shard_format, suffixes
from crawler.storage.files.journal import zstd_frame
from crawler.storage.files.place import Place
from crawler.storage.files.shards import ShardWriter, read_lines

OURS = BUILT_IN["jsonl"]


@pytest.fixture
def beside(monkeypatch):
    """Put formats beside the built-in ones, as if packages had added them."""

    def add(*others: Format) -> None:
        monkeypatch.setattr(formats, "added", lambda *_: {one.name: one for one in others})

    return add


def test_a_format_of_another_package_is_written_recognised_and_read(beside, tmp_path):
    beside(replace(OURS, name="lines", suffix="ndjson"))
    sealed = []
    writer = ShardWriter(
        tmp_path, "w", shard_format="lines", max_bytes=1000, first_number=0, on_seal=lambda path, _: sealed.append(path)
    )
    writer.add(b'{"url":"https://example.org/"}\n')
    writer.seal()
    (path,) = sealed
    assert (path.name, owner_of(path.name)) == ("w-000000.ndjson", "w") and ".ndjson" in suffixes()
    assert list(read_lines(path)) == [b'{"url":"https://example.org/"}\n']


@pytest.mark.parametrize("suffix", ["jsonl", "more.jsonl.gz", "warc.gz", "json.gz", "", "a/b", "UP", "."])
def test_a_suffix_that_another_format_has_or_no_file_can_have_is_refused(beside, suffix):
    beside(replace(OURS, name="mine", suffix=suffix))
    with pytest.raises(StorageError, match="the format mine has the suffix"):
        shard_format("mine")


def test_two_packages_cannot_share_a_suffix(beside):
    beside(replace(OURS, name="one", suffix="x"), replace(OURS, name="two", suffix="x"))
    with pytest.raises(StorageError, match="the format two has the suffix 'x'"):
        format_of("w-000000.x")


def test_a_format_without_reader_is_for_exports_alone(beside):
    beside(replace(OURS, name="table", suffix="tsv", reading=None))
    with pytest.raises(StorageError, match="SHARD_FORMAT=table"):
        shard_format("table")
    with pytest.raises(StorageError, match="no format has files of such a name"):
        format_of("w-000000.tsv")


def test_a_broken_package_does_not_keep_anyone_from_the_built_in_formats(monkeypatch):
    def refused(*_):
        raise InputError(["outside, entry point gristmill.formats x: cannot be loaded"])

    monkeypatch.setattr(formats, "added", refused)
    assert format_of("w-000000.jsonl.zst") is shard_format("jsonl.zst")
    with pytest.raises(StorageError, match="outside, entry point"):
        format_of("w-000000.x")


def test_a_journal_of_a_dead_writer_in_a_format_that_is_not_installed_is_named_and_stays(tmp_path):
    journal = tmp_path / "shards" / "c-w1-000000.other.part"
    journal.parent.mkdir()
    (tmp_path / "manifest.d").mkdir()
    journal.write_bytes(zstd_frame(b'{"url":"https://example.org/"}\n'))
    for _ in range(2):
        with pytest.raises(StorageError, match=r"other: no format has files of such a name; install the package"):
            recover(Place(str(tmp_path)))
        assert journal.exists()
    assert list(read_lines(journal)) == [b'{"url":"https://example.org/"}\n']
