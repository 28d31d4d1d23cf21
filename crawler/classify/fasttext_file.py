"""A file of fastText (`.bin`, `.ftz`) is read here and nowhere by the library, which trusts what a file says of itself.

A file that is cut in its dictionary makes the library allocate to the limit or spin; one that is cut in the matrix
loads. Here each count is held against the bytes that are left before anything is made of it, and matrices are read in
blocks from the mapped file: a model of two classes is never in memory, only its one number a row.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.number import number_of
from crawler.problems import InputError
from crawler.stages.classify.fasttext import FastText, key

MAGIC, SUPERVISED = 793712314, 3
HS, NS, SOFTMAX, OVA = 1, 2, 3, 4
BLOCK = 1 << 14
"""Rows that are decoded at once."""
MOST_DENSE = 1 << 30
"""Bytes of the rows of a model with more than two classes."""
_CENTROIDS = 256


@dataclass(frozen=True)
class Matrix:
    """rows × columns; `block` gives some rows as float32."""

    rows: int
    columns: int
    codes: NDArray[Any]  # float32 (rows, columns), or the codes of a quantised one (rows, parts)
    centroids: NDArray[np.float32] | None = None
    widths: tuple[int, int] = (0, 0)  # of a part, of the last part
    norm_codes: NDArray[np.uint8] | None = None
    norms: NDArray[np.float32] | None = None

    def blocks(self) -> Iterator[NDArray[np.float32]]:
        """All rows, `BLOCK` at a time."""
        for start in range(0, self.rows, BLOCK):
            yield self._decoded(slice(start, start + BLOCK))

    def whole(self) -> NDArray[np.float32]:
        """All rows at once."""
        return np.concatenate(list(self.blocks()))

    def _decoded(self, some: slice) -> NDArray[np.float32]:
        codes = self.codes[some]
        if self.centroids is None:
            return np.asarray(codes, np.float32)
        (width, last), parts = self.widths, codes.shape[1]
        found = np.empty((len(codes), self.columns), np.float32)
        for part in range(parts):
            size, start = (last if part == parts - 1 else width), part * _CENTROIDS * width
            table = self.centroids[start : start + _CENTROIDS * size].reshape(_CENTROIDS, size)
            found[:, part * width : part * width + size] = table[codes[:, part]]
        if self.norms is not None and self.norm_codes is not None:
            found *= self.norms[self.norm_codes[some]][:, None]
        return found


class _Damaged(Exception):  # noqa: N818  # told as an InputError that names the file
    """What is wrong with the bytes."""


class _Bytes:
    """A file from front to back; nothing is taken that is not there."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def numbers(self, form: str) -> tuple[Any, ...]:
        size = struct.calcsize("<" + form)
        self._need(size, "its head")
        found = struct.unpack_from("<" + form, self._data, self._at)
        self._at += size
        return found

    def array(self, kind: type[Any], count: int, what: str) -> NDArray[Any]:
        size = np.dtype(kind).itemsize * count
        if count < 0:
            raise _Damaged(f"{what} has {count} values")
        self._need(size, what)
        found = np.frombuffer(self._data, kind, count, self._at)
        self._at += size
        return found

    def word(self) -> bytes:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise _Damaged("it ends within its dictionary")
        found = self._data[self._at : end]
        self._at = end + 1
        return found

    def _need(self, size: int, what: str) -> None:
        if size > self.left:
            raise _Damaged(f"it ends within {what}: {self.left:,} of {size:,} bytes are there")


@dataclass(frozen=True)
class _Head:
    dim: int
    runs: int
    loss: int
    buckets: int
    letters: tuple[int, int]


def read(path: Path, wanted: str) -> FastText:
    """The model that gives the probability of one label. Raises: InputError, one sentence."""
    try:
        with path.open("rb") as file:  # the map is not closed here: it goes with the last array that looks into it
            return _model(_Bytes(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), wanted)
    except OSError as error:
        raise InputError([f"{path}: cannot be read ({error.strerror}); expected a .bin or .ftz of fastText"]) from None
    except (_Damaged, ValueError, MemoryError, OverflowError) as error:
        raise InputError([f"{path}: is damaged, or no model of fastText: {error or 'it is too large'}"]) from None


def _model(data: _Bytes, wanted: str) -> FastText:
    head = _head(data)
    words, labels, counts, pruned = _dictionary(data, head)
    behind = head.buckets if pruned is None else len(pruned)
    (quantised,) = data.numbers("?")
    rows = _matrix(data, quantised, "its input matrix")
    (also,) = data.numbers("?")
    out = _matrix(data, quantised and also, "its output matrix")
    if (rows.rows, rows.columns) != (len(words) + behind, head.dim):
        raise _Damaged(
            f"its input matrix is {rows.rows} × {rows.columns} instead of {len(words) + behind} × {head.dim}"
        )
    if (out.rows, out.columns) != (len(labels), head.dim):
        raise _Damaged(f"its output matrix is {out.rows} × {out.columns} instead of {len(labels)} × {head.dim}")
    if wanted not in labels:
        named = ", ".join(labels[:10]) + (f" and {len(labels) - 10} more" if len(labels) > 10 else "")
        raise _Damaged(f"it has no label {wanted!r}; it has {named}")
    ways, at = _ways(head.loss, out.whole(), labels.index(wanted), counts)
    every, ways = _collapsed(rows, ways) if len(ways) == 1 else (_dense(rows), ways)
    if not (np.isfinite(every).all() and np.isfinite(ways).all()):
        raise _Damaged("it has weights that are no numbers")
    keys = np.array(
        [key(word) for word in (*words, *(label.encode("utf-8", "replace") for label in labels))], np.uint64
    )
    places = np.array([*range(len(words)), *[-1] * len(labels)], np.int32)
    order = np.argsort(keys, kind="stable")
    numbers = np.array([head.runs, head.buckets, *head.letters, len(words), at], np.int64)
    lookup = np.zeros(0, np.int32)
    if pruned is not None:
        lookup = np.full(head.buckets, -1, np.int32)
        for bucket, row in pruned.items():
            if not (0 <= bucket < head.buckets and 0 <= row < len(pruned)):
                raise _Damaged("its list of kept buckets names others")
            lookup[bucket] = row
    return FastText(keys[order], places[order], every, ways, lookup, numbers)


def _head(data: _Bytes) -> _Head:
    magic, version = data.numbers("ii")
    if magic != MAGIC or version not in (11, 12):
        raise _Damaged("it does not begin as one")
    dim, _, _, _, _, runs, loss, model, buckets, shortest, longest, _, _ = data.numbers("12id")
    if model != SUPERVISED:
        raise _Damaged("it was not trained on labels (supervised)")
    if version == 11:
        longest = 0
    good = dim in range(1, 1 << 16) and runs in range(1, 65) and loss in (HS, NS, SOFTMAX, OVA)
    if not good or buckets < 0 or shortest not in range(65) or longest not in range(65):
        raise _Damaged("its head has numbers that no model has")
    if buckets == 0 and (runs > 1 or longest > 0):
        raise _Damaged("it has runs of words or letters, and no buckets for them")
    return _Head(dim, runs, loss, buckets, (max(shortest, 1), longest))


def _dictionary(data: _Bytes, head: _Head) -> tuple[list[bytes], list[str], list[int], dict[int, int] | None]:
    size, words, labels = data.numbers("3i")
    _, pruned = data.numbers("qq")
    if not (words >= 0 and labels >= 1 and words + labels == size) or size * 10 > data.left:
        raise _Damaged(f"its dictionary announces {words} words and {labels} labels")
    if pruned > head.buckets or pruned * 8 > data.left:
        raise _Damaged(f"its list of kept buckets announces {pruned} entries")
    found: list[bytes] = []
    names: list[str] = []
    counts: list[int] = []
    for _ in range(size):
        word = data.word()
        count, kind = data.numbers("qb")
        if kind == 0 and not names:
            found.append(word)
        elif kind == 1:
            names.append(word.decode("utf-8", "replace"))
            counts.append(count)
        else:
            raise _Damaged("its dictionary has words behind its labels, or entries that are neither")
    if (len(found), len(names)) != (words, labels):
        raise _Damaged(f"its dictionary has {len(found)} words and {len(names)} labels instead of {words} and {labels}")
    pairs = [data.numbers("ii") for _ in range(max(pruned, 0))]
    return found, names, counts, dict(pairs) if pruned >= 0 else None


def _matrix(data: _Bytes, quantised: bool, what: str) -> Matrix:
    if not quantised:
        rows, columns = data.numbers("qq")
        return Matrix(rows, columns, data.array(np.float32, rows * columns, what).reshape(rows, columns))
    normed, rows, columns, size = data.numbers("?qqi")
    codes = data.array(np.uint8, size, what)
    parts, widths, centroids = _product(data, what)
    if size != rows * parts or (parts - 1) * widths[0] + widths[1] != columns:
        raise _Damaged(f"{what} has {size} codes for {rows} rows of {parts} parts")
    norm_codes = norms = None
    if normed:
        norm_codes = data.array(np.uint8, rows, what)
        _, _, norms = _product(data, what)
    return Matrix(rows, columns, codes.reshape(rows, parts), centroids, widths, norm_codes, norms)


def _product(data: _Bytes, what: str) -> tuple[int, tuple[int, int], NDArray[np.float32]]:
    dim, parts, width, last = data.numbers("4i")
    if min(dim, parts, width, last) < 1 or (parts - 1) * width + last != dim:
        raise _Damaged(f"{what} announces {parts} parts of {width} and {last} of {dim}")
    return parts, (width, last), data.array(np.float32, dim * _CENTROIDS, what)


def _ways(loss: int, out: NDArray[np.float32], label: int, counts: list[int]) -> tuple[NDArray[np.float32], int]:
    """The outputs that decide about one label, and its number among them; −1 where their probabilities multiply."""
    if loss in (NS, OVA):
        return out[label : label + 1], -1
    if loss == HS:
        path = _path(counts, label)
        return np.array([sign * out[node] for node, sign in path], np.float32).reshape(-1, out.shape[1]), -1
    if len(out) == 2:
        return (out[label] - out[1 - label])[None], -1
    return out, label


def _path(counts: list[int], label: int) -> list[tuple[int, int]]:
    """From the root of the Huffman tree that fastText makes of the counts: each inner node, and −1 to its left."""
    many = len(counts)
    weights = [*counts, *[10**15] * (many - 1)]
    above: dict[int, tuple[int, int]] = {}
    leaf, node = many - 1, many
    for inner in range(many, 2 * many - 1):
        both = 0
        for sign in (-1, 1):
            if leaf >= 0 and weights[leaf] < weights[node]:
                low, leaf = leaf, leaf - 1
            else:
                low, node = node, node + 1
            above[low] = (inner, sign)
            both += weights[low]
        weights[inner] = both
    path, at = [], label
    while at in above:
        at, sign = above[at]
        path.append((at - many, sign))
    return path


def _collapsed(rows: Matrix, way: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    parts = [block.astype(np.float64) @ way[0].astype(np.float64) for block in rows.blocks()]
    numbers = np.concatenate(parts or [np.zeros(0)]).astype(np.float32)[:, None]
    return numbers, np.ones((1, 1), np.float32)


def _dense(rows: Matrix) -> NDArray[np.float32]:
    if rows.rows * rows.columns * 4 > MOST_DENSE:
        raise _Damaged(
            f"it has more than two classes and {number_of(rows.rows, 'row')}: quantise it (.ftz), or train it smaller"
        )
    return np.concatenate([block.copy() for block in rows.blocks()])
