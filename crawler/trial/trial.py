"""A trial: models of samples of every side, what held-out texts cost them, and which differences are more than chance.

The same sides, held-out texts and options give the same answer: nothing is drawn by chance, pages are ordered by hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crawler.config import Config
from crawler.number import number_of
from crawler.problems import InputError
from crawler.storage.files.place import Place
from crawler.trial import held_out, instrument, pack
from crawler.trial.difference import Difference, Floats, Held, difference
from crawler.trial.held_out import Asked, Kind
from crawler.trial.memory import Recited, recited
from crawler.trial.pack import Wanted
from crawler.trial.samples import MODES, Sample, pieces_of, samples
from crawler.trial.samples import SIZE as SIZE_MODE
from crawler.trial.sides import Piece, Side, Sides

SEEDS, SIZE = 5, 1_000_000
"""Defaults: samples of each side and mode, and the bytes of one."""
ALL = "all kinds"
CHARACTERS = "characters"
"""The model of every trial (`instrument.py`); the others are sizes of the transformer (`pack.SIZES`)."""
FEW_PAGES, FEW_BYTES, FEW_SITES, MUCH_RARE = 20, 50_000, 5, 0.03
"""Below or above these a trial says how little it knows."""
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Compared:
    """One side beside the first one. model: CHARACTERS or a size; by: of MODES; kind: of held-out texts, or ALL."""

    model: str
    by: str
    kind: str
    side: str
    first: str
    found: Difference

    def __str__(self) -> str:
        """A sentence."""
        shown = f"{self.found.value:+.4f} [{self.found.low:+.4f}, {self.found.high:+.4f}]"
        return f"{self.how}, {self.kind}: {self.side} {shown} {self.found.verdict}"

    @property
    def how(self) -> str:
        """What was made equal, and which transformer has learned."""
        return f"transformer {self.model}, " * (self.model != CHARACTERS) + f"equal {self.by}"

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        numbers = {name: round(getattr(self.found, name), _DIGITS) for name in ("value", "low", "high")}
        names = {"model": self.model, "by": self.by, "kind": self.kind, "side": self.side, "than": self.first}
        return names | numbers | {"verdict": self.found.verdict}


@dataclass(frozen=True, slots=True)
class Figure:
    """Bits a byte of one side by seed, with the bytes and pages that each model has learned from."""

    model: str
    by: str
    kind: str
    side: str
    bits: tuple[float, ...]
    sizes: tuple[int, ...]
    pages: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "model": self.model, "by": self.by, "kind": self.kind, "side": self.side,
            "mean": round(float(np.mean(self.bits)), _DIGITS),
            "bits": [round(one, _DIGITS) for one in self.bits], "bytes": list(self.sizes), "pages": list(self.pages),
        }  # fmt: skip


@dataclass(slots=True)
class Trial:
    """What was found. rare: by kind, share of its bytes that are of characters which not every sample has.

    weak: sentences on what the answer cannot bear.
    """

    sides: list[Side]
    kinds: list[Kind]
    same_pages: bool
    seeds: int
    figures: list[Figure] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    rare: dict[str, float] = field(default_factory=dict)
    recited: list[Recited] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)
    corpora: list[Place] = field(default_factory=list)

    @property
    def asked(self) -> list[Asked]:
        """All held-out texts that are asked."""
        return [one for kind in self.kinds for one in kind.asked]

    @property
    def overall(self) -> list[Compared]:
        """The comparisons over all kinds of held-out texts."""
        return [one for one in self.compared if one.kind == ALL]


def run(
    names: Sequence[str],
    given: Sequence[str],
    config: Config,
    *,
    seeds: int = SEEDS,
    size: int = SIZE,
    memory: bool = False,
    transformer: Wanted | None = None,
    share: float = 1.0,
    progress: Callable[[str], object] = lambda _: None,
) -> Trial:
    """Read the sides and the held-out texts, learn, ask, compare each side with the first.

    names: corpora (`DIR`, `DIR@N`) or files of records; given: of held-out texts. seeds: 2 and more; size: bytes of the
    largest sample; memory: also what is recited; transformer: those that learn beside; share: of the pages that are
    looked at. Raises: InputError, StorageError.
    """
    if transformer is not None:
        transformer.check()
    held_out.places_of(given)
    sides = Sides(names, config, lambda count: progress(number_of(count, "document")), share)
    kinds = held_out.read(given, sides)
    if len(sides.groups) < 2 * seeds:
        pages = f"{number_of(len(sides.groups), 'page')} {'is' if len(sides.groups) == 1 else 'are'}"
        raise InputError([f"{pages} too few for {seeds} seeds of different pages; give more"])
    same = sides.same_pages
    taken = samples(sides.groups, len(names), seeds, size, same_pages=same)
    if empty := next((one for one in taken if not one.texts), None):
        raise InputError([f"{names[empty.side]}: has too few pages for {seeds} seeds of different pages; give more"])
    found = Trial(sides.found, kinds, same, seeds, corpora=sides.corpora())
    texts = sides.texts(pieces_of(taken))
    said = {} if transformer is None else _asked_transformers(found, taken, texts, transformer, progress)
    _learn(found, sides, taken, texts, progress, memory=memory)
    found.weak = list(_weaknesses(found, sides, taken))
    if transformer is not None:
        _compare_transformers(found, taken, said)
        if transformer.tokens < pack.FEW_TOKENS:
            read = f"each transformer reads {transformer.tokens:,} bytes"
            found.weak.append(f"{read}: it has learned little; raise --tokens")
    return found


def _learn(
    found: Trial,
    sides: Sides,
    taken: Sequence[Sample],
    texts: Mapping[Piece, str],
    progress: Callable[[str], object],
    *,
    memory: bool,
) -> None:
    of_samples = [[texts[piece] for piece in sample.texts] for sample in taken]
    spelling = instrument.Spelling.of(of_samples)
    asked = found.asked
    spelled = [spelling.spelled(one.text) for one in asked]
    groups = _held(found.kinds, asked, instrument.sizes(spelled))
    found.rare = {name: instrument.rare([spelled[at] for at in held.places]) for name, held in groups.items()}
    if memory:
        found.recited = list(_recited(found, sides, taken, lambda piece: spelling.spelled(texts[piece]), spelled))
    said: dict[tuple[str, int], list[Floats]] = {}
    for number, (sample, some) in enumerate(zip(taken, of_samples, strict=True), 1):
        progress(f"model {number} of {len(taken)}")
        model = instrument.learned([spelling.spelled(text) for text in some])
        said.setdefault((sample.mode, sample.side), []).append(instrument.costs(model, spelled))
    for mode in MODES:
        bits = [np.stack(said[mode, number]) for number in range(len(found.sides))]
        _compare(found, (CHARACTERS, mode), taken, bits, groups)


def _asked_transformers(
    found: Trial,
    taken: Sequence[Sample],
    texts: Mapping[Piece, str],
    transformer: Wanted,
    progress: Callable[[str], object],
) -> dict[str, Floats]:
    """By size, sides × seeds × texts; of the samples by equal size, since all read as many bytes."""
    by_side: list[list[list[str]]] = [[] for _ in found.sides]
    for sample in taken:
        if sample.mode == SIZE_MODE:
            by_side[sample.side].append([texts[piece] for piece in sample.texts])
    return pack.asked(transformer, by_side, [one.text for one in found.asked], progress)


def _compare_transformers(found: Trial, taken: Sequence[Sample], said: Mapping[str, Floats]) -> None:
    asked = found.asked
    groups = _held(found.kinds, asked, pack.sizes([one.text for one in asked]))
    for size, bits in said.items():
        _compare(found, (size, SIZE_MODE), taken, list(bits), groups)


def _compare(
    found: Trial,
    names: tuple[str, str],
    taken: Sequence[Sample],
    bits: Sequence[Floats],
    groups: Mapping[str, Held],
) -> None:
    """Figures of one model and mode. bits: of each side, seeds × texts."""
    for number, side in enumerate(found.sides):
        own = [one for one in taken if (one.mode, one.side) == (names[1], number)]
        for kind, held in groups.items():
            found.figures.append(_figure((*names, kind, side.name), own, bits[number], held))
        if number:
            for kind, some_kinds in _asked_of(groups):
                one = difference(bits[number], bits[0], some_kinds)
                found.compared.append(Compared(*names, kind, side.name, found.sides[0].name, one))


def _recited(
    found: Trial, sides: Sides, taken: Sequence[Sample], spelled: Callable[[Piece], str], asked: Sequence[str]
) -> Iterator[Recited]:
    """Of the first sample of each side by equal size."""
    group_of = {piece: number for number, group in enumerate(sides.groups) for piece in group}
    for sample in taken:
        if (sample.mode, sample.seed) == (SIZE_MODE, 0):
            pages: dict[int, list[str]] = {}
            for piece in sample.texts:
                pages.setdefault(group_of[piece], []).append(spelled(piece))
            yield recited(found.sides[sample.side].name, list(pages.values()), asked)


def _asked_of(groups: Mapping[str, Held]) -> Iterator[tuple[str, list[Held]]]:
    yield ALL, list(groups.values())
    yield from ((name, [held]) for name, held in groups.items())


def _held(kinds: Sequence[Kind], asked: Sequence[Asked], sizes: Floats) -> dict[str, Held]:
    found = {}
    for kind in kinds:
        places = np.array([at for at, one in enumerate(asked) if one.kind == kind.name], np.int64)
        _, sites = np.unique([asked[at].site for at in places], return_inverse=True)
        found[kind.name] = Held(places, sizes[places], np.asarray(sites, np.int64))
    return found


def _figure(names: tuple[str, str, str, str], own: Sequence[Sample], bits: Floats, held: Held) -> Figure:
    means = bits[:, held.places].sum(axis=1) / held.sizes.sum()
    return Figure(*names, tuple(means.tolist()), tuple(one.size for one in own), tuple(one.groups for one in own))


def _weaknesses(found: Trial, sides: Sides, taken: Sequence[Sample]) -> Iterator[str]:
    if len(found.kinds) < held_out.WANTED:
        yield "one kind of held-out texts: a difference may be of that kind alone; give --held-out of two kinds"
    if sides.share < 1:
        yield f"{sides.share:.2%} of the pages were looked at: copies of a page at other addresses are seen in part"
    least = min(taken, key=lambda one: one.groups)
    if least.groups < FEW_PAGES:
        pages = number_of(least.groups, "page")
        name = found.sides[least.side].name
        yield f"a sample of {name} has {pages} only: intervals are wide; give larger corpora, or fewer --seeds"
    if (small := min(one.size for one in taken)) < FEW_BYTES:
        yield f"the smallest sample has {small:,} bytes: small models see little; give larger corpora, or fewer --seeds"
    total = sum(side.size for side in found.sides)
    if (most := max(sum(piece.size for piece in group) for group in sides.groups)) > total / (4 * found.seeds):
        yield f"one page and its copies have {most:,} of {total:,} bytes: samples differ in size because of it"
    for kind in found.kinds:
        if (sites := len({one.site for one in kind.asked})) < FEW_SITES:
            yield f"{kind.name}: texts of {number_of(sites, 'site')} only; give more of them"
    for name, share in found.rare.items():
        if share > MUCH_RARE:
            yield (
                f"{name}: {share:.1%} is of characters that not every sample has: held-out texts in the languages of "
                "all sides say more"
            )
