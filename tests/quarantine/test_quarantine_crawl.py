"""A site that turns into a consent wall midway, crawled and replayed: the wall is not silently kept."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from crawler.observe.report import terminal
from crawler.observe.report.summary import summarise
from crawler.observe.report.webpage import page
from crawler.storage.files.shards import read_lines
from tests.support.process import scrapy
from tests.support.serving import Handler, LoopbackServer, article

PAGES, TURNS_AT = 50, 25
SETTINGS = {
    "NETWORK_ALLOW": "127.0.0.0/8",
    "DOWNLOAD_DELAY": 0,
    "STAGE_WORKERS": 1,
    "PII_PERSON": "off",
    "PROGRESS": "off",
    "QUALITY_RULES": "gopher_quality",
    "YIELD_HISTORY_PAGES": 10,
    "YIELD_WINDOW_PAGES": 5,
}


class TurningSite(LoopbackServer):
    """Pages /p/0 …; from the 25th page asked for, scripts and a consent text stand where the article was."""

    def __init__(self) -> None:
        super().__init__(SiteHandler, "127.0.31.6")
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.31.6:{self.port}"


class SiteHandler(Handler):
    server: TurningSite

    def respond(self) -> None:
        match = re.fullmatch(r"/p/(\d+)", self.path)
        if match is None:
            self.send(404)
            return
        self.server.asked += 1
        body = article(match[1], words=180, title="P")
        if self.server.asked > TURNS_AT:
            body = body.replace(b"</head>", f"<script>{'var consent = 1;' * 4000}</script></head>".encode())
        self.send(200, body)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory) -> Iterator[tuple[Path, str]]:
    site = TurningSite().start()
    folder = tmp_path_factory.mktemp("turning")
    (folder / "seeds.txt").write_text("".join(f"{site.url}/p/{n}\n" for n in range(PAGES)))
    corpus = folder / "corpus"
    port = site.port
    run = on("crawl", "corpus", "-a", f"seeds={folder / 'seeds.txt'}", corpus=corpus, NETWORK_PORTS=port)
    site.stop()
    assert run.returncode == 0, run.stderr
    assert "is in quarantine" in run.stderr
    yield corpus, f"127.0.31.6:{port}"


def on(*arguments: str, corpus: Path, **more: object) -> subprocess.CompletedProcess[str]:
    return scrapy(*arguments, settings={**SETTINGS, **more, "CORPUS_DIR": corpus})


def verdicts(corpus: Path) -> dict[str, str]:
    found = {}
    for kind in ("shards", "rejected"):
        for path in sorted((corpus / kind).glob("*.jsonl*")):
            for line in read_lines(path):
                record = orjson.loads(line)
                found[record["url"]] = record.get("reason", "kept")
    return found


def test_pages_behind_the_wall_are_in_rejected_with_their_own_reason(crawled):
    corpus, domain = crawled
    found = verdicts(corpus)
    assert len(found) == PAGES
    reasons = list(found.values())
    assert reasons.count("yield_quarantine") >= PAGES - TURNS_AT - 5  # a window of five notices by its fifth page
    records = [orjson.loads(line) for path in (corpus / "rejected").glob("*.jsonl*") for line in read_lines(path)]
    details = {r["detail"] for r in records if r["reason"] == "yield_quarantine"}
    assert all(domain in detail and "gives" in detail for detail in details)


def test_a_replay_of_the_archive_gives_the_same_verdicts(crawled, tmp_path):
    corpus, _ = crawled
    run = on("crawl", "replay", "-a", f"archive={corpus}/archive/*.warc.gz", corpus=tmp_path / "again")
    assert run.returncode == 0, run.stderr
    assert verdicts(tmp_path / "again") == verdicts(corpus)


def test_the_summary_and_the_page_for_a_browser_name_the_domain(crawled):
    corpus, domain = crawled
    summary = summarise(str(corpus))
    assert list(summary.quarantined) == [domain]
    out = io.StringIO()
    terminal.show(summary, Console(file=out, width=160))
    assert "In quarantine" in out.getvalue()
    assert domain in out.getvalue().partition("In quarantine")[2]
    assert "<h2>In quarantine</h2>" in page(summary)


def test_the_domain_is_listed_and_released_by_hand(crawled):
    corpus, domain = crawled
    listed = on("quarantine", corpus=corpus)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.startswith(f"{domain}: ")
    released = on("quarantine", "--release", domain, corpus=corpus)
    assert "is released" in released.stdout
    again = on("quarantine", "--release", domain, corpus=corpus)
    assert again.returncode == 1
    assert "has no history here" in again.stderr
