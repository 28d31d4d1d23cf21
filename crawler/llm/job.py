"""A job: pages are asked about within a budget, and what was answered becomes an annotation of the corpus.

The rows are made from the ledger in a second reading, so a call that was cut off is finished by the next one, and
answers that were paid once are used however often.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

import orjson

from crawler.dataset.annotate import Annotations, Refused
from crawler.dataset.annotations.job import job_of
from crawler.dataset.annotations.listed import annotations_in
from crawler.dataset.annotations.tables import key_of
from crawler.dataset.rewrite import check_alone
from crawler.llm.ask import Asked, Asker
from crawler.llm.batch import BatchRunner, batching, refuse_beside
from crawler.llm.model import Outcome, Provider
from crawler.llm.named import Model
from crawler.llm.pages import Pages
from crawler.llm.prices import Price, Prices, most_tokens_in
from crawler.llm.prompt import key_of_request
from crawler.llm.run import NAMED, Question, Ran, Runner
from crawler.llm.tool import MONEY_COLUMNS, Asking, Column, Tool, money_of
from crawler.problems import InputError
from crawler.storage.corpus.answers import Answers, Job, page_of
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.storage.types import JobRecord
from crawler.version import __version__


@dataclass(slots=True)
class Estimate:
    """What a job would take. pages: that may go out; asked: requests that would be sent.

    known: that were answered before; failed: those of them without a usable answer.

    tokens_in: about, by the estimate of each record. most: what they can cost at most; spent: by this job so far.
    """

    pages: int = 0
    asked: int = 0
    known: int = 0
    failed: int = 0
    tokens_in: int = 0
    most: Decimal = Decimal()
    about: Decimal = Decimal()
    spent: Decimal = Decimal()


@dataclass(slots=True)
class Done:
    """What a job did. rows: that were written now; version: of the corpus that has them; incomplete: pages without all
    their answers.

    lost: those of them of which an answer failed for good, in this call or before, by outcome; names: some of their
    URLs. carried: what the job had cost before and the ledger lacked. planted: of pages with a planted line, which have
    no row.
    """

    ran: Ran
    spent: Decimal
    unanswered: int
    carried: Decimal = Decimal()
    rows: int = 0
    version: int | None = None
    refused: Refused = field(default_factory=Refused)
    incomplete: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    names: dict[str, list[str]] = field(default_factory=dict)
    planted: Counter[str] = field(default_factory=Counter)

    def lose(self, outcome: Outcome, url: str) -> None:
        """Count a page."""
        self.lost[outcome] += 1
        named = self.names.setdefault(outcome, [])
        if len(named) < NAMED:
            named.append(url)


@dataclass(slots=True)
class LlmJob:
    """One job on one corpus. budget: in the currency of the prices; None = no limit, where all costs nothing.

    again: pages whose answer was truncated, refused or malformed are asked anew.
    """

    place: Place
    tool: Asking
    model: Model
    prices: Prices
    pages: Pages
    budget: Decimal | None = None
    again: bool = False
    batch: bool = False

    @property
    def job(self) -> Job:
        """Whom the ledger charges."""
        return Job(f"{self.tool.operation} {self.tool.name} {self.model}", self.prices.currency, self.budget)

    @property
    def price(self) -> Price:
        """Of the model. Raises: InputError."""
        price = self.prices.of(str(self.model))
        return price.of_batch() if self.batch else price

    @property
    def all_pages(self) -> Pages:
        """Those that may go out, beyond the sample, too."""
        return replace(self.pages, sample=None)

    def recorded(self) -> Decimal:
        """What this job has cost by the job records of its annotation. Raises: InputError for another currency."""
        listed = annotations_in(self.place.manifest()["files"])
        return self.most_in(job for each in listed if each.name == self.tool.name for job in each.jobs)

    def most_in(self, jobs: Iterable[JobRecord]) -> Decimal:
        """What this job has cost by the record of its that says most. Raises: InputError for another currency."""
        most = Decimal()
        for job in jobs:
            cost = Decimal(str(job["cost"].get("money") or 0))
            if job["model"].get("name") != str(self.model) or not cost:
                continue
            if (currency := job["cost"].get("currency")) != self.prices.currency:
                said = f"{self.job.name} was paid in {currency} before, and not in {self.prices.currency}"
                raise InputError([f"{self.tool.name}: {said}; give prices in that currency"])
            most = max(most, cost)
        return most

    @property
    def doubt(self) -> str:
        """What is to be said of the prices that are used; "" = nothing. Raises: InputError."""
        today = datetime.fromtimestamp(self.pages.now, UTC).date()
        return self.prices.doubt(today) if self.price.input or self.price.output else ""

    def questions(self, record: Record) -> list[Question]:
        """What is asked about a page."""
        page, url = page_of(record["canonical_url"]), str(record["canonical_url"])
        return [
            Question(key_of_request(str(self.model), self.tool.version, each), page, url, each)
            for each in self.tool.requests(record)
        ]

    def estimate(self, useless: Callable[[Answers], Collection[str]] = lambda _: ()) -> Estimate:
        """What it would take; nothing is sent and nothing changes.

        useless: keys that `again` asks anew, too. Raises: InputError, StorageError.
        """
        found, price = Estimate(), self.price
        with Answers(self.place) as answers:
            anew = useless(answers)
            found.spent = answers.spent(self.job) + answers.lacking(self.job, self.recorded())
            for record in self.pages.read():
                found.pages += 1
                for question in self.questions(record):
                    if (answer := answers.answer(question.key)) is not None:
                        found.known += 1
                        found.failed += (failed := answer.outcome != Outcome.ANSWERED)
                        if not ((failed and self.again) or question.key in anew):
                            continue
                    found.asked += 1
                    text = int(record.get("token_estimate") or len(question.request.user))
                    text += question.request.image.tokens if question.request.image else 0
                    tokens = min(text + len(question.request.system) // 4, most_tokens_in(question.request))
                    found.tokens_in += tokens
                    found.about += price.cost(tokens, question.request.most_tokens)
                    found.most += price.most(question.request)
        return found

    def run(
        self,
        provider: Provider,
        *,
        concurrency: int,
        now: float,
        after: Callable[[Ran, Decimal], object] = lambda _ran, _spent: None,
        unit: float = 1.0,
    ) -> Done:
        """Ask, and write the annotation. unit: of the pauses between attempts, in seconds.

        A signal ends it as a budget does: `ran.signal` has it. Raises: InputError, ProviderError, StorageError.
        """
        self._check_alone()
        stop, price = threading.Event(), self.price
        with Answers(self.place) as answers:
            job = self.job
            refuse_beside(answers, job, batch=self.batch)
            carried = answers.carry(job, self.recorded())
            asker = Asker(provider, answers, job, price, stop, unit=unit)

            def asked(pages: Pages = self.pages) -> Iterator[Question]:
                return (question for record in pages.read() for question in self.questions(record))

            if self.batch:
                batches = BatchRunner(batching(provider), answers, job, asker, now, again=self.again)
                ran = batches.run(asked, lambda: asked(self.all_pages))
            else:
                runner = Runner(asker, stop, concurrency, lambda ran: after(ran, answers.spent(job)), self.again)
                ran = runner.run(asked())
            done = Done(ran, answers.spent(job), answers.unanswered, carried)
            self._annotate(asker, done, now)
            done.spent = answers.spent(job)
        return done

    def rows(self, asker: Asker, done: Done | None = None) -> Iterator[tuple[Record, dict[str, Any] | None]]:
        """Each page with its row; None where an answer is missing. done: gets the pages of which one failed."""
        for record in self.pages.read():
            asked = [asker.known(question.key) for question in self.questions(record)]
            failed = [one.outcome for one in asked if one is not None and one.outcome is not Outcome.ANSWERED]
            if done is not None and failed and failed[0] is not None:
                done.lose(failed[0], str(record["canonical_url"]))
            whole = [one for one in asked if one is not None and one.outcome is Outcome.ANSWERED]
            yield record, self._row(record, whole) if len(whole) == len(asked) else None

    def _row(self, record: Record, asked: Sequence[Asked]) -> dict[str, Any]:
        own = cast("Tool", self.tool).row(record, [one.value for one in asked])
        keys = {"canonical_url": record["canonical_url"], "doc_id": record.get("doc_id")}
        return keys | own | money_of(str(self.model), self.tool.version, asked)

    def _check_alone(self) -> None:
        """Raises: StorageError where rows could not be written now."""
        check_alone(self.place)

    def _annotate(self, asker: Asker, done: Done, now: float) -> None:
        """Write the rows that are not there as they are."""
        annotations, tool = Annotations(self.place), cast("Tool", self.tool)
        there = set[bytes]()
        if self.tool.name in annotations.names():
            there = {_print(row) for row in annotations.read(self.tool.name)}

        def fresh() -> Iterator[dict[str, Any]]:
            for _, row in self.rows(asker, done):
                done.incomplete += row is None
                if row is not None and _print(row) not in there:
                    yield row

        rows = fresh()
        first = next(rows, None)
        if first is None:
            return
        record = self.job_record({**tool.columns, **MONEY_COLUMNS}, done, now)
        written, done.refused = annotations.write(self.tool.name, record, _chained(first, rows), now=now)
        done.rows, done.version = written.annotated, written.version

    def job_record(self, columns: Mapping[str, Column], done: Done, now: float) -> JobRecord:
        """What stands beside the rows: software, model, parameters, cost, meaning of the columns."""
        tool = cast("Tool", self.tool)
        said = {
            "kind": tool.kind,
            "code": f"gristmill {__version__} llm {self.tool.operation}",
            "model": self.model.as_record(),
            "parameters": {**self.tool.parameters, "prompt_version": self.tool.version, "prices": self.prices.date},
            "cost": {"money": float(done.spent), "currency": self.prices.currency},
        }
        kinds = {name: column.kind for name, column in columns.items()}
        meanings = {name: column.meaning for name, column in columns.items()}
        return job_of(kinds, meanings, None, said, now=now)


def _chained(first: dict[str, Any], rest: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield first
    yield from rest


def _print(row: dict[str, Any]) -> bytes:
    return hashlib.blake2b(orjson.dumps(row, option=orjson.OPT_SORT_KEYS), digest_size=16).digest() + key_of(row)
