"""A visit of a URL: what is remembered of it, whether the page changed since, when it is worth another.

Pure: no server, no Scrapy. `visits.py` keeps the `Visit` in the frontier, `crawler/middlewares/conditional.py` sends
its validators, `docs/recrawl.md` tells the whole story.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING

from crawler.document import Document, DropReason
from crawler.recrawl.decay import PAST_BYTES, Past
from crawler.times import rfc3339

if TYPE_CHECKING:
    from crawler.config import FrontierConfig

GROWTH = 1.5
"""An unchanged page waits this many times longer next time, a changed one that much less."""

_HEAD = struct.Struct(">IbBHHIII16s")  # the scripts read the first two: fetched_at, step
_REUSABLE, _KEPT, _TEXT, _PAST, _DUPLICATE = 1, 2, 4, 8, 16
_TEXT_BYTES = 10  # as many as the duplicate index keeps of a doc_id
_MAX_ETAG, _MAX_DATE = 256, 64  # bytes
_ETAG = re.compile(r'(?:W/)?"[\x20\x21\x23-\x7e\x80-\xff]*"')  # RFC 9110 section 8.8.3, and inner spaces
_DATE = re.compile(r"[\x20-\x7e]+")
_BIG_BODY = 256 * 1024  # bytes; hashing more is left to a thread
_MAX_STEP = 100


@dataclass(frozen=True, slots=True)
class Visit:
    """The last fetch of one URL. Times are whole seconds since the epoch.

    `digest` stands for what was found: 16 bytes of the body's SHA-256, or of the reason where there was no body.
    `reusable`: the same body again needs no second look; only then are the validators (`etag`, `last_modified`,
    verbatim; None = unusable or absent) stored. `step` is how often the page was found unchanged, minus changed.
    `text` is what the duplicate index knows of the text the page is in the corpus with, b"" where it is not there.
    `past` is what the page was when it was kept, None where it never was. `duplicate_at`: the fetch whose body was
    found to be another page's text, 0 where it was not.
    """

    fetched_at: int
    first_seen: int
    last_changed: int
    digest: bytes
    changes: int = 0
    step: int = 0
    status: int = 0  # HTTP; 0: no answer was asked for
    size: int = 0  # bytes of the body
    kept: bool = False
    reusable: bool = False
    etag: str | None = None
    last_modified: str | None = None
    text: bytes = b""
    past: Past | None = None
    duplicate_at: int = 0

    @property
    def was_kept(self) -> bool:
        """True where an earlier visit found a page worth keeping."""
        return self.kept or self.past is not None

    def reconsidered(self) -> Visit:
        """The same visit, after which the page has to be judged in full again."""
        return replace(self, reusable=False, etag=None, last_modified=None)

    def pack(self) -> bytes:
        """The record as the frontier stores it: 38 bytes, of a kept page 17 more, and the validators."""
        flags = _REUSABLE * self.reusable + _KEPT * self.kept + _DUPLICATE * bool(self.duplicate_at)
        flags += _TEXT * bool(self.text) + _PAST * (self.past is not None)
        head = _HEAD.pack(
            self.fetched_at, self.step, flags, self.status, min(self.changes, 0xFFFF),
            self.first_seen, self.last_changed, min(self.size, 0xFFFFFFFF), self.digest,
        )  # fmt: skip
        head += self.text + (self.past.pack() if self.past else b"")
        head += struct.pack(">I", self.duplicate_at) if self.duplicate_at else b""
        return head + f"{self.etag or ''}\n{_shorter(self.last_modified or '')}".encode("latin-1")

    @classmethod
    def unpack(cls, packed: bytes) -> Visit:
        """Inverse of `pack`. Raises: ValueError for bytes of another make."""
        if len(packed) <= _HEAD.size:
            raise ValueError(f"a visit has more than {_HEAD.size} bytes, got {len(packed)}")
        fetched, step, flags, status, changes, first, changed, size, digest = _HEAD.unpack_from(packed)
        rest = packed[_HEAD.size :]
        text, rest = (rest[:_TEXT_BYTES], rest[_TEXT_BYTES:]) if flags & _TEXT else (b"", rest)
        past, rest = (Past.unpack(rest[:PAST_BYTES]), rest[PAST_BYTES:]) if flags & _PAST else (None, rest)
        duplicate_at, rest = (int.from_bytes(rest[:4]), rest[4:]) if flags & _DUPLICATE else (0, rest)
        etag, _, date = rest.decode("latin-1").partition("\n")
        return cls(
            fetched, first, changed, digest, changes, step, status, size, bool(flags & _KEPT), bool(flags & _REUSABLE),
            etag or None, _longer(date) or None, text, past, duplicate_at,
        )  # fmt: skip

    def conditions(self) -> Iterator[tuple[str, str]]:
        """The headers that ask for the page only if it changed (RFC 9110 section 13.1).

        Both where both are known, as section 8.8.4 asks: a server that knows entity tags ignores the date.
        """
        if self.etag:
            yield "If-None-Match", self.etag
        if self.last_modified:
            yield "If-Modified-Since", self.last_modified

    def holds(self, content_hash: str) -> bool:
        """True where this very body ("sha256:…") has been judged before."""
        return self.reusable and self.digest == _digest(content_hash)


@dataclass(frozen=True, slots=True)
class Intervals:
    """How long until the next visit, in seconds: `first` × 1.5^step, from `shortest` to `longest`.

    The bounds always admit `first`: with first=0 every page is due at once.
    """

    first: float = 7 * 86_400.0
    shortest: float = 86_400.0
    longest: float = 90 * 86_400.0

    @classmethod
    def of(cls, config: FrontierConfig) -> Intervals:
        """As configured."""
        first = config.recrawl_interval_seconds
        return cls(first, min(config.recrawl_min_seconds, first), max(config.recrawl_max_seconds, first))

    def plan(self) -> str:
        """As the scripts read it."""
        return f"{self.first:.3f} {self.shortest:.3f} {self.longest:.3f}"

    def step(self, before: int, *, changed: bool) -> int:
        """The next step; it stops where the bounds are, so that it turns around at once when the page does."""
        lowest, highest = self._reach(self.shortest), self._reach(self.longest)
        return max(lowest, min(highest, before - 1 if changed else before + 1))

    def _reach(self, bound: float) -> int:
        if self.first <= 0:
            return 0
        if bound <= 0:
            return -_MAX_STEP
        steps = math.log(bound / self.first, GROWTH)
        return max(-_MAX_STEP, min(_MAX_STEP, math.floor(steps) if steps < 0 else math.ceil(steps)))


def visit_after(previous: Visit | None, doc: Document, intervals: Intervals, now: float) -> Visit:
    """What to remember of `doc`, whose way has ended (`doc.verdict` None: it was kept).

    `now` (epoch seconds) stands in where the document does not know when it was fetched; both are of the crawl's clock.
    """
    fetched = int(datetime.fromisoformat(doc.crawled_at).timestamp() if doc.crawled_at else now)
    reason = doc.verdict.reason if doc.verdict else None
    if previous is not None and has_failed(doc):
        return replace(previous, fetched_at=fetched)
    confirmed = previous if reason is DropReason.UNCHANGED else None
    reusable = confirmed is not None or (bool(doc.content_hash) and not _has_to_be_confirmed(doc))
    etag, date = _validators(doc, confirmed) if reusable else (None, None)
    visit = Visit(
        fetched_at=fetched,
        first_seen=fetched,
        last_changed=fetched,
        digest=_found(doc),
        changes=0,
        step=0,
        status=doc.http_status,
        size=doc.body_bytes,
        kept=reason is None,
        reusable=reusable,
        etag=etag,
        last_modified=date,
        text=_text_after(previous, doc),
        past=_past_after(previous, doc),
        duplicate_at=fetched * (reason is not None and reason.is_duplicate),
    )
    return visit if previous is None else _after(previous, visit, doc, intervals)


def _after(previous: Visit, visit: Visit, doc: Document, intervals: Intervals) -> Visit:
    """A visit in the history of its URL. A page that was not sent again, or not read, is what it was."""
    reason = doc.verdict.reason if doc.verdict else None
    changed = is_changed(previous, doc)
    same = ("digest", "status", "size", "kept", "duplicate_at") if reason is DropReason.UNCHANGED else ()
    return replace(
        visit,
        first_seen=previous.first_seen,
        last_changed=visit.fetched_at if changed else previous.last_changed,
        changes=previous.changes + changed,
        step=intervals.step(previous.step, changed=changed and reason is not DropReason.GONE),
        **{name: getattr(previous, name) for name in same},
    )


def _has_to_be_confirmed(doc: Document) -> bool:
    """The verdict says little about the body, or the page names a day after which it is gone: it is read again."""
    verdict = doc.verdict or doc.hold
    if verdict is not None and (verdict.reason.is_failure or verdict.reason.confirm):
        return True
    return any("unavailable_after" in signal.value for signal in doc.optout_signals)


def text_digest(doc_id: str) -> bytes:
    """What stands for a text in a visit, and in the duplicate index; b"" for no text."""
    return bytes.fromhex(doc_id.removeprefix("sha256:"))[:_TEXT_BYTES]


def _text_after(previous: Visit | None, doc: Document) -> bytes:
    """The text that the corpus has of the page after this visit."""
    if doc.verdict is None:
        return text_digest(doc.doc_id)
    return b"" if previous is None or doc.verdict.reason.is_final else previous.text


def _past_after(previous: Visit | None, doc: Document) -> Past | None:
    """A page that decayed for good is measured by what it has become, after some visits."""
    before = previous.past if previous else None
    reason = doc.verdict.reason if doc.verdict else None
    return Past.of(doc, before) if reason in {None, DropReason.DECAYED} else before


def is_changed(previous: Visit, doc: Document) -> bool:
    """True where the URL brought something else than at its last visit: another body, or another reason for none."""
    if has_failed(doc) or (doc.verdict is not None and doc.verdict.reason is DropReason.UNCHANGED):
        return False
    return _found(doc) != previous.digest


def has_failed(doc: Document) -> bool:
    """True where this visit says nothing about the page: an outage, or a worker that died of it."""
    return doc.verdict is not None and (doc.verdict.reason.is_failure or doc.verdict.reason.is_hold)


def recall(doc: Document, previous: Visit) -> None:
    """Write on the document what it was when it was kept; nothing where it never was."""
    doc.former_text = doc.past_text = previous.text
    doc.past = previous.past.pack() if previous.past is not None else b""


def tell_history(doc: Document, previous: Visit | None) -> None:
    """Write first sight, last change and number of changes on the document; its body or verdict must be known."""
    if previous is None:
        doc.first_seen = doc.last_changed = doc.crawled_at
        return
    changed = is_changed(previous, doc)
    doc.first_seen = rfc3339(previous.first_seen)
    doc.last_changed = doc.crawled_at if changed else rfc3339(previous.last_changed)
    doc.change_count = previous.changes + changed


async def content_hash(body: bytes) -> str:
    """`Document.content_hash` of a body; a large one is hashed in a thread."""
    if len(body) > _BIG_BODY:
        return await asyncio.to_thread(_sha256, body)
    return _sha256(body)


def _sha256(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def _digest(hash_text: str) -> bytes:
    return bytes.fromhex(hash_text.removeprefix("sha256:"))[:16]


def _found(doc: Document) -> bytes:
    if doc.content_hash:
        return _digest(doc.content_hash)
    return hashlib.sha256((doc.verdict.reason.value if doc.verdict else "").encode()).digest()[:16]


def _validators(doc: Document, confirmed: Visit | None) -> tuple[str | None, str | None]:
    """ETag and date of the answer; a 304 may leave out what has not changed (RFC 9110 section 15.4.5)."""
    etag, date = doc.etag, doc.last_modified
    if etag is None or len(etag) > _MAX_ETAG or not _ETAG.fullmatch(etag):
        etag = None
    if date is None or len(date) > _MAX_DATE or not _DATE.fullmatch(date):
        date = None
    if confirmed is None:
        return etag, date
    return etag or confirmed.etag, date or confirmed.last_modified


def _shorter(date: str) -> str:
    """A date in its usual form as seconds in hexadecimal; any other text as it is."""
    try:
        seconds = int(parsedate_to_datetime(date).timestamp())
    except (ValueError, OverflowError):
        return date
    return f"={seconds:x}" if seconds >= 0 and formatdate(seconds, usegmt=True) == date else date


def _longer(date: str) -> str:
    """Inverse of `_shorter`."""
    return formatdate(int(date[1:], 16), usegmt=True) if date.startswith("=") else date
