"""Decay: is what came back at a later visit still the page that was kept, or only what is left of it?

Pure: no server, no Scrapy. A tombstone (`gone`, `moved`, `decayed`) is a verdict that only the page's own history can
give; `crawler/dataset/supersede.py` takes the older document out of the corpus for it. `docs/recrawl.md` has the rules.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from crawler.document import Document, Drop, DropReason, Reason
from crawler.stages.quality.no_content import Recognisers

_PAST = struct.Struct(">HBI")
_NO_SCORE = 255
_SHORTER = 0.5  # a text that is longer than this share of the old one has not decayed, whatever surrounds it
_MANY = 3
_RECOGNISERS = Recognisers()
_MAX_TARGETS = 10_000
_STAGES = frozenset({"extraction", "quality"})
_INDEX_NAMES = ("index.", "default.", "home.")


@dataclass(frozen=True, slots=True)
class Past:
    """What a page was when it was kept, averaged over its visits with the latest counting half.

    share: characters of text per byte of body, 0 to 1; quality: 0 to 1, None where it was not scored.
    """

    share: float
    quality: float | None
    characters: int

    @classmethod
    def of(cls, doc: Document, before: Past | None = None) -> Past | None:
        """What the document adds to the history; the history itself where nothing was extracted."""
        if doc.extraction_yield is None:
            return before
        now = cls(min(1.0, doc.extraction_yield), doc.quality_score, doc.char_count)
        if before is None:
            return now
        quality = [score for score in (before.quality, now.quality) if score is not None]
        return cls(
            (before.share + now.share) / 2,
            sum(quality) / len(quality) if quality else None,
            (before.characters + now.characters) // 2,
        )

    def pack(self) -> bytes:
        """Seven bytes; shares to 1/65,535, scores to 1/254."""
        score = _NO_SCORE if self.quality is None else round(min(1.0, max(0.0, self.quality)) * (_NO_SCORE - 1))
        share = round(min(1.0, max(0.0, self.share)) * 0xFFFF)
        return _PAST.pack(share, score, min(self.characters, 0xFFFFFFFF))

    @classmethod
    def unpack(cls, packed: bytes) -> Past:
        """Inverse of `pack`."""
        share, score, characters = _PAST.unpack(packed)
        return cls(share / 0xFFFF, None if score == _NO_SCORE else score / (_NO_SCORE - 1), characters)


PAST_BYTES = _PAST.size


@dataclass(frozen=True, slots=True)
class DecayLimits:
    """A text below `share` × its former yield and half its length, or below `quality` × its former score, decayed.

    0 switches a limit off.
    """

    share: float = 0.25
    quality: float = 0.5


def tombstone(doc: Document, past: Past | None, limits: DecayLimits) -> Drop | None:
    """The verdict on a page that was kept once and is fetched again; None where its history changes nothing.

    past: None for a page that was never kept, which cannot decay.
    """
    if past is None:
        return None
    if doc.verdict is None:
        return _far_below(doc, past, limits)
    if doc.verdict.stage not in _STAGES or not doc.verdict.reason.is_final:
        return None
    said = _message(doc) or doc.verdict.reason
    why = f"{said}: {doc.verdict.detail}"[:512]
    return Drop("recrawl", DropReason.GONE if said is DropReason.SOFT_404 else DropReason.DECAYED, why)


def _message(doc: Document) -> Reason | None:
    """What a page says that is too short to have reached the stage `quality`, which asks the same."""
    if doc.verdict is None or doc.verdict.stage != "extraction":
        return None
    found = _RECOGNISERS.judge(doc.title, doc.text, doc.word_count)
    return found[0] if found else None


def _far_below(doc: Document, past: Past, limits: DecayLimits) -> Drop | None:
    share, quality = doc.extraction_yield, doc.quality_score
    if share is not None and share < limits.share * past.share and doc.char_count < _SHORTER * past.characters:
        return Drop("recrawl", DropReason.DECAYED, f"extraction yield {share:.3f}, it was {past.share:.3f}")
    if quality is not None and past.quality is not None and quality < limits.quality * past.quality:
        return Drop("recrawl", DropReason.DECAYED, f"quality {quality:.2f}, it was {past.quality:.2f}")
    return None


class Moves:
    """Where the pages of one run redirect to that were kept before: a generic target means that the page is no more.

    Remembers up to 10,000 targets.
    """

    def __init__(self) -> None:
        self._targets: Counter[str] = Counter()

    def is_generic(self, url: str, target: str) -> bool:
        """True for the root of a site, a section above the page, and from the third page on for a common target."""
        if _is_above(urlsplit(url), urlsplit(target)):
            return True
        if target in self._targets or len(self._targets) < _MAX_TARGETS:
            self._targets[target] += 1
        return self._targets[target] >= _MANY


def _is_above(page: SplitResult, target: SplitResult) -> bool:
    """True where the target is the root, or a folder that the page lies in."""
    folder = _folder(target.path)
    if target.query:
        return False
    if folder == "":
        return _folder(page.path) != "" or bool(page.query)
    same_host = page.hostname == target.hostname
    return same_host and page.path.rstrip("/") != folder and page.path.startswith(f"{folder}/") and bool(page.path)


def _folder(path: str) -> str:
    """The path without its slash at the end and without the name of an index page."""
    head, _, name = path.rpartition("/")
    return head if name.lower().startswith(_INDEX_NAMES) else path.rstrip("/")
