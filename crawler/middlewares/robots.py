"""robots.txt is checked before each request, for the fetch itself and for the opt-outs in it.

Fails closed: while robots.txt is out of reach nothing of the host is fetched, and the page is held.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawler.document import Drop, DropReason
from crawler.middlewares._meta import CONTROL_FILE, evidence_of, is_image, obeys_opt_outs
from crawler.middlewares.control_files import MAX_PARSED, ControlFiles, FileKind, authority_of, path_of
from crawler.middlewares.optout_files import OptOutFiles
from crawler.middlewares.outcomes import Denied, Held
from crawler.middlewares.scrapy_signals import robots_sitemaps
from crawler.policy.decide import Verdict, decide_files, decide_robots, decide_unread
from crawler.policy.robots import answer as robots_fetch
from crawler.policy.robots import parse as robots
from crawler.policy.robots.answer import Ages, Reading, RobotsRecord
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals.base import Context
from crawler.runtime import config_of
from crawler.scheduler.scheduler import clock_of
from crawler.urls.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.config import Config

MAX_SITEMAPS = 100
"""Sitemap lines of one robots.txt that are announced."""


class RobotsMiddleware:
    """Enforces robots.txt; hands Crawl-delay to the frontier and Sitemap lines to the spider."""

    def __init__(
        self,
        config: Config,
        *,
        files: ControlFiles[RobotsFile],
        optout_files: OptOutFiles,
        scheduler: Callable[[], Any],
        announce: Callable[[str, list[str]], Awaitable[Any]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._token = config.crawl.product_token
        self._profile = config.policy.optout_profile
        self._longest_delay = config.policy.robots_max_delay_seconds
        self._skips_long_delays = config.policy.robots_long_delay == "skip"
        self._usual_delay = config.frontier.delay_seconds
        self._files = files
        self._optout_files = optout_files
        self._scheduler = scheduler
        self._announce = announce
        self._clock = clock
        # authority → fetched_at of the record whose delay and sitemaps are known, and to which server process
        self._met: dict[str, tuple[float, int]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings; the scheduler and the engine are asked for when the first request comes."""
        config = config_of(crawler)
        files, optout_files = control_files_of(crawler)

        async def announce(authority: str, urls: list[str]) -> None:
            await crawler.signals.send_catch_log_async(robots_sitemaps, authority=authority, urls=urls)

        return cls(
            config,
            files=files,
            optout_files=optout_files,
            scheduler=_scheduler_of(crawler),
            announce=announce,
            clock=clock_of(crawler),
        )

    async def process_request(self, request: Request) -> None:
        """Raises: Denied, Held. Fills in the request's evidence."""
        if request.meta.get(CONTROL_FILE):
            return
        is_kept = obeys_opt_outs(request)
        authority = authority_of(request.url)
        record, parsed = await self._files.get(f"{authority}/robots.txt")
        verdict = decide_robots(
            record,
            parsed,
            path_of(request.url),
            product_token=self._token,
            profile=self._profile,
            now=self._clock(),
        )
        self._note(request, record, verdict)
        if parsed is not None or record.reading is Reading.NO_RULES:
            await self._meet(authority, request.url, record, parsed or RobotsFile())
        self._enforce(verdict, record, authority, is_kept)
        self._refuse_long_delay(parsed)
        if is_kept:
            await self._ask_files(request, authority, parsed)

    def _note(self, request: Request, record: RobotsRecord, verdict: Verdict) -> None:
        evidence = evidence_of(request)
        evidence.robots_status = verdict.robots_status
        evidence.robots_rule = verdict.robots_rule
        evidence.robots_sha256 = record.sha256
        read_at = record.body_fetched_at if record.reading is Reading.RULES else record.fetched_at
        evidence.robots_fetched_at = datetime.fromtimestamp(read_at, UTC).isoformat(timespec="seconds")
        evidence.signals.extend(verdict.signals)

    async def _ask_files(self, request: Request, authority: str, parsed: RobotsFile | None) -> None:
        context = Context(self._token, self._profile, self._clock())
        evidence = evidence_of(request)
        evidence.files = []  # of the host that is asked now, after a redirect
        found = await self._optout_files.signals(authority, path_of(request.url), parsed, context, evidence.files)
        evidence.signals.extend(found)
        drop = decide_files(found, self._profile).drop
        if drop is None and is_image(request):
            drop = decide_unread(evidence.signals, self._profile, request.url)
        if drop:
            raise Denied(drop, tuple(evidence.signals))

    def _enforce(self, verdict: Verdict, record: RobotsRecord, authority: str, page: bool) -> None:
        drop = verdict.drop
        if drop is None or (drop.stage == "optout" and not page):
            return  # an opt-out from training closes neither a sitemap nor a script
        if drop.reason.is_hold:
            raise Held(drop, record.expires_at, authority)
        raise Denied(drop, verdict.signals)

    def _refuse_long_delay(self, parsed: RobotsFile | None) -> None:
        """Raises: Denied where the host asks for more patience than ROBOTS_LONG_DELAY=skip has."""
        delay = parsed.crawl_delay(self._token) if parsed is not None and self._skips_long_delays else None
        if delay is not None and delay > self._longest_delay:
            detail = f"Crawl-delay of {delay:g} s is above ROBOTS_MAX_DELAY_SECONDS ({self._longest_delay:g})"
            raise Denied(Drop("robots", DropReason.ROBOTS_DISALLOWED, detail))

    async def _meet(self, authority: str, url: str, record: RobotsRecord, parsed: RobotsFile) -> None:
        """Once per host, worker and version of the file: its delay and its sitemaps.

        Again where the server was restarted, which may have lost what it was told last. The delay is told whatever this
        worker's own is: the crawl may go by a shorter one by now.
        """
        scheduler = self._scheduler()
        version = record.body_fetched_at, scheduler.epoch
        if self._met.get(authority) == version:
            return
        if len(self._met) >= 10 * MAX_PARSED:
            self._met.clear()
        self._met[authority] = version
        delay = min(parsed.crawl_delay(self._token) or 0.0, self._longest_delay)
        frontier = scheduler.frontier
        scope = frontier.scope_of(url)
        await frontier.politeness.set_delay(scope, delay, f"robots:{authority}")
        if delay > self._usual_delay:
            await frontier.politeness.rest(scope, self._clock() + delay)  # robots.txt was the request before
        if urls := _absolute(authority, parsed.sitemaps):
            await self._announce(authority, urls)


def control_files_of(crawler: Crawler) -> tuple[ControlFiles[RobotsFile], OptOutFiles]:
    """The keepers of robots.txt and of the opt-out files, as the crawl reads them."""
    config = config_of(crawler)
    policy = config.policy
    ages = Ages(policy.robots_max_age_seconds, policy.robots_error_age_seconds)

    def download(request: Request) -> Any:
        engine: Any = crawler.engine
        return engine.download_async(request)

    def store(kind: FileKind[Any]) -> ControlFiles[Any]:
        seconds = policy.download_timeout_seconds
        return ControlFiles(kind, _scheduler_of(crawler), download, ages, timeout=seconds, clock=clock_of(crawler))

    def parse(body: bytes) -> RobotsFile:
        parsed = robots.parse(body)
        parsed.decide(config.crawl.product_token, "/")  # sorts our rules now: large files are parsed in a thread
        return parsed

    robots_txt = store(FileKind("robots", robots_fetch.read_robots, parse))
    return robots_txt, OptOutFiles(policy.optout_profile, store, policy.noted_files)


def _scheduler_of(crawler: Crawler) -> Callable[[], Any]:
    def scheduler() -> Any:
        engine: Any = crawler.engine  # there is one when requests come
        return engine.scheduler

    return scheduler


def _absolute(authority: str, sitemaps: list[str]) -> list[str]:
    """A line that is no URL names no sitemap."""
    found = (resolve(f"{authority}/robots.txt", value) for value in sitemaps[:MAX_SITEMAPS])
    return [url for url in dict.fromkeys(found) if url]
