"""A URL that may be worth a visit, as seeds, sitemaps and links hand it to the frontier."""

from __future__ import annotations

from dataclasses import dataclass

LOWEST_PRIORITY, HIGHEST_PRIORITY = -4_096, 4_095
SITEMAP_PRIORITY = 1_000
"""Sitemap files: before all pages, so that the whole queue is ordered by what they say."""
SEED_PRIORITY = 100
"""Pages given as seeds. Listed pages get -10 to 20 (`seeds.page_priority`), links 0 less their depth."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A canonical URL that may be worth a visit. `priority`: higher first, -4096 to 4095.

    `redirects` is the chain of URLs that led here. `lastmod` (epoch seconds, from a sitemap) has already been turned
    into `priority` by whoever read the sitemap; the frontier itself does not store it. `cap`: at most so many pages of
    the URL's politeness scope are ever taken (allowlist), 0 = as many as the crawl takes. `mark` is set for a link of a
    page: from 0 (in the main text) to 9 (least promising); the frontier then orders it by what its shape has brought,
    whatever its `priority`, and may park it. `parent` is the shape (`crawler.urls.shape.shape_id`) of that page.
    `learned`: query parameters that the frontier took off the link, because they change no page of its domain.
    """

    url: str
    priority: int = 0
    depth: int = 0
    kind: str = "page"  # "page" | "sitemap"
    redirects: tuple[str, ...] = ()
    lastmod: float | None = None
    cap: int = 0
    mark: int | None = None
    parent: str = ""
    learned: tuple[str, ...] = ()
