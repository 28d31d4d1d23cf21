"""How large an image may be, and how small: the limits of one data set, the same for all of its images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """What the options of `gristmill dataset images` say.

    max_bytes: of a file as it comes. max_pixels: width × height, known from the head before anything is decoded.
    min_side: pixels of the shorter side. min_bytes: of a file. max_aspect: longer side by shorter side. exif: keep it,
    without position. domains: only pages of these are read; none = all. Sources: 200
    pixels and 3: DataComp's basic filter; 5,000 bytes: LAION-5B.
    """

    max_bytes: int = 20 * 2**20
    max_pixels: int = 50_000_000
    min_side: int = 200
    min_bytes: int = 5_000
    max_aspect: float = 3.0
    exif: bool = False
    domains: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {**asdict(self), "domains": list(self.domains)}
