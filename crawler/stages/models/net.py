"""The net reads a page as a sequence of blocks: features of each, what stands around it, and what is built like it.

Residual layers with the norm before them (Xiong et al., "On layer normalization in the transformer architecture", 2020)
mix the block itself, those some places before and behind it (a dilated convolution), the means of the blocks that are
built alike (groups), and the mean and largest values of the page.

Every number is a whole multiple of a power of two, and small enough that float32 adds and multiplies them without
rounding (training sees to it; sums over blocks are float64): no sum depends on its order, so that every machine and
every BLAS library gets the same odds. What has to be rounded (a quotient, a root) is rounded as IEEE 754 says, and then
to such a multiple.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crawler.native import library
from crawler.native.models import NativeNet
from crawler.stages.models.odds import SCALE

Values = NDArray[np.float32]
Exact = NDArray[np.float64]
Groups = tuple[NDArray[np.int64], ...]
"""For each grouping, the group of every block: numbers from 0 on."""

STEP = 1 << 6
"""Values between layers are multiples of 1 / STEP."""
UNIT = 1 << 8
"""Weights are multiples of 1 / UNIT."""
MOST = 6.0
"""What a layer adds is cut here (ReLU6)."""
LARGEST = 64.0
"""Values between layers are cut here."""
_EPSILON = 1e-5
"""Added to a variance."""
_WEIGHT_STEPS = 8
"""Steps of a block's weight in means for each doubling of its words."""


@dataclass(frozen=True)
class Net:
    """Weights in units of 1 / UNIT; F features, H values a block, L layers.

    `borders` (F, n, padded with infinity) divides each feature's range. `mix` (L, 6 H, H) takes the block, the one
    `reach` places before, the one as far behind and the three means; `page` (L, 2 H, H) the page's mean and largest
    values; `out` (L, H, H) what is added to the block.
    """

    borders: NDArray[np.float32]
    first: NDArray[np.int32]
    first_bias: NDArray[np.int32]
    reach: NDArray[np.int32]
    mix: NDArray[np.int32]
    page: NDArray[np.int32]
    bias: NDArray[np.int32]
    out: NDArray[np.int32]
    last: NDArray[np.int32]
    last_bias: NDArray[np.int32]
    skip: NDArray[np.int32]

    def __call__(self, rows: NDArray[np.float32], words: Exact, groups: Groups) -> NDArray[np.int64]:
        """Log odds that each block belongs to the main text, in units of 1 / SCALE.

        rows: features, (blocks, F); words: how many each block has.
        """
        if not len(rows):
            return np.zeros(0, np.int64)
        counting = block_weights(words)
        if (native := library()) is not None and (found := self._native(native, rows, counting, groups)) is not None:
            return found
        w = self.weights
        means = _Means(groups, counting)
        x = self._binning(rows)
        h = _rectified(x @ w["first"] + w["first_bias"])
        size, width = h.shape
        parts = np.empty((size, 6 * width), np.float32)
        for layer, reach in enumerate(self.reach.tolist()):
            exact = _normed(h)
            parts[:, :width] = z = exact.astype(np.float32)
            _move(z, reach, parts[:, width : 2 * width])
            _move(z, -reach, parts[:, 2 * width : 3 * width])
            parts[:, 3 * width :], mean = means(exact)
            page = np.concatenate([mean, z.max(0)])
            y = parts @ w["mix"][layer]
            y += page @ w["page"][layer] + w["bias"][layer]
            h += _rectified(y) @ w["out"][layer]
            _round(h)
            np.minimum(np.maximum(h, -LARGEST, out=h), LARGEST, out=h)
        odds = _normed(h).astype(np.float32) @ w["last"] + x @ w["skip"] + w["last_bias"]
        return np.asarray(np.floor(odds * SCALE), np.int64)

    @cached_property
    def _native(self) -> NativeNet:
        return NativeNet(self.borders, self._binning.places, self.reach, self.weights)

    @cached_property
    def _binning(self) -> Binning:
        return Binning(self.borders)

    @cached_property
    def weights(self) -> dict[str, Values]:
        """Each array of weights in units of 1."""
        names = ("first", "first_bias", "mix", "page", "bias", "out", "last", "last_bias", "skip")
        return {name: (getattr(self, name) / UNIT).astype(np.float32) for name in names}


def block_weights(words: Exact) -> Exact:
    """What blocks count in means: whole numbers that grow with the logarithm of their words."""
    return np.asarray(np.rint(_WEIGHT_STEPS * np.log2(1.0 + words)))


class Binning:
    """Features as places between the borders of their range, −1 to 1; 0 for one that never differs."""

    def __init__(self, borders: NDArray[np.float32]) -> None:
        many = np.isfinite(borders).sum(1)
        self._order = np.argsort(-many, kind="stable")
        self._borders = borders[self._order]
        self._having = [int((many > i).sum()) for i in range(int(many.max(initial=0)))]
        steps = np.arange(borders.shape[1] + 1)
        places = 2.0 * steps / np.maximum(many, 1)[:, None] - (many > 0)[:, None]
        self.places = (np.rint(places * STEP) / STEP).astype(np.float32)
        """Of each feature, (features, borders + 1): its value behind so many borders."""
        self._places = self.places[self._order].ravel()
        self._rows = (np.arange(len(borders)) * len(steps))[:, None]
        self._back = np.argsort(self._order)

    def __call__(self, rows: NDArray[np.float32]) -> Values:
        """The features of blocks in multiples of 1 / STEP."""
        columns = rows.T[self._order]
        count = np.zeros(columns.shape, np.uint8)
        for i, features in enumerate(self._having):
            above = columns[:features] > self._borders[:features, i, None]
            np.add(count[:features], above.view(np.uint8), out=count[:features])
        return np.ascontiguousarray(self._places.take(count + self._rows)[self._back].T)


class _Means:
    """Weighted means over the blocks of each group, given to each of its blocks, and over all blocks."""

    def __init__(self, groups: Groups, weights: Exact) -> None:
        from scipy.sparse import csr_array  # late: who only checks a model's file needs no SciPy

        size = len(weights)
        members = [*(np.argsort(group, kind="stable") for group in groups), np.arange(size)]
        counts = [*(np.bincount(group) for group in groups), np.array([size])]
        offsets = np.cumsum([0, *map(len, counts[:-2])])
        self._place = np.stack([group + offset for group, offset in zip(groups, offsets.tolist(), strict=True)], 1)
        indices, ends = np.concatenate(members), np.concatenate([[0], *counts]).cumsum()
        data = weights[indices]
        self._sums = np.add.reduceat(data, ends[:-1])[:, None]
        self._matrix = csr_array((data, indices.astype(np.int32), ends.astype(np.int32)), shape=(len(ends) - 1, size))

    def __call__(self, values: Exact) -> tuple[Values, Values]:
        means = self._matrix @ values
        means /= self._sums
        means *= STEP
        means = (np.rint(means, out=means) / STEP).astype(np.float32)
        return means[self._place].reshape(len(values), -1), means[-1]


def _round(values: Values) -> Values:
    values *= STEP
    np.rint(values, out=values)
    values *= 1 / STEP
    return values


def _rectified(values: Values) -> Values:
    np.maximum(values, 0.0, out=values)
    return _round(np.minimum(values, MOST, out=values))


def _normed(values: Values) -> Exact:
    """Each row with mean 0 and variance 1."""
    size = values.shape[1]
    apart = values.astype(np.float64)
    apart *= size
    apart -= apart.sum(1, keepdims=True) / size
    spread = np.sqrt(np.einsum("ij,ij->i", apart, apart) / size + _EPSILON * size * size)
    apart *= (STEP / spread)[:, None]
    np.rint(apart, out=apart)
    apart *= 1 / STEP
    return apart


def _move(values: Values, by: int, out: Values) -> None:
    """The row that stands `by` rows before; zeros where there is none."""
    out[:] = 0.0
    if 0 < by < len(values):
        out[by:] = values[:-by]
    elif -len(values) < by < 0:
        out[:by] = values[-by:]
