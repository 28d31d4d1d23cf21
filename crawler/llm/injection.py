"""How often does a line that is planted in a text move its score? Measured, because no wording makes a model immune."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from crawler.llm.ask import Asker
from crawler.llm.job import Done, LlmJob
from crawler.llm.judge import Judge
from crawler.llm.model import Outcome, Provider, Request
from crawler.llm.prompt import key_of_request
from crawler.llm.run import Question, Runner
from crawler.storage.corpus.answers import Answers, page_of
from crawler.storage.files.records import Record


@dataclass(frozen=True, slots=True)
class Injection:
    """pages: that were judged with and without a planted line; moved: whose score it changed; mean: of the changes."""

    pages: int
    moved: int
    mean: float


def measured(job: LlmJob, judge: Judge, provider: Provider, done: Done, *, most: int, concurrency: int) -> Injection:
    """Judge `most` of the job's pages once more, with a planted line; the budget of the job holds.

    done: of the job, to which what is sent and spent here is added. Raises: InputError, ProviderError, StorageError.
    """
    stop, most = threading.Event(), min(most, job.pages.sample or most)
    pages = replace(job.pages, sample=most)  # of a sample the pages that it draws first

    def question(record: Record, request: Request) -> Question:
        key = key_of_request(str(job.model), judge.version, request)
        return Question(key, page_of(record["canonical_url"]), str(record["canonical_url"]), request)

    with Answers(job.place) as answers:
        asker = Asker(provider, answers, job.job, job.price, stop)

        def both() -> Iterator[tuple[Question, Question]]:
            for record in pages.read():
                yield question(record, judge.requests(record)[0]), question(record, judge.planted(record))

        ran = Runner(asker, stop, concurrency, again=job.again).run(
            planted for plain, planted in both() if answers.has(plain.key)
        )
        changes = []
        for pair in both():
            plain, planted = (asker.known(each.key) for each in pair)
            if planted and planted.outcome is not None and planted.outcome is not Outcome.ANSWERED:
                done.planted[planted.outcome] += 1
            if plain and planted and plain.outcome is planted.outcome is Outcome.ANSWERED:
                changes.append(planted.value["score"] - plain.value["score"])
        done.spent = answers.spent(job.job)
    done.ran.ended, done.ran.signal = ran.ended, ran.signal
    done.ran.outcomes.update(ran.outcomes)
    done.ran.unasked += ran.unasked
    done.ran.calls.add(ran.calls)
    for name, urls in ran.failed.items():
        done.ran.failed.setdefault(name, urls)
    return Injection(len(changes), sum(map(bool, changes)), fmean(changes) if changes else 0.0)
