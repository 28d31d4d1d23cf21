"""PDQ, the perceptual hash of Facebook's ThreatExchange: 256 bits of the low frequencies of an image's brightness.

After "The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing Algorithm" (2019) and its reference
implementation. Written here since the package `pdqhash` has no wheel for current Pythons. Two images are taken for one
where 31 bits or fewer differ (the paper's threshold). Crops and mirror images have other hashes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

THRESHOLD = 31
"""Bits that may differ."""
MIN_QUALITY = 50
"""Of 100: below, the hash says little (a plain surface), and such images are compared by their bytes alone."""
_SIDE, _KEPT = 64, 16
LARGEST = 512
"""Pixels of a side that the reference implementation looks at; larger images are averaged down to that before."""
_BANDS = 16
Floats = Any


def pdq(brightness: Floats) -> tuple[bytes, int]:
    """The hash, 32 bytes, and its quality from 0 to 100. brightness: rows × columns, 0 to 255."""
    plane = np.asarray(brightness, dtype=np.float64)
    for _ in range(2):
        for axis in (1, 0):
            plane = _boxed(plane, axis)
    rows = ((np.arange(_SIDE) + 0.5) * plane.shape[0] / _SIDE).astype(int)
    columns = ((np.arange(_SIDE) + 0.5) * plane.shape[1] / _SIDE).astype(int)
    small = plane[np.ix_(rows, columns)]
    frequencies = _DCT @ small @ _DCT.T
    bits = frequencies > np.sort(frequencies, axis=None)[(_KEPT * _KEPT) // 2 - 1]
    return np.packbits(bits.ravel()[::-1]).tobytes(), _quality(small)


def brightness_of(rgb: Floats) -> Floats:
    """Of rows × columns × red, green, blue."""
    return np.asarray(rgb, dtype=np.float64) @ np.array([0.299, 0.587, 0.114])


def distance(one: bytes, other: bytes) -> int:
    """Bits that differ."""
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def _boxed(plane: Floats, axis: int) -> Floats:
    """A mean over a window of 1/128 of the side, narrower at the edges."""
    length = plane.shape[axis]
    window = (length + 2 * _SIDE - 1) // (2 * _SIDE)
    half = (window + 2) // 2
    sums = np.concatenate([np.zeros_like(np.take(plane, [0], axis)), np.cumsum(plane, axis=axis)], axis=axis)
    places = np.arange(length)
    start, end = np.maximum(0, places - (window - half)), np.minimum(length, places + half)
    shape = [1, 1]
    shape[axis] = length
    return (np.take(sums, end, axis) - np.take(sums, start, axis)) / (end - start).reshape(shape)


def _quality(small: Floats) -> int:
    steps = sum(int(np.abs(np.trunc(np.diff(small, axis=axis) * 100 / 255)).sum()) for axis in (0, 1))
    return min(100, steps // 90)


def _dct() -> Floats:
    rows, columns = np.arange(1, _KEPT + 1)[:, None], np.arange(_SIDE)[None, :]
    return np.sqrt(2.0 / _SIDE) * np.cos(np.pi / 2 / _SIDE * rows * (2 * columns + 1))


_DCT = _dct()


class Likeness:
    """Finds the earliest hash that differs in `THRESHOLD` bits or fewer.

    31 differing bits leave one of 16 bands with at most one of them: 272 look-ups find every such hash. Memory: about
    2 kB a hash.
    """

    def __init__(self) -> None:
        self._hashes: list[bytes] = []
        self._bands: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in range(_BANDS)]

    def add(self, pdq_hash: bytes) -> int:
        """Take a hash; answers its number, from 0."""
        number = len(self._hashes)
        self._hashes.append(pdq_hash)
        for band, value in enumerate(_values(pdq_hash)):
            self._bands[band][value].append(number)
        return number

    def find(self, pdq_hash: bytes) -> int | None:
        """The number of the earliest like one; None where there is none."""
        best: int | None = None
        for band, value in enumerate(_values(pdq_hash)):
            known = self._bands[band]
            for near in (value, *(value ^ 1 << bit for bit in range(16))):
                for number in known.get(near, ()):
                    if best is not None and number >= best:
                        break
                    if distance(self._hashes[number], pdq_hash) <= THRESHOLD:
                        best = number
        return best


def _values(pdq_hash: bytes) -> list[int]:
    return [int.from_bytes(pdq_hash[at : at + 2], "big") for at in range(0, 2 * _BANDS, 2)]
