"""A table knows hashes and some whole numbers of each, and no word or name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Table:
    """Hashes in ascending order, (n,), and what is known of each: (n,), or (n, outputs)."""

    keys: NDArray[np.uint32]
    values: NDArray[np.int8]

    @cached_property
    def known(self) -> dict[int, Any]:
        """The number of each hash, or the tuple of its numbers."""
        values = self.values.tolist()
        return dict(zip(self.keys.tolist(), values if self.values.ndim == 1 else map(tuple, values), strict=True))

    @classmethod
    def of(cls, known: Mapping[int, Any], outputs: int = 1) -> Self:
        """The table of what is known; outputs: numbers of each hash. Numbers are −128 to 127."""
        keys = sorted(known)
        shape = (len(keys), outputs) if outputs > 1 else (len(keys),)
        return cls(np.array(keys, np.uint32), np.array([known[key] for key in keys], np.int8).reshape(shape))
