"""`python -m bench.egress [--kills N] [PART …]`: what forward proxies (tinyproxy, proxy.py, microsocks) do to a crawl.

spellings: no spelling of a closed address passes, as a seed, a link, a redirect or a sitemap. deaths: a proxy is killed
in mid-crawl; no page is lost, no try counted, nothing sent directly. rates: sites are asked as often as without them.
browser: a page that Chromium draws, with its script and data. addresses: the first of a name's addresses is dead. Each
is read from the sites' own logs. Exit code 1 where one of them is otherwise.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import orjson

from bench.machine import commit, machine
from crawler.statkeys import DOWNLOAD_ERRORS
from tests.browser.conftest import drawn, prose
from tests.downloader.test_egress_crawl import DIRECT, GuardedWeb, Sites, figures
from tests.middlewares.wire.policy_cases import to
from tests.middlewares.wire.test_wire_guard import SPELLINGS, listening_on_ipv6
from tests.plan.conftest import Mill
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl, crawl, finished, start_crawl
from tests.support.forward_proxies import KINDS, PASSWORD, USER, ForwardProxy
from tests.support.loopback_web import Answer
from tests.support.places import PROJECT
from tests.support.process import clean_environment, options
from tests.support.serving import Gate, article

FIRST, SECOND = "127.99.0.1", "127.99.0.2"
DELAY, FASTER = 0.5, 1.05
"""Seconds between two requests to a site; how many times as often as that allows it may be asked (clocks)."""
CLOSED = (
    *SPELLINGS,
    "[64:ff9b::7fc8:1]",
    "[2002:7fc8:1::]",
    "[::127.200.0.1]",
    "127.200.00.01",
    "0x7FC80001",
    "%31%32%37.200.0.1",
)
"""Those of the tests, and addresses that carry the closed one: NAT64 (RFC 6052), 6to4 (RFC 3056), IPv4-compatible."""
Found = Iterator[tuple[str, bool]]
"""What was seen, and whether it is as it should be."""


def spellings(folder: Path, _: argparse.Namespace) -> Found:
    """Through each kind of proxy."""
    os.environ["PORTER"] = f"{USER}:{PASSWORD}"
    for kind in KINDS:
        source = _source(kind, FIRST)
        with (
            GuardedWeb() as web,
            listening_on_ipv6(web.port) as arrived,
            ForwardProxy(kind, folder / kind, source, login=True) as proxy,
        ):
            urls = [f"http://{host}:{web.port}/page" for host in CLOSED]
            robots = "".join(f"Sitemap: http://{host}:{web.port}/sitemap.xml\n" for host in CLOSED)
            links = "".join(f'<a href="{url}?linked">here</a>' for url in urls)
            ways = {f"/to/{n}": to(f"{url}?redirected") for n, url in enumerate(urls) if url.isascii()}
            page = Answer(body=article("guard") + links.encode())
            names = Answer(body=robots.encode(), content_type="text/plain")
            web.site("127.4.0.1", {"/robots.txt": names, "/page": page} | ways)
            here = f"http://127.4.0.1:{web.port}"
            done = crawl(folder / kind / "corpus", [*urls, f"{here}/page", *(here + way for way in ways)], web.port,
                         CRAWLER_CONTACT="https://example.org/bot", EGRESS_PROXIES=proxy.url)  # fmt: skip
            held = (
                done.returncode == 0
                and not arrived
                and set(web.connected) == {"127.4.0.1"}
                and web.sources == {source or DIRECT}
            )
            told = PASSWORD.encode() in done.everything
            text = f"{kind}: {len(CLOSED)} spellings, four ways each: connected to {_set(web.connected)}"
            yield (
                f"{text}; login {'TOLD' if told else 'not told'}",
                held and not told and set(done.kept) == {f"{here}/page"},
            )


def deaths(folder: Path, opts: argparse.Namespace) -> Found:
    """A proxy of each kind, beside one of another kind."""
    draw = random.Random(opts.seed)
    for kill in range(opts.kills):
        kind, other = KINDS[kill % len(KINDS)], KINDS[(kill + 2) % len(KINDS)]
        gate, here = Gate(draw.randint(2, 14)), folder / str(kill)
        with (
            Sites(gate) as web,
            ForwardProxy(kind, here, _source(kind, FIRST)) as first,
            ForwardProxy(other, here, _source(other, SECOND)) as second,
        ):
            urls = web.urls(8, 4)
            settings = {"RETRY_TIMES": 0, "OPTOUT_PROFILE": "minimal", "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
            both = f"{first.url},{second.url}"
            running = start_crawl(here / "corpus", urls, web.port, EGRESS_PROXIES=both, **settings)
            gate.wait(1)
            first.kill()
            gate.open()
            done = finished(here / "corpus", running)
        through = figures(done)
        asked, sent = sum(map(len, web.log.values())), sum(one.get("requests", 0) for one in through.values())
        ours = {proxy.source or DIRECT for proxy in (first, second)}
        whole = done.returncode == 0 and set(done.kept) == set(urls)
        direct = max(0, asked - sent) + sum(s not in ours for log in web.log.values() for _, s, _ in log)
        errors = _errors(done)
        broken = through[first.name].get("broken_off", 0)
        text = f"{kind} killed beside {other}: kept {len(done.kept)} of {len(urls)}, {broken} broken off, "
        yield f"{text}{errors} errors of sites, {direct} direct connections", whole and not errors and not direct


def rates(folder: Path, _: argparse.Namespace) -> Found:
    """Three proxies of each kind, against none."""
    without = _fastest(folder / "none", [])
    for kind in KINDS:
        proxies = [ForwardProxy(kind, folder / kind, _source(kind, f"127.99.0.{n + 1}")) for n in range(3)]
        with ExitStack() as stack:
            for proxy in proxies:
                stack.enter_context(proxy)
            through = _fastest(folder / kind, proxies)
        ratio = max(through[site] / without[site] for site in without)
        text = (
            f"{kind} × 3: {max(through.values()):.3f} requests a second to the site asked most often; without proxies "
        )
        yield (f"{text}{max(without.values()):.3f}; at most {ratio:.3f} times as often to a site",
               max(through.values()) <= FASTER / DELAY and through.keys() == without.keys())  # fmt: skip


def _fastest(folder: Path, proxies: list[ForwardProxy]) -> Mapping[str, float]:
    """Requests a second to each site, from its own log, by its first and its last request."""
    with Sites() as web:
        done = crawl(folder / "corpus", web.urls(4, 12), web.port, DOWNLOAD_DELAY=DELAY, ADDRESS_DELAY=0,
                     EGRESS_PROXIES=",".join(one.url for one in proxies), CONCURRENT_REQUESTS_PER_DOMAIN=1)  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.log[-2000:])
        return {site: (len(asked) - 1) / (asked[-1][0] - asked[0][0]) for site, asked in web.log.items()}


def browser(folder: Path, _: argparse.Namespace) -> Found:
    """Through each kind of proxy."""
    shell = """fetch('/data.json').then(a => a.json()).then(d => {
        document.getElementById('root').innerHTML = '<main><h1>Drawn</h1><p>' + d.text + '</p></main>'; });"""
    for kind in KINDS:
        source, data = _source(kind, FIRST), orjson.dumps({"text": prose("lighthouse")})
        with GuardedWeb() as web, ForwardProxy(kind, folder / kind, source) as proxy:
            page = Answer(body=drawn("").body.partition(b"<script>")[0] + b"<script src=/app.js></script>")
            here = web.site("127.0.0.2", {
                "/": page,
                "/app.js": Answer(body=shell.encode(), content_type="text/javascript"),
                "/data.json": Answer(body=data, content_type="application/json"),
            })  # fmt: skip
            done = crawl(folder / kind / "corpus", [f"{here}/"], web.port, EGRESS_PROXIES=proxy.url, JS_MODE="auto")
            record = done.kept.get(f"{here}/", {})
            asked = [path for path in web.asked["127.0.0.2"] if path in ("/", "/app.js", "/data.json")]
            sent = figures(done)[proxy.name].get("requests", 0)
            total = sum(map(len, web.asked.values()))
            text = (
                f"{kind}: drawn by {record.get('method_used')}, asked for {_set(asked)}, {total} requests at the site"
            )
            yield (f"{text}, {sent} through the proxy",
                   record.get("text", "").endswith(prose("lighthouse")) and web.sources == {source or DIRECT}
                   and total == sent)  # fmt: skip


def addresses(folder: Path, _: argparse.Namespace) -> Found:
    """Directly, and through each kind of proxy."""
    for kind in ("", *KINDS):
        with Mill(1) as mill, ExitStack() as stack:  # listens at 127.0.0.1 alone
            proxy = stack.enter_context(ForwardProxy(kind, folder / kind, _source(kind, FIRST))) if kind else None
            corpus, url = folder / (kind or "direct") / "corpus", f"http://several.example:{mill.port}/0"
            settings = SETTINGS | {"CORPUS_DIR": corpus, "NETWORK_PORTS": mill.port, "RETRY_TIMES": 0,
                                   "EGRESS_PROXIES": proxy.url if proxy else "",
                                   "CRAWLER_CONTACT": "https://example.org/bot"}  # fmt: skip
            call = [sys.executable, "-m", "bench.egress.named", "several.example=127.5.0.9,127.0.0.1", "--", "crawl",
                    "corpus", "-a", f"url={url}", *options(settings)]  # fmt: skip
            done = subprocess.run(
                call, env=clean_environment(), cwd=PROJECT, capture_output=True, text=True, check=False
            )
            found = CorpusCrawl(corpus, done.stderr, done.returncode)
            text = f"{kind or 'directly'}: the first of two addresses refuses: kept {len(found.kept)} of 1"
            yield f"{text}, the site was asked {len(mill.log)} times", done.returncode == 0 and set(found.kept) == {url}


def _source(kind: str, address: str) -> str:
    return "" if kind == "proxy.py" else address


def _errors(done: CorpusCrawl) -> int:
    """Failures of requests that were counted as a site's."""
    counters = orjson.loads((done.folder / "manifest.json").read_bytes())["runs"][-1]["counters"]
    return sum(int(count) for name, count in counters.items() if name.startswith(f"{DOWNLOAD_ERRORS}/")) + len(
        done.rejected
    )


def _set(found: object) -> str:
    return ", ".join(sorted({str(one) for one in found})) or "nothing"  # type: ignore[attr-defined]


PARTS: Mapping[str, Callable[[Path, argparse.Namespace], Found]] = {
    part.__name__: part for part in (spellings, deaths, rates, browser, addresses)
}


def main() -> int:
    """Print what was seen; 1 where something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    opts = parser.parse_args()
    wrong = 0
    for name in opts.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            for text, holds in PARTS[name](Path(folder), opts):
                print(f"{name}: {text}{'' if holds else '  WRONG'}", flush=True)
                wrong += not holds
            print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    print(f"{machine()}, commit {commit()}; {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
