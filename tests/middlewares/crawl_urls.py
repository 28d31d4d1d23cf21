"""A real Scrapy crawl of a list of URLs with the policy middlewares; prints what became of each as JSON.

Run by the tests in a process of its own: `python crawl_urls.py < job.json`. The scheduler keeps everything in memory
and offers what the middlewares use of the real one. `job["hosts"]` replaces the system's name service.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import AsyncCrawlerProcess

from crawler import settings as project
from crawler.downloader.resolver import GuardedResolver
from crawler.middlewares.scrapy_signals import robots_sitemaps
from crawler.scheduler.in_flight import SENT_AT

JOB: dict[str, Any] = {}
REPORT: dict[str, Any] = {"outcomes": {}, "delays": [], "released": [], "sitemaps": [], "turns": [], "sent": []}


class MemoryFrontier:
    def __init__(self) -> None:
        self.blobs = {name: value.encode() for name, value in JOB.get("blobs", {}).items()}
        self.locks: dict[str, asyncio.Lock] = {}
        self.politeness = self

    async def get_blob(self, name: str) -> bytes | None:
        return self.blobs.get(name)

    async def put_blob(self, name: str, value: bytes, ttl: float) -> None:
        assert ttl > 0
        self.blobs[name] = value

    @asynccontextmanager
    async def single_flight(self, name: str, ttl: float = 60.0):
        async with self.locks.setdefault(name, asyncio.Lock()):
            yield True

    def scope_of(self, url: str) -> str:
        return urlsplit(url).netloc

    async def set_delay(self, scope: str, seconds: float, source: str) -> None:
        if seconds:
            REPORT["delays"].append([scope, seconds])
        else:
            REPORT["released"].append([scope, source])

    async def rest(self, scope: str, until: float) -> None:
        REPORT.setdefault("rests", []).append([scope, until])


class MemoryScheduler(BaseScheduler):
    epoch = 0

    def __init__(self) -> None:
        self.queue: list[scrapy.Request] = []
        self.frontier = self.shared = MemoryFrontier()

    @classmethod
    def from_crawler(cls, crawler):
        return cls()

    def enqueue_request(self, request: scrapy.Request) -> bool:
        self.queue.append(request)
        return True

    def next_request(self) -> scrapy.Request | None:
        return self.queue.pop(0) if self.queue else None

    def has_pending_requests(self) -> bool:
        return bool(self.queue)

    async def wait_turn(self, url: str) -> None:
        REPORT["turns"].append(url)

    async def turn(self, request: scrapy.Request) -> None:
        """What the politeness gate asks; everybody's turn is now."""


class OutcomeSpider(scrapy.Spider):
    name = "outcome"

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.found_sitemaps, robots_sitemaps)
        return spider

    async def start(self):
        for url in JOB["urls"]:
            yield scrapy.Request(url, callback=self.parse, errback=self.failed, dont_filter=True)

    def parse(self, response):
        self._note_sending(response.request)
        REPORT["outcomes"][response.request.url] = {
            "outcome": "page",
            "status": response.status,
            "bytes": len(response.body),
            "agent": response.request.headers.get("User-Agent", b"").decode(),
            **_evidence(response.request),
        }

    def _note_sending(self, request):
        if SENT_AT in request.meta:
            REPORT["sent"].append(request.url)

    def failed(self, failure):
        self._note_sending(failure.request)
        error = failure.value
        entry = {"outcome": type(error).__name__, "message": str(error), **_evidence(failure.request)}
        for name in ("until", "authority", "not_before", "host_wide", "target", "permanent"):
            if hasattr(error, name):
                entry[name] = getattr(error, name)
        if hasattr(error, "drop"):
            entry.update(reason=error.drop.reason.value, detail=error.drop.detail, stage=error.drop.stage)
        REPORT["outcomes"][failure.request.url] = entry

    async def found_sitemaps(self, authority: str, urls: list[str]) -> None:
        REPORT["sitemaps"].append([authority, urls])


def _evidence(request: scrapy.Request) -> dict[str, Any]:
    evidence = request.meta.get("evidence")
    if evidence is None:
        return {}
    return {
        "robots_status": evidence.robots_status,
        "robots_sha256": evidence.robots_sha256,
        "robots_rule": evidence.robots_rule,
        "signals": [[s.protocol, s.carrier, s.value, s.verdict] for s in evidence.signals],
    }


def _fake_name_service(hosts: dict[str, list[list[str]]]) -> None:
    real = socket.getaddrinfo
    answers = {name: list(sequence) for name, sequence in hosts.items()}

    def getaddrinfo(host, port, *args, **kwargs):
        name = host.decode() if isinstance(host, bytes) else host
        if name not in answers:
            return real(host, port, *args, **kwargs)
        sequence = answers[name]
        addresses = sequence.pop(0) if len(sequence) > 1 else sequence[0]
        REPORT.setdefault("lookups", []).append(name)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port or 0))
            for a in addresses
        ]

    socket.getaddrinfo = getaddrinfo


FLOW = {"SPIDER_MODULES", "COMMANDS_MODULE", "DOWNLOADER", "ITEM_PIPELINES", "EXTENSIONS", "SPIDER_MIDDLEWARES_BASE"}
"""What of the project's settings is not about policy on the wire."""


def main() -> None:
    JOB.update(json.load(sys.stdin))
    _fake_name_service(JOB.get("hosts", {}))
    if JOB.get("trusting_resolver"):  # the first lock is broken: every address leaves the resolver
        GuardedResolver._filtered = lambda _self, _host, addresses: addresses
    settings = {
        **{name: value for name, value in vars(project).items() if name.isupper() and name not in FLOW},
        "SCHEDULER": MemoryScheduler,
        "LOG_LEVEL": "INFO",
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        **JOB.get("settings", {}),
    }
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(OutcomeSpider)
    process.crawl(crawler)
    process.start()
    REPORT["finish_reason"] = crawler.stats.get_value("finish_reason")
    print(json.dumps(REPORT))


if __name__ == "__main__":
    main()
