"""Into the frontier: links become the arguments of PUT, those of one scope together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from crawler.frontier.member import pack
from crawler.frontier.model import PutStatus
from crawler.frontier.packing import seen_hash, split_origin
from crawler.frontier.shards import Shards
from crawler.urls.link import HIGHEST_PRIORITY, LOWEST_PRIORITY, Link
from crawler.urls.shape import shape_id_of

_PUT = (PutStatus.QUEUED, PutStatus.SEEN, PutStatus.CAPPED, PutStatus.BLOCKED, PutStatus.FULL)
_MOST = 512  # links a call: the server answers nobody else while a script runs

_Item = tuple[int, int, int | str, str]  # index of the link, hash, priority (v = by value), member
_Groups = dict[tuple[int, str, int, int], list[_Item]]  # by shard, scope, cap, and whether they are pages
_Call = tuple[int, list[int], list[Any]]  # shard, indexes of the links, arguments


class Put:
    """Takes URLs in, each once. `trap` names what is wrong with an endless URL, or answers None."""

    def __init__(self, shards: Shards, trap: Callable[[str], str | None]) -> None:
        self._shards = shards
        self._trap = trap

    async def put(self, links: list[Link]) -> list[PutStatus]:
        """See `Frontier.put`."""
        answers: list[PutStatus] = [PutStatus.TRAPPED] * len(links)
        before: tuple[list[int], asyncio.Task[list[int]]] | None = None
        try:
            for shard, indexes, args in _calls(self._grouped(links, answers)):
                header = [self._shards.limits.max_queued, self._pages_of(shard), self._shards.limits.max_bytes]
                task = asyncio.ensure_future(self._shards.run("put", shard, header + args))
                await asyncio.sleep(0)  # it leaves; while the server works on it the next call is made up
                if before is not None:
                    await _note(answers, *before)
                before = indexes, task
            if before is not None:
                await _note(answers, *before)
        finally:
            if before is not None:
                before[1].cancel()
        return answers

    def _pages_of(self, shard: int) -> int:
        """A shard's share of the crawl's page limit, 0 = no limit, -1 = none: no shard knows what others have taken."""
        total, shards = self._shards.limits.total_pages, self._shards.limits.shards
        return total and (total // shards + (shard < total % shards) or -1)

    def _grouped(self, links: list[Link], answers: list[PutStatus]) -> _Groups:
        groups: _Groups = {}
        most, limit = self._shards.limits.max_pages, self._shards.limits.depth
        for index, link in enumerate(links):
            is_page = link.kind == "page"  # a cap is one of pages: a list takes no place
            if limit and link.depth > limit and is_page:
                answers[index] = PutStatus.CAPPED
                continue
            if link.depth and is_page and self._trap(link.url):
                continue
            name, path = split_origin(link.url)
            origin = self._shards.origin_of(name)
            by_value = link.mark is not None
            shape = shape_id_of(link.url) if by_value else ""
            cap = is_page and (min(link.cap, most) if link.cap and most else link.cap or most)
            priority = "v" if by_value else max(LOWEST_PRIORITY, min(HIGHEST_PRIORITY, link.priority))
            member = pack(link, origin.scope, shape=shape, packed=origin.packed + path)
            item = index, seen_hash(link), priority, member
            groups.setdefault((origin.shard, origin.scope, int(cap), int(is_page)), []).append(item)
        return groups


def _calls(groups: _Groups) -> Iterator[_Call]:
    """Arguments for calls of at most `_MOST` links, a shard each."""
    for shard in dict.fromkeys(key[0] for key in groups):
        indexes: list[int] = []
        args: list[Any] = []
        for (where, scope, cap, pages), items in groups.items():
            if where != shard:
                continue
            start = 0
            while start < len(items):
                part = items[start : start + _MOST - len(indexes)]
                args += (scope, cap, pages, len(part))
                args += chain.from_iterable([item[1:] for item in part])
                indexes += [item[0] for item in part]
                start += len(part)
                if len(indexes) == _MOST:
                    yield shard, indexes, args
                    indexes, args = [], []
        if indexes:
            yield shard, indexes, args


async def _note(answers: list[PutStatus], indexes: list[int], task: asyncio.Task[list[int]]) -> None:
    for index, answer in zip(indexes, await task, strict=True):
        answers[index] = _PUT[answer]
