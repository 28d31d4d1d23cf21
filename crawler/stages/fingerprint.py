"""The fingerprint stage, the last one, computes the fingerprints by which the duplicate index compares texts.

`doc_id` says "the same text", `simhash` and the MinHash signature say "nearly the same". All three are computed from
the redacted text, so pages that differ only in a redacted value fall together, and no personal value enters an index.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from typing import Any, ClassVar

import regex
import xxhash

from crawler.config import DedupConfig
from crawler.document import Document, Drop
from crawler.stages.text.units import tokens

FINGERPRINT_VERSION = 1
"""Changes when any function below gives other values for the same text; an index refuses another version."""

SEED = 1
SCHEME = "affine32"
SIMHASH_WORDS = 3
_BATCH = 4096
"""Shingles hashed at once: bounds the memory of a text of any length to a few megabytes."""

_PUNCTUATION = regex.compile(r"\p{P}+")


class FingerprintStage:
    """Sets `doc_id`, `simhash`, `signature` and `shingle_count`; never drops."""

    name: ClassVar[str] = "fingerprint"

    def __init__(self, config: DedupConfig) -> None:
        from datasketch import MinHash  # brings SciPy, which the index, that only needs our constants, can do without

        self._shingle_words = config.shingle_words
        self._empty = MinHash(config.bands * config.rows, seed=SEED, hashfunc=xxhash.xxh32_intdigest, scheme=SCHEME)

    def __call__(self, doc: Document) -> Document | Drop:
        """Fingerprint the text as it stands; only the text counts, neither title nor language."""
        doc.doc_id = exact_id(doc.text)
        units, joiner, factor = tokens(doc.text)
        doc.simhash = simhash(shingles(units, joiner, SIMHASH_WORDS * factor))
        pieces = shingles(units, joiner, self._shingle_words * factor)
        doc.shingle_count = len(pieces)
        doc.signature = self._signature(pieces)
        return doc

    def _signature(self, pieces: list[bytes]) -> bytes:
        minhash = self._empty.copy()
        for start in range(0, len(pieces), _BATCH):
            minhash.update_batch(pieces[start : start + _BATCH])
        return bytes(minhash.hashvalues.astype("<u4").tobytes())


def exact_id(text: str) -> str:
    """ "sha256:" and 64 hex digits over the text in NFC, lower case, without punctuation, white space collapsed.

    A text of nothing but punctuation keeps it, so that such texts are not all one.
    """
    plain = _PUNCTUATION.sub("", unicodedata.normalize("NFC", text).lower())
    normal = " ".join((plain if plain.strip() else text).split())
    return "sha256:" + hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()


def shingles(units: list[str], joiner: str, size: int) -> list[bytes]:
    """The distinct runs of `size` units, in order of first appearance; a shorter text is one run."""
    if not units:
        return []
    runs = dict.fromkeys(joiner.join(units[i : i + size]) for i in range(max(1, len(units) - size + 1)))
    return [run.encode("utf-8", "surrogatepass") for run in runs]


def simhash(pieces: list[bytes]) -> str:
    """64-bit SimHash (Charikar 2002) over xxh3 hashes of the pieces, equal weights, as 16 hex digits; ties give 0."""
    import numpy as np  # late: the index needs only our constants, and a crawl whose pages are unchanged no hash

    ones: Any = np.zeros(64, dtype=np.int64)
    for block in _blocks(pieces):
        hashes = np.fromiter((xxhash.xxh3_64_intdigest(p) for p in block), dtype=">u8", count=len(block))
        ones += np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=np.int64)
    bits = np.packbits(2 * ones > len(pieces))
    return str(bits.tobytes().hex())


def _blocks(pieces: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(pieces), _BATCH):
        yield pieces[start : start + _BATCH]
