"""Sitemap files that brought no pages: which of them fail the crawl, and which the summary only tells of.

A file that somebody named (`-a sitemap=`, `sitemaps:` of the allowlist) fails the crawl whatever the reason. So does
`/sitemap.xml` of a domain whose allowlist entry names no sitemap, where trouble hides what it says (a server error,
a time-out, broken XML) and robots.txt names no other: the domain was asked for, and nothing else leads to its pages.
A list of a source of JSON that its server named, or to which it denies access, fails it, too: what follows is missing.
That such a guess finds nothing (404, 403, a page in its place) is an ordinary answer. The summary tells of it, and of
the files that only robots.txt or an index names.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawler.document import DropReason, Reason
from crawler.seeds.sitemaps import NO_LIST
from crawler.statkeys import MISSED_SITEMAPS, MISSED_SITEMAPS_EXAMPLES, UNREAD_SITEMAPS
from crawler.urls.canonicalize import canonicalize, host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from crawler.frontier.model import Lease
    from crawler.seeds.scope import Scope

logger = logging.getLogger(__name__)

MAX_EXAMPLES = 5
_GUESSED = "the allowlist names no sitemap of this domain, and robots.txt no other"


class UnreadSitemaps:
    """Tells of sitemap files that brought nothing, in the counters of the run."""

    def __init__(self, named: str, scope: Callable[[], Scope], crawler: Crawler) -> None:
        """`named`: the argument `sitemap`, URLs separated by commas; `scope`: what the crawl may fetch, by now."""
        self._named = frozenset(url for item in named.split(",") if (url := canonicalize(item.strip())))
        self._scope, self._crawler = scope, crawler
        self._robots: dict[str, frozenset[str]] = {}  # host → the sitemaps that its robots.txt names

    def robots_names(self, authority: str, urls: Iterable[str]) -> None:
        """Remember which sitemaps the robots.txt of `authority` (scheme, host and port) names."""
        self._robots[host_of(authority)] = frozenset(urls)

    def refused(self, lease: Lease, reason: Reason, detail: str) -> None:
        """The request for a file brought none."""
        denied = reason is DropReason.ACCESS_DENIED
        self._tell(lease, f"{reason}, {detail}", ordinary=reason.answer, denied=denied)

    def unreadable(self, lease: Lease, problem: str) -> None:
        """The file came, and nothing can be read in it; `problem`: the first of `Sitemap.problems`."""
        self._tell(lease, problem, ordinary=problem == NO_LIST)

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None, "files are read after the start"
        return self._crawler.stats

    def _tell(self, lease: Lease, why: str, *, ordinary: bool, denied: bool = False) -> None:
        asked = {lease.url, *filter(None, map(canonicalize, lease.link.redirects))}
        told = f"{lease.url}: {why}"
        guessed = any(map(self._is_only_guess, asked))
        source = self._scope().source_of_list(lease.url)  # one that counts its lists ends where one is not there
        breaks_off = source is not None and (denied or source.by not in ("page", "offset"))
        if breaks_off or self._named & asked or any(map(self._scope().names_sitemap, asked)):
            self._add(UNREAD_SITEMAPS, told)
        elif guessed and not ordinary:
            self._add(UNREAD_SITEMAPS, f"{told} ({_GUESSED})")
        elif guessed or not ordinary:
            logger.warning("sitemap %s", told)
            self._stats.inc_value(MISSED_SITEMAPS)
            if len(self._stats.get_value(MISSED_SITEMAPS_EXAMPLES, [])) < MAX_EXAMPLES:
                self._add(MISSED_SITEMAPS_EXAMPLES, f"{told} ({_GUESSED})" if guessed else told)

    def _is_only_guess(self, url: str) -> bool:
        """True where only this URL, which nobody has named, may list the pages of a domain that was asked for."""
        return self._scope().guesses_sitemap(url) and not self._robots.get(host_of(url), frozenset()) - {url}

    def _add(self, key: str, sentence: str) -> None:
        self._stats.set_value(key, [*self._stats.get_value(key, []), sentence])
