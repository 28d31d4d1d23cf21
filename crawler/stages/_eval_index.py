"""Behind decontamination: the n-grams of the evaluation sets, in one sorted file that all processes map.

Built once for a content (`digest_of`), then only mapped: two rows of 64-bit numbers, 16 bytes an n-gram. Row 0 holds
the sorted hashes, row 1 for each its first example (set number × 2^40 + example number).
"""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import xxhash
import zstandard
from numpy.typing import NDArray

from crawler.config import Config, DecontaminationConfig
from crawler.eval_sets import EvalSet, find_sets
from crawler.stages._ngrams import Grams, Hashes, cut, distinct_units, rolling
from crawler.stages._normal import normalise

VERSION = 1
"""Changes with anything that gives other hashes for the same sets."""

PER_SET = np.uint64(2**40)
"""Set number and example number share 64 bits: `origin = set * PER_SET + example`."""
_BLOCK = 500_000
"""Units hashed at once."""
_MIN_DISTINCT = 0.5
"""An n-gram with fewer different units than this share of its words ("0 0 0 0 …") does not say where a text is from."""


class EvalSetError(Exception):
    """An evaluation set cannot be used; the text says which file, what is wrong and what is expected."""


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
        """Take one passage; shorter than an n-gram it cannot be searched."""
        if len(grams.units) >= grams.size:
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
    """The index of the configured sets, mapped into memory; built first where no file of this content exists.

    Raises: EvalSetError where a set cannot be read or has no text.
    """
    path = _folder() / f"{config.eval_digest.removeprefix('sha256:')}-{VERSION}.npy"
    if not path.exists():
        _save(path, build(config.decontamination))
    mapped: NDArray[np.uint64] = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def build(config: DecontaminationConfig) -> NDArray[np.uint64]:
    """Read every set and answer the two rows of the index. Raises: EvalSetError."""
    passages, examples_joined = Gathered(config.ngram), Gathered(config.ngram)
    for number, made in enumerate(find_sets(config.eval_sets)):
        if not _gather(passages, examples_joined, number * int(PER_SET), made, config.ngram):
            where = f" in the columns {', '.join(made.fields)}" if made.fields else ""
            raise EvalSetError(
                f"the evaluation set {made.name!r} has no example of {config.ngram} words{where}; check the file, or "
                "lower DECONTAMINATION_NGRAM"
            )
    rows = _rows(passages, examples_joined, config.max_examples)
    if not rows.size:
        raise EvalSetError("the evaluation sets hold nothing but repetition and templates; check the files")
    return rows


def _gather(passages: Gathered, joined: Gathered, origin: int, made: EvalSet, ngram: int) -> bool:
    """Add the passages of one set, each different one once, and its examples as wholes. False where all are short."""
    seen: set[int] = set()
    found = False
    for position, parts in enumerate(examples(made)):
        pieces = [cut(part, ngram) for part in parts]
        whole = _whole(parts, pieces, ngram)
        found |= len(whole.units) >= whole.size
        joined.add(whole, origin + position)
        for part, grams in zip(parts, pieces, strict=True):
            key = xxhash.xxh3_64_intdigest(part.encode("utf-8", "replace"))
            if key not in seen:
                seen.add(key)
                passages.add(grams, origin + position)
    return found


def _whole(parts: list[str], pieces: list[Grams], ngram: int) -> Grams:
    """An example as one text: short questions with short answers have no n-gram but across their parts."""
    if all(grams.joiner for grams in pieces):
        return Grams(np.concatenate([grams.units for grams in pieces]), pieces[0].size, pieces[0].joiner)
    return cut(" ".join(parts), ngram)


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


# --- reading ---------------------------------------------------------------------------------------------------------
def examples(made: EvalSet) -> Iterator[list[str]]:
    """The texts of each example of a set: the strings of a JSON record or row, or a paragraph. Raises: EvalSetError."""
    for path in made.files:
        try:
            yield from _examples(path, made.fields)
        except (OSError, ValueError, EOFError, zstandard.ZstdError) as error:
            raise EvalSetError(f"the evaluation set {str(path)!r} cannot be read: {error}") from error


def _examples(path: Path, fields: tuple[str, ...]) -> Iterator[list[str]]:
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    if name.endswith(".parquet"):
        records = _parquet(path)
    elif name.endswith((".txt", ".md")):
        yield from ([normalise(text)] for text in _paragraphs(path))
        return
    else:
        records = _json_lines(path) if name.endswith(".jsonl") else _json(path)
    for record in records:
        wanted = [record.get(name) for name in fields] if fields and isinstance(record, dict) else record
        if parts := [normalise(text) for text in _strings(wanted) if text.strip()]:
            yield parts


def _strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, in its order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def _opened(path: Path) -> io.TextIOWrapper:
    open_file: Any = {".gz": gzip.open, ".zst": zstandard.open}.get(path.suffix.lower(), open)
    return io.TextIOWrapper(open_file(path, "rb"), encoding="utf-8-sig", errors="replace")


def _json_lines(path: Path) -> Iterator[Any]:
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise ValueError(f"line {number} is not JSON ({error})") from None


def _json(path: Path) -> Iterator[Any]:
    with _opened(path) as file:
        content = orjson.loads(file.read())
    yield from content if isinstance(content, list) else [content]


def _paragraphs(path: Path) -> Iterator[str]:
    with _opened(path) as file:
        lines: list[str] = []
        for line in file:
            if line.strip():
                lines.append(line)
            elif lines:
                yield "".join(lines)
                lines = []
        if lines:
            yield "".join(lines)


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1_000):
            yield from batch.to_pylist()
