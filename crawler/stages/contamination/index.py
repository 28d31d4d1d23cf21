"""Decontamination searches this index: the n-grams of the evaluation sets, in one sorted file that all processes map.

Built once for a content (`digest_of`), then only mapped: two rows of 64-bit numbers, 16 bytes an n-gram. Row 0 holds
the sorted hashes, row 1 for each its first example (set number × 2^40 + example number).
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from crawler.config import Config, DecontaminationConfig
from crawler.config.eval_sets import EvalSet, find_sets
from crawler.problems import InputError
from crawler.stages.contamination.ngrams import Grams, Hashes, cut, distinct_units, rolling
from crawler.stages.contamination.read import examples

VERSION = 3
"""Changes with anything that gives other hashes for the same sets. An index of another version is never read."""

PER_SET = np.uint64(2**40)
"""Set number and example number share 64 bits: `origin = set * PER_SET + example`."""
_BLOCK = 500_000
"""Units hashed at once."""
_MIN_DISTINCT = 0.5
"""An n-gram with fewer different units than this share of its words ("0 0 0 0 …") does not say where a text is from."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """The units of one passage, and the example it comes from."""

    grams: Grams
    origin: int


@dataclass(slots=True)
class Gathered:
    """Passages in the order of the sets, hashed and counted a block at a time to bound the memory."""

    words: int
    pending: list[Sequence] = field(default_factory=list)
    units: int = 0
    hashes: list[Hashes] = field(default_factory=list)
    origins: list[NDArray[np.uint64]] = field(default_factory=list)

    def add(self, grams: Grams, origin: int) -> None:
        """Take one passage."""
        self.pending.append(Sequence(grams, origin))
        self.units += len(grams.units)
        if self.units > _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Hash what is pending: each n-gram once for each passage that has it."""
        for size in sorted({sequence.grams.size for sequence in self.pending}):
            hashes, origins = _distinct_grams([s for s in self.pending if s.grams.size == size], size, self.words)
            self.hashes.append(hashes)
            self.origins.append(origins)
        self.pending, self.units = [], 0

    def counted(self) -> tuple[Hashes, NDArray[np.uint64], NDArray[np.int64]]:
        """Every n-gram once, sorted: hash, first origin, number of passages that have it."""
        self.flush()
        hashes = np.concatenate([np.empty(0, np.uint64), *self.hashes])
        origins = np.concatenate([np.empty(0, np.uint64), *self.origins])
        unique, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        return unique, origins[first], counts


def open_index(config: Config) -> NDArray[np.uint64]:
    """The index of the configured sets, mapped into memory; built first where no whole file of this content exists.

    Raises: InputError where a set cannot be read or has no text.
    """
    path = _folder() / f"{config.eval_digest.removeprefix('sha256:')}-{VERSION}.npy"
    mapped = _mapped(path)
    if mapped is None:
        _save(path, build(config.decontamination))
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def _mapped(path: Path) -> NDArray[np.uint64] | None:
    """The index of an earlier start; None where there is none, or one that a crash or a full disk left damaged."""
    try:
        mapped: NDArray[np.uint64] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return mapped if mapped.dtype == np.uint64 and mapped.ndim == 2 and len(mapped) == 2 else None


def build(config: DecontaminationConfig) -> NDArray[np.uint64]:
    """Read every set and answer the two rows of the index. Raises: InputError."""
    passages, examples_joined = Gathered(config.ngram), Gathered(config.ngram)
    for number, made in enumerate(find_sets(config.eval_sets)):
        if not _gather(passages, examples_joined, number * int(PER_SET), made, config.ngram):
            where = f" in the columns {', '.join(made.fields)}" if made.fields else ""
            short = f"the evaluation set {made.name!r} has no example of {config.ngram} words{where}"
            raise InputError([f"{short}; check the file, or lower DECONTAMINATION_NGRAM"])
    rows = _rows(passages, examples_joined, config.max_examples)
    if not rows.size:
        raise InputError(["the evaluation sets hold nothing but repetition and templates; check the files"])
    return rows


def _gather(passages: Gathered, joined: Gathered, origin: int, made: EvalSet, ngram: int) -> bool:
    """Add the passages of one set, each different one once, and its examples as wholes. False where all are short.

    An example as one text: short questions with short answers have no n-gram but across their parts.
    """
    seen: set[int] = set()
    found = False
    for position, parts in enumerate(examples(made)):
        for grams in cut(" ".join(parts), ngram):
            joined.add(grams, origin + position)
            found = True
        for part in parts:
            key = xxhash.xxh3_64_intdigest(part.encode("utf-8", "replace"))
            if key not in seen:
                seen.add(key)
                for grams in cut(part, ngram):
                    passages.add(grams, origin + position)
    return found


def _distinct_grams(sequences: list[Sequence], size: int, words: int) -> tuple[Hashes, NDArray[np.uint64]]:
    """Hash and origin of the n-grams that could tell where a text comes from, each once a sequence."""
    units = np.concatenate([sequence.grams.units for sequence in sequences])
    number = np.repeat(np.arange(len(sequences)), [len(sequence.grams.units) for sequence in sequences])
    hashes = rolling(units, size)
    within = number[: len(hashes)] == number[size - 1 :]
    telling = np.flatnonzero(within & (distinct_units(units, size) >= _MIN_DISTINCT * words))
    order = telling[np.argsort(hashes[telling], kind="stable")]
    again = (np.diff(hashes[order]) == 0) & (np.diff(number[order]) == 0)
    order = order[np.concatenate([[True], ~again])[: len(order)]]
    origins = np.array([sequence.origin for sequence in sequences], np.uint64)
    return hashes[order], origins[number[order]]


def _rows(passages: Gathered, joined: Gathered, max_examples: int) -> NDArray[np.uint64]:
    """The n-grams of passages, and those across the parts of an example; without the templates of many examples."""
    inside, inside_origins, inside_counts = passages.counted()
    across, across_origins, across_counts = joined.counted()
    new = ~np.isin(across, inside, assume_unique=True)
    hashes = np.concatenate([inside, across[new]])
    origins = np.concatenate([inside_origins, across_origins[new]])
    kept = np.concatenate([inside_counts, across_counts[new]]) <= max_examples
    order = np.argsort(hashes[kept])
    return np.stack([hashes[kept][order], origins[kept][order]])


def _save(path: Path, rows: NDArray[np.uint64]) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        np.save(file, rows, allow_pickle=False)
    Path(file.name).replace(path)


def _folder() -> Path:
    """A folder for index files that is this user's alone; a new one where somebody else took the name."""
    folder = Path(tempfile.gettempdir()) / f"crawler-eval-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
        usable = folder.is_dir() and not folder.is_symlink() and facts.st_uid == os.getuid()
        usable = usable and not facts.st_mode & 0o077
    except OSError:
        usable = False
    return folder if usable else Path(tempfile.mkdtemp(prefix="crawler-eval-"))
