"""The features of a model are part of it: what they are called, in which order, and what they are on a fixed page.

Names alone do not notice that two assignments were swapped, or that a column is counted otherwise than in training. So
the model's file carries a probe, a small input with one of everything, and every number that it had of it in training;
the numbers of today are held against them wherever the model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NEAR = 1e-5
"""Relative difference up to which numbers are the same: another machine's last bits are no other meaning."""
_NAMED = 5


@dataclass(frozen=True)
class Features:
    """One group of columns that is computed together; `probe` (rows, columns) is what they are on the probe.

    The version is counted up where the numbers mean something else although the probe's stay.
    """

    group: str
    version: int
    names: tuple[str, ...]
    probe: NDArray[Any]


def complaint(stored: Sequence[Features], ours: Sequence[Features]) -> str:
    """How the features of a file differ from those of this code, as a part of a sentence; "" where they do not."""
    groups, here = ([one.group for one in some] for some in (stored, ours))
    if groups != here:
        return f"groups {', '.join(groups) or 'none'}, here {', '.join(here) or 'none'}"
    return next(
        (f"group {was.group}: {found}" for was, now in zip(stored, ours, strict=True) if (found := _of(was, now))), ""
    )


def _of(was: Features, now: Features) -> str:
    if was.version != now.version:
        return f"version {was.version}, here {now.version}"
    if was.names != now.names:
        moved = [f"{a} where here is {b}" for a, b in zip_longest(was.names, now.names, fillvalue="nothing") if a != b]
        return _listed(moved)
    if was.probe.shape != now.probe.shape:
        return f"{was.probe.shape[0]} rows on the probe, here {now.probe.shape[0]}"
    same = np.isclose(was.probe, now.probe, rtol=_NEAR, atol=_NEAR, equal_nan=True).all(axis=0)
    other = [name for name, is_same in zip(now.names, same.tolist(), strict=True) if not is_same]
    return f"other values on the probe in {_listed(other)}" if other else ""


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def described(features: Iterable[Features]) -> list[dict[str, Any]]:
    """The features as a card lists them."""
    return [{"group": one.group, "version": one.version, "names": list(one.names)} for one in features]
