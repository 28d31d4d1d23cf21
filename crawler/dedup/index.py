"""The interface of the duplicate index, which knows the texts that the corpus has.

`RedisIndex` (`redis_index.py`) keeps it in Redis or Valkey, `MemoryIndex` (`memory_index.py`) in this process; both
answer alike. A question is also a claim: whoever asks first about a text owns it from then on, in one atomic step.
Owners are canonical URLs, so a page that comes back after a crash, or is crawled again, is never a duplicate of itself.

Near duplicates: MinHash signatures cut into bands (Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, chapter 3);
texts that agree in a band are candidates, and a candidate counts only when the whole signatures agree enough. One byte
of each signature position is stored for that (b-bit minwise hashing, Li and König 2010, b = 8).
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import xxhash

from crawler.config import DedupConfig
from crawler.stages.fingerprint import FINGERPRINT_VERSION, SCHEME, SEED

INDEX_VERSION = 2
_CHANCE = 1 / 256  # two unrelated signature bytes agree this often


class DedupError(Exception):
    """The duplicate index cannot be used; the text says why and what to do."""


class SchemeMismatchError(DedupError):
    """The index was made with other parameters: its bands and signatures say nothing about ours."""


class IndexUnavailableError(DedupError):
    """No server answers at the start, or it would throw claims away. (One that goes away later is waited for.)"""


@dataclass(frozen=True, slots=True)
class Match:
    """A text of the index that is the same (`exact`) or nearly so. similarity: estimated Jaccard similarity, 0 to 1."""

    owner: str
    similarity: float
    exact: bool


@dataclass(frozen=True, slots=True)
class Scheme:
    """Everything two signatures must have in common to be comparable. Stored with an index."""

    bands: int
    rows: int
    shingle_words: int
    seed: int = SEED
    minhash: str = SCHEME
    fingerprint_version: int = FINGERPRINT_VERSION
    index_version: int = INDEX_VERSION

    @classmethod
    def of(cls, config: DedupConfig) -> Scheme:
        """The scheme a configuration asks for."""
        return cls(config.bands, config.rows, config.shingle_words)

    @property
    def permutations(self) -> int:
        """Positions of a signature."""
        return self.bands * self.rows

    def to_json(self) -> str:
        """Canonical text, equal for equal schemes."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    def check(self, stored: str) -> None:
        """Compare with the scheme an index carries. Raises: SchemeMismatchError naming every difference."""
        theirs, ours = json.loads(stored), dataclasses.asdict(self)
        if theirs == ours:
            return
        names = sorted(name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name))
        changes = "; ".join(f"{name}: index {theirs.get(name)}, settings {ours.get(name)}" for name in names)
        back = " ".join(f"-s {_SETTINGS[name]}={theirs.get(name)}" for name in names if name in _SETTINGS)
        go_on = f"continue with it by {back}, or " if _SETTINGS.keys() >= set(names) else ""
        raise SchemeMismatchError(
            f"the duplicate index was made with other parameters ({changes}): {go_on}start a new index "
            f"with another CRAWL_ID or another DEDUP_REDIS_URL{_FILLED if _VERSIONS & set(names) else ''}"
        )


_SETTINGS = {"bands": "NEARDUP_BANDS", "rows": "NEARDUP_ROWS", "shingle_words": "NEARDUP_SHINGLE_WORDS"}
"""Parameters of a scheme that a setting can put back."""
_VERSIONS = {"fingerprint_version", "index_version"}
_FILLED = (
    ", and fill it from the texts that the corpus has, so that their duplicates are found: "
    "gristmill dataset index CORPUS_DIR --id canonical_url"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A text prepared for an index.

    digest: 80 bits of the exact fingerprint. signature: one byte a position, empty where the text is compared exactly
    only. bands: one hash of 32 bits a band, or of 64. needed: agreeing positions that make a near duplicate.
    """

    digest: bytes
    signature: bytes
    bands: tuple[int, ...]
    needed: int


class Questions:
    """Prepares texts as the configuration asks: which are compared exactly only, and how much must agree.

    band_bits: 32 as in the index of a crawl, or 64 for a batch of more documents than 32 bits can tell apart.
    """

    def __init__(self, config: DedupConfig, *, band_bits: int = 32) -> None:
        self.scheme = Scheme.of(config)
        self._band_bits = band_bits
        self._min_shingles = config.min_shingles
        self._short_shingles = config.short_shingles
        self._needed = needed_agreement(config.threshold, self.scheme.permutations)
        self._needed_short = needed_agreement(config.short_threshold, self.scheme.permutations)

    def about(self, doc_id: str, signature: bytes, shingles: int) -> Question:
        """Raises: ValueError for a doc_id or a signature that `fingerprint.py` did not make."""
        digest = bytes.fromhex(doc_id.removeprefix("sha256:")[:20])
        if len(digest) != 10:
            raise ValueError(f"a doc_id is sha256: and 64 hex digits, got {doc_id[:80]!r}")
        if shingles < self._min_shingles:
            return Question(digest, b"", (), 0)
        needed = self._needed_short if shingles < self._short_shingles else self._needed
        bands = band_hashes(signature, self.scheme, bits=self._band_bits)
        return Question(digest, signature[::4], bands, needed)


def band_hashes(signature: bytes, scheme: Scheme, *, bits: int = 32) -> tuple[int, ...]:
    """One hash of 32 (or 64) bits a band of a signature (little-endian uint32).

    Raises: ValueError for a signature of another length.
    """
    if len(signature) != 4 * scheme.permutations:
        raise ValueError(f"a signature of {scheme.permutations} positions has 4 bytes each, got {len(signature)} bytes")
    step, mask = 4 * scheme.rows, (1 << bits) - 1
    return tuple(
        xxhash.xxh3_64_intdigest(signature[start : start + step], seed=band) & mask
        for band, start in enumerate(range(0, len(signature), step))
    )


def needed_agreement(threshold: float, permutations: int) -> int:
    """Agreeing signature bytes from which the estimated similarity reaches the threshold."""
    return math.ceil(permutations * (_CHANCE + threshold * (1 - _CHANCE)) - 1e-9)


def similarity(agreeing: int, permutations: int) -> float:
    """Estimated Jaccard similarity, corrected for bytes that agree by chance."""
    return max(0.0, (agreeing / permutations - _CHANCE) / (1 - _CHANCE))


def candidate_probability(jaccard: float, bands: int, rows: int) -> float:
    """Chance that two texts of this similarity share a band: 1 − (1 − s^r)^b."""
    return float(1 - (1 - jaccard**rows) ** bands)


class DedupIndex(Protocol):
    """What the pipelines ask."""

    @property
    def away_seconds(self) -> float:
        """For how long some question has been waiting for a server that is away; 0 where none does."""
        ...

    async def open(self) -> None:
        """Get ready; harmless when repeated. Raises: SchemeMismatchError, IndexUnavailableError."""

    async def close(self) -> None:
        """Let go of connections, harmless when repeated; what is known stays."""

    async def check(self, doc_id: str, signature: bytes, shingles: int, owner_url: str) -> Match | None:
        """Another owner of this text, else the most similar text of another owner from the threshold up.

        None: the text is the asker's, from now on or already. Texts of too few shingles are compared exactly only.
        """

    async def release(self, digest: bytes, owner_url: str) -> int | None:
        """Free one claim: the text with this digest (`text_digest`), where it is still this owner's.

        Returns how many other pages were turned away for it; None where there was nothing to free.
        """

    async def confirm(self, owner_url: str) -> Match | None:
        """Before the asker's document is committed: None while its claim stands.

        A match where the server of the index was restarted since, had forgotten the claim, and another got the text.
        """

    async def forget(self, owners: Collection[str]) -> int:
        """Free what these owners claimed, for withdrawn pages. Returns the number of claims freed."""
