"""Content codings: whole or not at all, and never more than allowed."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard

from crawler.downloader.codings import TooLarge, decode

TEXT = "".join(f"Line {n} of a page. " for n in range(3_000)).encode()


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CODINGS = pytest.mark.parametrize(
    "name, pack",
    [
        (b"gzip", gzip.compress),
        (b"x-gzip", gzip.compress),
        (b"deflate", zlib.compress),
        (b"deflate", bare_deflate),
        (b"br", brotli.compress),
        (b"zstd", zstandard.compress),
    ],
)


@CODINGS
@pytest.mark.parametrize("text", [TEXT, b"", b"x"])
def test_what_was_packed_comes_back(name, pack, text):
    assert decode(pack(text), name, len(text)) == text


@CODINGS
def test_a_stream_that_ends_early_is_an_error_wherever_it_is_cut(name, pack):
    packed = pack(TEXT)
    for cut in range(1, len(packed), max(1, len(packed) // 60)):
        with pytest.raises((ValueError, zlib.error, brotli.error)):
            decode(packed[:-cut], name, 0)


@CODINGS
def test_one_byte_more_than_allowed_is_too_much(name, pack):
    with pytest.raises(TooLarge):
        decode(pack(TEXT), name, len(TEXT) - 1)


def test_members_and_frames_follow_each_other_and_a_tail_that_is_none_is_ignored():
    assert decode(gzip.compress(b"a") + gzip.compress(b"b") + b"\x00tail", b"gzip", 0) == b"ab"
    assert decode(zstandard.compress(b"a") + zstandard.compress(b"b"), b"zstd", 0) == b"ab"


def test_a_zstd_window_beyond_eight_megabytes_is_refused():
    packer = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=27))
    stream = packer.compressobj()
    with pytest.raises(Exception, match="memory"):
        decode(stream.compress(TEXT) + stream.flush(), b"zstd", 0)


def test_an_empty_body_is_empty_in_every_coding():
    assert decode(b"", b"gzip", 0) == b""
