"""A page with what the crawl noted before it: evidence and drawn page stand in front of the response in an archive.

The record names the byte of its response only. The index beside the archive says where the page before it begins;
reading starts there and ends at the response.
"""

from __future__ import annotations

import re

from crawler.dataset.page import archived_page
from crawler.storage.archive.cdxj import index_of
from crawler.storage.archive.reader import Archive, ArchivedResponse
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, Place
from crawler.storage.files.records import Record

_OFFSET = re.compile(rb'"offset": "(\d{1,18})"')
_MAX_INDEX = 256 * 2**20
"""Bytes of an index that is read for one page."""


def exchange_of(place: Place, record: Record) -> ArchivedResponse:
    """The page as the archive has it, with evidence and drawn page where they are found.

    Raises: StorageError where the archive has none, or has it no more.
    """
    page = archived_page(place, record)
    file, offset = str(record.get("warc_file") or ""), int(record.get("warc_offset") or 0)
    if not file.startswith(f"{ARCHIVE}/"):
        return page
    for found in Archive(place.path_of(file), start=_begin(place, file, offset)):
        if isinstance(found, ArchivedResponse) and found.record_id == page.record_id:
            return found
        if found.offset >= offset:
            break
    return page


def _begin(place: Place, file: str, offset: int) -> int:
    """Where the page before the one at `offset` begins; `offset` itself where there is no index."""
    try:
        with place.open(index_of(file)) as index:
            offsets = [int(match[1]) for match in _OFFSET.finditer(index.read(_MAX_INDEX))]
    except (OSError, StorageError):
        return offset
    return max((found for found in offsets if found < offset), default=0)
