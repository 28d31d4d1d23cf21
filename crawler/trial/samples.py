"""Which texts a model of each side learns from: samples of the same pages, once of equal size, once of equal pages.

Each seed has pages of its own, so that what differs between seeds says what other pages would have changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crawler.trial.sides import Piece

SIZE, PAGES = "size", "pages"
MODES = (SIZE, PAGES)
"""Equal bytes: what the text is worth. Equal pages: what the pages are worth, with all the text that a side has."""
_Group = Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Sample:
    """What one model learns from. groups: how many the texts are of, pages with their copies."""

    mode: str
    seed: int
    side: int
    texts: tuple[Piece, ...]
    groups: int

    @property
    def size(self) -> int:
        """Bytes in UTF-8."""
        return sum(piece.size for piece in self.texts)


def samples(groups: Sequence[_Group], sides: int, seeds: int, size: int, *, same_pages: bool) -> list[Sample]:
    """Every sample, of each seed and mode all sides. size: bytes of the largest; less where there is less."""
    dealt = [groups[seed::seeds] for seed in range(seeds)]
    budget = min([size, *(_size(block, side) for block in dealt for side in range(sides))])
    found: list[Sample] = []
    for seed, block in enumerate(dealt):
        of_sides = [[group for group in block if _of(group, side)] for side in range(sides)]
        for side, own in enumerate(of_sides):
            found.append(_sample(SIZE, seed, side, own[: _fitting(own, side, budget)]))
        some = _same(block, sides, size) if same_pages else _as_many(of_sides, size)
        found += [_sample(PAGES, seed, side, own) for side, own in enumerate(some)]
    return sorted(found, key=lambda one: (one.mode, one.seed, one.side))


def _sample(mode: str, seed: int, side: int, groups: Sequence[_Group]) -> Sample:
    taken = [_of(group, side) for group in groups]
    return Sample(mode, seed, side, tuple(piece for some in taken for piece in some), sum(map(bool, taken)))


def _fitting(own: Sequence[_Group], side: int, budget: int) -> int:
    """Whole groups in their order: as many as come nearest to the budget."""
    total = 0
    for count, group in enumerate(own):
        more = sum(piece.size for piece in _of(group, side))
        if total + more >= budget:
            return count + (not total or total + more - budget <= budget - total)
        total += more
    return len(own)


def _same(block: Sequence[_Group], sides: int, size: int) -> list[Sequence[_Group]]:
    """The same groups for all, as many as the side with most text has room for."""
    return [block[: _while_room(list(block), sides, size)]] * sides


def _as_many(of_sides: Sequence[Sequence[_Group]], size: int) -> list[Sequence[_Group]]:
    """Of each side as many groups as of the others, where these were made of other pages."""
    rooms = (_while_room(own, 1, size, side) for side, own in enumerate(of_sides))
    count = min(rooms)
    return [own[:count] for own in of_sides]


def _while_room(block: Sequence[_Group], sides: int, size: int, first: int = 0) -> int:
    totals = [0] * sides
    for count, group in enumerate(block):
        for at in range(sides):
            totals[at] += sum(piece.size for piece in _of(group, first + at))
        if count and max(totals) > size:
            return count
    return len(block)


def _of(group: _Group, side: int) -> list[Piece]:
    return [piece for piece in group if piece.side == side]


def _size(block: Sequence[_Group], side: int) -> int:
    return sum(piece.size for group in block for piece in group if piece.side == side)


def pieces_of(found: Sequence[Sample]) -> Iterator[Piece]:
    """All texts that the samples take; those of several as often."""
    for sample in found:
        yield from sample.texts
