"""What was asked for and could not be had, of a run that went to its end: a sentence, and what to do about it.

The advice is carried out by tests in every state that a crawl can end in (`tests/crawl/test_crawl_advice.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crawler.document import DropReason
from crawler.number import number_of
from crawler.statkeys import (
    FAILED_BEFORE,
    UNREACHED,
    UNREACHED_EXAMPLES,
    UNREAD_ARCHIVES,
    UNREAD_ARCHIVES_SAID,
    UNREAD_SITEMAPS,
    judged,
)

ANEW = "the same command with -s RECRAWL=1 -s RECRAWL_INTERVAL_SECONDS=0 asks for all of them again"
_ADVICE = {
    DropReason.NETWORK_FORBIDDEN: (
        "correct the settings and start in another CORPUS_DIR: in this one the verdicts stay"
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
    if judged(stats) and judged(stats) == stats.get(UNREACHED):
        examples = stats.get(UNREACHED_EXAMPLES, [])
        return _listing("no page could be fetched", *examples, *dict.fromkeys(_advice(examples)))
    return None


def _advice(examples: list[str]) -> Iterator[str]:
    """What to do about "URL: reason, detail"."""
    for example in examples:
        yield next((said for reason, said in _ADVICE.items() if f": {reason}," in example), _AGAIN)


def _listing(head: str, *lines: str) -> str:
    return "\n  ".join([f"{head}:", *lines])
