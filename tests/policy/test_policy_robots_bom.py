"""A robots.txt that begins with a byte-order mark, whole or torn, is read from its first line on."""

from __future__ import annotations

import tarfile

import pytest

from crawler.policy.robots.parse import parse

TEXT = b"User-agent: *\nDisallow: /private\n"


@pytest.mark.parametrize(
    "mark",
    [b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b"\xbb\xbf", b"\xbf", 2 * b"\xef\xbb\xbf", b"\xef\xef\xbb\xbf"],
    ids=lambda mark: mark.hex() or "none",
)
def test_the_first_group_counts_whatever_is_left_of_the_mark(mark):
    file = parse(mark + TEXT)
    assert not file.decide("CorpusBot", "/private/x").allowed
    assert file.decide("CorpusBot", "/open").allowed
    assert file.decide("CorpusBot", "/private/x").line == 2


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_may_have_the_mark_twice(encoding):
    assert not parse(f"\ufeff\ufeff{TEXT.decode()}".encode(encoding)).decide("CorpusBot", "/private/x").allowed


def test_a_first_line_in_another_script_is_still_none_of_ours():
    assert parse("\uff35ser-agent: *\n".encode() + b"Disallow: /\n").decide("CorpusBot", "/x").allowed


def test_a_torn_mark_changes_nothing_on_real_files(shared_data):
    """Each file that has a mark says the same with two, one and no byte of it; no other begins with such a byte."""
    marked = 0
    with tarfile.open(shared_data / "robots-wild.tar.gz") as tar:
        for member in filter(lambda m: m.isfile(), tar):
            body = tar.extractfile(member).read()
            if body[:1] in {b"\xef", b"\xbb", b"\xbf"}:
                assert body.startswith(b"\xef\xbb\xbf"), member.name
                read = [parse(body[:cut] + body[3:]) for cut in (3, 2, 1, 0)]
                assert all(file == read[0] for file in read), member.name
                marked += 1
    assert marked == 68
