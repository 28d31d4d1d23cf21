"""Behind the stages: the index that knows which texts the corpus has, shared by all workers.

`RedisIndex` keeps it in Redis or Valkey, `MemoryIndex` in this process; both answer alike. A question is also a claim:
whoever asks first about a text owns it from then on, in one atomic step. Owners are canonical URLs, so a page that
comes back after a crash, or is crawled again, is never a duplicate of itself.

Near duplicates: MinHash signatures cut into bands (Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, chapter 3);
texts that agree in a band are candidates, and a candidate counts only when the whole signatures agree enough. One byte
of each signature position is stored for that (b-bit minwise hashing, Li and König 2010, b = 8).
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import xxhash

from crawler.config import Config, DedupConfig
from crawler.stages.fingerprint import FINGERPRINT_VERSION, SCHEME, SEED

INDEX_VERSION = 1
_CHANCE = 1 / 256  # two unrelated signature bytes agree this often


class DedupError(Exception):
    """The duplicate index cannot be used; the text says why and what to do."""


class SchemeMismatchError(DedupError):
    """The index was made with other parameters: its bands and signatures say nothing about ours."""


class IndexUnavailableError(DedupError):
    """No server answers at the start. (A server that goes away later is waited for.)"""


@dataclass(frozen=True, slots=True)
class NearMatch:
    """A text of the index that is nearly the same. similarity: estimated Jaccard similarity of the shingles, 0 to 1."""

    owner: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Scheme:
    """Everything two signatures must have in common to be comparable. Stored with an index."""

    bands: int
    rows: int
    shingle_words: int
    bucket_bits: int
    seed: int = SEED
    minhash: str = SCHEME
    fingerprint_version: int = FINGERPRINT_VERSION
    index_version: int = INDEX_VERSION

    @classmethod
    def of(cls, config: DedupConfig) -> Scheme:
        """The scheme a configuration asks for."""
        return cls(config.bands, config.rows, config.shingle_words, config.bucket_bits)

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
        changes = ", ".join(f"{name}: the index has {theirs.get(name)}, you ask for {ours.get(name)}" for name in names)
        raise SchemeMismatchError(
            f"the duplicate index was made with other parameters ({changes}). Set NEARDUP_BANDS, NEARDUP_ROWS, "
            "NEARDUP_SHINGLE_WORDS and DEDUP_BUCKET_BITS back, or start a new index: another CRAWL_ID, or another "
            "DEDUP_REDIS_URL"
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A signature prepared for an index: one byte a position; for each band its bucket and the rest of its digest."""

    signature: bytes
    bands: tuple[tuple[int, bytes], ...]


def question(signature: bytes, scheme: Scheme) -> Question:
    """Cut a signature (little-endian uint32) into bands. Raises: ValueError for a signature of another length."""
    if len(signature) != 4 * scheme.permutations:
        raise ValueError(f"a signature of {scheme.permutations} positions has 4 bytes each, got {len(signature)} bytes")
    step = 4 * scheme.rows
    bands = []
    for band in range(scheme.bands):
        digest = xxhash.xxh3_64_intdigest(signature[band * step : (band + 1) * step], seed=band)
        bands.append((digest >> (64 - scheme.bucket_bits), (digest & (2**48 - 1)).to_bytes(6, "big")))
    return Question(signature[::4], tuple(bands))


def exact_bucket(doc_id: str, bits: int) -> tuple[int, bytes]:
    """Bucket and field of an exact fingerprint "sha256:<hex>": 80 further bits of the digest tell texts apart."""
    digest = bytes.fromhex(doc_id.removeprefix("sha256:"))
    return int.from_bytes(digest[:4], "big") >> (32 - bits), digest[4:14]


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
    """What the pipelines ask. Every question claims the text for the asker where nobody owns it."""

    async def open(self) -> None:
        """Get ready. Raises: SchemeMismatchError, IndexUnavailableError."""

    async def close(self) -> None:
        """Let go of connections; what is known stays."""

    async def check_exact(self, doc_id: str, owner_url: str) -> str | None:
        """URL of another owner of exactly this text, or None."""

    async def check_near(self, signature: bytes, shingles: int, owner_url: str) -> NearMatch | None:
        """The most similar text of another owner, from the threshold up; None for texts of too few shingles."""


class MemoryIndex:
    """The index of one process, forgotten at its end: replay, tests, crawls without a server."""

    def __init__(self, config: DedupConfig) -> None:
        self._scheme = Scheme.of(config)
        self._min_shingles = config.min_shingles
        self._needed = needed_agreement(config.threshold, self._scheme.permutations)
        self._exact: dict[str, str] = {}
        self._bands: dict[tuple[int, int, bytes], int] = {}
        self._owners: list[tuple[str, bytes]] = []

    async def open(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Nothing to do."""

    async def check_exact(self, doc_id: str, owner_url: str) -> str | None:
        """See `DedupIndex`."""
        owner = self._exact.setdefault(doc_id, owner_url)
        return None if owner == owner_url else owner

    async def check_near(self, signature: bytes, shingles: int, owner_url: str) -> NearMatch | None:
        """See `DedupIndex`."""
        if shingles < self._min_shingles:
            return None
        asked = question(signature, self._scheme)
        keys = [(band, bucket, rest) for band, (bucket, rest) in enumerate(asked.bands)]
        best: tuple[int, int] | None = None  # (agreeing, -number): the most similar, then the oldest
        for number in dict.fromkeys(self._bands[key] for key in keys if key in self._bands):
            owner, theirs = self._owners[number]
            agreeing = _agreement(asked.signature, theirs)
            if owner == owner_url:
                if theirs == asked.signature:
                    return None
            elif agreeing >= self._needed and (best is None or (agreeing, -number) > best):
                best = (agreeing, -number)
        if best is not None:
            return NearMatch(self._owners[-best[1]][0], similarity(best[0], self._scheme.permutations))
        for key in keys:
            self._bands.setdefault(key, len(self._owners))
        self._owners.append((owner_url, asked.signature))
        return None


def _agreement(left: bytes, right: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(left, np.uint8) == np.frombuffer(right, np.uint8)))


def make_index(config: Config, frontier_url: str | None = None) -> DedupIndex:
    """The index a configuration asks for: on DEDUP_REDIS_URL, else on REDIS_URL or the frontier's, else in memory."""
    from crawler.pipelines.dedup_redis import RedisIndex

    url = config.dedup.redis_url or config.crawl.redis_url or frontier_url
    if url is None:
        return MemoryIndex(config.dedup)
    return RedisIndex(url, config.dedup, crawl_id=config.crawl.crawl_id)
