"""A corpus beside an earlier version of it: does what learns from it learn less? For gates, and for explore.

What it costs is bounded by the size and number of the samples, and by the pages that are compared for copies; only the
reading grows with the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from crawler.config import Config
from crawler.storage.corpus.registry import Registry
from crawler.storage.corpus.version import manifest_hash, versions_of
from crawler.storage.files.place import SHARDS, Place
from crawler.trial.difference import WORSE
from crawler.trial.samples import SIZE as SIZE_MODE
from crawler.trial.trial import SEEDS, Compared, Trial, run

SIZE = 300_000
"""Bytes of the largest sample."""
MOST_PAGES = 10_000
"""Of a larger corpus about so many are looked at, the same ones of both versions."""
Progress = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Bound:
    """What a corpus may lose. than: the tag of the earlier version. worse: bits a byte."""

    than: str
    held_out: tuple[str, ...]
    worse: float


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a bound holds. compared: None without an earlier version; problems: on what is shown to be worse."""

    compared: Compared | None
    said: list[str]
    problems: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"compared": self.compared and self.compared.as_dict(), "said": self.said}


def beside(place: Place, before: str, held_out: Sequence[str], config: Config, tell: Progress) -> Trial:
    """The version that stands beside an earlier one. before: its number or tag. Raises: InputError, StorageError."""
    names = [f"{place.url}@{before}", place.url]
    pages = [
        sum(each["documents"] for each in version["files"] if each["path"].startswith(f"{SHARDS}/"))
        for version in versions_of(place).values()
    ]
    return run(names, held_out, config, seeds=SEEDS, size=SIZE, share=MOST_PAGES / max([1, *pages]), progress=tell)


def check(place: Place, bound: Bound, config: Config, tell: Progress = lambda _: None) -> Judged:
    """Whether the corpus is shown to be worse, by equal size, than the tagged version by more than the bound.

    What cannot be told apart passes, and is said; how much text there is, other figures bound. Raises: InputError,
    StorageError.
    """
    tags = Registry(place).tags()
    if bound.than not in tags:
        return Judged(None, [f"trial: no version of {place.url} has the tag {bound.than} yet: nothing is compared"], [])
    if tags[bound.than]["sha256"] == manifest_hash(place):
        return Judged(None, [f"trial: {place.url} is the version with the tag {bound.than}: nothing is compared"], [])
    found = beside(place, bound.than, bound.held_out, config, tell)
    one = next(one for one in found.overall if one.by == SIZE_MODE)
    sentence, weak = f"trial beside {one.first}: {one}", [f"trial: weak: {sentence}" for sentence in found.weak]
    if one.found.low > bound.worse:
        return Judged(one, weak, [f"{sentence}, by more than {bound.worse:g} bits a byte"])
    unsure = f", not shown to be by more than {bound.worse:g}" * (one.found.verdict == WORSE)
    return Judged(one, [sentence + unsure, *weak], [])
