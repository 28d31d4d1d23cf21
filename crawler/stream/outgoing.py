"""Messages on their way to a server that may die, forget or be taken over: numbered, kept until they are there.

A message is durable here before it is sent. Before each look the server is asked what it has: where it has lost what it
had confirmed, the end of the stream or all of it is sent again, and that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from crawler.storage.files.records import encode
from crawler.stream.message import BEGIN, COMPLETE, FOR_GOOD, RESUME, Message, StreamError
from crawler.stream.reader import Found
from crawler.stream.state import Sent, State, Waiting
from crawler.stream.target import Target
from crawler.times import rfc3339

MESSAGES, BYTES = 500, 4 * 2**20
"""Messages, or bytes of them, that go out together: what a death makes go out again."""
_SILENT, _PARTIAL, _OPEN, _DONE = "silent", "partial", "", "yes"  # how far an epoch is


@dataclass(slots=True)
class Told:
    """What was told: messages by kind; epochs: how often the stream was begun; resumed: how often the end of it was
    told again."""

    kinds: Counter[str] = field(default_factory=Counter)
    epochs: int = 0
    resumed: int = 0

    @property
    def messages(self) -> int:
        """All of them."""
        return self.kinds.total()


class Outgoing:
    """The way from the state of a sender to its target. clock: seconds since the epoch; say: takes sentences."""

    def __init__(self, state: State, target: Target, clock: Callable[[], float], say: Callable[[str], None]) -> None:
        self.state, self.target, self._clock, self._say = state, target, clock, say
        self._waiting = self._size = 0
        self.version = int(state.fact("version") or 1)
        self.told = Told()
        self.is_silent = state.fact("complete") == _SILENT
        """What is there already is not sent."""
        self.begun = 0
        """How often all, or a part of it, has to be told again: whoever compares begins anew."""

    # --- where it goes on --------------------------------------------------------------------------------------------
    def start(self, since: str | int | None) -> None:
        """Go on where the last sender stopped, or as `since` says: "beginning", "now", a sequence.

        Raises: StreamError where another sender has the stream, or there is no such sequence; LostError.
        """
        if isinstance(since, int):
            self._check_sequence(since)
        if since in ("beginning", "now") or not self.state.epoch:
            self._begin(partial=since == "now")
            return
        self.check()
        self.send()
        if isinstance(since, int):
            self._resume(since - 1)

    def _check_sequence(self, since: int) -> None:
        last = max(self.state.delivered(lane)[0] for lane in range(self.target.lanes))
        if not 1 <= since <= last + 1:
            raise StreamError(f"--from {since}: this sender has sent the sequences 1 to {last:,}; give one of them")

    def check(self) -> None:
        """See whether the server still has what it confirmed, and send again what it has not. Raises: StreamError."""
        state, target = self.state, self.target
        delivered = {lane: state.delivered(lane) for lane in range(target.lanes)}
        there = target.present(state.epoch, delivered)
        if there is not None and there.epoch > state.epoch:
            raise StreamError(taken_over(target.url))
        had = any(sequence for sequence, _ in delivered.values())
        if (lanes := int(state.fact("lanes") or target.lanes)) != target.lanes:
            self._say(
                f"{target.url} has {target.lanes} partitions, not {lanes}: pages change theirs, all is sent again"
            )
            self._begin()
        elif there is None or there.epoch < state.epoch:
            if had:
                self._say(f"{target.url} has lost all that it had confirmed; all is sent from the beginning")
                self._begin()
        elif had and 0 <= there.sequence < delivered[0][0]:
            missing = delivered[0][0] - there.sequence
            self._say(f"{target.url} has lost the last {missing:,} messages that it had confirmed; they are sent again")
            state.clear_outbox()
            state.note("added", there.added)
            self._resume(there.sequence)
        elif had and there.added < int(state.fact("added") or 0):
            self._say(f"{target.url} has lost messages that it had confirmed; all is sent from the beginning")
            self._begin()
        else:
            state.note("added", there.added)

    def _begin(self, *, partial: bool = False) -> None:
        there, state = self.target.present(self.state.epoch, {}), self.state
        if there is not None and not state.epoch:
            self._say(f"{self.target.url} holds messages that this sender did not send; all is sent from the beginning")
        state.new_epoch(max(state.epoch, there.epoch if there else 0) + 1)
        state.note("added", 0)
        state.note("complete", _SILENT if partial else _OPEN)
        state.note("lanes", self.target.lanes)
        self.is_silent = partial
        self._everywhere(BEGIN, partial=partial)
        self.told.epochs += 1
        self._again(0, only_for_good=True)

    def _resume(self, last: int) -> None:
        self._everywhere(RESUME, after=last)
        self.state.send_again(last + 1)
        self.told.resumed += 1
        self._again(last + 1)

    def _again(self, sequence: int, *, only_for_good: bool = False) -> None:
        """Tell again which pages are gone; what is there the next look tells."""
        self.begun += 1
        gone = list(self.state.gone_from(sequence))  # all of them, before what is told changes the list
        for key, sent in gone:
            if sent.kind in FOR_GOOD or not only_for_good:
                self.part_with(key, sent, sent.kind, sent.seen)
        self.send()

    def complete(self) -> None:
        """The corpus as it stands was told."""
        self.state.note("version", self.version)
        if self.state.fact("complete") == _OPEN:
            self._everywhere(COMPLETE)
            self.state.note("complete", _DONE)
        elif self.is_silent:
            self.state.note("complete", _PARTIAL)
            self.is_silent = False
        self.send()

    # --- messages ----------------------------------------------------------------------------------------------------
    def tell(self, key: bytes, url: str, found: Found, kind: str, content: bytes) -> tuple[int, int]:
        """Tell the record of a page; answers lane and sequence. content: digest of what it says."""
        lane = self.target.lane_of(url)
        if self.is_silent:
            return lane, 0
        line = encode(found.record)
        fits = len(line) <= self.target.largest
        where = None if fits else {"path": found.path, "line": found.line}
        return lane, self._put(
            lane, kind, url, key, record=line if fits else None, reference=where, content=content.hex()
        )

    def part_with(self, key: bytes, sent: Sent, kind: str, look: int) -> None:
        """Tell that a page is gone, and remember it."""
        erased = self.state.texts_of(key) if kind in FOR_GOOD and self.target.erases else []
        lane = self.target.lane_of(sent.url)
        sequence = self._put(lane, kind, sent.url, key, erased=erased)
        gone = replace(sent, digest=None, kind=kind, lane=lane, sequence=sequence, seen=look)
        self.state.set_page(key, gone)
        self.flush()

    def _everywhere(self, kind: str, **more: object) -> None:
        for lane in range(self.target.lanes):
            self._put(lane, kind, "", b"", **more)

    def _put(self, lane: int, kind: str, url: str, key: bytes, **more: object) -> int:
        state, sequence = self.state, self.state.next_sequence(lane)
        at = rfc3339(self._clock())
        message = Message(kind, url, state.writer, state.epoch, lane, sequence, self.version, at, **more)  # type: ignore[arg-type]
        body = message.encoded()
        has_text = message.record is not None and self.target.erases
        state.put(Waiting(lane, sequence, key, kind, body), with_text=has_text)
        self._waiting += 1
        self._size += len(body)
        self.told.kinds[kind] += 1
        return sequence

    def flush(self) -> None:
        """Send, once enough waits."""
        if self._waiting >= MESSAGES or self._size >= BYTES:
            self.send()

    def send(self) -> None:
        """Return when all that waits is there. Raises: LostError, StreamError."""
        self.state.commit()
        if messages := self.state.outbox():
            self.state.confirm(self.target.send(messages, self.state.epoch))
        self._waiting = self._size = 0

    def settle(self) -> None:
        """Nothing waits: trim the stream, and keep what was confirmed."""
        if (first := self.target.trim(self.state.epoch)) is not None:
            self.state.forget_texts(first)
        self.state.commit()


def taken_over(url: str) -> str:
    """Said where another sender has begun the stream anew."""
    return (
        f"{url}: another `gristmill stream` has started this stream over; end that one and take it over with "
        "--from beginning, or name another stream"
    )
