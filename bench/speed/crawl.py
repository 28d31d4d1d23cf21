"""`make bench`: documentation and pages of the web through our crawler and through a plain Scrapy spider, side by side.

`python -m bench.speed.crawl [--sets docs|web] [--packages …] [--pages N] [--only ours|inline|inline-patterns|…]` serves
Debian packages (`bench.web.realweb`), then pages of the web (`bench.web.webpages`), on loopback, runs each contestant
on the same seeds one after the other, and the stages, ours and two peers' (`bench.speed.peers`), on a sample of the
pages; it writes what it measured between the markers of `docs/benchmarks.md`, with date, machine and commit.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from bench.machine import commit, machine
from bench.places import PROJECT
from bench.speed import peers
from bench.speed.measure import CHILDREN, OWN, SERVER, Cost, measured
from bench.web import webpages
from bench.web.pages import sample
from bench.web.realweb import PACKAGES as KNOWN
from bench.web.realweb import RealWeb, RealWebError, serve_roots, unpacked
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import STAGES, Chain, modules
from crawler.stages.models.preload import MANY
from demo.outputs import read_access_log, read_corpus

PAGE = PROJECT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured by `make bench`: begin -->", "<!-- measured by `make bench`: end -->"
PACKAGES = ["postgresql-doc-15", "python3.11-doc", "debian-handbook"]
LIMIT_SECONDS = 1800.0
SETS = ("docs", "web")
SAMPLE = 300  # pages of each column of the costs by stage


@dataclass(frozen=True, slots=True)
class Result:
    """What one contestant did and what it cost."""

    name: str
    cost: Cost
    pages: int  # answered with 200 and HTML, as the server's access log counts them
    crawl_seconds: float  # from the first request in the access log to the end of the command
    verdicts: Counter[str]  # "kept" and the reasons

    @property
    def rate(self) -> float:
        """Pages a second from the first request until everything is written and the command has ended."""
        return self.pages / self.crawl_seconds if self.crawl_seconds else 0.0


@dataclass(frozen=True, slots=True)
class Served:
    """One set of pages, and what the contestants did with it."""

    name: str  # of SETS
    what: str  # for people
    server: str
    results: Sequence[Result]


def run_ours(web: RealWeb, folder: Path, pages: int) -> Result:
    settings = {
        "CORPUS_DIR": str(folder / "corpus"),
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": str(urlsplit(web.seeds[0]).port),
        "DOWNLOAD_DELAY": "0",
        "CONCURRENT_REQUESTS_PER_DOMAIN": "16",
        "PROGRESS": "off",
        "LOG_LEVEL": "ERROR",
        "FRONTIER_MAX_PAGES_PER_DOMAIN": str(pages),
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", f"url={','.join(web.seeds)}"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    cost, fetched, seconds = _run(command, web, folder, cwd=PROJECT)
    corpus = read_corpus(folder / "corpus")
    verdicts = Counter(record["reason"] for record in corpus.rejected)
    verdicts["kept"] = len(corpus.kept)
    return Result("this project", cost, fetched, seconds, verdicts)


def run_inline(web: RealWeb, folder: Path, pages: int, pii: str) -> Result:
    arguments = {"urls": ",".join(web.seeds), "out": folder / "out.jsonl", "summary": folder / "out.json", "pii": pii}
    command = [sys.executable, "-m", "scrapy", "runspider", str(PROJECT / "bench" / "speed" / "inline_spider.py")]
    for name, value in arguments.items():
        command += ["-a", f"{name}={value}"]
    command += ["-s", f"CLOSESPIDER_PAGECOUNT={pages * len(web.bases)}"]
    cost, fetched, seconds = _run(command, web, folder, cwd=folder)  # outside the project: none of its settings
    verdicts = Counter(json.loads((folder / "out.json").read_text("utf-8"))["reasons"])
    return Result(f"inline spider, PII {pii}", cost, fetched, seconds, verdicts)


def _run(command: list[str], web: RealWeb, folder: Path, cwd: Path) -> tuple[Cost, int, float]:
    before = len(read_access_log(web.access_log))
    cost = measured(command, folder / "output.log", cwd=cwd, limit_seconds=LIMIT_SECONDS, daemons_in=folder)
    ended = time.time()
    if cost.code:
        raise RealWebError(f"the crawl ended with code {cost.code}:\n{(folder / 'output.log').read_text()[-3000:]}")
    log = read_access_log(web.access_log)[before:]
    pages = [a for a in log if a.status == 200 and a.page != "/robots.txt" and is_html(a.page)]
    return cost, len(pages), ended - log[0].time if log else 0.0


def is_html(path: str) -> bool:
    """Whether a path of the access log is a page."""
    return path.endswith(("/", ".html", ".htm"))


def report(sets: Sequence[Served], costs: Mapping[str, Mapping[str, float]], pages: int) -> str:
    """The figures as Markdown. costs: of `stage_costs`, by the name of what was sampled."""
    lines = [
        f"Measured {datetime.datetime.now(datetime.UTC):%Y-%m-%d} at commit {commit()} on {machine()}; one run each,",
        f"served by {sets[0].server} on the same machine" + (f"; at most {pages} pages a site." if pages else "."),
        *(f"*{one.name}*: {one.what}." for one in sets),
        "",
        "| | pages | pages/s | CPU ms a page | peak memory | kept | wall clock |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.name}: {r.name} | {r.pages} | {r.rate:.1f} | {1000 * r.cost.cpu_seconds / max(r.pages, 1):.0f} "
        f"| {r.cost.peak_bytes / 2**20:.0f} MiB | {r.verdicts['kept']} | {r.cost.seconds:.0f} s |"
        for one in sets
        for r in one.results
    ]
    lines += [
        "",
        "Pages a second from the first request until everything is written and the command has ended, loading the",
        "models included; memory and CPU of all processes of a contestant, an embedded Valkey included.",
        "",
        *(line for one in sets for r in one.results for line in _parts(one.name, r)),
    ]
    if costs:
        rows = {name: None for some in costs.values() for name in some}
        lines += [f"| CPU ms a page | {' | '.join(costs)} |", f"|---|{'---|' * len(costs)}"]
        lines += [f"| {name} | {' | '.join(f'{1000 * some[name]:.1f}' for some in costs.values())} |" for name in rows]
        lines += ["", f"Stages one after the other in one process, on up to {SAMPLE} of the same pages of each kind."]
    return "\n".join(lines)


def _parts(name: str, result: Result) -> list[str]:
    """Whose CPU time it was, of a contestant that has a server."""
    own, children, server = (result.cost.shares.get(kind, 0.0) for kind in (OWN, CHILDREN, SERVER))
    if not server:
        return []
    a_page = [f"{1000 * seconds / max(result.pages, 1):.1f}" for seconds in (own, children, server)]
    parts = "Scrapy's process with its start {}, stage processes {}, Valkey {}".format(*a_page)
    return [f"CPU ms a page of {result.name} ({name}): {parts}.", ""]


def stage_costs(roots: Sequence[Path]) -> dict[str, float]:
    """CPU seconds a page by stage, and of two peers, over all pages of a sample: one that is dropped costs later stages
    nothing.

    What the fork server of a crawl loads for all its processes is loaded before.
    """
    config = from_mapping({})
    for module in modules(from_mapping({"STAGE_WORKERS": MANY})):
        import_module(module)
    chain, spent = Chain(config), Counter[str]()
    docs = [doc for root in roots for doc in sample(root, SAMPLE // len(roots))]
    for doc in docs[:3]:  # models load on first use
        chain.run(Document(url=doc.url, html=doc.html, content_type=doc.content_type))
    texts = [doc.html.decode("utf-8", "replace") for doc in docs]
    for doc in docs:
        spent.update(chain.run(doc).timings)
    ours = {name: spent[name] / len(docs) for name in STAGES} | {"all stages": sum(spent.values()) / len(docs)}
    return ours | {f"peer: {name}": seconds for name, seconds in peers.costs(texts).items()}


def write(text: str) -> None:
    """Replace what stands between the markers of the page."""
    page = PAGE.read_text("utf-8")
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise RealWebError(f"{PAGE} lacks the lines {BEGIN!r} and {END!r}")
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", "utf-8")


def main() -> int:
    contestants = {
        "ours": run_ours,
        "inline": lambda web, folder, pages: run_inline(web, folder, pages, "off"),
        "inline-patterns": lambda web, folder, pages: run_inline(web, folder, pages, "patterns"),
        "inline-names": lambda web, folder, pages: run_inline(web, folder, pages, "names"),
    }
    parser = argparse.ArgumentParser(prog="python -m bench.speed.crawl", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--pages", type=int, default=0, help="at most so many pages a site; 0 = all")
    parser.add_argument("--only", nargs="+", choices=contestants, default=["ours", "inline", "inline-patterns"])
    parser.add_argument("--dry", action="store_true", help="print the figures, leave docs/benchmarks.md alone")
    options = parser.parse_args()
    served: list[Served] = []
    costs: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as base:
        for name in options.sets:
            folder = Path(base) / name
            folder.mkdir()
            if name == "docs":
                roots, what = {one: unpacked(one) for one in options.packages}, ", ".join(options.packages)
                samples = {"docs": list(roots.values())}
            else:
                roots, what = webpages.write_sites(folder / "sites", pages=options.pages), webpages.source()
                samples = {one: [root] for one, root in roots.items()}
            entries = {one: KNOWN[one].entries for one in roots if one in KNOWN}
            with serve_roots(roots, folder, entries=entries) as web:
                served.append(Served(name, what, web.server, [
                    _contest(f"{name}: {key}", contestants[key], web, folder / key, options.pages)
                    for key in options.only
                ]))  # fmt: skip
            if "ours" in options.only:
                costs |= {one: stage_costs(found) for one, found in samples.items()}
        text = report(served, costs, options.pages)
    print(text)
    if not options.dry:
        write(text)
    return 0


def _contest(name: str, run: Callable[[RealWeb, Path, int], Result], web: RealWeb, folder: Path, pages: int) -> Result:
    folder.mkdir()
    print(f"bench: {name} …", flush=True)
    result = run(web, folder, pages)
    print(f"bench: {name}: {result.pages} pages, {result.rate:.1f} pages/s", flush=True)
    return result


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RealWebError, TimeoutError) as error:
        sys.exit(f"bench: {error}")
