"""Tells a stream what a corpus holds: what was said last of each page is compared with what the corpus says now.

There is no log of changes to be read, so none can be missed: whatever an operation did to the corpus, in whatever order
its files came, the difference is told. A look at everything reads all records; between two of them only new ones are.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from crawler.dataset.pages import identity, page_key, page_name
from crawler.dataset.refused import address_of
from crawler.dataset.supersede import BY
from crawler.dataset.withdrawals import LIFETIMES, log_lines, undone
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import encode
from crawler.stream.message import (
    EXPIRE,
    FOR_GOOD,
    MOVED,
    PLACE,
    RECORD,
    RELEASE,
    REMOVE,
    REPLACE,
    SUPERSEDE,
    WITHDRAW,
)
from crawler.stream.outgoing import Outgoing, Told
from crawler.stream.reader import Found, Reader, Standing
from crawler.stream.state import Sent, State
from crawler.stream.target import LostError, Target

log = logging.getLogger(__name__)
_TRIES = 5
_SIZE = 16  # bytes of a digest
_MOST_LATER = 1_000
_SHARE = 10
"""A look at everything that only settles what later visits replaced takes at most this part of the time."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Of a record: of all that is told, and of its content, whatever place of the archive it stands at."""

    whole: bytes
    content: bytes

    @classmethod
    def of(cls, one: Found, largest: int) -> Digest:
        """Of this record; of one that is larger than `largest` bytes a reference is told."""
        line = encode(one.record)
        where = f"{one.path} {one.line}".encode() if len(line) > largest else b""
        content = encode({name: value for name, value in one.record.items() if name not in PLACE})
        return cls(_hashed(line + where), _hashed(content))

    @property
    def stored(self) -> bytes:
        """As the state keeps both."""
        return self.whole + self.content

    def is_told(self, sent: Sent | None) -> bool:
        """True where this was told last of the page."""
        return sent is not None and sent.digest is not None and sent.digest[:_SIZE] == self.whole

    def is_moved(self, sent: Sent) -> bool:
        """True where all but the place was told last; of what an older version told nobody knows it."""
        return sent.digest is not None and sent.digest[_SIZE:] == self.content


class Sender:
    """Sends one corpus to one stream. Call `start` once, then `tell` as often as you like.

    clock: seconds since the epoch. say: is called with sentences about the server.
    """

    def __init__(
        self,
        place: Place,
        state: State,
        target: Target,
        *,
        clock: Callable[[], float] = time.time,
        say: Callable[[str], None] = log.warning,
    ) -> None:
        self._place, self._state, self._target = place, state, target
        self._out = Outgoing(state, target, clock, say)
        self._reader = Reader(place)
        self._standing: Standing | None = None
        self._begun = 0
        self._look = int(state.fact("look") or 0)
        self._unsettled = False  # news came in while later visits may replace earlier ones
        self._settle_at = 0.0

    @property
    def told(self) -> Told:
        """What was told so far."""
        return self._out.told

    def start(self, since: str | int | None = None) -> None:
        """Go on where the last sender stopped, or as --from says: "beginning", "now", a sequence.

        Raises: StreamError where another sender has the stream; StorageError where there is no corpus.
        """
        self._reader.standing()  # before anything is said of the corpus
        self._patiently(lambda: self._out.start(since), lambda: self._out.start(None))

    def tell(self) -> bool:
        """Tell what has changed since the last call; True where something had. Raises: StorageError, StreamError."""
        before = self.told.messages

        def work() -> None:
            self._out.check()
            self._out.send()
            self._tell()
            self._out.settle()

        self._patiently(work, work)
        return self.told.messages > before

    def _patiently(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        """`work`; where the server was started again meanwhile `then`."""
        for _ in range(_TRIES):
            try:
                work()
            except LostError:
                work = then
            else:
                return
        raise StorageError(f"{self._target.url}: the server keeps restarting; check it")

    # --- what is new -------------------------------------------------------------------------------------------------
    def _tell(self) -> None:
        standing = self._reader.standing()
        if standing == self._standing and self._begun == self._out.begun:
            try:
                news = self._reader.news()
                found = news is not None and self._tell_news(news, standing)
            except StorageError:  # a file went this moment, or is damaged: the look at everything knows which
                news = None
            if news is not None and (found or not self._unsettled or time.monotonic() < self._settle_at):
                return
        self._tell_everything()

    def _tell_news(self, news: Iterator[Found], standing: Standing) -> bool:
        found = False
        for one in news:
            found = True
            key = page_key(one.record)
            sent = self._state.page(key)
            if sent is not None and sent.rank > _rank(one):
                continue  # of an earlier visit than what was told
            self._unsettled |= standing.replacing
            if one.is_kept:
                self._take(key, sent, one, RECORD)
            elif sent is None:
                self._state.set_page(key, Sent(page_name(one.record), None, SUPERSEDE, _rank(one), 0, 0, self._look))
            elif sent.digest is None:
                self._state.set_page(key, replace(sent, rank=_rank(one)))
            else:
                self._out.part_with(key, replace(sent, rank=_rank(one)), SUPERSEDE, self._look)
        self._out.send()
        return found

    # --- everything --------------------------------------------------------------------------------------------------
    def _tell_everything(self) -> None:
        """Read all, tell the difference. Where the corpus changes meanwhile it is read again before any page is parted
        with: what was not found may only lie elsewhere by now."""
        for _ in range(_TRIES):
            begun, standing = self._out.begun, self._reader.standing()
            self._out.version = standing.version
            self._look += 1
            self._state.note("look", self._look)
            began = time.monotonic()
            try:
                self._read_all(RELEASE if self._has_released(standing) else RECORD)
                after = self._reader.standing()
            except StorageError:
                if self._reader.standing() == standing:
                    raise
                continue
            if after == standing:
                self._part_with_unseen(standing)
                self._out.complete()
                self._standing, self._begun, self._unsettled = standing, begun, False
                self._settle_at = time.monotonic() + _SHARE * (time.monotonic() - began)
                return
        log.warning("%s changes faster than it is read; removed pages are sent later", self._place.url)

    def _read_all(self, kind: str) -> None:
        later: dict[bytes, Found] = {}
        for one in self._reader.everything():
            key = page_key(one.record)
            sent = self._state.page(key)
            if sent is not None and sent.digest and sent.rank > _rank(one) and not self._digest(one).is_told(sent):
                # of two records of one page that of the later visit counts: it may still come
                if sent.seen == self._look:
                    continue
                if key not in later and len(later) < _MOST_LATER:
                    later[key] = one
                    continue
                if key in later and _rank(later[key]) > _rank(one):
                    continue
            self._take(key, sent, one, kind)
        for key, one in later.items():
            sent = self._state.page(key)
            if sent is None or sent.seen != self._look:
                self._take(key, sent, one, kind)
        self._out.send()

    def _take(self, key: bytes, sent: Sent | None, one: Found, kind: str) -> None:
        """Tell a record, unless it was told."""
        digest = self._digest(one)
        if sent is not None and digest.is_told(sent):
            if sent.digest != digest.stored:
                self._state.set_page(key, replace(sent, digest=digest.stored, seen=self._look))
            elif sent.seen != self._look:
                self._state.see(key, self._look)
            return
        url = page_name(one.record)
        if sent is not None and sent.digest:
            kind = MOVED if digest.is_moved(sent) else REPLACE
        lane, sequence = self._out.tell(key, url, one, kind, digest.content)
        self._state.set_page(key, Sent(url, digest.stored, kind, _rank(one), lane, sequence, self._look))
        self._out.flush()

    def _part_with_unseen(self, standing: Standing) -> None:
        logged = self._withdrawn()
        usual = SUPERSEDE if standing.replacing or BY in self._operations(standing) else REMOVE
        for key, sent in self._state.unseen(self._look):
            kind = logged[address_of(sent.url)][1] if address_of(sent.url) in logged else self._why(sent, usual)
            self._out.part_with(key, sent, kind, self._look)
        for url, kind in logged.values():
            key = page_key({"url": url})
            known = self._state.page(key)
            if known is None or (known.digest is None and known.kind not in FOR_GOOD):
                self._out.part_with(key, known or Sent(url, None, kind, "", 0, 0, self._look), kind, self._look)

    def _why(self, sent: Sent, usual: str) -> str:
        page = {"url": sent.url, "canonical_url": sent.url, "crawled_at": sent.rank.partition(" ")[0]}
        return WITHDRAW if self._reader.refusals.of_record(page) else usual

    def _withdrawn(self) -> dict[str, tuple[str, str]]:
        """Canonical URL and kind of each page that the log names as gone, by its address."""
        lines = list(log_lines(self._place))
        back = undone(lines)
        rules = {line["number"]: line["rule"] for line in lines if line["kind"] == "withdrawal"}
        found: dict[str, tuple[str, str]] = {}
        for line in lines:
            if line["kind"] == "page" and line["was"] == "kept" and line["number"] not in back:
                kind = EXPIRE if rules.get(line["number"], "").startswith(LIFETIMES) else WITHDRAW
                url = line.get("canonical_url") or line["url"]
                found[address_of(url)] = (url, kind)
        return found

    def _has_released(self, standing: Standing) -> bool:
        told = int(self._state.fact("version") or 0)
        return any(step.version > told > 0 and step.released for step in standing.steps)

    def _operations(self, standing: Standing) -> set[str]:
        told = int(self._state.fact("version") or 0)
        return {step.operation for step in standing.steps if step.version > told}

    def _digest(self, one: Found) -> Digest:
        return Digest.of(one, self._target.largest)


def _hashed(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_SIZE).digest()


def _rank(one: Found) -> str:
    """Orders the records of a page: by visit, then a kept one after a rejected one, then anyhow, but always alike."""
    return f"{one.record.get('crawled_at') or ''} {int(one.is_kept)} {identity(one.record).hex()}"
