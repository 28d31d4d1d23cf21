"""Where the requests go: kept tokens over requests on eight known sites, against orders that learn nothing.

`python -m bench.speed.value [--site NAME …] [--json]` serves the sites of `bench/web/value_sites.py` on loopback. Every
page is fetched and parsed as in a crawl (links, marks, traps); its verdict is the known truth: a text of `LEAST` tokens
and more is kept once. One request at a time, so that the order alone decides. The contestants: this project's frontier
with its defaults on an embedded Valkey; first come, first served; breadth first; Scrapy's queue with a depth penalty
(DEPTH_PRIORITY=1: the last link found on the lowest level first); Scrapy's default (the last link found first).
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.web.held_sites import HELD
from bench.web.late_sites import LATE
from bench.web.value_sites import SITES, Page, Site
from crawler.config import FrontierConfig
from crawler.document import Document, Drop
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Wire
from crawler.frontier.outcome import DUPLICATE, KEPT, OTHER, SHORT, packed_outcome
from crawler.server.embedded import EmbeddedServer
from crawler.stages.parse.stage import ParseStage
from crawler.urls.canonicalize import canonicalize
from crawler.urls.link import Link, source_id
from crawler.urls.shape import shape_id_of
from crawler.urls.traps import trap_reason

LEAST = 100
"""Tokens of a text that is kept."""
MOST = 3_000
"""Requests after which an order that learns nothing is stopped on an endless site."""
SHARES = (0.10, 0.25, 0.50, 1.00)
ENOUGH, BAR, WORST, FRUITLESS = 0.8, 0.6, 1.05, 300
"""Share of the tokens waited for; bars: median and worst share of breadth first's requests; fruitless requests."""

Links = list[tuple[str, int]]  # URL and mark


class Web:
    """One site on loopback, read through HTTP and the parse stage; remembers what it read for the next contestant."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, site))
        self._parse = ParseStage()
        self._known: dict[str, Links] = {}
        self.origin = f"http://{site.domain or f'127.0.0.1:{self._server.server_port}'}"

    def __enter__(self) -> Web:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self._connection = HTTPConnection("127.0.0.1", self._server.server_port)
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._server.shutdown()
        self._server.server_close()

    def truth(self, url: str) -> Page | None:
        return self.site.page(url.removeprefix("http://" if self.site.domain else self.origin))

    def _has(self, url: str) -> bool:
        """True for a URL of the site."""
        host = url.split("/")[2]
        return f".{host}".endswith(f".{self.site.domain}") if self.site.domain else url.startswith(self.origin)

    def links(self, url: str) -> Links:
        """The canonical links of a page, with their marks; none of a 404."""
        if url not in self._known:
            host, _, path = url.partition("://")[2].partition("/")
            self._connection.request("GET", f"/{path}", headers={"Host": host})
            answer = self._connection.getresponse()
            doc = Document(url, html=answer.read(), content_type="text/html")
            read = self._parse(doc) if answer.status == 200 else doc
            assert not isinstance(read, Drop), read
            named = ((canonicalize(link), mark) for link, mark in zip(doc.links, doc.link_marks, strict=True))
            self._known[url] = [(link, mark) for link, mark in named if link and self._has(link)]
        return self._known[url]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # one packet an answer

    def __init__(self, site: Site, *args: object) -> None:
        self._site = site
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path = f"{self.headers['Host']}{self.path}" if self._site.domain else self.path
        page = self._site.page(path)
        body = page.html(path) if page else b""
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Not a word a request."""


@dataclass(slots=True)
class Crawl:
    """What one contestant got: kept tokens after each request, by text."""

    texts: dict[str, int] = field(default_factory=dict)
    curve: list[int] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    parked: int = 0
    said: float | None = None
    weight: float = 0.5

    def take(self, url: str, page: Page | None) -> tuple[str, int]:
        """Judge a page by the known truth: how it counts, and the tokens that it adds."""
        new = page is not None and page.tokens >= LEAST and page.text not in self.texts
        if page is not None and new:
            self.texts[page.text] = page.tokens
        self.urls.append(url)
        self.curve.append((self.curve[-1] if self.curve else 0) + (page.tokens if page and new else 0))
        if page is None:
            return OTHER, 0
        return (KEPT, page.tokens) if new else (DUPLICATE if page.tokens >= LEAST else SHORT, 0)

    def requests_for(self, tokens: float) -> int | None:
        """After how many requests so many tokens were kept."""
        return next((n for n, had in enumerate(self.curve, 1) if had >= tokens), None)

    def after(self, requests: int) -> int:
        return self.curve[min(requests, len(self.curve)) - 1]


Key = Callable[[int, int], tuple[int, ...]]
ORDERS: dict[str, Key] = {
    "first come": lambda _, n: (n,),
    "breadth first": lambda depth, n: (depth, n),
    "depth penalty": lambda depth, n: (depth, -n),
    "scrapy": lambda _, n: (-n,),
}


def plain(web: Web, key: Key, most: int, crawl: Crawl | None = None) -> Crawl:
    """A crawl by an order that learns nothing."""
    crawl, seed = crawl or Crawl(), f"{web.origin}/"
    heap: list[tuple[tuple[int, ...], str, int]] = [((0,), seed, 0)]
    seen, serial = {seed}, 0
    while heap and len(crawl.urls) < most:
        _, url, depth = heapq.heappop(heap)
        crawl.take(url, web.truth(url))
        for link, _ in web.links(url):
            if link not in seen and not trap_reason(link):
                seen.add(link)
                serial += 1
                heapq.heappush(heap, (key(depth + 1, serial), link, depth + 1))
    return crawl


async def learning(web: Web, server: str, crawl: Crawl | None = None) -> Crawl:
    """A crawl by the project's frontier with its defaults. `crawl`: who judges; None = by the known truth."""
    crawl, defaults = crawl or Crawl(), FrontierConfig()
    limits = Limits(
        delay=0.0,
        max_queued=defaults.max_queued_per_domain,
        barren=defaults.barren_pages,
        explore=defaults.explore,
        quality_weight=crawl.weight,
    )
    frontier = Frontier(server, web.site.name, limits)
    await frontier.open()
    try:
        await frontier.control.order_by_value()
        await frontier.put([Link(f"{web.origin}/", priority=100)])
        while leases := (await frontier.lease(1)).leases:
            (lease,) = leases
            kind, tokens = crawl.take(lease.url, web.truth(lease.url))
            parent, source = shape_id_of(lease.url), source_id(lease.url)
            depth, run = lease.link.depth + 1, lease.link.run + 1
            links = [
                Link(u, priority=-depth, depth=depth, mark=m, parent=parent, run=run, source=source)
                for u, m in web.links(lease.url)
            ]
            await frontier.put(links)
            brought = packed_outcome(lease, kind, tokens, crawl.said)
            await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
        crawl.parked = (await frontier.counts()).barren
    finally:
        await frontier.close()
    return crawl


@dataclass(frozen=True, slots=True)
class Result:
    """One site. `pages`: of the finite site; of an endless one those that breadth first needed to find every text.

    `shares`: kept tokens by contestant at `SHARES` of the pages. `needed`: requests for four fifths of the tokens.
    `fruitless`: requests of ours that brought nothing. `lost`: texts that ours did not keep.
    """

    site: str
    endless: bool
    pages: int
    texts: int
    shares: dict[str, list[float]]
    needed: dict[str, int | None]
    requests: int
    fruitless: int
    parked: int
    lost: int

    @property
    def ratio(self) -> float:
        """Requests of ours for four fifths of the tokens, as a share of what breadth first needs."""
        ours, theirs = self.needed["ours"], self.needed["breadth first"]
        return ours / theirs if ours and theirs else float("inf")


def measure(site: Site, server: str) -> Result:
    with Web(site) as web:
        crawls = {name: plain(web, key, MOST) for name, key in ORDERS.items()}
        ours = crawls["ours"] = asyncio.run(learning(web, server))
        total: dict[str, int] = {}
        for crawl in crawls.values():
            total.update(crawl.texts)
    tokens, broad = sum(total.values()), crawls["breadth first"]
    pages = (broad.requests_for(tokens) or MOST) if site.endless else len(broad.urls)
    return Result(
        site.name,
        site.endless,
        pages,
        len(total),
        {name: [crawl.after(max(1, round(pages * s))) / tokens for s in SHARES] for name, crawl in crawls.items()},
        {name: crawl.requests_for(ENOUGH * tokens) for name, crawl in crawls.items()},
        len(ours.urls),
        len(ours.urls) - len(ours.texts),
        ours.parked,
        len(total) - len(ours.texts),
    )


def failures(results: list[Result]) -> list[str]:
    """The bars that are not reached, a sentence each."""
    found = []
    if (median := statistics.median(r.ratio for r in results)) > BAR:
        found.append(f"the median site needs {median:.2f} of breadth first's requests, bar {BAR}")
    found += [f"{r.site}: {r.ratio:.2f} of breadth first's requests, bar {WORST}" for r in results if r.ratio > WORST]
    found += [f"{r.site}: {r.lost} of {r.texts} texts are missing" for r in results if r.lost]
    return found + [
        f"{r.site}: {r.fruitless} fruitless requests, bar {FRUITLESS}"
        for r in results
        if r.endless and r.fruitless > FRUITLESS
    ]


def table(results: list[Result]) -> str:
    names = ["ours", *ORDERS]
    lines = [
        f"| site | pages | kept of {', '.join(f'{s:.0%}' for s in SHARES)}: {' | '.join(names)} | ratio | requests | "
        "fruitless | parked | lost |",
        "|" + "---|" * (len(names) + 7),
    ]
    for r in results:
        cells = [" ".join(f"{100 * share:.0f}" for share in r.shares[name]) for name in names]
        pages = f"{r.pages}{' ∞' if r.endless else ''}"
        cells = [r.site, pages, *cells, f"{r.ratio:.2f}", str(r.requests), str(r.fruitless), str(r.parked), str(r.lost)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.value", description=__doc__)
    parser.add_argument("--site", action="append", choices=[site.name for site in (*SITES, *HELD, *LATE)])
    parser.add_argument("--held", action="store_true", help="the sites that no constant was chosen on")
    parser.add_argument("--late", action="store_true", help="sites made to be hard for what was chosen last")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        server = stack.enter_context(EmbeddedServer(Path(folder)))
        named = [site for site in (*SITES, *HELD, *LATE) if site.name in (options.site or ())]
        chosen = LATE if options.late else HELD if options.held else SITES
        results = [measure(site, server) for site in named or chosen]
    if options.json:
        rows = [{name: getattr(r, name) for name in (*Result.__slots__, "ratio")} for r in results]
        print(json.dumps(rows, indent=1))
        return 0
    print(table(results))
    missed = failures(results)
    print("\n".join(f"missed: {line}" for line in missed) or f"all bars reached, median {_median(results):.2f}")
    return 1 if missed else 0


def _median(results: list[Result]) -> float:
    return statistics.median(r.ratio for r in results)


if __name__ == "__main__":
    sys.exit(main())
