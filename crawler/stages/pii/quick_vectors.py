"""The vectors that a small spaCy model gives to tokens, without the sixty layer objects that they pass through there.

Hashes of four attributes of a token are looked up in tables, mixed, and then four times changed by their neighbours:
the whole takes twelve multiplications of matrices, and for the few lines of a page the objects cost more than these.
A model that is built in another way is asked as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_MAXOUT = r"maxout>>layernorm>>dropout"
_RESIDUAL = rf"residual\(expand_window>>{_MAXOUT}\)"
_HASHED = r"ints-getitem>>hashembed"
_KNOWN = re.compile(
    rf"extract_features>>list2ragged>>with_array\({_HASHED}(?:\|{_HASHED})*\)>>with_array\({_MAXOUT}\)>>ragged2list"
    rf">>with_array\({_RESIDUAL}(?:>>{_RESIDUAL})*\)>>list2array>>linear"
)
"""The layers of a model, as thinc names them."""
_LEAST_VARIANCE = 1e-8  # thinc's, added to the variance before a division by its root

Floats = npt.NDArray[np.float32]


def vectors_of(model: Any) -> Vectors:
    """What gives vectors to tokens as this layer of a model does (a chain that ends in one array for all passages)."""
    return QuickVectors(model) if _is_known(model) else Vectors(model)


def _is_known(model: Any) -> bool:
    if model.ops.name != "numpy" or not _KNOWN.fullmatch(model.name):
        return False
    leaves = list(_leaves(model))
    hashed = [leaf.attrs["column"] for leaf in leaves if leaf.name == "hashembed"]
    windows = [leaf.attrs["window_size"] for leaf in leaves if leaf.name == "expand_window"]
    return hashed == list(range(len(hashed))) and set(windows) == {1} and _padding(model) >= len(windows)


def _leaves(model: Any) -> Iterator[Any]:
    """The layers that have no layers, in the order in which numbers pass through them."""
    if not model.layers:
        yield model
    for layer in model.layers:
        yield from _leaves(layer)


def _padding(model: Any) -> int:
    """Rows of nothing between two passages: more than a change by neighbours reaches over."""
    return int(max(layer.attrs.get("pad", 0) for layer in model.walk() if layer.name.startswith("with_array")))


class Vectors:
    """Asks the model."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def of(self, docs: Sequence[Any]) -> Floats:
        """One row for each token of the passages."""
        rows: Floats = self._model.predict(docs)
        return rows


class QuickVectors(Vectors):
    """The same, but for the last bits, in plain numbers."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        leaves = list(_leaves(model))
        named = {name: [leaf for leaf in leaves if leaf.name == name] for name in ("hashembed", "maxout", "layernorm")}
        self._ops, self._columns, self._pad = model.ops, leaves[0].attrs["columns"], _padding(model)
        self._tables = [(leaf.get_param("E"), leaf.attrs["seed"]) for leaf in named["hashembed"]]
        layers = zip(named["maxout"], named["layernorm"], strict=True)
        self._mixed, *self._windows = (_Maxout(model.ops, maxout, norm) for maxout, norm in layers)
        self._weights, self._bias = leaves[-1].get_param("W"), leaves[-1].get_param("b")

    def of(self, docs: Sequence[Any]) -> Floats:
        """One row for each token of the passages."""
        attributes = [doc.to_array(self._columns) for doc in docs]
        tokens = self._mixed(self._looked_up(np.concatenate(attributes)))
        lengths = list(map(len, docs))
        places = np.arange(len(tokens)) + np.repeat(np.arange(1, len(docs) + 1), lengths) * self._pad
        rows = np.zeros((len(tokens) + self._pad * (len(docs) + 1), tokens.shape[1]), np.float32)
        rows[places] = tokens
        for change in self._windows:
            rows += change(_with_neighbours(rows))
        vectors: Floats = self._ops.gemm(rows[places], self._weights, trans2=True)
        vectors += self._bias
        return vectors

    def _looked_up(self, attributes: npt.NDArray[np.uint64]) -> Floats:
        found = []
        for (table, seed), column in zip(self._tables, attributes.T, strict=True):
            places = self._ops.hash(np.ascontiguousarray(column), seed) % len(table)
            found.append(self._ops.gather_add(table, places))
        return np.concatenate(found, axis=1)


class _Maxout:
    """A layer that keeps the largest of some sums for each number, then gives each row mean 0 and variance 1."""

    def __init__(self, ops: Any, maxout: Any, norm: Any) -> None:
        self._gemm = ops.gemm
        weights, bias = maxout.get_param("W"), maxout.get_param("b")
        self._width, self._pieces = bias.shape
        # the first sum of all numbers, then the second ones: their largest is found in rows
        self._weights = np.ascontiguousarray(weights.swapaxes(0, 1).reshape(-1, weights.shape[2]))
        self._bias = bias.T.ravel().copy()
        self._scale, self._shift = norm.get_param("G"), norm.get_param("b")

    def __call__(self, rows: Floats) -> Floats:
        sums = self._gemm(rows, self._weights, trans2=True)
        sums += self._bias
        largest: Floats = sums[:, : self._width].copy()
        for piece in range(1, self._pieces):
            begin = piece * self._width
            np.maximum(largest, sums[:, begin : begin + self._width], out=largest)
        largest -= largest.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", largest, largest) / np.float32(self._width) + np.float32(_LEAST_VARIANCE)
        largest *= (1 / np.sqrt(variance))[:, None]
        largest *= self._scale
        largest += self._shift
        return largest


def _with_neighbours(rows: Floats) -> Floats:
    """Each row between the one before and the one behind; nothing where there is none."""
    width = rows.shape[1]
    found = np.zeros((len(rows), 3 * width), np.float32)
    found[1:, :width], found[:, width : 2 * width], found[:-1, 2 * width :] = rows[:-1], rows, rows[1:]
    return found
