"""`python -m bench.speed.links`: real documentation sites crawled for their links only, ours and its peers in one run.

Every contestant starts from the same seeds, follows links inside the seeded hosts, and fetches every page it finds;
requests are counted in the web server's access log. Pages a second from the first to the last request: what it takes
to start and to notice that it is done does not count. scrapy-redis gets a Valkey of its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import redis

from bench.machine import commit, machine
from bench.peer_spider import SEEDS
from bench.places import PROJECT
from bench.speed.crawl import LIMIT_SECONDS, is_html
from bench.speed.measure import Cost, measured
from bench.web.realweb import RealWeb, RealWebError, serve
from crawler.server.embedded import EmbeddedServer
from demo.outputs import read_access_log

PACKAGES = ["postgresql-doc-15", "python3.11-doc", "debian-handbook"]
BARS = {"scrapy-redis": 3.0, "plain Scrapy": 2.0}  # times as fast we want to be
PEER = {
    "CONCURRENT_REQUESTS": "16",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "16",
    "DOWNLOAD_DELAY": "0",
    "ROBOTSTXT_OBEY": "True",
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": "False",
    "REMOTE_CONTROL_ENABLED": "False",
}


@dataclass(frozen=True, slots=True)
class Result:
    """One contestant's crawl."""

    name: str
    pages: int
    seconds: float  # first to last request
    cost: Cost

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds if self.seconds else 0.0


def ours(web: RealWeb, folder: Path) -> list[str]:
    """This project's crawl, up to the links."""
    settings = {
        "SPIDER_MODULES": "bench.speed.links_our_spider",
        "CORPUS_DIR": str(folder / "corpus"),
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": str(urlsplit(web.seeds[0]).port),
        "DOWNLOAD_DELAY": "0",
        "CONCURRENT_REQUESTS_PER_DOMAIN": "16",
        "PROGRESS": "off",
        "LOG_LEVEL": "ERROR",
    }
    return _scrapy("crawl", "links-ours", {"url": ",".join(web.seeds)}, settings)


def plain(web: RealWeb, folder: Path) -> list[str]:  # noqa: ARG001  # one signature for all contestants
    """Plain Scrapy."""
    spider = str(PROJECT / "bench" / "speed" / "links_plain_spider.py")
    return _scrapy("runspider", spider, {"urls": ",".join(web.seeds)}, PEER)


def scrapy_redis(web: RealWeb, folder: Path) -> list[str]:
    """scrapy-redis, its seeds in the list."""
    url = (folder / "redis-url").read_text()
    redis.Redis.from_url(url).lpush(SEEDS, *web.seeds)
    hosts = ",".join(dict.fromkeys(str(urlsplit(seed).hostname) for seed in web.seeds))
    spider = str(PROJECT / "bench" / "peer_spider.py")
    return _scrapy("runspider", spider, {"hosts": hosts, "ends": "idle"}, PEER | {"REDIS_URL": url})


def _scrapy(command: str, what: str, arguments: dict[str, str], settings: dict[str, str]) -> list[str]:
    words = [sys.executable, "-m", "scrapy", command, what]
    for name, value in arguments.items():
        words += ["-a", f"{name}={value}"]
    for name, value in settings.items():
        words += ["-s", f"{name}={value}"]
    return words


CONTESTANTS = {"this project": ours, "scrapy-redis": scrapy_redis, "plain Scrapy": plain}


def run(name: str, web: RealWeb, base: Path) -> Result:
    """One contestant. Raises: RealWebError where its command fails."""
    folder = base / name.replace(" ", "-")
    folder.mkdir()
    before = len(read_access_log(web.access_log))
    with EmbeddedServer(folder / "valkey") as url:
        (folder / "redis-url").write_text(url)
        command = CONTESTANTS[name](web, folder)
        cwd = PROJECT if name == "this project" else folder  # outside the project: none of its settings
        cost = measured(command, folder / "output.log", cwd=cwd, limit_seconds=LIMIT_SECONDS)
    if cost.code:
        raise RealWebError(f"{name} ended with code {cost.code}:\n{(folder / 'output.log').read_text()[-3000:]}")
    log = [a for a in read_access_log(web.access_log)[before:] if a.page != "/robots.txt"]
    pages = sum(1 for a in log if a.status == 200 and is_html(a.page))
    return Result(name, pages, log[-1].time - log[0].time if log else 0.0, cost)


def report(results: list[Result], web: RealWeb) -> str:
    """The figures as the lines of docs/benchmarks.md."""
    own = next((r for r in results if r.name == "this project"), None)
    lines = [
        f"Measured {datetime.datetime.now(datetime.UTC):%Y-%m-%d} at commit {commit()} on {machine()}, served by "
        f"{web.server}: {', '.join(web.bases)}.",
        "",
        "| | pages | pages/s | CPU ms a page | this project is | bar |",
        "|---|---|---|---|---|---|",
    ]
    for r in results:
        ratio = f"{own.rate / r.rate:.1f} × as fast" if own and r is not own and r.rate else ""
        bar = f"{BARS[r.name]:g} ×" if r.name in BARS else ""
        cpu = 1000 * r.cost.cpu_seconds / max(r.pages, 1)
        lines.append(f"| {r.name} | {r.pages} | {r.rate:.1f} | {cpu:.1f} | {ratio} | {bar} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.links", description=__doc__)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name, serve(options.packages, Path(name)) as web:
        results = []
        for contestant in options.only:
            print(f"linkcrawl: {contestant} …", file=sys.stderr, flush=True)
            results.append(run(contestant, web, Path(name)))
        if options.json:
            print(json.dumps([{"name": r.name, "pages": r.pages, "rate": r.rate} for r in results]))
        else:
            print(report(results, web))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RealWebError, TimeoutError) as error:
        sys.exit(f"linkcrawl: {error}")
