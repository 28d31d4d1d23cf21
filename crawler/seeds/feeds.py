"""Feeds that pages name are read like sitemaps, a bounded number of each host: a blog may have one for every post."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

from crawler.urls.canonicalize import host_of

MAX_HOSTS = 10_000
"""Hosts whose feeds a worker remembers, the latest ones."""


class Feeds:
    """What this worker has found of each host."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, set[str]] = OrderedDict()

    def new(self, urls: Iterable[str], most: Callable[[str], int]) -> list[str]:
        """The canonical URLs that are not known yet, and are within `most` feeds of their host."""
        return [url for url in urls if self._is_new(url, most(url))]

    def _is_new(self, url: str, most: int) -> bool:
        host = host_of(url)
        known = self._known.get(host, set())
        if url in known or len(known) >= most:
            return False
        self._known[host] = known | {url}
        self._known.move_to_end(host)
        while len(self._known) > MAX_HOSTS:
            self._known.popitem(last=False)
        return True
