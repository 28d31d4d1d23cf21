"""`make bench`: real documentation sites through our crawler and through a plain Scrapy spider, figures side by side.

`python -m bench.speed.crawl [--packages …] [--pages N] [--only ours|inline|inline-patterns|inline-names]` serves the
Debian packages on loopback (`bench.web.realweb`), runs each contestant on the same seeds one after the other, and
writes what it measured between the markers of `docs/benchmarks.md`, with date, machine and commit.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from bench.machine import commit, machine
from bench.places import PROJECT
from bench.speed.measure import CHILDREN, OWN, SERVER, Cost, measured
from bench.web.pages import sample
from bench.web.realweb import RealWeb, RealWebError, serve, unpacked
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import STAGES, Chain, modules
from demo.outputs import read_access_log, read_corpus

PAGE = PROJECT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured by `make bench`: begin -->", "<!-- measured by `make bench`: end -->"
PACKAGES = ["postgresql-doc-15", "python3.11-doc", "debian-handbook"]
LIMIT_SECONDS = 1800.0
SAMPLE = 100  # pages a package for the costs by stage


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


def report(results: list[Result], web: RealWeb, costs: dict[str, float], pages: int) -> str:
    lines = [
        f"Measured {datetime.datetime.now(datetime.UTC):%Y-%m-%d} at commit {commit()} on {machine()}; one run each,",
        f"served by {web.server} on the same machine. Packages: {', '.join(web.bases)}"
        + (f"; at most {pages} pages a site." if pages else "."),
        "",
        "| | pages | pages/s | CPU ms a page | peak memory | kept | wall clock |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.name} | {r.pages} | {r.rate:.1f} | {1000 * r.cost.cpu_seconds / max(r.pages, 1):.0f} "
        f"| {r.cost.peak_bytes / 2**20:.0f} MiB | {r.verdicts['kept']} | {r.cost.seconds:.0f} s |"
        for r in results
    ]
    lines += [
        "",
        "Pages a second from the first request until everything is written and the command has ended, loading the",
        "models included; memory and CPU of all processes of a contestant, an embedded Valkey included.",
        "",
        *(line for r in results for line in _parts(r)),
    ]
    for r in results[:1]:
        reasons = ", ".join(f"{reason} {count}" for reason, count in r.verdicts.most_common() if reason != "kept")
        lines += [textwrap.fill(f"Rejected by {r.name}: {reasons or 'nothing'}.", 118, break_on_hyphens=False), ""]
    if costs:
        lines += ["| stage | CPU ms a page |", "|---|---|"]
        lines += [f"| {name} | {seconds * 1000:.1f} |" for name, seconds in costs.items()]
        lines += ["", "Stages one after the other in one process, on a sample of the same pages."]
    return "\n".join(lines)


def _parts(result: Result) -> list[str]:
    """Whose CPU time it was, of a contestant that has a server."""
    own, children, server = (result.cost.shares.get(kind, 0.0) for kind in (OWN, CHILDREN, SERVER))
    if not server:
        return []
    a_page = [f"{1000 * seconds / max(result.pages, 1):.1f}" for seconds in (own, children, server)]
    parts = "Scrapy's process with its start {}, stage processes {}, Valkey {}".format(*a_page)
    return [f"CPU ms a page of {result.name}: {parts}.", ""]


def stage_costs(packages: list[str]) -> dict[str, float]:
    """CPU seconds a page by stage, over all pages of a sample: a page that is dropped costs later stages nothing.

    What the fork server of a crawl loads for all its processes is loaded before.
    """
    config = from_mapping({})
    for module in modules(config):
        import_module(module)
    chain, spent, count = Chain(config), Counter[str](), 0
    for name in packages:
        docs = list(sample(unpacked(name), SAMPLE))
        for doc in docs[:3]:  # models load on first use
            chain.run(Document(url=doc.url, html=doc.html, content_type=doc.content_type))
        for doc in docs:
            spent.update(chain.run(doc).timings)
        count += len(docs)
    return {name: spent[name] / count for name in STAGES} | {"all stages": sum(spent.values()) / count}


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
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--pages", type=int, default=0, help="at most so many pages a site; 0 = all")
    parser.add_argument("--only", nargs="+", choices=contestants, default=["ours", "inline", "inline-patterns"])
    parser.add_argument("--dry", action="store_true", help="print the figures, leave docs/benchmarks.md alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        base = Path(name)
        with serve(options.packages, base) as web:
            results = []
            for key in options.only:
                folder = base / key
                folder.mkdir()
                print(f"bench: {key} …", flush=True)
                results.append(contestants[key](web, folder, options.pages))
                print(f"bench: {key}: {results[-1].pages} pages, {results[-1].rate:.1f} pages/s", flush=True)
        text = report(results, web, stage_costs(options.packages) if "ours" in options.only else {}, options.pages)
    print(text)
    if not options.dry:
        write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RealWebError, TimeoutError) as error:
        sys.exit(f"bench: {error}")
