"""Into the frontier: candidates become the arguments of PUT, those of one scope together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from crawler.frontier.model import PutStatus
from crawler.frontier.packing import link_facts, pack_parts, split_origin, url_hash
from crawler.frontier.parameters import Parameters
from crawler.urls.candidate import HIGHEST_PRIORITY, LOWEST_PRIORITY, Candidate
from crawler.urls.shape import shape_id_of

_PUT = (PutStatus.QUEUED, PutStatus.SEEN, PutStatus.CAPPED, PutStatus.BLOCKED)
_MOST = 512  # candidates a call: the server answers nobody else while a script runs

_Item = tuple[int, int, int | str, str]  # index of the candidate, hash, priority (v = by value), member
_Groups = dict[tuple[int, str, int, int], list[_Item]]  # by shard, scope, cap, and whether they are pages
_Call = tuple[int, list[int], list[Any]]  # shard, indexes of the candidates, arguments


class Put(Parameters):
    """Takes URLs in, each once."""

    _trap: Callable[[str], str | None]

    async def put(self, candidates: list[Candidate]) -> list[PutStatus]:
        """Add canonical URLs; what is known stays as it is. Answers in the order of `candidates`."""
        return (await self._put(await self.named(candidates)))[: len(candidates)]

    async def _put(self, candidates: list[Candidate]) -> list[PutStatus]:
        answers: list[PutStatus] = [PutStatus.TRAPPED] * len(candidates)
        before: tuple[list[int], asyncio.Task[list[int]]] | None = None
        try:
            for shard, indexes, args in _calls(self._grouped(candidates, answers)):
                header = [self.limits.max_queued, self._pages_of(shard)]
                task = asyncio.ensure_future(self._run("put", shard, header + args))
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
        total, shards = self.limits.total_pages, self.limits.shards
        return total and (total // shards + (shard < total % shards) or -1)

    def _grouped(self, candidates: list[Candidate], answers: list[PutStatus]) -> _Groups:
        groups: _Groups = {}
        most, limit = self.limits.max_pages, self.limits.depth
        for index, c in enumerate(candidates):
            if limit and c.depth > limit and c.kind == "page":
                answers[index] = PutStatus.CAPPED
                continue
            if c.depth and c.kind == "page" and self._trap(c.url):
                continue
            name, path = split_origin(c.url)
            origin = self.origin_of(name)
            facts = "" if c.mark is None else link_facts(shape_id_of(c.url), c.parent, c.mark, c.run)
            member = pack_parts(
                origin.packed + path,
                origin.scope,
                kind=c.kind,
                depth=c.depth,
                redirects=c.redirects,
                facts=facts,
                learned=c.learned,
                source=c.source,
            )
            is_page = c.kind == "page"  # a cap is one of pages: a list takes no place
            cap = is_page and (min(c.cap, most) if c.cap and most else c.cap or most)
            key = origin.shard, origin.scope, int(cap), int(is_page)
            priority = "v" if facts else max(LOWEST_PRIORITY, min(HIGHEST_PRIORITY, c.priority))
            item = index, url_hash(c.url), priority, member
            if (group := groups.get(key)) is None:
                groups[key] = [item]
            else:
                group.append(item)
        return groups


def _calls(groups: _Groups) -> Iterator[_Call]:
    """Arguments for calls of at most `_MOST` candidates, a shard each."""
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
