"""Crawls the test web of opt-outs and failures, with this crawler and stock Scrapy, and writes docs/policy-table.md.

    python -m bench.quality.optout_table         measure both, write the page
    python -m bench.quality.optout_table --ours  measure this crawler only; exit code 1 where it deviates from the table

Stock Scrapy is a plain spider with the settings of its project template that matter here (ROBOTSTXT_OBEY on) and our
product token as its User-Agent; a page is kept where its callback gets it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import scrapy
from scrapy.crawler import AsyncCrawlerProcess

from bench.places import PROJECT
from tests.middlewares.wire.policy_cases import CASES, PROFILES, SECTIONS, Case
from tests.support.corpus_crawl import CorpusCrawl, crawl
from tests.support.loopback_web import PolicyWeb

PAGE = PROJECT / "docs" / "policy-table.md"
TIMEOUT_SECONDS = 3.0
COLUMNS = ("the site says", "this crawler", "Scrapy 2.19")


@dataclass
class Measured:
    """One crawl of the whole web: what was asked for, and how every case ended."""

    crawl: CorpusCrawl
    urls: dict[Case, str]
    asked: dict[str, list[str]]
    outcomes: dict[Case, str]


def measure_ours(folder: Path, profile: str) -> Measured:
    """Crawl every case under a profile; the corpus stays in `folder`."""
    with PolicyWeb() as web:
        urls = {case: case.declare(web, profile) for case in CASES}
        settings = {"OPTOUT_PROFILE": profile, "DOWNLOAD_TIMEOUT": TIMEOUT_SECONDS}
        settings["OPTOUT_NOTED_FILES"] = "ai-policy.json,llms.txt"
        done = crawl(folder / "corpus", list(urls.values()), web.port, **settings)
        outcomes = {case: _outcome(case, url, web, done) for case, url in urls.items()}
        return Measured(done, urls, web.asked, outcomes)


def _outcome(case: Case, url: str, web: PolicyWeb, done: CorpusCrawl) -> str:
    if url in done.kept:
        return "kept"
    if url not in done.rejected:
        return "lost"
    how = "unasked" if "/page" not in web.asked[case.address] else "head" if case.address in web.unread else "body"
    return f"{how} {done.rejected[url]['reason']}"


def measure_stock() -> dict[str, str]:
    """Crawl every case with stock Scrapy; the cell of each case by `key_of`."""
    with PolicyWeb() as web:
        urls = {case: case.declare(web) for case in CASES}
        command = [sys.executable, "-m", "bench.quality.optout_table", "--stock"]
        done = subprocess.run(
            command, cwd=PROJECT, input=json.dumps(list(urls.values())), capture_output=True, text=True, check=True
        )
        kept = set(json.loads(done.stdout.splitlines()[-1]))
        return {key_of(case): _stock_cell(case, url in kept, web) for case, url in urls.items()}


def _stock_cell(case: Case, kept: bool, web: PolicyWeb) -> str:
    if "/page" not in web.asked[case.address]:
        return "not requested"
    return "**kept**" if kept and case.strict != "kept" else "kept" if kept else "requested, not kept"


class StockSpider(scrapy.Spider):
    """Keeps what arrives."""

    name = "stock"
    kept: list[str]
    urls: list[str]

    async def start(self):
        for url in self.urls:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response):
        self.kept.append(response.request.url)


def run_stock(urls: list[str]) -> list[str]:
    """In a process of its own: the URLs whose pages arrived."""
    kept: list[str] = []
    settings = {"ROBOTSTXT_OBEY": True, "USER_AGENT": "CorpusBot", "DOWNLOAD_TIMEOUT": TIMEOUT_SECONDS}
    process = AsyncCrawlerProcess(settings | {"LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 64})
    process.crawl(StockSpider, urls=urls, kept=kept)
    process.start()
    return kept


def key_of(case: Case) -> str:
    """What names a case in the page: its section and the first cell."""
    return f"{SECTIONS[case.section]} | {case.what}"


def render(stock: dict[str, str]) -> str:
    """The page, with the measured column of stock Scrapy."""
    return "\n".join(_lines(stock)) + "\n"


def _lines(stock: dict[str, str]) -> Iterator[str]:
    yield INTRODUCTION.format(cases=len(CASES), kept=_wrongly_kept(stock), refused=_refused())
    for section, heading in SECTIONS.items():
        yield f"\n## {heading}\n"
        yield f"| {' | '.join(COLUMNS)} |"
        yield "|" + "---|" * len(COLUMNS)
        for case in CASES:
            if case.section == section:
                cells = [_cell(case.expected(profile)) for profile in PROFILES]
                yield f"| {' | '.join([case.what, _profiles(cells), stock[key_of(case)]])} |"


def _cell(outcome: str) -> str:
    how, _, reason = outcome.partition(" ")
    words = {
        "kept": "kept",
        "unasked": "not requested",
        "head": "headers",
        "body": "body",
    }
    return f"{words[how]}: `{reason}`" if reason else words[how]


def _profiles(cells: list[str]) -> str:
    """What `strict` does, and in brackets what less strict profiles do where it is something else."""
    named = zip(PROFILES[1:], cells[1:], strict=True)
    others = ", ".join(f"{name}: {cell}" for name, cell in named if cell != cells[0])
    return f"{cells[0]} ({others})" if others else cells[0]


def _refused() -> int:
    return sum(case.strict != "kept" for case in CASES)


def _wrongly_kept(stock: dict[str, str]) -> int:
    return sum(cell == "**kept**" for cell in stock.values())


def stock_column(page: str) -> dict[str, str]:
    """The measured column of an existing page."""
    found, heading = {}, ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| ") and not line.startswith(f"| {COLUMNS[0]}"):
            cells = line.strip("| ").split(" | ")
            found[f"{heading} | {' | '.join(cells[:-2])}"] = cells[-1]
    return found


INTRODUCTION = """# Policy on the wire, measured

Written by `python -m bench.quality.optout_table`; do not edit. Each line is one site on a loopback address ({cases} of
them), crawled by this crawler under each profile and by a plain Scrapy 2.19 spider with ROBOTSTXT_OBEY. What was
requested is read from the server's log. `tests/middlewares/wire` crawls the same web and holds this crawler to every
cell, and to this: of a page that was stopped, no word is in CORPUS_DIR or in the log at level DEBUG.

- *not requested*: the page was never asked for. *headers*: the connection was closed before the body was sent. *body*:
  read, because a page may overrule its header, and dropped before anything was written.
- In brackets: where balanced or minimal end otherwise than `strict`. **kept**: by Scrapy, although `strict` stops it.
- `strict` stops {refused} of the {cases} pages; Scrapy keeps {kept} of those."""


def main() -> int:
    if "--stock" in sys.argv:
        print(json.dumps(run_stock(json.load(sys.stdin))))
        return 0
    wrong = 0
    for profile in PROFILES:
        with tempfile.TemporaryDirectory() as folder:
            measured = measure_ours(Path(folder), profile)
            for case, outcome in measured.outcomes.items():
                if outcome != case.expected(profile):
                    wrong += 1
                    print(f"{profile}: {key_of(case)}: {outcome}, expected {case.expected(profile)}")
    if not wrong and "--ours" not in sys.argv:
        PAGE.write_text(render(measure_stock()), encoding="utf-8")
    print(f"{len(CASES)} cases, {wrong} cells differ from the table")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
