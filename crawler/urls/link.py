"""What is known of a URL from the moment it is found until it is fetched: seeds, sitemaps and pages hand it on."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from hashlib import md5
from typing import TYPE_CHECKING, Any

from crawler.urls.shape import shape_id_of
from crawler.wire.files import names_file

if TYPE_CHECKING:
    from crawler.urls.canonicalize import Address

LOWEST_PRIORITY, HIGHEST_PRIORITY = -4_096, 4_095
SITEMAP_PRIORITY = 1_000
"""Sitemap files: before all pages, so that the whole queue is ordered by what they say."""
SEED_PRIORITY = 100
"""Pages given as seeds. Listed pages get -10 to 20 (`seeds.page_priority`), links 0 less their depth."""

FILE_PRIORITY = LOWEST_PRIORITY + 1_000
"""Links to PDF and office files, less their depth: behind all that is ordered by its value (-2048 and above)."""


SOURCE_BYTES = 3


@dataclass(frozen=True, slots=True)
class Link:
    """A canonical URL that may be worth a visit. `priority`: higher first, -4096 to 4095.

    `found` is the spelling of it that was found, empty where that is `url` itself; `asked` is what is requested.
    `redirects` is the chain of URLs, as they were asked for, that led here. `mark` is set for a link of a page: from 0
    (in the main text) to 9 (least promising); the frontier then orders it by what its shape has brought, whatever its
    `priority`, and may park it. `parent` is the shape (`crawler.urls.shape.shape_id`) of that page, `source` stands
    for its URL (`source_id`): by both it is found again among the pages of the corpus. `run`: how many pages in a row
    on the way to it led to no new page with text, as far as its own page knows.

    The frontier does not keep the last three: `lastmod` (epoch seconds, from a sitemap) has already
    been turned into `priority` by whoever read the sitemap; `cap`: at most so many pages of the URL's politeness scope
    are ever taken (allowlist), 0 = as many as the crawl takes; `again`: this chain of redirects has asked for the name
    in another spelling, so that it is queued although it is known.
    """

    url: str
    _: KW_ONLY
    found: str = ""
    priority: int = 0
    depth: int = 0
    kind: str = "page"  # "page" | "sitemap"
    redirects: tuple[str, ...] = ()
    mark: int | None = None
    parent: str = ""
    run: int = 0
    source: str = ""
    lastmod: float | None = None
    cap: int = 0
    again: bool = False

    @property
    def asked(self) -> str:
        """The URL to request."""
        return self.found or self.url

    def redirected(self, to: Address) -> Link:
        """The URL that this one leads to, in its place."""
        return replace(self, url=to.name, found=to.found, redirects=(*self.redirects, self.asked))


def link_to(address: Address, **facts: Any) -> Link:
    """A link to this address; `facts` are the other fields of `Link`."""
    return Link(address.name, found=address.found, **facts)


def links_on(page: str, found: Iterable[tuple[Address, int]], *, depth: int, run: int = 0) -> Iterator[Link]:
    """The links of a page, with their marks; page: its canonical URL. What is called as a PDF or an office file is
    called waits behind all pages of its domain, whatever its shape has brought.
    """
    facts = {"depth": depth, "parent": shape_id_of(page), "run": run, "source": source_id(page)}
    for to, mark in found:
        if names_file(to.name):
            yield link_to(to, priority=FILE_PRIORITY - depth, **facts)
        else:
            yield link_to(to, priority=-depth, mark=mark, **facts)


def source_id(url: str) -> str:
    """Four letters that stand for the URL of a page (24 bits): the first digits of its MD5, in Base64 (RFC 4648, 5)."""
    return urlsafe_b64encode(md5(url.encode(), usedforsecurity=False).digest()[:SOURCE_BYTES]).decode()
