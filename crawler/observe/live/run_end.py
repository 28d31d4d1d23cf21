"""The end of a run as its summary tells it: what one worker tells of its own, and what that of several is together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from crawler.number import number_of
from crawler.observe.live import idle
from crawler.observe.report.summary import summarise
from crawler.pipelines.brought import deadly
from crawler.statkeys import (
    DEADLY,
    DEADLY_EXAMPLES,
    GIVEN_UP,
    KEPT,
    MISSED_SITEMAPS,
    MISSED_SITEMAPS_EXAMPLES,
    NO_CONTACT_HOSTS,
    NO_CONTACT_REFUSED,
    PASSED_OVER,
    PASSED_OVER_NAMES,
    PUT,
    RECORDED_BEFORE,
    RECRAWL,
    REJECTED,
    SEEDS,
    SEEDS_KNOWN,
    SITEMAPS,
    STANDSTILL,
    UNREAD_ARCHIVES,
    UNREAD_ARCHIVES_SAID,
    WAITING,
    rejected_by,
)
from crawler.storage.files.errors import StorageError

FINISHED = "finish_reason"
MOST_EXAMPLES = 5
_OF_THE_CRAWL = (FINISHED, STANDSTILL, WAITING, GIVEN_UP)
_ADDED = (SITEMAPS, f"{PUT}/", RECRAWL, MISSED_SITEMAPS, NO_CONTACT_REFUSED, DEADLY)
_EXAMPLES = (MISSED_SITEMAPS_EXAMPLES, DEADLY_EXAMPLES)
_NAMES = (*_OF_THE_CRAWL, *_ADDED, SEEDS, *_EXAMPLES)

CRAWLED = {
    "corpus": ("string", "CORPUS_DIR"),
    "finish_reason": ("string or null", "why the run ended; null: it was cut off, or had not begun"),
    "kept": ("integer", "documents that this run kept"),
    "rejected": ("object", "pages that this run did not keep, by stage/reason"),
    "summary": ("object or null", "of the whole corpus, as in stats.json; null: there is none"),
}
"""Fields of `facts`."""


def facts(corpus_dir: str, stats: Mapping[str, Any]) -> dict[str, Any]:
    """The end of a run for a program. stats: counters of its worker, or what `together` has made of several."""
    try:
        summary = summarise(corpus_dir).as_dict()
    except StorageError:
        summary = None
    found = {"corpus": corpus_dir, "finish_reason": stats.get(FINISHED), "kept": int(stats.get(KEPT, 0))}
    return found | {"rejected": rejected_by(stats), "summary": summary}


def told_by(stats: Mapping[str, Any]) -> dict[str, Any]:
    """Of a worker's counters those that `sections` reads, without its verdicts; they fit into JSON."""
    return {name: value for name, value in stats.items() if name.startswith(_NAMES)}


def together(ends: Iterable[Mapping[str, Any]], kept: int, rejected: Mapping[str, int]) -> dict[str, Any]:
    """What `told_by` has given for each worker of one crawl, the latest end last, as counters of one worker.

    kept, rejected (by "stage/reason"): the verdicts of all of them. Each worker puts the same seeds: those are known
    that no worker was the first to put. How much waits, and why, is what the worker says that was the last to end.
    """
    ends = list(ends)
    found: dict[str, Any] = {KEPT: kept, **{f"{REJECTED}/{name}": count for name, count in rejected.items()}}
    added: Counter[str] = Counter()
    for end in ends:
        found.update({name: value for name, value in end.items() if name.startswith(SEEDS)})
        added.update({name: n for name, n in end.items() if name.startswith(_ADDED) and isinstance(n, int)})
    found[SEEDS_KNOWN] = min((int(end.get(SEEDS_KNOWN, 0)) for end in ends if SEEDS in end), default=0)
    examples = {name: [line for end in ends for line in end.get(name, ())][:MOST_EXAMPLES] for name in _EXAMPLES}
    hosts = dict.fromkeys(host for end in ends for host in end.get(NO_CONTACT_HOSTS, ()))
    last = {name: value for end in ends[-1:] for name, value in end.items() if name in _OF_THE_CRAWL}
    return {**found, **added, **examples, NO_CONTACT_HOSTS: [*hosts], **last}


def sections(stats: Mapping[str, Any]) -> Iterator[tuple[str, RenderableType]]:
    """Sections on what the run did not do, and on sitemap files that brought nothing and do not fail the crawl."""
    yield from idle.sections(stats)
    if count := stats.get(DEADLY, 0):
        yield "Given up", Text("\n".join([f"{deadly(count)}:", *stats.get(DEADLY_EXAMPLES, [])]))
    yield from _archives(stats)
    if count := stats.get(MISSED_SITEMAPS, 0):
        lines = stats.get(MISSED_SITEMAPS_EXAMPLES, [])
        rest = f"and {count - len(lines):,} more" if lines else f"{number_of(count, 'file')}, named in the log"
        more = [rest] if count > len(lines) else []
        yield "Sitemaps that brought no pages", Text("\n".join([*lines, *more]))


def _archives(stats: Mapping[str, Any]) -> Iterator[tuple[str, RenderableType]]:
    """What a replay did not read of the place that it was given: never passed over in silence."""
    if count := int(stats.get(UNREAD_ARCHIVES, 0)):
        yield (
            f"Not read, or not to the end: {number_of(count, 'archive')}",
            _listing(count, stats, UNREAD_ARCHIVES_SAID),
        )
    if count := int(stats.get(PASSED_OVER, 0)):
        title = f"No archives by their names: {number_of(count, 'file')}"
        yield title, _listing(count, stats, PASSED_OVER_NAMES)

    if count := int(stats.get(RECORDED_BEFORE, 0)):
        are = "is in this corpus already and keeps its" if count == 1 else "are in this corpus already and keep their"
        said = f"{number_of(count, 'capture')} {are} verdict: another CORPUS_DIR judges them again"
        yield "Judged before", Text(said)


def _listing(count: int, stats: Mapping[str, Any], name: str) -> Text:
    lines = list(stats.get(name, []))
    return Text("\n".join([*lines, *([f"and {count - len(lines):,} more"] if count > len(lines) else [])]))
