"""Journals survive a cut at any byte; sealed shards are one clean frame, the same for the same records."""

import gzip
import io
import tempfile
import zlib
from pathlib import Path

import orjson
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import Journal, cut_to_last_frame, zstd_frame
from crawler.storage.files.shards import ShardWriter, read_lines, seal_shard

FORMATS = ("jsonl.zst", "jsonl.gz", "jsonl", "parquet")


def write(folder, records, commits, shard_format="jsonl.zst", max_bytes=1 << 20):
    """Write records, commit before each index in `commits`, seal; the sealed paths."""
    sealed = []
    writer = ShardWriter(
        folder, "c-w", shard_format=shard_format, max_bytes=max_bytes, first_number=0,
        on_seal=lambda path, entry: sealed.append((path, entry)),
    )  # fmt: skip
    for index, record in enumerate(records):
        if index in commits:
            writer.commit()
        writer.add(orjson.dumps(record) + b"\n")
    writer.seal()
    return sealed


@settings(deadline=None, derandomize=True, max_examples=40)
@given(frames=st.lists(st.binary(min_size=1, max_size=200), min_size=1, max_size=6), data=st.data())
@pytest.mark.parametrize("suffix", ["jsonl.zst", "warc.gz"])
def test_a_journal_cut_at_any_byte_keeps_exactly_its_complete_frames(suffix, frames, data):
    encode = zstd_frame if suffix == "jsonl.zst" else lambda raw: gzip.compress(raw, mtime=0)
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / f"f.{suffix}")
        ends = [0]
        for frame in frames:
            journal.append(encode(frame))
            ends.append(journal.size)
        journal.close()
        length = data.draw(st.integers(0, journal.size))
        with journal.part.open("r+b") as file:
            file.truncate(length)
        complete = max(end for end in ends if end <= length)
        assert cut_to_last_frame(journal.part) == length - complete
        assert journal.part.stat().st_size == complete
        content = journal.part.read_bytes()
        plain = (
            zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True).read()
            if suffix == "jsonl.zst"
            else gzip.decompress(content)
        )
        assert plain == b"".join(frames[: ends.index(complete)])


@pytest.mark.parametrize("garbage", [b"\0" * 4096, b"garbage", zstd_frame(b"x" * 99)[:-1] + b"?"])
def test_what_a_crash_leaves_behind_the_last_frame_is_cut_off(tmp_path, garbage):
    journal = Journal(tmp_path / "f.jsonl.zst")
    journal.append(zstd_frame(b"{}\n"))
    journal.append(garbage)
    journal.close()
    assert cut_to_last_frame(journal.part) == len(garbage)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(
    count=st.integers(1, 30),
    first=st.sets(st.integers(0, 30)),
    second=st.sets(st.integers(0, 30)),
    max_bytes=st.integers(20, 600),
)
@pytest.mark.parametrize("shard_format", FORMATS)
def test_sealed_bytes_depend_on_the_records_and_not_on_the_commits(shard_format, count, first, second, max_bytes):
    records = [{"url": f"http://a.test/{i}", "word_count": i} for i in range(count)]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        a = write(Path(one), records, first, shard_format, max_bytes)
        b = write(Path(two), records, second, shard_format, max_bytes)
        assert [(path.name, path.read_bytes()) for path, _ in a] == [(path.name, path.read_bytes()) for path, _ in b]
        found = [orjson.loads(line) for path, _ in a for line in read_lines(path)]
        assert [{name: record[name] for name in ("url", "word_count")} for record in found] == records


def test_a_shard_never_exceeds_its_cap_unless_one_record_does(tmp_path):
    records = [{"text": "x" * size} for size in (10, 10, 500, 10, 40, 40)]
    sealed = write(tmp_path, records, (), max_bytes=100)
    sizes = [entry["uncompressed_bytes"] for _, entry in sealed]
    assert all(size <= 100 or entry["documents"] == 1 for size, (_, entry) in zip(sizes, sealed, strict=True))
    assert max(sizes) > 500
    assert sum(entry["documents"] for _, entry in sealed) == len(records)


def test_a_reader_that_stops_after_the_first_frame_still_sees_every_record(tmp_path):
    [(path, _)] = write(tmp_path, [{"n": i} for i in range(50)], range(50))
    with zstandard.open(path, "rt") as file:
        assert [orjson.loads(line)["n"] for line in file] == list(range(50))


def test_a_gzip_shard_is_one_member_without_a_time_stamp(tmp_path):
    [(path, _)] = write(tmp_path, [{"n": i} for i in range(50)], range(50), "jsonl.gz")
    reader = zlib.decompressobj(31)
    reader.decompress(path.read_bytes())
    assert reader.eof and not reader.unused_data
    assert path.read_bytes()[4:8] == b"\0\0\0\0"


def test_the_manifest_entry_says_what_the_file_says(tmp_path):
    first = {"domain": "a.test", "language": "en", "word_count": 5, "quality_score": 0.5, "crawled_at": "2026-01-02"}
    second = first | {"domain": "b.test", "word_count": 300, "quality_score": 1.0, "crawled_at": "2026-01-01"}
    records = [first, second, {"domain": "a.test", "stage": "quality", "reason": "low_quality"}]
    [(path, entry)] = write(tmp_path, records, ())
    assert entry["documents"] == 3 and entry["words"] == 305
    assert entry["domains"] == {"a.test": 2, "b.test": 1} and entry["languages"] == {"en": 2}
    assert entry["reasons"] == {"quality/low_quality": 1}
    assert (entry["first_crawled_at"], entry["last_crawled_at"]) == ("2026-01-01", "2026-01-02")
    assert entry["histograms"] == {"quality_score": {"10": 1, "19": 1}, "word_count": {"2": 1, "8": 1}}
    assert entry["bytes"] == path.stat().st_size


def test_a_journal_that_was_not_sealed_can_be_sealed_later(tmp_path):
    journal = Journal(tmp_path / "c-w-000000.jsonl")
    journal.append(zstd_frame(b'{"n":1}\n'))
    journal.sync()
    journal.close()
    assert seal_shard(journal.part)["documents"] == 1
    assert journal.path.read_bytes() == b'{"n":1}\n'
    assert not journal.part.exists()


@pytest.mark.parametrize("shard_format", ("jsonl.zst", "jsonl.gz", "parquet"))
def test_a_damaged_file_is_an_error_that_names_it(tmp_path, shard_format):
    [(path, _)] = write(tmp_path, [{"n": i} for i in range(50)], (), shard_format)
    content = bytearray(path.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little") + 8 if shard_format == "parquet" else 0  # its own sum: sha256
    content[(len(content) - footer) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(StorageError, match="c-w-000000"):
        list(read_lines(path))
