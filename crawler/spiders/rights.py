"""What repositories say of the licences of their records, kept in the frontier until the records' pages come.

A link has no room for it: each list leaves one note, which the pages that it named are looked up in.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import orjson

from crawler.frontier.packing import url_hash
from crawler.scheduler.revisits import FOREVER_SECONDS
from crawler.urls.canonicalize import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawler.frontier.model import Lease
    from crawler.frontier.shared import SharedValues

RIGHTS = "rights:"
"""Blob, followed by the letters of a list (`source_id`): by statement, the hashes of the pages that it is about."""
_MOST_LISTS = 16
"""Notes that are kept in memory: pages come in the order of their lists."""


class Rights:
    """`shared`: the values of the frontier, asked where they are needed."""

    def __init__(self, shared: Callable[[], SharedValues]) -> None:
        self._shared = shared
        self._read: OrderedDict[str, dict[int, str]] = OrderedDict()

    async def keep(self, source: str, rights: Mapping[str, str]) -> None:
        """Note, before its pages are put, what a list says of them. rights: by canonical URL."""
        known = await self._of_list(source)
        known |= {url_hash(url): said for url, said in rights.items()}
        noted: dict[str, list[int]] = {}
        for number, said in known.items():
            noted.setdefault(said, []).append(number)
        await self._shared().put_blob(RIGHTS + source, orjson.dumps(noted), FOREVER_SECONDS)

    async def of(self, lease: Lease) -> str | None:
        """What the list that named this page, or what led to it, says of its licence; None where it says nothing."""
        if not lease.link.source or lease.link.mark is not None:
            return None
        first = canonicalize(lease.link.redirects[0]) if lease.link.redirects else lease.url
        known = await self._of_list(lease.link.source)
        return known.get(url_hash(first or lease.url))

    async def _of_list(self, source: str) -> dict[int, str]:
        if source not in self._read:
            blob = await self._shared().get_blob(RIGHTS + source)
            noted = orjson.loads(blob) if blob else {}
            self._read[source] = {number: said for said, numbers in noted.items() for number in numbers}
            if len(self._read) > _MOST_LISTS:
                self._read.popitem(last=False)
        return self._read[source]
