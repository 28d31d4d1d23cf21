"""Questions go out as batches of a provider, for a lower price; the same command, run again, takes the answers.

What a batch can cost is reserved, and its mark stands in the ledger, before it is sent; so the death of this process
between sending and noting the id loses nothing: the batch is found again by its mark.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from crawler.llm.ask import Asker
from crawler.llm.model import (
    MOST_IMAGE_BYTES,
    Batching,
    Collected,
    Outcome,
    Provider,
    ProviderError,
    Reply,
    Request,
    State,
)
from crawler.llm.prices import most_tokens_in
from crawler.llm.run import BUDGET, DONE, NAMED, Question, Ran
from crawler.number import number_of
from crawler.problems import InputError
from crawler.storage.corpus.answers import Answers, Batch, BudgetReached, Call, Ended, Job
from crawler.storage.files.errors import StorageError

WAITING = "waiting"
MOST_REQUESTS = 10_000
"""Of a batch; the providers take 50,000 (https://platform.openai.com/docs/guides/batch) or more."""
_IMAGE_BYTES = MOST_IMAGE_BYTES * 4 // 3
SETTLED_SECONDS = 600.0
"""A batch that a provider does not list so long after it was to be sent never came there."""
LOST_SECONDS = 172_800.0
"""Two days: a batch ends within one."""
Questions = Callable[[], Iterable[Question]]


@dataclass(slots=True)
class BatchRunner:
    """Collects what is there, then submits what nobody has asked yet. part: of the job, whose batches these are.

    now: seconds since the epoch. again: what failed before is asked anew, and the keys in `useless`.
    """

    provider: Batching
    answers: Answers
    job: Job
    asker: Asker
    now: float
    part: str = ""
    again: bool = False
    useless: Iterable[str] = ()
    ran: Ran = field(default_factory=Ran)
    _about: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)  # key → URL and schema
    _taken: set[str] = field(default_factory=set)
    _unwanted: int = 0

    def run(self, questions: Questions, wider: Questions) -> Ran:
        """wider: questions whose answers are taken where a batch has them, those beyond the sample of this call, too.

        Raises: ProviderError, StorageError. What was sent stays in the ledger whatever happens.
        """
        began, self.ran.calls = time.monotonic(), self.asker.calls
        pending = self.answers.batches(self.job, self.part)
        keys = {call.key for batch in pending for call in self.answers.calls_of(batch.mark).values()}
        if keys:
            self._about = {q.key: (q.url, q.request.schema) for q in wider() if q.key in keys}
        for batch in pending:
            self._collect(batch)
        if self._unwanted:
            count = number_of(self._unwanted, "answer")
            self.ran.notes.append(f"{count} of a batch paid and not taken: this command, as it is given now, does not "
                                  "ask about these pages in these words")  # fmt: skip
        if self.ran.ended == DONE:
            self._submit(questions)
        self.ran.seconds += time.monotonic() - began
        return self.ran

    def _collect(self, batch: Batch) -> None:
        if not batch.id:
            age = self.now - batch.at
            found = self.provider.find(batch.mark, batch.size, batch.at, settled=age >= SETTLED_SECONDS)
            if found.left:
                self.ran.notes.append(f"not deleted at the provider: {found.left}")
            unsure = found.unsure or (found.lost and age < LOST_SECONDS)
            if not found.id and (unsure or age < SETTLED_SECONDS):
                self._wait(batch, "may have reached the provider before this process died")
                return
            if not found.id and found.lost:
                self._lose(batch)
                return
            if not found.id:
                self._unpaid(batch, Outcome.UNREACHABLE.value)
                return
            batch = batch.named(found.id)
            self.answers.note(self.job, batch)
        found_now = self.provider.collect(batch.id)
        if found_now.state in (State.RUNNING, State.UNKNOWN):
            self._wait(batch, found_now.said or "is under way at the provider")
            return
        self._take(batch, found_now)
        if left := self.provider.forget(batch.id, batch.mark):
            self.ran.notes.append(f"not deleted at the provider: {left}")
        self.answers.note(self.job, batch.done())

    def _unpaid(self, batch: Batch, why: str) -> None:
        for call in self.answers.calls_of(batch.mark).values():
            self.answers.end(call, Ended(why, Decimal()))
        self.answers.note(self.job, batch.done())

    def _lose(self, batch: Batch) -> None:
        calls = self.answers.calls_of(batch.mark).values()
        for call in calls:
            self._end(call, Reply(Outcome.CUT, said="its batch no longer tells whose it is"))
        self.answers.note(self.job, batch.done())
        self.ran.notes.append(
            f"a batch of {number_of(len(calls), 'request')} may be one that has ended at the provider and whose "
            "results are no longer there: booked at the most they may cost"
        )

    def _wait(self, batch: Batch, why: str) -> None:
        self._is_waiting()
        count = number_of(len(self.answers.calls_of(batch.mark)), "request")
        self.ran.notes.append(f"a batch of {count} {why}; the same command takes its answers, which come within a day")

    def _is_waiting(self) -> None:
        """A budget that is reached stays said: what waits has a note of its own."""
        if self.ran.ended == DONE:
            self.ran.ended = WAITING

    def _take(self, batch: Batch, found: Collected) -> None:
        calls, odd = self.answers.calls_of(batch.mark), Counter[str]()
        seen = set[str]()
        for name, reply in found.replies:
            mark, _, number = name.rpartition("-")
            if not name:
                odd["that cannot be read"] += 1
                continue
            if mark != batch.mark or not number.isdecimal():
                odd["of another batch"] += 1
            elif name in seen:
                odd["there twice"] += 1
            elif (call := calls.pop(int(number), None)) is not None:
                self._end(call, reply)
            seen.add(name)
        refused = found.state is State.GONE and found.said
        for call in calls.values():
            if not refused:
                odd[f"missing ({found.said})" if found.said else "missing"] += 1
            self._end(call, Reply(Outcome.REJECTED if refused else Outcome.CUT, said=found.said or "no result came"))
        for what, count in odd.items():
            cost = ", booked at the most they may cost" * what.startswith("missing")
            self.ran.notes.append(f"batch {batch.id}: {number_of(count, 'result')} {what}{cost}")

    def _end(self, call: Call, reply: Reply) -> None:
        """An answer whose page has gone or changed meanwhile is paid, and is not taken."""
        self._taken.add(call.key)
        url, schema = self._about.get(call.key, ("", None))
        ended = self.asker.settle(call, reply, schema)
        if schema is None:
            self._unwanted += not reply.outcome.is_unpaid
            return
        self.ran.outcomes[ended.outcome] += 1
        if ended.outcome != Outcome.ANSWERED:
            named = self.ran.failed.setdefault(ended.outcome, [])
            if len(named) < NAMED:
                named.append(url)

    def _submit(self, questions: Questions) -> None:
        """What was collected now and failed is left to the next call: nobody pays twice unasked."""
        useless, begun = frozenset(self.useless), set[str]()
        mark, sent, size = _mark(), list[tuple[str, Request]](), 0
        for question in questions():
            if question.key in begun:
                self.ran.known += 1
                continue
            known = self.asker.known(question.key)
            failed = known is not None and (known.outcome is not Outcome.ANSWERED or question.key in useless)
            if question.key in self._taken or (known is not None and not (self.again and failed)):
                self.ran.known += known is not None
                continue
            if self.ran.ended == BUDGET:
                self.ran.unasked += 1
                continue
            most = self.asker.most(question.request)
            try:
                call = self.answers.begin(self.job, question.key, page=question.page, most=most, mark=mark)
            except BudgetReached:
                self.ran.ended = BUDGET
                self.ran.unasked += 1
                continue
            begun.add(question.key)
            sent.append((f"{mark}-{call.number}", question.request))
            size += most_tokens_in(question.request) + (_IMAGE_BYTES if question.request.image else 0)
            if len(sent) == MOST_REQUESTS or size >= self.provider.most_bytes:
                self._send(mark, sent)
                mark, sent, size = _mark(), [], 0
        if sent:
            self._send(mark, sent)

    def _send(self, mark: str, sent: list[tuple[str, Request]]) -> None:
        batch = Batch(mark, self.part, self.now, len(sent))
        self.answers.note(self.job, batch)
        try:
            made = self.provider.submit(mark, sent)
        except (ProviderError, StorageError):  # refused; or an image cannot be read, and nothing was sent
            self._unpaid(batch, "denied")
            raise
        if isinstance(made, str):
            self.answers.note(self.job, batch.named(made))
            self._wait(batch, f"was sent as {made}")
        elif made.outcome.is_unpaid:
            self._unpaid(batch, made.outcome.value)
            self._is_waiting()
            self.ran.notes.append(f"a batch of {number_of(len(sent), 'request')} was not taken ({made.said}); "
                                  "the same command sends it again")  # fmt: skip
        else:
            self._wait(batch, f"may have reached the provider ({made.said})")


def batching(provider: Provider) -> Batching:
    """Raises: ProviderError where it takes no batches."""
    if not isinstance(provider, Batching):
        raise ProviderError("--batch: only for models of anthropic, google and openai; leave it out")
    return provider


def refuse_beside(answers: Answers, job: Job, *, batch: bool) -> None:
    """Raises: InputError where a batch of the job is under way and no `batch` takes it: what asks beside pays twice."""
    under_way = answers.batches(job)
    if under_way and not batch:
        count = number_of(sum(len(answers.calls_of(batch.mark)) for batch in under_way), "request")
        raise InputError([f"{job.name}: {count} of this job are in a batch at the provider, and would be asked and "
                          "paid twice; give --batch, which takes their answers"])  # fmt: skip


def _mark() -> str:
    return f"gristmill-{secrets.token_hex(8)}"
