"""What every job with a language model shares: options, the estimate, the run with its progress, and what it tells."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.number import duration, number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.common import reading
from crawler.operations.declared import Load, WrongCall
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.llm.job import Done, LlmJob
    from crawler.llm.model import Provider
    from crawler.llm.pages import Pages
    from crawler.llm.run import Ran
    from crawler.llm.tool import Asking
    from crawler.storage.corpus.answers import Answers
    from crawler.storage.files.place import Place

Ended = TypeVar("Ended")
MOST_TOKENS = 1_024
AGAIN = "; --again asks about them anew, and they are paid once more"


def declare_job(
    parser: argparse.ArgumentParser, *, most_tokens: int = MOST_TOKENS, of: tuple[str, str] = ("CORPUS_DIR", "pages")
) -> None:
    """The corpus, the model, the budget, which pages, and how many at once. of: what is read, and what it has."""
    add, (folder, many) = parser.add_argument, of
    add("corpus", metavar=folder)
    add("--model", required=True, metavar="PROVIDER:NAME[@URL]", help="anthropic, google, openai or vertex; with a URL "
        "a server that speaks the protocol: openai:smollm2@http://127.0.0.1:8080/v1")  # fmt: skip
    add("--budget", metavar="5EUR", help="what this job may cost in all, however often it is called; may be left out "
        "where the model costs nothing")  # fmt: skip
    add("--prices", metavar="FILE", help="prices of tokens, in place of the package's")
    add("--sample", type=whole(1), metavar="N", help=f"so many {many}, drawn by --seed (all)")
    add("--seed", type=int, default=0, help="of the sample (0)")
    add("--licence-tiers", metavar="A,B,none", help="whose pages may go to others; none: of unknown licence (A,B; "
        "any, where the model runs on this machine)")  # fmt: skip
    add("--max-tokens", type=whole(16), default=most_tokens, metavar="N", help=f"of an answer ({most_tokens})")
    add("--concurrency", type=whole(1), default=4, metavar="N", help="requests at a time (4)")
    add("--again", action="store_true", help=f"ask anew about {many} whose answer was truncated, refused or malformed; "
        "only these are asked once more and paid once more")  # fmt: skip
    add("--batch", action="store_true", help="send batches, at the provider's price for them; the same command, run "
        "again within a day, takes the answers")  # fmt: skip
    add("--dry-run", action="store_true", help="say what it would cost; send nothing")


def job_of(
    place: Place,
    tool: Asking,
    opts: argparse.Namespace,
    load: Load,
    now: float,
    *,
    kinds: tuple[Callable[..., LlmJob], Callable[..., Pages]] | None = None,
) -> LlmJob:
    """The job that the options describe. kinds: of the job and its pages, where they are others than those of a
    corpus. Raises: WrongCall, InputError, ConfigError.
    """
    from crawler.dataset.lifetimes import Lifetimes
    from crawler.llm.job import LlmJob
    from crawler.llm.named import model_of
    from crawler.llm.pages import Pages
    from crawler.llm.prices import budget_of, prices_of
    from crawler.problems import InputError

    try:
        model = model_of(opts.model)
    except InputError as error:
        raise WrongCall(str(error)) from None
    prices = prices_of(opts.prices)
    tiers = _tiers(opts.licence_tiers, here=model.is_here)
    lifetimes = Lifetimes.of(load().storage.document_ttl_days)
    make, read = kinds or (LlmJob, Pages)
    pages = read(place, tiers, lifetimes, now, opts.sample, opts.seed)
    try:
        budget = None if opts.budget is None else budget_of(opts.budget, prices)
    except InputError as error:
        raise WrongCall(f"{error}") from None
    job = make(place, tool, model, prices, pages, budget, opts.again, opts.batch)
    price = job.price
    if budget is None and not opts.dry_run and (price.input or price.output):
        raise WrongCall(f"--budget: {model} costs money; say how much, such as 5{prices.currency}")
    return job


def _tiers(given: str | None, *, here: bool) -> tuple[str, ...] | None:
    from crawler.llm.pages import NO_TIER, TIERS

    if given is None:
        return None if here else tuple(tier for tier in TIERS if tier != NO_TIER)
    tiers = tuple(each.strip() for each in given.split(","))
    if wrong := [each for each in tiers if each not in TIERS]:
        raise WrongCall(f"--licence-tiers: {wrong[0]!r} is none of {', '.join(TIERS)}")
    return tiers


def estimated(job: LlmJob, useless: Callable[[Answers], Collection[str]] = lambda _: ()) -> Answer:
    """What it would take. useless: keys that --again asks anew, too. Raises: InputError, StorageError."""
    with reading():
        found = job.estimate(useless)
    currency = job.prices.currency
    pages = number_of(found.pages, job.pages.noun)
    lines = [
        f"{pages}, {number_of(found.asked, 'request')}; {found.known:,} are answered already"
        + (
            f", {found.failed:,} of them truncated, refused or malformed{'' if job.again else AGAIN}"
            * bool(found.failed)
        ),
        f"about {found.tokens_in:,} tokens go out; with every answer at its longest {money(found.about, currency)}, "
        f"never more than {money(found.most, currency)}, by the prices of {job.prices.date}",
        *left_out(job),
    ]
    lines += filter(None, [job.doubt])
    if job.budget is not None:
        lines.append(f"budget {money(job.budget, currency)}, of it {money(found.spent, currency)} spent")
    facts = NOTHING | {
        "pages": found.pages,
        "requests": found.asked,
        "known": found.known,
        "tokens_in": found.tokens_in,
        "about": float(found.about),
        "most": float(found.most),
        "spent": float(found.spent),
        "currency": currency,
        "left_out": dict(job.pages.left_out),
    }
    return Answer(facts, lines)


def answered(
    job: LlmJob,
    opts: argparse.Namespace,
    now: float,
    nothing: dict[str, Any],
    found: Callable[[Done], tuple[dict[str, Any], list[str]]],
    *,
    then: Callable[[Provider, Done], None] = lambda _, __: None,
) -> Answer:
    """Estimate, with --dry-run; else ask, annotate and tell. nothing: facts of the operation where nothing was done.

    found: those and lines for a person, once it was. then: what else is asked. Raises: InputError, StorageError.
    """
    if opts.dry_run:
        answer = estimated(job)
        return Answer({**answer.facts, **nothing}, answer.lines)

    def work(provider: Provider, after: Callable[[Ran, Decimal], None]) -> Done:
        done = job.run(provider, concurrency=opts.concurrency, now=now, after=after)
        then(provider, done)
        return done

    done = provided(job, work)
    own, lines = found(done)
    facts, lines = NOTHING | facts_of(job, done) | own, [*lines_of(job, done), *lines]
    return ended(opts, Answer(facts, lines, list(problems_of(job, done))), done)


def provided(job: LlmJob, work: Callable[[Provider, Callable[[Ran, Decimal], None]], Ended]) -> Ended:
    """Work with the model of a job, its progress on a terminal. Raises: InputError, StorageError."""
    from crawler.llm.model import ProviderError
    from crawler.llm.named import opened
    from crawler.problems import InputError

    with closing(opened(job.model)) as provider, reading() as tell:
        try:
            return work(provider, progress(job, tell, job.estimate().asked))
        except ProviderError as error:
            raise InputError([str(error)]) from None


def ended(opts: argparse.Namespace, answer: Answer, done: Done) -> Answer:
    """The answer. Raises: KeyboardInterrupt of the signal that has ended the job, once the answer is told."""
    if done.ran.signal is not None:
        opts.tell(answer)
        raise done.ran.signal
    return answer


def progress(job: LlmJob, tell: Callable[[str], None], total: int = 0) -> Callable[[Ran, Decimal], None]:
    """What shows how far a job is, after each answer: requests, money, tokens, rate and the time that is left.

    total: requests that are to be sent in all, 0 where nobody knows.
    """
    from crawler.llm.run import GRACE_SECONDS

    began = time.monotonic()

    def after(state: Ran, spent: Decimal) -> None:
        calls, most = state.under_way
        if calls:
            awaited = f"stopping: {GRACE_SECONDS:.0f} s for {number_of(calls, 'call')} under way"
            cost = f"without an answer {money(most, job.prices.currency)} count as spent"
            sys.stderr.write(f"{awaited}; {cost}; a second signal ends at once\n")
            sys.stderr.flush()
        seconds = max(time.monotonic() - began, 1e-3)
        rate = state.sent / seconds
        tokens_in, tokens_out = state.calls.tokens
        parts = [number_of(state.sent, "request"), money(spent, job.prices.currency)]
        if job.budget is not None and spent:
            parts[1] += f" of {money(job.budget, job.prices.currency)}"
        parts += [f"{tokens_in:,} tokens in, {tokens_out:,} out", f"{rate:.2g} a second"]
        left = max(0, total - state.sent)
        if total and left:
            parts.append(f"about {duration(left / rate)} left for {left:,}")
        tell(" · ".join(parts))

    return after


def money(amount: Decimal, currency: str) -> str:
    """An amount as people read it, small ones with all that counts."""
    return f"{amount:,.2f} {currency}" if amount >= 1 or not amount else f"{amount.normalize():f} {currency}"


def left_out(job: LlmJob) -> Iterator[str]:
    """A sentence for each reason why pages do not go out."""
    for why, count in sorted(job.pages.left_out.items()):
        hint = "; --licence-tiers A,B,none sends them, too" if why == "licence tier none" else ""
        yield f"{number_of(count, job.pages.noun)} left out: {why}{hint}"


def facts_of(job: LlmJob, done: Done) -> dict[str, Any]:
    """Of what was done."""
    return {
        "ended": done.ran.ended,
        "requests": done.ran.sent,
        "known": done.ran.known,
        "repeated": done.ran.repeated,
        "outcomes": dict(done.ran.outcomes),
        "calls": dict(done.ran.calls.ended),
        "booked": float(done.ran.calls.money),
        "failed": done.ran.failed,
        "unasked": done.ran.unasked,
        "incomplete": done.incomplete,
        "lost": dict(done.lost),
        "rows": done.rows,
        "corpus_version": done.version,
        "spent": float(done.spent),
        "currency": job.prices.currency,
        "unanswered": done.unanswered,
        "left_out": dict(job.pages.left_out),
    }


def lines_of(job: LlmJob, done: Done) -> Iterator[str]:
    """The same for a person."""
    first, *more = said_of_calls(job, done)
    yield first
    if done.rows:
        version = f"; version {done.version} of the corpus" if done.version is not None else ""
        yield f"{job.tool.name}: {number_of(done.rows, 'row')}{version}"
    else:
        yield f"{job.tool.name}: no new row"
    yield from more


def said_of_calls(job: LlmJob, done: Done) -> Iterator[str]:
    """What went out and what it cost, for a person."""
    state = done.ran
    calls = state.calls.ended.total()
    sent = number_of(state.sent, "request") + (f" ({number_of(calls, 'call')})" if calls != state.sent else "")
    yield (f"{sent} in {duration(state.seconds)}, {state.known:,} were answered before; "
           f"{money(done.spent, job.prices.currency)} spent by this job so far")  # fmt: skip
    if done.carried:
        known = f"{money(done.carried, job.prices.currency)} by llm-spent.json or a record of {job.tool.name}"
        yield f"llm/ledger.jsonl lacks calls that cost {known}: they count as spent, and are asked anew"
    if booked := state.calls.booked:
        said = state.calls.said
        why = "; ".join(f"{_meaning(name)}: {count:,}" + (f", such as {said[name][:100]!r}" if name in said else "")
                        for name, count in booked.items())  # fmt: skip
        cost = money(state.calls.money, job.prices.currency)
        failed = number_of(booked.total(), "call")
        yield f"{failed} without a count of tokens, booked at the most they may cost, {cost} ({why})"
    if done.unanswered:
        yield f"{number_of(done.unanswered, 'call')} of this ledger without a known end, counted as spent in full"
    yield from filter(None, [job.doubt])
    yield from left_out(job)


def problems_of(job: LlmJob, done: Done) -> Iterator[str]:
    """What was not done, a sentence each."""
    from crawler.llm.model import Outcome
    from crawler.llm.run import failures

    state = done.ran
    yield from _ends(job, state)
    yield from state.notes
    if wrong := state.calls.impossible:
        sent, got = state.calls.largest
        yield (f"{job.model}: {number_of(wrong, 'call')} with a count of tokens above what was sent or may come, such "
               f"as {sent:,} in and {got:,} out: it cannot be true, so the most that they can cost was booked; hold "
               "the provider's bill against it")  # fmt: skip
    for name, count in done.lost.items():
        yield f"{number_of(count, job.pages.noun)} without an answer: {_why(name, count, done.names[name])}{AGAIN}"
    for name, count in done.planted.items():
        said = f"{number_of(count, 'page')} with a planted line without an answer, not among those measured"
        yield f"{said}: {_meaning(name)}{AGAIN}"
    for name, count in failures(state).items():
        if not Outcome(name).is_final and name != Outcome.UNREACHABLE:
            said = _why(name, count, state.failed.get(name, []))
            yield f"{number_of(count, 'request')} without an answer: {said}; the same command asks again"
    refused = done.refused
    if gone := refused.unknown + refused.changed:
        yield f"{number_of(gone, 'row')} not written: the page has gone or changed since; run the same command again"
    if job.pages.left_out and not (state.sent or state.known or state.unasked):
        yield f"no {job.pages.noun} may go out"


def _ends(job: LlmJob, state: Ran) -> Iterator[str]:
    """Why it ended before all was asked."""
    from crawler.llm.model import Outcome
    from crawler.llm.run import BUDGET, FAILING, INTERRUPTED

    unsent = f"{number_of(state.unasked, 'request')} not sent; " if state.unasked else ""
    rest = f"{unsent}the same command continues"
    if state.ended == BUDGET:
        left = f"is left of {money(job.budget or Decimal(), job.prices.currency)}"
        yield f"--budget: the next request could cost more than {left}; {rest}, with a larger budget"
    if state.ended == FAILING:
        yield f"{job.model}: nothing but failures so far, stopped ({state.said}); {rest}"
    if unreached := state.outcomes[Outcome.UNREACHABLE]:
        yield (f"{job.model}: no connection to {job.model.address} ({state.calls.said.get(Outcome.UNREACHABLE, '')}), "
               f"{number_of(unreached, 'request')} without an answer; a connection that is not made costs nothing; "
               "check that the server runs and that the address is right; "
               f"{rest}")  # fmt: skip
    if state.ended == INTERRUPTED:
        calls, most = state.under_way
        if calls:
            yield (f"{number_of(calls, 'call')} under way when it was stopped: nobody knows what came of them, so "
                   f"{money(most, job.prices.currency)} count as spent")  # fmt: skip
        yield f"{rest}"


def _meaning(outcome: str) -> str:
    from crawler.llm.model import MEANING, Outcome

    return MEANING.get(Outcome(outcome), outcome)


def _why(outcome: str, count: int, named: list[str]) -> str:
    more = f" and {count - len(named):,} more" if count > len(named) else ""
    return f"{_meaning(outcome)} ({', '.join(named)}{more})"


FACTS: Fields = {
    "ended": (
        "string",
        "done, budget, waiting, interrupted, failing, unreachable; dry run: nothing was sent",
    ),
    "requests": ("integer", "sent now; with --dry-run: that would be sent"),
    "known": ("integer", "requests that were answered before"),
    "repeated": ("integer", "calls beyond the first one of a request, after what passes"),
    "outcomes": ("object", "requests sent, by how they ended: answered, truncated, refused, malformed, …"),
    "calls": ("object", "calls that went out, repeated ones too, by how they ended"),
    "booked": ("number", "part of spent: calls that failed or have no count of tokens, at the most they may cost"),
    "failed": ("object", "URLs of some pages without an answer, by outcome"),
    "unasked": ("integer", "requests that were not sent because it ended before"),
    "incomplete": ("integer", "pages without all their answers: they have no row"),
    "lost": ("object", "those whose answer was truncated, refused or malformed, now or before: pages by outcome"),
    "rows": ("integer", "of the annotation that were written now"),
    "corpus_version": ("integer or null", "version of the corpus now; null: no row was written"),
    "spent": ("number", "by this job in all its calls, with what calls without a known end may have cost"),
    "currency": ("string", "of all amounts"),
    "unanswered": ("integer", "calls in the ledger without a known end"),
    "left_out": ("object", "pages (or images) that do not go out, by reason"),
    "pages": ("integer or null", "with --dry-run: pages that may go out"),
    "tokens_in": ("integer or null", "with --dry-run: tokens that would go out, about"),
    "about": ("number or null", "with --dry-run: cost with every answer at its longest"),
    "most": ("number or null", "with --dry-run: what it can never exceed"),
}
"""Fields of every answer."""
NOTHING: dict[str, Any] = {
    "ended": "dry run",
    **dict.fromkeys(("requests", "known", "repeated", "unasked", "incomplete", "rows", "unanswered", "booked"), 0),
    **{name: {} for name in ("outcomes", "calls", "failed", "lost", "left_out")},
    **dict.fromkeys(("corpus_version", "pages", "tokens_in", "about", "most")),
}
"""The facts where nothing was done."""
