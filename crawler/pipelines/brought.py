"""What was asked for and could not be had, of a run that went to its end: a sentence, and what to do about it.

The advice is carried out by tests in every state that a crawl can end in (`tests/crawl/test_crawl_advice.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crawler.document import DropReason
from crawler.number import number_of
from crawler.statkeys import (
    DEADLY,
    DEADLY_EXAMPLES,
    FAILED_BEFORE,
    GIVEN_UP,
    RETRIED,
    SEEDS,
    SEEDS_KNOWN,
    SITEMAPS,
    UNREACHED,
    UNREACHED_EXAMPLES,
    UNREAD_ARCHIVES,
    UNREAD_ARCHIVES_SAID,
    UNREAD_SITEMAPS,
    judged,
)

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.shared import SharedValues
    from crawler.scheduler.scheduler import Scheduler

_FAILURE, _RETRIED, _FAILURE_SECONDS = "run-failed", "run-retries", 366 * 86_400.0
"""Blob: how far the crawl was when a run ended that could get nothing, and what it said."""
ANEW = "the same command with -s RECRAWL=1 -s RECRAWL_INTERVAL_SECONDS=0 asks for all of them again"
_ADVICE = {
    DropReason.NETWORK_FORBIDDEN: (
        "open what is yours (--allow-local for the URLs of the command, else NETWORK_ALLOW and NETWORK_PORTS) and "
        "start another crawl (another CORPUS_DIR and CRAWL_ID): in this one the verdicts stay"
    ),
    DropReason.HOLD_NO_CONTACT: "set CRAWLER_CONTACT and run the same command again: it asks for these",
    DropReason.HOLD_RATE_LIMITED: "run the same command again then: before, the server is left alone",
}
_AGAIN = "once the site answers, run the same command again: it asks for these at once"


def failure(stats: Mapping[str, Any]) -> str | None:
    """Why a run did not bring what was asked for; None where it did. Also of a run that found nothing to do, where
    the one before it had failed."""
    if found := nothing_brought(stats):
        return found
    if before := stats.get(FAILED_BEFORE):
        return f"this run found nothing to do, and what an earlier one could not get is still missing; {before}"
    return None


def nothing_brought(stats: Mapping[str, Any]) -> str | None:
    """The same of this run alone."""
    if count := stats.get(UNREAD_ARCHIVES):
        said = stats.get(UNREAD_ARCHIVES_SAID, [])
        more = [f"and {count - len(said):,} more, which the log names"] if count > len(said) else []
        after = "all others were read; run the same command again once they are mended: it reads no other one again"
        return _listing(f"{number_of(count, 'archive')} could not be read, or not to the end", *said, *more, after)
    if unread := stats.get(UNREAD_SITEMAPS):
        return _listing("a requested sitemap could not be read", *unread, f"once it can be, {ANEW}")
    if count := stats.get(DEADLY):
        return _listing(deadly(count), *stats.get(DEADLY_EXAMPLES, []))
    if judged(stats) > int(stats.get(RETRIED, 0)) and judged(stats) == stats.get(UNREACHED):
        examples = stats.get(UNREACHED_EXAMPLES, [])
        return _listing("no page could be fetched", *examples, *dict.fromkeys(_advice(examples)))
    return None


def deadly(count: int) -> str:
    """The sentence on pages that killed their workers, without its colon."""
    pages = "1 page was" if count == 1 else f"{count:,} pages were"
    return (
        f"{pages} given up: every worker that had such a page alone in hand died "
        "(`gristmill frontier requeue dead --reason died` queues them again)"
    )


async def note_retried(shared: SharedValues, count: int) -> None:
    """So many URLs that an outage had stopped are tried again by the run that begins."""
    await shared.put_blob(_RETRIED, str(count).encode(), _FAILURE_SECONDS)


async def report(scheduler: Scheduler | None, stats: StatsCollector) -> None:
    """At the end of a run: what was given up, and whether it could get anything.

    A run that finds nothing to do ends as the one before it: what was missing then is missing still.
    """
    if scheduler is None or not await scheduler.has_ended():
        return
    shared, counts, found = scheduler.frontier.shared, await scheduler.frontier.counts(), stats.get_stats()
    stats.set_value(GIVEN_UP, counts.dead)
    is_known = found.get(SEEDS, 0) <= found.get(SEEDS_KNOWN, 0)  # nothing that was asked for is new
    if is_known and not await shared.get_blob(_FAILURE):  # the crawl brought something: what fails again is no news
        stats.set_value(RETRIED, int(await shared.get_blob(_RETRIED) or 0))
    state = f"{counts.done} {counts.dead}"
    if said := nothing_brought(found):
        await shared.put_blob(_FAILURE, f"{state}\n{said}".encode(), _FAILURE_SECONDS)
    elif judged(found) or found.get(SITEMAPS):
        await shared.put_blob(_FAILURE, b"", 0.001)
    elif before := await shared.get_blob(_FAILURE):
        at, _, said = before.decode().partition("\n")
        if at == state:
            stats.set_value(FAILED_BEFORE, said)


def _advice(examples: list[str]) -> Iterator[str]:
    """What to do about "URL: reason, detail"."""
    for example in examples:
        yield next((said for reason, said in _ADVICE.items() if f": {reason}," in example), _AGAIN)


def _listing(head: str, *lines: str) -> str:
    return "\n  ".join([f"{head}:", *lines])
