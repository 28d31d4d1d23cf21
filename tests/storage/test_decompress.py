"""The one decompressor: how each coding ends, what it gives until then, and that nothing outgrows its limit."""

import gzip
import random
import zlib

import brotli
import pytest
import zstandard

from crawler.decompress import ARCHIVE_WINDOW_LOG, CODINGS, End, TornError, unpack
from crawler.storage.archive.codings import decoded
from crawler.wire.head import Head

TEXT = "".join(f"Line {n} of a page, {random.Random(n).random()}. " for n in range(3_000)).encode()


def head(lines):
    return Head((1, 1), 200, b"OK", [(name.encode(), value.encode()) for name, value in lines])


def bare(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKED = [
    ("gzip", gzip.compress(TEXT)),
    ("x-gzip", gzip.compress(TEXT)),
    ("deflate", zlib.compress(TEXT)),
    ("deflate", bare(TEXT)),
    ("br", brotli.compress(TEXT)),
    ("zstd", zstandard.compress(TEXT)),
]


@pytest.mark.parametrize("coding, packed", PACKED)
def test_each_coding_says_whether_it_ended_was_torn_or_grew_too_large(coding, packed):
    assert unpack(packed, coding, 0).data == unpack(packed, coding, len(TEXT)).data == TEXT
    assert unpack(packed, coding, len(TEXT)).end is End.WHOLE
    torn = unpack(packed[: len(packed) // 2], coding, 0)
    assert torn.end is End.TORN and isinstance(torn.error, TornError) and TEXT.startswith(torn.data)
    grown = unpack(packed, coding, 1_000)
    assert grown.end is End.TOO_LARGE and 1_000 < len(grown.data) <= 1_000 + 2 * 65_536


@pytest.mark.parametrize("coding", sorted(CODINGS))
def test_no_bytes_of_any_kind_raise(coding):
    chance = random.Random(3)
    for _ in range(200):
        assert isinstance(unpack(chance.randbytes(chance.randrange(300)), coding, 10_000).end, End)
    assert unpack(b"", coding, 1).end is End.WHOLE


def test_salvage_gives_every_byte_before_a_wrong_checksum_and_nothing_is_promised_without_it():
    damaged = bytearray(gzip.compress(TEXT[:500]))
    damaged[-6] ^= 1  # the checksum
    assert unpack(bytes(damaged), "gzip", 0, salvage=True).data == TEXT[:500]
    assert unpack(bytes(damaged), "gzip", 0).end is End.DAMAGED


def test_what_follows_a_stream_is_named_and_is_no_part_of_it():
    assert unpack(gzip.compress(b"a") + gzip.compress(b"b") + b"tail", "gzip", 0).rest == b"tail"
    assert unpack(zlib.compress(b"a") + b"tail", "deflate", 0).rest == b"tail"


def test_a_window_larger_than_the_web_allows_opens_in_an_archive_only():
    wide = zstandard.ZstdCompressionParameters(window_log=27)
    stream = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    packed = stream.compress(TEXT) + stream.flush()
    assert unpack(packed, "zstd", 0).end is End.DAMAGED
    assert unpack(packed, "zstd", 0, window_log=ARCHIVE_WINDOW_LOG).data == TEXT


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_an_archived_payload_without_the_coding_its_head_names_is_read_as_it_is(coding):
    for body in (b"", b"<p>plain</p>", TEXT):
        assert decoded(head([("Content-Encoding", coding)]), body, 10**6).data == body


def test_a_torn_archived_payload_is_read_as_far_as_it_goes_and_called_torn():
    for coding, packed in PACKED:
        found = decoded(head([("Content-Encoding", coding)]), packed[: len(packed) // 2], 10**6)
        assert found.torn and TEXT.startswith(found.data)
        assert coding == "zstd" or len(found.data) > 1_000  # a frame of zstd gives whole blocks
