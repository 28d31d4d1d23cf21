"""The sides of a trial are read: which pages there are, on which sides, and which of them are copies of each other.

Copies of a page, on whatever side, are one group, and a sample takes whole groups: otherwise the copies of a page would
lie in other samples than the page, and no model would see them. Texts stay on the disk; 1 kB a page is in memory.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.config import Config, DedupConfig
from crawler.dataset.deduplication.prints import sources_of
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.pages import page_name
from crawler.dataset.records.database import in_turns
from crawler.dedup.loading import BATCH, fingerprints
from crawler.dedup.memory_index import MemoryIndex
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.urls.canonicalize import registrable_domain

SHARED = 0.5
"""Sides of which the smaller has so many of its pages in common with the other were made of the same pages."""


class Piece(NamedTuple):
    """One text: number of its side, number of the document on it, bytes in UTF-8."""

    side: int
    n: int
    size: int


@dataclass(slots=True)
class Side:
    """What was read of one side."""

    name: str
    counts: Counts = field(default_factory=Counts)
    texts: int = 0
    size: int = 0
    pages: set[bytes] = field(default_factory=set, repr=False)


class Sides:
    """All sides, read once; `texts` reads those that a sample takes. share: of the pages that are looked at, by a hash
    of their names. Raises: StorageError.
    """

    def __init__(
        self, names: Sequence[str], config: Config, progress: Callable[[int], object], share: float = 1.0
    ) -> None:
        self._sources = Sources(sources_of(names))
        self.found = [Side(name) for name in names]
        self.domains: set[str] = set()
        self.known = Known(config.dedup)
        self.share = share
        pieces: dict[str, list[Piece]] = {}
        read = 0
        for number, side in enumerate(self.found):
            for some in in_turns(enumerate(self._sources.read(number, side.counts)), BATCH):
                progress(read := read + len(some))
                taken = [(n, name, record) for n, record in some if self._takes(name := _name_of(record))]
                self.domains.update(filter(None, (domain_of(record) for _, _, record in taken)))
                for n, name, record in taken:
                    size = len(str(record["text"]).encode("utf-8", "replace"))
                    self._add(side, name, Piece(number, n, size), pieces)
                self.known.add([(name, str(record["text"])) for _, name, record in taken])
        if empty := next((side for side in self.found if not side.texts), None):
            raise StorageError(f"{empty.name}: has no document with a text; give a corpus that has some")
        self.groups = list(self._grouped(pieces))

    def _takes(self, name: str) -> bool:
        return self.share >= 1 or int.from_bytes(_digest(name)[-8:]) < self.share * 2**64

    @staticmethod
    def _add(side: Side, name: str, piece: Piece, pieces: dict[str, list[Piece]]) -> None:
        side.texts += 1
        side.size += piece.size
        side.pages.add(_digest(name))
        pieces.setdefault(name, []).append(piece)

    def _grouped(self, pieces: dict[str, list[Piece]]) -> Iterator[list[Piece]]:
        """In an order by hash that is the same for all sides; within a group by name."""
        groups: dict[str, list[str]] = {}
        for name in sorted(pieces):
            groups.setdefault(self.known.first_of(name), []).append(name)
        for names in sorted(groups.values(), key=lambda some: _digest(some[0])):
            yield [piece for name in names for piece in pieces[name]]

    @property
    def same_pages(self) -> bool:
        """Whether all sides were made of the same pages, as far as their URLs say."""
        first = self.found[0].pages
        return all(
            len(first & side.pages) >= SHARED * min(len(first), len(side.pages)) for side in self.found[1:]
        )  # fmt: skip

    def texts(self, wanted: Iterable[Piece]) -> dict[Piece, str]:
        """The texts of these pieces, read a second time. Raises: StorageError where one is not there any more."""
        found: dict[Piece, str] = {}
        missing = {(piece.side, piece.n): piece for piece in wanted}
        for number, side in enumerate(self.found):
            for n, record in enumerate(self._sources.read(number, Counts())):
                if (piece := missing.pop((number, n), None)) is not None:
                    text = str(record["text"])
                    if len(text.encode("utf-8", "replace")) != piece.size:
                        raise _changed(side)
                    found[piece] = text
        if missing:
            raise _changed(self.found[next(iter(missing))[0]])
        return found

    def corpora(self) -> list[Place]:
        """The corpora among the sides."""
        return self._sources.corpora()

    def places(self) -> list[Place]:
        """The corpora and folders of ours that the sides are, or lie in."""
        return self._sources.given


class Known:
    """Which texts are there already, and which names are copies of each other, by the duplicate index of a crawl."""

    def __init__(self, config: DedupConfig) -> None:
        self._config, self._index = config, MemoryIndex(config)
        self._up: dict[str, str] = {}

    def add(self, texts: Sequence[tuple[str, str]]) -> list[str | None]:
        """Take (name, text); of each the name whose text it repeats, exactly or nearly, else None."""
        found = asyncio.run(self._asked(texts))
        for (name, _), owner in zip(texts, found, strict=True):
            if owner is not None:
                self._join(name, owner)
        return found

    async def _asked(self, texts: Sequence[tuple[str, str]]) -> list[str | None]:
        printed = fingerprints(self._config, list(texts))
        matches = [await self._index.check(*prints) for prints in printed]
        return [match.owner if match else None for match in matches]

    def first_of(self, name: str) -> str:
        """The same for all names that are copies of each other."""
        top = name
        while (up := self._up.get(top, top)) != top:
            top = up
        while name != top:
            self._up[name], name = top, self._up.get(name, top)
        return top

    def _join(self, one: str, other: str) -> None:
        low, high = sorted((self.first_of(one), self.first_of(other)))
        self._up[high] = low


def domain_of(record: Record) -> str | None:
    """The registrable domain of the record's page; None where nobody knows it."""
    if record.get("domain"):
        return str(record["domain"])
    try:
        return registrable_domain(str(record.get("url") or ""))
    except ValueError:  # others name their documents as they like
        return None


def _name_of(record: Record) -> str:
    """The page of a text; a text without a URL is a page by itself, the same one on every side that has it."""
    if record.get("url") or record.get("canonical_url"):
        return page_name(record)
    return f"text:{_digest(str(record['text'])).hex()}"


def _digest(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=16).digest()


def _changed(side: Side) -> StorageError:
    return StorageError(f"{side.name}: has changed while it was read; run the trial again when nobody writes into it")
