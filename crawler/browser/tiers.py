"""Which tier reads a page: the stages on what the site sent, and where that is a shell, the browser first.

One lease, one fetch, one set of rules: the browser draws the very response that the middlewares have let through.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from crawler.browser.find import HOW_TO, browser_path
from crawler.browser.memory import DomainMemory
from crawler.document import Capture, Document, Drop, DropReason, Exchange, Rendering
from crawler.runtime import config_of
from crawler.stages.chain import READING
from crawler.stages.parse.shell import looks_like_shell
from crawler.stages.tiers import copy_of, has_too_little
from crawler.statkeys import BROWSER_FAILED, BROWSER_MISSED, BROWSER_SHELLS, BROWSER_USED
from crawler.urls.canonicalize import registrable_domain
from crawler.urls.refresh import is_redirect
from crawler.wire.media import media_kind

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.browser.page import Visit
    from crawler.browser.renderer import Renderer
    from crawler.seeds.allowlist import AllowlistEntry

MAX_WAIT = 30.0
"""Seconds, then the browser is looked at again. Below FRONTIER_PATIENCE_SECONDS, or the crawl would end meanwhile."""

logger = logging.getLogger(__name__)


class Stages(Protocol):
    """The stage pool."""

    async def run(self, doc: Document, names: tuple[str, ...]) -> Document:
        """Take a document through the named stages."""


class Tiers:
    """Judges each page by the stages `hop`, drawn by a browser where its domain asks for that or it shows nothing."""

    def __init__(self, crawler: Crawler, pool: Stages, hop: tuple[str, ...], memory: DomainMemory) -> None:
        self._crawler, self._pool, self._hop, self._memory = crawler, pool, hop, memory
        self._config = config_of(crawler).browser
        self._path = browser_path(self._config)  # an entry of the allowlist may ask for it, whatever JS_MODE says
        self._how_to = HOW_TO  # what to do where there is none
        self._renderer: Renderer | None = None

    async def judged(self, doc: Document, response: Response, entry: AllowlistEntry | None) -> Document:
        """The document after its stages. `render_signals["browser"]` says how rendering went, where it was tried."""
        mode = (entry.js if entry else "") or self._config.mode
        if mode == "never" or media_kind(doc.content_type, doc.html) != "html":
            return await self._pool.run(doc, self._hop)
        always = mode == "always"
        if not always and not self._memory.is_direct(doc.domain):
            spare = copy_of(doc)
            done = await self._pool.run(doc, self._hop)
            if _leads_on(done) or not is_shell(done):
                self._memory.saw(doc.domain, drawn=False)
                return done
            return await self._drawn(spare, done, response, entry)
        return await self._directly(doc, response, entry, always=always)

    def wait(self, url: str, entry: AllowlistEntry | None) -> float:
        """Seconds for which a page that goes to the browser directly had better not be fetched; 0 for all others."""
        if self._renderer is None:
            return 0.0
        mode = (entry.js if entry else "") or self._config.mode
        direct = mode == "always" or (mode == "auto" and self._memory.is_direct(registrable_domain(url)))
        return min(self._renderer.wait(), MAX_WAIT) if direct else 0.0

    async def _directly(
        self, doc: Document, response: Response, entry: AllowlistEntry | None, *, always: bool
    ) -> Document:
        """To the browser without a look at the text; a page that opts out is not drawn."""
        spare = copy_of(doc)
        read = await self._pool.run(doc, READING)
        if read.verdict is not None:
            return read
        if is_redirect(read.refresh):
            return await self._pool.run(spare, self._hop)
        if (rendering := await self._rendering(spare, response, entry)) is None:
            done = await self._pool.run(spare, self._hop)
            return _without_browser(done, self._how_to) if always else done
        return await self._chosen(spare, rendering)

    async def _drawn(
        self, spare: Document, done: Document, response: Response, entry: AllowlistEntry | None
    ) -> Document:
        self._count(BROWSER_SHELLS)
        await self._memory.recall(spare.domain)
        rendering = await self._rendering(spare, response, entry)
        return done if rendering is None else await self._chosen(spare, rendering)

    async def _chosen(self, spare: Document, rendering: Rendering) -> Document:
        spare.rendering = replace(rendering, captures=[replace(c, exchange=None) for c in rendering.captures])
        done = await self._pool.run(spare, self._hop)
        facts = done.render_signals.get("browser", {})
        if spare.exchange is not None:
            kept = b"" if "failed" in facts else rendering.dom  # what could not be read has not shown its opt-outs
            captures = [_under_licence(capture, spare.exchange) for capture in rendering.captures]
            spare.exchange.rendering = Rendering(kept, facts, captures if kept else [])
            done.exchange = spare.exchange
        self._count(BROWSER_FAILED if "failed" in facts else BROWSER_USED)
        self._count(f"{BROWSER_USED}/{done.domain}")
        await self._memory.learn(done.domain, needed=done.method_used in {"js", "captured"})
        return done

    async def _rendering(self, doc: Document, response: Response, entry: AllowlistEntry | None) -> Rendering | None:
        """None where there is no browser."""
        if self._path is None:
            self._count(BROWSER_MISSED)
            return None
        from crawler.browser.renderer import BrowserMissingError, Renderer  # late: Playwright costs 0.2 s and 20 MB

        if self._renderer is None:
            self._renderer = Renderer(self._crawler, self._path)
        try:
            return await self._renderer.render(self._visit(doc, response, entry))
        except BrowserMissingError as error:
            if self._path is not None:  # else another page has said it
                logger.error("%s; pages are read without a browser: %s", error, error.how_to)  # noqa: TRY400  # no trace
            self._path, self._how_to = None, error.how_to
            self._count(BROWSER_MISSED)
            return None

    def _visit(self, doc: Document, response: Response, entry: AllowlistEntry | None) -> Visit:
        from crawler.browser.fetch import Fetched, plain_headers
        from crawler.browser.page import Visit
        from crawler.middlewares._meta import header_lines

        answer = Fetched(response.status, plain_headers(header_lines(response.headers)), doc.html)
        timeout = (entry.js_timeout if entry else None) or self._config.timeout_seconds
        if entry is None:
            return Visit(doc.url, answer, timeout)
        return Visit(doc.url, answer, timeout, entry.js_wait_selector, entry.captures, entry.js_wait or 0.0)

    def _count(self, key: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(key)


def is_shell(doc: Document) -> bool:
    """True where the stages found too little text on a page that a script would fill."""
    return has_too_little(doc) and looks_like_shell(doc.render_signals.get("shell", {}), doc.word_count)


def _leads_on(doc: Document) -> bool:
    return doc.verdict is not None and doc.verdict.reason is DropReason.REDIRECTED


def _under_licence(capture: Capture, page: Exchange) -> Capture:
    """What the allowlist says of a page holds for the data that it fetched from its own domain."""
    if (own := capture.exchange) is None:
        return capture
    own = replace(own, license_tag=page.license_tag, license_tier=page.license_tier)
    own = replace(own, license_reviewer=page.license_reviewer, license_reviewed=page.license_reviewed)
    return replace(capture, exchange=own)


def _without_browser(doc: Document, how_to: str) -> Document:
    if has_too_little(doc):
        doc.verdict = Drop("fetch", DropReason.NEEDS_BROWSER, f"js: always, and there is no browser: {how_to}"[:512])
    return doc
