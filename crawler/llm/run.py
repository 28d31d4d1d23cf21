"""Questions go out, a few at a time; a budget, a signal or a provider that only fails end it, and nothing is lost.

What was answered lies in the ledger before it counts here. Of two questions with one key only one is sent.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from crawler.llm.ask import Asked, Asker, Calls
from crawler.llm.model import Outcome, Request
from crawler.storage.corpus.answers import BudgetReached

NAMED = 10
IN_A_ROW = 10
"""So many questions in a row without an answer, and none before: whoever asks on only pays."""
UNREACHABLE_IN_A_ROW = 3
GRACE_SECONDS = 5.0
"""After a signal, for the calls under way: what comes is kept."""
DONE, BUDGET, INTERRUPTED, FAILING, UNREACHABLE = "done", "budget", "interrupted", "failing", "unreachable"


@dataclass(frozen=True, slots=True)
class Question:
    """One request. key: what it is asked under; page: its page in the ledger; url: for people."""

    key: str
    page: str
    url: str
    request: Request


@dataclass(slots=True)
class Ran:
    """How it went. outcomes: of the questions sent; failed: names of some that got no answer, by outcome.

    known: questions that were answered before; unasked: that were not sent; repeated: calls beyond the first one.
    calls: all that went out. under_way: calls that a signal found, then those it left, and the most they can cost.
    notes: of batches, a sentence each.
    """

    ended: str = DONE
    outcomes: Counter[str] = field(default_factory=Counter)
    failed: dict[str, list[str]] = field(default_factory=dict)
    known: int = 0
    unasked: int = 0
    repeated: int = 0
    said: str = ""
    signal: KeyboardInterrupt | None = None
    seconds: float = 0.0
    calls: Calls = field(default_factory=Calls)
    under_way: tuple[int, Decimal] = (0, Decimal())
    notes: list[str] = field(default_factory=list)

    @property
    def sent(self) -> int:
        """Questions that were sent in this call."""
        return sum(self.outcomes.values())


@dataclass(slots=True)
class Runner:
    """Asks many questions. after: called with the state after each answer. again: what failed before is asked anew, and
    the keys in `useless`, whose answers say nothing that can be taken.
    """

    asker: Asker
    stop: threading.Event
    concurrency: int
    after: Callable[[Ran], object] = lambda _: None
    again: bool = False
    useless: Collection[str] = frozenset()
    grace: float = GRACE_SECONDS
    ran: Ran = field(default_factory=Ran)
    _flying: dict[Future[Asked], list[Question]] = field(default_factory=dict)
    _by_key: dict[str, Future[Asked]] = field(default_factory=dict)
    _anew: set[str] = field(default_factory=set)
    _in_a_row: int = 0
    _unreached: int = 0

    def run(self, questions: Iterable[Question]) -> Ran:
        """Raises: ProviderError, StorageError, after what is under way has come and is written down."""
        began, self.ran.calls = time.monotonic(), self.asker.calls
        until: float | None = None
        try:
            for question in questions:
                self._ask(question)
            while self._flying:
                self._settle()
        except KeyboardInterrupt as error:  # a signal: the calls under way are paid, so their answers are awaited
            self.ran.ended, self.ran.signal = INTERRUPTED, error
            until = time.monotonic() + self.grace
        finally:
            self.stop.set()
            if until is not None:
                self.ran.under_way = self.asker.under_way()
                self.after(self.ran)
            while self._flying and (until is None or time.monotonic() < until):
                self._settle(strict=False, until=until)
            if until is not None:
                self.ran.under_way = self.asker.under_way()
                self.ran.unasked += sum(map(len, self._flying.values()))
        self.ran.seconds = time.monotonic() - began
        return self.ran

    def _ask(self, question: Question) -> None:
        while self.ran.ended == DONE and len(self._flying) >= self.concurrency:
            self._settle()
        found = self.asker.known(question.key)
        if found is not None and not self._is_anew(question.key, found):
            self.ran.known += 1
            self._note(question, found)
            return
        if self.ran.ended != DONE:
            self.ran.unasked += 1
            return
        if (same := self._by_key.get(question.key)) is not None:
            self._flying[same].append(question)
            return
        self._anew.add(question.key)
        future = self._sent(question)
        self._flying[future], self._by_key[question.key] = [question], future

    def _sent(self, question: Question) -> Future[Asked]:
        """In a thread that nobody has to wait for: a provider that hangs holds no process."""
        future: Future[Asked] = Future()

        def work() -> None:
            try:
                future.set_result(self.asker.ask(question.key, question.page, question.request))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, name="llm", daemon=True).start()
        return future

    def _is_anew(self, key: str, found: Asked) -> bool:
        """True for an answer that failed in an earlier call, or that is on its way; once a call."""
        failed = found.outcome is not Outcome.ANSWERED or key in self.useless
        return self.again and failed and (key not in self._anew or key in self._by_key)

    def _settle(self, *, strict: bool = True, until: float | None = None) -> None:
        """Take what has come. strict: an error of one ends all. until: on the monotonic clock, nothing is awaited."""
        left = None if until is None else max(0.0, until - time.monotonic())
        for future in wait(self._flying, left, return_when=FIRST_COMPLETED).done:
            questions = self._flying.pop(future)
            del self._by_key[questions[0].key]
            try:
                self._take(questions, future.result())
            except BudgetReached:
                self.ran.ended = BUDGET
                self.ran.unasked += len(questions)
                self.stop.set()
            except Exception:
                self.ran.unasked += len(questions)
                if strict:
                    raise

    def _take(self, questions: list[Question], asked: Asked) -> None:
        if asked.outcome is None:
            self.ran.unasked += len(questions)
            return
        self.ran.outcomes[asked.outcome] += 1
        self.ran.known += len(questions) - 1
        self.ran.repeated += asked.repeated
        for question in questions:
            self._note(question, asked)
        self._in_a_row = 0 if asked.outcome.is_final else self._in_a_row + 1
        if self._in_a_row >= IN_A_ROW and not self.ran.outcomes[Outcome.ANSWERED] and self.ran.ended == DONE:
            self._end(FAILING, asked.said)
        self._unreached = self._unreached + 1 if asked.outcome is Outcome.UNREACHABLE else 0
        if self._unreached >= UNREACHABLE_IN_A_ROW and self.ran.ended == DONE:
            self._end(UNREACHABLE, asked.said)
        if asked.is_last and self.ran.ended == DONE:
            self._end(BUDGET, asked.said)
        self.after(self.ran)

    def _end(self, how: str, said: str) -> None:
        self.ran.ended, self.ran.said = how, said
        self.stop.set()

    def _note(self, question: Question, asked: Asked) -> None:
        if asked.outcome is not None and asked.outcome is not Outcome.ANSWERED:
            named = self.ran.failed.setdefault(asked.outcome, [])
            if len(named) < NAMED:
                named.append(question.url)


def failures(ran: Ran) -> dict[str, Any]:
    """Outcomes that are no answer, of questions sent now."""
    return {name: count for name, count in ran.outcomes.items() if name != Outcome.ANSWERED}
