"""Trees and the net of blocks in C: what `stages/models/trees.py` and `net.py` compute, packed once for each model."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, GROUPINGS, DEEPEST = 32, 3, 8
"""Values of a block and groupings of a page that net.c is compiled for; levels of a tree."""
_LARGEST = 2**24
"""Rows, or features, from which Python does the work: numbers in C are of 32 bits."""


def at(array: NDArray[Any]) -> ctypes.c_void_p:
    """Where an array's values are; it has to be contiguous, and kept for as long as C reads it."""
    return ctypes.c_void_p(array.__array_interface__["data"][0])


def columns_of(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """A feature's values side by side: (features, rows), which is how `features` computes them."""
    return np.ascontiguousarray(rows.T, np.float32)


class NativeTrees:
    """Trees as trees.c reads them."""

    def __init__(
        self,
        feature: NDArray[Any],
        border: NDArray[Any],
        which: NDArray[Any],
        leaves: NDArray[Any],
        bias: NDArray[Any],
    ) -> None:
        """feature, border: of every question. which: (depth, trees). leaves: (trees, 2 ** depth, outputs)."""
        self._feature = np.ascontiguousarray(feature, np.int32)
        self._border = np.ascontiguousarray(border, np.float32).ravel()
        self._which = np.ascontiguousarray(which, np.int32)
        self._leaves, self._bias = np.ascontiguousarray(leaves, np.int32), np.ascontiguousarray(bias, np.int32)
        self._depth, self._trees = which.shape
        self._outputs, self._questions = len(self._bias), len(self._feature)
        self._features = int(self._feature.max(initial=-1)) + 1
        self._is_usual = (
            1 <= self._depth <= DEEPEST
            and self._leaves.shape == (self._trees, 1 << self._depth, self._outputs)
            and leaves.dtype == bias.dtype == np.int32
            and int(self._feature.min(initial=0)) >= 0
        )

    def __call__(self, library: Any, rows: NDArray[np.float32]) -> NDArray[np.int64] | None:
        """Sums of leaves, (rows, outputs); None where Python has to answer."""
        many, features = rows.shape
        if not self._is_usual or rows.dtype != np.float32 or features < self._features or many > _LARGEST:
            return None
        columns, sums = columns_of(rows), np.empty((many, self._outputs), np.int64)
        failed = library.native_trees(
            *(at(columns), ctypes.c_int64(many), at(self._feature), at(self._border), self._questions),
            *(at(self._which), self._trees, self._depth, at(self._leaves), self._outputs, at(self._bias), at(sums)),
        )
        return None if failed else sums


class _Net(ctypes.Structure):
    _ints = ("features", "layers", "borders")
    _arrays = ("having", "border", "places", "first", "first_bias", "reach", "mix", "page", "bias", "out", "last",
               "last_bias", "skip")  # fmt: skip
    _fields_ = [*((name, ctypes.c_int32) for name in _ints), *((name, ctypes.c_void_p) for name in _arrays)]


class NativeNet:
    """A net as net.c reads it."""

    def __init__(
        self, borders: NDArray[Any], places: NDArray[Any], reach: NDArray[Any], weights: Mapping[str, NDArray[Any]]
    ) -> None:
        """borders: (features, n), padded with infinity. places: (features, n + 1). weights: of the net, float32."""
        features, most = borders.shape
        layers = len(reach)
        shapes = {
            "first": (features, WIDTH), "first_bias": (WIDTH,), "mix": (layers, 6 * WIDTH, WIDTH),
            "page": (layers, 2 * WIDTH, WIDTH), "bias": (layers, WIDTH), "out": (layers, WIDTH, WIDTH),
            "last": (WIDTH,), "last_bias": (1,), "skip": (features,),
        }  # fmt: skip
        self._features = features
        are_known = all(weights[name].shape == shape for name, shape in shapes.items())
        self._is_usual = are_known and bool((reach >= 0).all())
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.ascontiguousarray(weights[name], np.float32) for name in shapes
        }
        self._arrays["border"] = np.ascontiguousarray(borders, np.float32)
        self._arrays["places"] = np.ascontiguousarray(places, np.float32)
        self._arrays["having"] = np.isfinite(borders).sum(1).astype(np.int32)
        self._arrays["reach"] = np.ascontiguousarray(reach, np.int32)
        self._net = _Net(features, layers, most, *(at(self._arrays[name]) for name in _Net._arrays))

    def __call__(
        self, library: Any, rows: NDArray[np.float32], weights: NDArray[np.float64], groups: Sequence[NDArray[np.int64]]
    ) -> NDArray[np.int64] | None:
        """Log odds of each row; weights: of each row in means. None where Python has to answer."""
        many, features = rows.shape
        is_usual = self._is_usual and features == self._features and rows.dtype == np.float32
        if not is_usual or not 0 < many <= _LARGEST or len(groups) != GROUPINGS:
            return None
        of_rows = np.ascontiguousarray(np.stack(groups), np.int32)
        sizes = of_rows.max(1) + 1
        if of_rows.shape[1] != many or of_rows.min() < 0 or len(weights) != many or int(sizes.max()) > many:
            return None
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        columns, odds = columns_of(rows), np.empty(many, np.int64)
        weights = np.ascontiguousarray(weights, np.float64)
        failed = library.native_net(
            *(ctypes.byref(self._net), at(columns), ctypes.c_int64(many), at(weights)),
            *(at(of_rows), at(starts), at(odds)),
        )
        return None if failed else odds
