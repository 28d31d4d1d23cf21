"""Fingerprints of withdrawn texts: is this text one of them, or nearly? No word can be read from what is stored.

They have one scheme, the default of the duplicate index, whatever a crawl's own settings are: a refusal does not depend
on how a crawl looks for duplicates. The threshold is somewhat lower than the crawl's, because doubt means no.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar

from crawler.config import DedupConfig
from crawler.dedup.index import Question, Questions, Scheme
from crawler.document import Document
from crawler.stages.fingerprint import FINGERPRINT_VERSION, OLDER_VERSION, FingerprintStage

T = TypeVar("T")
CONFIG = DedupConfig(threshold=0.65, short_threshold=0.8)
_OURS = Scheme.of(CONFIG)


def _named(version: int) -> str:
    return (
        f"{_OURS.minhash}/{version}/{_OURS.bands}x{_OURS.rows}/{_OURS.shingle_words}/{_OURS.seed}/{_OURS.index_version}"
    )


SCHEME = _named(_OURS.fingerprint_version)
"""Names all that two signatures must have in common to be comparable."""
_VERSIONS = {SCHEME: _OURS.fingerprint_version, _named(OLDER_VERSION): OLDER_VERSION}
"""The schemes that logs may have."""
_QUESTIONS = Questions(CONFIG)


@dataclass(frozen=True, slots=True)
class TextPrint:
    """The fingerprints of one text, as `FingerprintStage` makes them. signature: little-endian uint32."""

    doc_id: str
    signature: bytes
    shingles: int
    version: int = FINGERPRINT_VERSION

    @property
    def encoded(self) -> str:
        """The signature in base64."""
        return base64.b64encode(self.signature).decode()


def printed(text: str, version: int = FINGERPRINT_VERSION) -> TextPrint:
    """The fingerprints of a text; about a millisecond for a long page."""
    doc = Document(url="", text=text)
    _stage(version)(doc)
    return TextPrint(doc.doc_id, doc.signature, doc.shingle_count, version)


def is_comparable(dedup: DedupConfig) -> bool:
    """True where a crawl with these settings makes the same fingerprints."""
    return Scheme.of(dedup) == _OURS


def decoded(scheme: str, doc_id: str, signature: str, shingles: int) -> TextPrint:
    """The print of a line of the log. Raises: ValueError where it is none, or of another scheme."""
    if scheme not in _VERSIONS:
        raise ValueError(f"its scheme is {scheme}, and this program makes {SCHEME}")
    found = TextPrint(doc_id, base64.b64decode(signature, validate=True), shingles, _VERSIONS[scheme])
    _QUESTIONS.about(found.doc_id, found.signature, found.shingles)
    return found


@lru_cache(maxsize=2)
def _stage(version: int) -> FingerprintStage:
    return FingerprintStage(CONFIG, version)


@dataclass(slots=True)
class TextPrints(Generic[T]):
    """Prints, each with what it stands for. Of several the first counts. 120 bytes a text, and its exact print."""

    _exact: dict[bytes, T] = field(default_factory=dict)
    _signatures: bytearray = field(default_factory=bytearray)
    _near: list[T] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._exact)

    def digests(self) -> Iterator[bytes]:
        """Of each text the first 80 bits of its doc_id."""
        return iter(self._exact)

    def add(self, of: TextPrint, what: T) -> None:
        """Know a text from now on. Raises: ValueError where the print is of another scheme."""
        asked = _asked(of)
        if asked.digest in self._exact:
            return
        self._exact[asked.digest] = what
        if asked.signature:
            self._signatures += asked.signature
            self._near.append(what)

    def find(self, of: TextPrint) -> T | None:
        """What stands for this text, or for one that it is nearly; None where there is none.

        Every signature is looked at: a hundred thousand take some milliseconds.
        """
        asked = _asked(of)
        if (what := self._exact.get(asked.digest)) is not None or not (asked.signature and self._near):
            return what
        import numpy as np  # late: without withdrawn texts no crawl needs it here

        known = np.frombuffer(self._signatures, np.uint8).reshape(len(self._near), -1)
        agreeing = np.count_nonzero(known == np.frombuffer(asked.signature, np.uint8), axis=1)
        best = int(agreeing.argmax())
        return self._near[best] if agreeing[best] >= asked.needed else None


def _asked(of: TextPrint) -> Question:
    return _QUESTIONS.about(of.doc_id, of.signature, of.shingles)
