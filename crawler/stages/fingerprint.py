"""The fingerprint stage, the last one, computes the fingerprints by which the duplicate index compares texts.

`doc_id` says "the same text", the MinHash signature says "nearly the same". Both are of the redacted text, so
pages that differ only in a redacted value fall together, and no personal value enters an index.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import xxhash

from crawler.config import DedupConfig
from crawler.document import Document, Drop
from crawler.imports import absent, deferred
from crawler.native import library
from crawler.stages.text.alike import alike, with_signs
from crawler.stages.text.folded import lower_words
from crawler.stages.text.marks import without_punctuation
from crawler.stages.text.units import tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Hashes = npt.NDArray[np.uint64]

FINGERPRINT_VERSION = 3
"""Changes when any function below gives other values for the same text; an index refuses another version. 3: ways to
write the same text are one, signs of numbers and formulas are kept."""
OLDER_VERSION = 2
"""The version before it, by which withdrawn texts of older corpora are still recognised."""

SEED = 1
SCHEME = "affine32"
_BATCH = 512
"""Shingles taken at once: what is computed of so many stays in the processor's cache, whatever the text's length."""

_BASE = 0x9E3779B97F4A7C15


class FingerprintStage:
    """Sets `doc_id`, `signature` and `shingle_count`; never drops."""

    name: ClassVar[str] = "fingerprint"

    def __init__(self, config: DedupConfig, version: int = FINGERPRINT_VERSION) -> None:
        import numpy as np  # late: the index needs only our constants, and a crawl whose pages are unchanged no hash

        with deferred("scipy.integrate"), absent("redis"):  # to choose bands, to keep an index: neither is asked here
            from datasketch import MinHash

        self._shingle_words, self._version = config.shingle_words, version
        minhash = MinHash(config.bands * config.rows, seed=SEED, scheme=SCHEME)
        self._factors, self._offsets = (np.asarray(numbers, dtype=np.uint32) for numbers in minhash.permutations)

    def __call__(self, doc: Document) -> Document | Drop:
        """Fingerprint the text as it stands; only the text counts, neither title nor language."""
        text = doc.text if self._version == OLDER_VERSION else alike(doc.text)
        doc.doc_id = _id_of(text, self._version)
        units, _, factor = tokens(text)
        doc.signature, doc.shingle_count = self._of(_hashed(units), self._shingle_words * factor)
        return doc

    def _of(self, hashed: Hashes, size: int) -> tuple[bytes, int]:
        """The signature of the runs of so many hashes, and how many of them are different."""
        if (native := library()) is not None:
            from crawler.native.minhash import minhash  # late: it needs numpy

            found = minhash(native, hashed, size, self._factors, self._offsets)
            if found is not None:
                return found
        shingles = _runs(hashed, size)
        return self.signature(shingles), len(shingles)

    def signature(self, shingles: Hashes) -> bytes:
        """MinHash (Broder 1997) of the upper halves of the hashes: little-endian, four bytes for each permutation."""
        import numpy as np

        least = np.full(len(self._factors), 2**32 - 1, dtype=np.uint32)
        factors, offsets = self._factors[:, None], self._offsets[:, None]
        room = np.empty((len(factors), min(_BATCH, len(shingles))), dtype=np.uint32)
        for block in _blocks((shingles >> np.uint64(32)).astype(np.uint32)):
            values = np.multiply(block, factors, out=room[:, : len(block)])
            values += offsets
            np.minimum(least, values.min(axis=1), out=least)
        return bytes(least.astype("<u4").tobytes())


def exact_id(text: str) -> str:
    """ "sha256:" and 64 hex digits over the text in NFC, lower case, without punctuation, white space collapsed.

    Written in one way (`alike`), with the signs that numbers and formulas need (`with_signs`). A text of nothing but
    punctuation keeps it, so that such texts are not all one.
    """
    return _id_of(alike(text), FINGERPRINT_VERSION)


def _id_of(text: str, version: int) -> str:
    if version != OLDER_VERSION:
        text = with_signs(text)
    words = lower_words(text)
    if words is None:
        words = " ".join(without_punctuation(unicodedata.normalize("NFC", text).lower(), "").split())
    normal = words or " ".join(text.split())
    return "sha256:" + hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()


def _hashed(units: Sequence[str]) -> Hashes:
    """xxh3 of each unit; a process hashes each different one once."""
    import numpy as np

    if len(_known) > _MOST_KNOWN:
        _known.clear()
    return np.fromiter(map(_known.__getitem__, units), dtype=np.uint64, count=len(units))


class _Known(dict[str, int]):
    """Unit → its hash, of those that are as long as words are."""

    def __missing__(self, unit: str) -> int:
        number = xxhash.xxh3_64_intdigest(unit.encode("utf-8", "surrogatepass"))
        if len(unit) <= _LONGEST_KNOWN:
            self[unit] = number
        return number


_known = _Known()
_MOST_KNOWN = 32_768
"""Some 6 MB."""
_LONGEST_KNOWN = 32


def _runs(hashed: Hashes, size: int) -> Hashes:
    """A polynomial of each run's hashes modulo 2^64, mixed so that every bit depends on all."""
    import numpy as np

    size = min(size, len(hashed))
    if not size:
        return hashed
    found = hashed[: len(hashed) - size + 1]
    for place in range(1, size):
        found = found * np.uint64(_BASE) + hashed[place : len(hashed) - size + 1 + place]
    ordered = np.sort(_mixed(found))
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


def _mixed(numbers: Hashes) -> Hashes:
    """The finaliser of MurmurHash3's 64 bits."""
    import numpy as np

    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        numbers = (numbers ^ (numbers >> np.uint64(33))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(33))


def _blocks(numbers: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    for start in range(0, len(numbers), _BATCH):
        yield numbers[start : start + _BATCH]
