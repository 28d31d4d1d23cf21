"""One question until it is answered: reserve, send, note; after what passes wait and ask again, within bounds."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from crawler.llm.model import Outcome, Provider, ProviderError, Reply, Request
from crawler.llm.prices import Price, most_tokens_in
from crawler.llm.prompt import parsed
from crawler.storage.corpus.answers import Answers, BudgetReached, Call, Ended, Job
from crawler.storage.files.errors import StorageError

ATTEMPTS = 5
ATTEMPTS_TO_CONNECT = 3
ATTEMPTS_GARBLED = 2
"""Such an answer may be paid each time, and seldom mends itself."""
PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further attempt, up to a fourth more by chance; more where the provider asks for it."""
LONGEST_PAUSE = 60.0
"""A provider that asks for more gets the page again by the next call of the command."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How it ended. outcome: None where it was stopped before its end. value: of the schema, where it was answered.

    cost, tokens: of the call that was answered. repeated: calls beyond the first one. said: of a failure.
    is_last: the budget does not allow the next call.
    """

    outcome: Outcome | None
    value: Any = None
    cost: Decimal = Decimal()
    tokens_in: int = 0
    tokens_out: int = 0
    repeated: int = 0
    said: str = ""
    is_last: bool = False


@dataclass(slots=True)
class Calls:
    """What went out. ended: calls by outcome; booked: failed ones that nobody counted, at the most they may cost.

    money: of those. said: of a failure, by outcome. tokens: in and out, where they were counted. impossible: calls with
    a count above what was sent or may come, booked likewise; largest: the one of them with the most.
    """

    ended: Counter[str] = field(default_factory=Counter)
    booked: Counter[str] = field(default_factory=Counter)
    money: Decimal = Decimal()
    said: dict[str, str] = field(default_factory=dict)
    tokens: tuple[int, int] = (0, 0)
    impossible: int = 0
    largest: tuple[int, int] = (0, 0)

    def add(self, other: Calls) -> None:
        """Count those of another one, too."""
        self.ended.update(other.ended)
        self.booked.update(other.booked)
        self.money += other.money
        self.said |= other.said
        self.tokens = (self.tokens[0] + other.tokens[0], self.tokens[1] + other.tokens[1])
        self.impossible += other.impossible
        self.largest = max(self.largest, other.largest, key=sum)


def known(answers: Answers, key: str) -> Asked | None:
    """What a ledger has of a question. Raises: StorageError."""
    found = answers.answer(key)
    if found is None:
        return None
    return Asked(Outcome(found.outcome), found.value, found.cost, found.tokens_in, found.tokens_out)


class Asker:
    """Asks one model for one job, from several threads. stop: set, nothing more is sent."""

    def __init__(
        self, provider: Provider, answers: Answers, job: Job, price: Price, stop: threading.Event, *, unit: float = 1.0
    ) -> None:
        self._provider, self._answers, self._job, self._price = provider, answers, job, price
        self._stop, self._unit = stop, unit
        self._turn, self._flying = threading.Condition(), dict[int, Call]()
        self.calls = Calls()

    def under_way(self) -> tuple[int, Decimal]:
        """Calls whose end is awaited, and the most that they can cost."""
        with self._turn:
            return len(self._flying), sum((call.reserved for call in self._flying.values()), Decimal())

    def known(self, key: str) -> Asked | None:
        """What was answered before, in this call or another. Raises: StorageError."""
        return known(self._answers, key)

    def ask(self, key: str, page: str, request: Request) -> Asked:
        """Raises: BudgetReached before a first call that could cost too much; ProviderError, StorageError."""
        last, garbled = Asked(None), 0
        for attempt in range(ATTEMPTS):
            if self._stop.is_set():
                return last
            try:
                reply, ended = self._once(key, page, request)
            except BudgetReached:
                if last.outcome is None:
                    raise
                return replace(last, is_last=True)
            said = reply.said
            last = Asked(reply.outcome, ended.value, ended.cost, ended.tokens_in, ended.tokens_out, attempt, said)
            if reply.outcome.is_final or reply.outcome is Outcome.REJECTED or attempt == ATTEMPTS - 1:
                return last
            garbled += reply.outcome is Outcome.GARBLED
            never = reply.outcome is Outcome.UNREACHABLE and attempt == ATTEMPTS_TO_CONNECT - 1
            if never or garbled == ATTEMPTS_GARBLED:
                return last
            pause = self._pause(attempt, reply)
            if pause is None:
                return last
            self._stop.wait(pause)
        return last

    def _pause(self, attempt: int, reply: Reply) -> float | None:
        own = PAUSES[attempt] * self._unit * (1 + random.random() / 4)
        if reply.wait is not None and reply.wait > LONGEST_PAUSE:
            return None
        return max(own, reply.wait or 0.0)

    def _once(self, key: str, page: str, request: Request) -> tuple[Reply, Ended]:
        call = self._begin(key, page, request)
        try:
            return self._sent(call, request)
        finally:
            with self._turn:
                del self._flying[call.number]
                self._turn.notify_all()

    def _begin(self, key: str, page: str, request: Request) -> Call:
        """What is reserved for the calls under way may come back: before the budget counts as reached, they end."""
        with self._turn:
            while True:
                try:
                    call = self._answers.begin(self._job, key, page=page, most=self._price.most(request))
                except BudgetReached:
                    if not self._flying or self._stop.is_set():
                        raise
                    self._turn.wait()
                else:
                    self._flying[call.number] = call
                    return call

    def _sent(self, call: Call, request: Request) -> tuple[Reply, Ended]:
        try:
            reply = self._provider.complete(request)
        except (ProviderError, StorageError):  # refused; or its image cannot be read, and nothing was sent
            self._answers.end(call, Ended("denied", Decimal()))
            raise
        reply, value = _read(self._believed(reply, request), request.schema)
        return reply, self._ended(call, reply, value, final=reply.outcome.is_final)

    def most(self, request: Request) -> Decimal:
        """The most that it can cost."""
        return self._price.most(request)

    def settle(self, call: Call, reply: Reply, schema: dict[str, Any] | None) -> Ended:
        """Note what a batch says of a call. schema: None where nobody asks any longer: it is paid, and not taken."""
        sent, got = reply.tokens_in or 0, reply.tokens_out or 0
        if self._price.cost(sent, got) > call.reserved:
            reply = self._disbelieved(reply)
        reply, value = (reply, None) if schema is None else _read(reply, schema)
        return self._ended(call, reply, value, final=reply.outcome.is_final and schema is not None)

    def _ended(self, call: Call, reply: Reply, value: Any, *, final: bool) -> Ended:
        cost = self._cost(reply, call)
        ended = Ended(reply.outcome.value, cost, reply.tokens_in or 0, reply.tokens_out or 0, value, final)
        self._answers.end(call, ended)
        self._count(reply, ended)
        return ended

    def _believed(self, reply: Reply, request: Request) -> Reply:
        """Without its count of tokens where that cannot be true: more than there are bytes, or than were allowed."""
        sent, got = reply.tokens_in or 0, reply.tokens_out or 0
        if sent <= most_tokens_in(request) and got <= request.most_tokens:
            return reply
        return self._disbelieved(reply)

    def _disbelieved(self, reply: Reply) -> Reply:
        sent, got = reply.tokens_in or 0, reply.tokens_out or 0
        with self._turn:
            self.calls.impossible += 1
            self.calls.largest = max(self.calls.largest, (sent, got), key=sum)
        return replace(reply, tokens_in=None, tokens_out=None)

    def _count(self, reply: Reply, ended: Ended) -> None:
        unknown = reply.tokens_in is None or reply.tokens_out is None
        with self._turn:
            self.calls.ended[reply.outcome] += 1
            sent, got = self.calls.tokens
            self.calls.tokens = (sent + (reply.tokens_in or 0), got + (reply.tokens_out or 0))
            if unknown and not reply.outcome.is_unpaid:
                self.calls.booked[reply.outcome] += 1
                self.calls.money += ended.cost
            if reply.said:
                self.calls.said[reply.outcome] = reply.said

    def _cost(self, reply: Reply, call: Call) -> Decimal:
        """By the tokens that were counted; where nobody knows, all that it could cost."""
        if reply.outcome.is_unpaid:
            return Decimal()
        if reply.tokens_in is None or reply.tokens_out is None:
            return call.reserved
        return self._price.cost(reply.tokens_in, reply.tokens_out)


def _read(reply: Reply, schema: dict[str, Any]) -> tuple[Reply, Any]:
    """The value of a whole answer; one of another form is malformed."""
    if reply.outcome is not Outcome.ANSWERED:
        return reply, None
    try:
        return reply, parsed(reply.text, schema)
    except ValueError as error:
        malformed = Reply(Outcome.MALFORMED, "", reply.tokens_in, reply.tokens_out, said=str(error))
        return malformed, None
