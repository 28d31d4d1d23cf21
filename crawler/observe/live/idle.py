"""What a run did not do, and why: it was stopped, stands still, knew its seeds, refused them, read empty sitemaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from crawler.number import number_of
from crawler.statkeys import (
    GIVEN_UP,
    NO_CONTACT_HOSTS,
    NO_CONTACT_REFUSED,
    PUT,
    RECRAWL,
    SEEDS,
    SEEDS_KNOWN,
    SEEDS_REFUSED,
    SITEMAPS,
    STANDSTILL,
    WAITING,
    judged,
)

_STOPS = frozenset({"shutdown"} | {f"closespider_{what}" for what in ("pagecount", "itemcount", "timeout")})
"""Finish reasons of a run that ended well and early: Ctrl-C or SIGTERM, and limits that were asked for."""
_REFUSED = {
    "outside": "is outside the scope of the crawl (its domains, paths and licences; also after `dataset exclude`)",
    "withdrawn": "is of a domain that was withdrawn from this crawl",
}


def sections(stats: Mapping[str, Any]) -> Iterator[tuple[str, RenderableType]]:
    """Sections for the summary: why no page was judged, though the run looked for new ones; and that it was stopped."""
    said = list(_sentences(stats))
    if said and not judged(stats):
        yield "Nothing was judged in this run", Text("\n".join(said), "yellow")
    if given_up := int(stats.get(GIVEN_UP, 0)):
        body = f"{number_of(given_up, 'URL')} failed at the last try: the same command with --retry-failed tries again"
        yield "Given up", Text(body, "yellow")
    if count := int(stats.get(NO_CONTACT_REFUSED, 0)):
        hosts = stats.get(NO_CONTACT_HOSTS, [])
        was = "request was" if count == 1 else "requests were"
        body = f"{count:,} {was} not made ({', '.join(hosts)}): set CRAWLER_CONTACT and run the same command again"
        yield "Not on this machine, and no contact is named", Text(body, "yellow")
    stopped = stats.get("finish_reason") in _STOPS or stats.get(STANDSTILL)
    if stopped and (waiting := int(stats.get(WAITING, 0))):
        wait = "URL waits" if waiting == 1 else "URLs wait"
        first = "after `gristmill frontier resume` " if stats.get(STANDSTILL) else ""
        body = f"{waiting:,} {wait} in the frontier: {first}the same crawl command continues"
        yield "Stopped before its end", Text(body, "yellow")


def lists_nothing(stats: Mapping[str, Any]) -> bool:
    """True where sitemaps were read and no page came of them: what was put is the files themselves."""
    files = int(stats.get(SITEMAPS, 0))
    return bool(files) and int(stats.get(f"{PUT}/queued", 0)) <= files and not stats.get(f"{PUT}/seen")


def _sentences(stats: Mapping[str, Any]) -> Iterator[str]:
    if standstill := stats.get(STANDSTILL):
        yield str(standstill)
    known, seeds = int(stats.get(SEEDS_KNOWN, 0)), int(stats.get(SEEDS, 0))
    if known and not any(name.startswith(RECRAWL) for name in stats):
        keep = "was known before this run and keeps its verdict"
        keep = keep if known == 1 else "were known before this run and keep their verdicts"
        yield (
            f"{known:,} of {number_of(seeds, 'seed')} {keep} (`gristmill report` says which): the same command with "
            "-s RECRAWL=1 fetches what is due again, with -s RECRAWL_INTERVAL_SECONDS=0 beside it everything at once; "
            "another CRAWL_ID and CORPUS_DIR start a new crawl"
        )
    if lists_nothing(stats):
        files = int(stats[SITEMAPS])
        lists = "the sitemap that was read lists" if files == 1 else f"the {files:,} sitemaps that were read list"
        yield f"{lists} no page that this crawl may fetch"
    for reason, words in _REFUSED.items():
        if count := int(stats.get(f"{SEEDS_REFUSED}/{reason}", 0)):
            yield f"{count:,} seed{' ' if count == 1 else 's, each of which '}{words}"
