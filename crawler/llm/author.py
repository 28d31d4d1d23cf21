"""A job whose answers become texts of their own, in a folder beside the corpus: questions, and texts like its pages.

The folder is one of those that are derived of a corpus: its manifest names the source by hash, a mixture takes it by
`files`, and what the corpus withdraws is left out there. It is written once every request has had its end.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import orjson

from crawler.dataset.export import Describer, Filling, draft_beside, put, put_all, settle_version
from crawler.dataset.export_formats import export_format
from crawler.dataset.registry.derived import SYNTHETIC_MANIFEST
from crawler.llm.ask import Asked, Asker, known
from crawler.llm.batch import BatchRunner, batching, refuse_beside
from crawler.llm.job import Done, LlmJob
from crawler.llm.model import Outcome, Provider, Request
from crawler.llm.pages import Pages
from crawler.llm.prompt import key_of_request
from crawler.llm.run import DONE, Question, Ran, Runner
from crawler.llm.synthetic import Draft, Origin, Sieve, record_of
from crawler.llm.tool import Asking
from crawler.problems import InputError
from crawler.storage.corpus.answers import Answers, page_of
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import indented
from crawler.storage.files.records import Record
from crawler.times import rfc3339

FORMAT = "crawler-synthetic/1"
After = Callable[[Ran, Decimal], object]
Known = Callable[[str], Asked | None]


class Author(Asking, Protocol):
    """A job whose answers are texts. origin: how they are marked, but for the model."""

    @property
    def origin(self) -> Origin:
        """How its texts are marked."""

    @property
    def check_version(self) -> str:
        """Of the instructions of `checks`; "" where there are none."""

    def learn(self, records: Iterable[Record]) -> None:
        """See the pages that were sent, before `drafts`."""

    def checks(self, record: Record, answers: Sequence[Any]) -> Sequence[Request]:
        """What is asked about the answers to `requests`, once all of them are there."""

    def drafts(
        self, record: Record, answers: Sequence[Any], checked: Sequence[Any], refused: Counter[str]
    ) -> Iterator[Draft]:
        """The texts; checked: the answers to `checks`, None where one failed. refused: counts what is none."""


@dataclass(slots=True)
class Made:
    """What stands in the folder. pages: with a text there. refused: texts that were not taken, by why."""

    texts: int = 0
    files: int = 0
    pages: int = 0
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Destination:
    """Where the texts go. to: a format of `dataset export`. max_bytes: of a file. describer: of the published
    documents.
    """

    out: Path
    to: str
    max_bytes: int
    describer: Describer | None = None


@dataclass(slots=True)
class AuthorJob:
    """One job on one corpus whose answers become a folder."""

    job: LlmJob
    author: Author

    def run(
        self, provider: Provider, where: Destination, sieve: Sieve, *, concurrency: int, now: float, after: After,
        unit: float = 1.0,
    ) -> tuple[Done, Made]:  # fmt: skip
        """Ask, check and write the folder; nothing is written where something was not sent.

        unit: of the pauses between attempts, in seconds. Raises: InputError, ProviderError, StorageError.
        """
        place, job, made = self.job.place, self.job.job, Made()
        with ExitStack() as stack:
            draft, form = draft_beside(where.out, stack), export_format(where.to)
            before = manifest_hash(place)
            answers = stack.enter_context(Answers(place))
            carried = answers.carry(job, self.recorded(where.out))
            refuse_beside(answers, job, batch=self.job.batch)
            useless = self.useless(answers)

            def told(ran: Ran) -> None:
                after(ran, answers.spent(job))

            def round_of(questions: Callable[[Pages], Iterator[Question]], so_far: Ran | None) -> Ran:
                stop = threading.Event()
                asker = Asker(provider, answers, job, self.job.price, stop, unit=unit)
                part, again = "" if so_far is None else "checks", self.job.again
                if so_far is not None:
                    asker.calls.add(so_far.calls)
                state = so_far or Ran()
                if self.job.batch:
                    batches = BatchRunner(batching(provider), answers, job, asker, now, part, again, useless, state)
                    return batches.run(lambda: questions(self.job.pages), lambda: questions(self.job.all_pages))
                return Runner(asker, stop, concurrency, told, again, useless, ran=state).run(questions(self.job.pages))

            ran = round_of(lambda pages: (q for record in pages.read() for q in self.job.questions(record)), None)
            asked = partial(known, answers)
            if ran.ended == DONE:
                seconds = ran.seconds
                ran = round_of(
                    lambda pages: (q for _, _, checks in self._answered(asked, pages=pages) for q in checks), ran
                )
                ran.seconds += seconds
            done = Done(ran, answers.spent(job), answers.unanswered, carried)
            if ran.ended != DONE or ran.unasked:
                return done, made
            self.author.learn(self.job.pages.read())
            files = Filling(draft, form, where.max_bytes, lambda _: None)
            records = self._records(asked, done, made, sieve)
            first = next(records, None)
            if first is None:
                return done, made
            files.fill(_described(chain([first], records), where.describer))
            if manifest_hash(place) != before:
                raise StorageError(f"{place.url}: the corpus changed meanwhile; run the same command again")
            if where.describer is not None:
                put_all(draft, where.describer.documents(files.files, form, withdrawn=0))
            said = self._manifest(where.to, before, files.files, (done, made)) | {"time": rfc3339(now)}
            put(draft / SYNTHETIC_MANIFEST, indented(said))
            settle_version(draft, where.out, SYNTHETIC_MANIFEST, {before: place.url}, now=now)
            made.files = len(files.files)
        return done, made

    def _answered(
        self, asked: Known, done: Done | None = None, pages: Pages | None = None
    ) -> Iterator[tuple[Record, list[Any], list[Question]]]:
        """Each page whose answers are all there, with them and what is asked about them. done: gets the other pages."""
        for record in (pages or self.job.pages).read():
            found = [asked(question.key) for question in self.job.questions(record)]
            if failed := _failed(found):
                if done is not None:
                    done.incomplete += 1
                    done.lose(failed, str(record["canonical_url"]))
                continue
            values = [one.value for one in found if one is not None]
            if len(values) < len(found):
                if done is not None:
                    done.incomplete += 1
                continue
            yield record, values, [self._check(record, each) for each in self.author.checks(record, values)]

    def recorded(self, out: Path) -> Decimal:
        """What this job has cost by the folders that it wrote before beside `out` or its corpus: each has the sum so
        far. Raises: StorageError where a manifest there is damaged; InputError for another currency.
        """
        parents = {out.resolve().parent, self.job.place.root.resolve().parent}
        paths = [path for parent in parents if parent.is_dir() for path in parent.glob(f"*/{SYNTHETIC_MANIFEST}")]
        return max((self._recorded(path) for path in sorted(paths)), default=Decimal())

    def _recorded(self, path: Path) -> Decimal:
        try:
            found = orjson.loads(path.read_bytes())
            who = found["operation"], found["model"]["name"], found["source"]["crawls"]
            cost, currency = Decimal(str(found["cost"]["money"])), str(found["cost"]["currency"])
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError, InvalidOperation) as error:
            raise StorageError(f"{path}: damaged, so nobody knows what it has cost; move its folder away") from error
        own = f"llm {self.author.operation}", str(self.job.model), self.job.place.manifest()["crawls"]
        if who != own or not cost:
            return Decimal()
        if currency != self.job.prices.currency:
            said = f"was paid in {currency} before, and not in {self.job.prices.currency}"
            raise InputError([f"{path}: {said}; give prices in that currency"])
        return cost

    def useless(self, answers: Answers) -> set[str]:
        """Keys of what is asked anew with `again` though it was answered: pages of which every text was refused."""
        if not self.job.again:
            return set()
        found, asked = set[str](), partial(known, answers)
        self.author.learn(self.job.pages.read())
        for record, values, checks in self._answered(asked):
            checked = [asked(check.key) for check in checks]
            if any(one is None for one in checked):
                continue
            said = [one.value if one is not None and one.outcome is Outcome.ANSWERED else None for one in checked]
            refused = Counter[str]()
            if next(self.author.drafts(record, values, said, refused), None) is None and refused:
                found.update(question.key for question in self.job.questions(record))
        return found

    def _check(self, record: Record, request: Request) -> Question:
        key = key_of_request(str(self.job.model), self.author.check_version, request)
        return Question(key, page_of(record["canonical_url"]), str(record["canonical_url"]), request)

    def _records(self, asked: Known, done: Done, made: Made, sieve: Sieve) -> Iterator[Record]:
        origin = self.author.origin
        for record, values, checks in self._answered(asked, done):
            checked = [asked(check.key) for check in checks]
            said = [one.value if one is not None and one.outcome is Outcome.ANSWERED else None for one in checked]
            taken = 0
            for draft in self.author.drafts(record, values, said, made.refused):
                clean = sieve.redacted(record, draft)
                why = clean if isinstance(clean, str) else sieve.refusal(clean)
                if why or isinstance(clean, str):
                    made.refused[why] += 1
                    continue
                taken += 1
                yield record_of(record, clean, origin)
            made.texts += taken
            made.pages += bool(taken)

    def _manifest(
        self, to: str, source: str, files: list[dict[str, Any]], what: tuple[Done, Made]
    ) -> dict[str, Any]:  # fmt: skip
        done, made = what
        place = self.job.place
        manifest = place.manifest()
        return {
            "format": FORMAT,
            "operation": f"llm {self.author.operation}",
            "to": to,
            "source": {
                "manifest_sha256": source,
                "version": manifest.get("version", 1),
                "crawls": manifest["crawls"],
                "config_digests": manifest["config_digests"],
            },
            "synthetic": True,
            "kind": self.author.origin.kind,
            "model": self.job.model.as_record(),
            "prompt_version": self.author.version,
            "check_version": self.author.check_version,
            "reviewed_by": self.author.origin.reviewer or None,
            "parameters": dict(self.author.parameters),
            "cost": {"money": float(done.spent), "currency": self.job.prices.currency, "prices": self.job.prices.date},
            "versions": versions(),
            "counts": {
                "documents": made.texts,
                "pages": made.pages,
                "incomplete": done.incomplete,
                "refused": dict(sorted(made.refused.items())),
            },
            "files": files,
        }


def _failed(found: Sequence[Asked | None]) -> Outcome | None:
    """How the first of them failed that did."""
    failed = (one.outcome for one in found if one is not None and one.outcome is not Outcome.ANSWERED)
    return next((outcome for outcome in failed if outcome is not None), None)


def _described(records: Iterator[Record], describer: Describer | None) -> Iterator[Record]:
    for record in records:
        if describer is not None:
            describer.add(record)
        yield record
