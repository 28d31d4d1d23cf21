"""Copies of withdrawn images are told by their bytes and by their looks, whatever their address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.dataset.refused import Refusals
from crawler.images.pdq import MIN_QUALITY, Likeness


class Prints:
    """Those of some corpora's withdrawn images."""

    def __init__(self, refused: Refusals) -> None:
        self._digests, self._looks = refused.images, Likeness()
        for pdq in sorted(refused.looks):
            self._looks.add(bytes.fromhex(pdq))

    def has(self, facts: Mapping[str, Any]) -> bool:
        """True for a copy of one. facts: of `Decoded`, without bytes; none of an image that nobody has seen."""
        if not self._digests or not facts:
            return False
        if not self._digests.isdisjoint({facts["sha256"], facts["original_sha256"]}):
            return True
        return facts["quality"] >= MIN_QUALITY and self._looks.find(bytes.fromhex(facts["pdq"])) is not None
