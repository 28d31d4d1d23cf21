"""Takes one content coding off a downloaded body, whole or not at all, never more than allowed.

Scrapy's own decoders give back as much of a torn stream as they can. Half a page is no page, and half a robots.txt is a
permission that nobody gave: here a stream that does not end, or whose checksum is wrong, is an error.
"""

from __future__ import annotations

from crawler.decompress import End, unpack
from crawler.downloader.private import TooLarge


def decode(body: bytes, coding: bytes, limit: int) -> bytes:
    """The body without `coding` (gzip, x-gzip, deflate, br, zstd); at most `limit` bytes, 0 = no limit.

    What follows the last gzip member and is none is not part of the page.
    Raises: TooLarge; TornError or the codec's own error where the stream is incomplete or damaged.
    """
    found = unpack(body, coding.decode(), limit)
    if found.end is End.TOO_LARGE:
        raise TooLarge(len(found.data), limit)
    if found.error is not None:
        raise found.error
    return found.data
