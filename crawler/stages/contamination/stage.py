"""The contamination stage rejects a text that repeats a passage of an evaluation set.

n-gram overlap as in GPT-3 (Brown et al. 2020, appendix C: 13-grams of lower-cased words without punctuation), with
datatrove's normalisation. Without EVAL_SETS nothing happens here. What is compared is the redacted text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crawler.config import Config
from crawler.config.eval_sets import find_sets
from crawler.document import Document, Drop, DropReason
from crawler.problems import InputError
from crawler.stages.contamination.index import PER_SET, open_index
from crawler.stages.contamination.ngrams import Grams, Hashes, cut
from crawler.stages.text.units import places


@dataclass(frozen=True, slots=True)
class Overlap:
    """The passages that a text shares with one evaluation set.

    grams: different n-grams; example: number of an example (from 0) that has the first; words and characters: start
    and end of the first passage, counted in units and in characters of the text.
    """

    set_name: str
    grams: int
    example: int
    words: tuple[int, int]
    characters: tuple[int, int]

    def __str__(self) -> str:
        """The detail of a verdict: free of text."""
        return (
            f"set {self.set_name!r}: {self.grams} n-grams; first passage: words {self.words[0]}-{self.words[1]}, "
            f"characters {self.characters[0]}-{self.characters[1]}, example {self.example}"
        )


class ContaminationStage:
    """Drops a document that shares `min_overlap` different n-grams with an evaluation set."""

    name: ClassVar[str] = "contamination"

    def __init__(self, config: Config) -> None:
        """Raises: InputError where a set cannot be used."""
        self._config = config.decontamination
        self._index = np.asarray(open_index(config)) if self._config.eval_sets else None  # still mapped, not copied
        self._names = [made.name for made in find_sets(self._config.eval_sets)]

    def __call__(self, doc: Document) -> Document | Drop:
        """Look the text up; the set with most n-grams is named in the verdict."""
        found = [overlap for overlap in self.overlaps(doc.text) if overlap.grams >= self._config.min_overlap]
        if not found:
            return doc
        return Drop(self.name, DropReason.CONTAMINATED, str(found[0])[:512])

    def overlaps(self, text: str) -> list[Overlap]:
        """What the text shares with each set, most n-grams first, then in the order of the sets."""
        best: dict[str, Overlap] = {}
        for grams in cut(text, self._config.ngram) if self._index is not None else ():
            for overlap in self._shared(text, grams):
                if overlap.set_name not in best or overlap.grams > best[overlap.set_name].grams:
                    best[overlap.set_name] = overlap
        return sorted(best.values(), key=lambda overlap: -overlap.grams)

    def _shared(self, text: str, grams: Grams) -> Iterator[Overlap]:
        """The overlaps of one reading of the text, in the order of the sets."""
        assert self._index is not None
        hashes = grams.hashes
        hits, origins = _look_up(self._index, hashes)
        spans = list(places(text, grams.script)) if len(hits) else []
        for number in np.unique(origins // PER_SET):
            ours = origins // PER_SET == number
            start, end = _first_passage(hits[ours], grams.size)
            yield Overlap(
                set_name=self._names[int(number)],
                grams=len(np.unique(hashes[hits[ours]])),
                example=int(origins[ours][0] % PER_SET),
                words=(start, end),
                characters=(spans[start][0], spans[end - 1][1]),
            )


def _look_up(index: NDArray[np.uint64], hashes: Hashes) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Positions of the n-grams that the index knows, and the origins it has for them.

    In sorted order the searches stay close to one another in memory: a fifth of the time.
    """
    known, order = index[0], np.argsort(hashes)
    rows = np.minimum(np.searchsorted(known, hashes[order]), len(known) - 1)
    found = known[rows] == hashes[order]
    hits, rows = order[found], rows[found]
    by_place = np.argsort(hits)
    return hits[by_place], index[1][rows[by_place]]


def _first_passage(hits: NDArray[np.int64], size: int) -> tuple[int, int]:
    """Start and end of the first run of n-grams that overlap or touch."""
    gaps = np.flatnonzero(np.diff(hits) > size)
    last = hits[gaps[0]] if len(gaps) else hits[-1]
    return int(hits[0]), int(last) + size


def check_eval_sets(config: Config) -> list[str]:
    """Build the index before the first page, so that workers only map it. What is wrong, one sentence each."""
    try:
        if config.decontamination.eval_sets:
            open_index(config)
    except InputError as error:
        return [f"EVAL_SETS: {error}"]
    return []
