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

from bench.web.prose import prose
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
    """Pages /p/word-0 …, short /notes/word-0 … Pages say what they said for 25 requests; then consent is asked for."""

    def __init__(self) -> None:
        super().__init__(SiteHandler, "127.0.31.6")
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.31.6:{self.port}"


class SiteHandler(Handler):
    server: TurningSite

    def respond(self) -> None:
        match = re.fullmatch(r"/(p|notes)/word-(\d+)", self.path)
        if match is None:
            self.send(404)
            return
        if match[1] == "notes":
            self.send(200, article(f"note {match[2]}", words=110, title="N"))
            return
        self.server.asked += 1
        if self.server.asked > TURNS_AT:
            note = "".join(f"<p>{p}</p>" for p in prose("consent", 150))
            self.send(200, article(match[2], words=70, title="P", note=note))
        else:
            self.send(200, article(match[2], words=900, title="P"))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory) -> Iterator[tuple[Path, str]]:
    site = TurningSite().start()
    folder = tmp_path_factory.mktemp("turning")
    (folder / "seeds.txt").write_text(
        "".join(f"{site.url}/p/word-{n}\n{site.url}/notes/word-{n}\n" for n in range(PAGES))
    )
    corpus = folder / "corpus"
    port = site.port
    run = on("crawl", "corpus", "-a", f"seeds={folder / 'seeds.txt'}", corpus=corpus, NETWORK_PORTS=port)
    site.stop()
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("quarantine") == 1 and "is in quarantine" in run.stderr
    yield corpus, f"127.0.31.6:{port}"


def on(*arguments: str, corpus: Path, **more: object) -> subprocess.CompletedProcess[str]:
    return scrapy(*arguments, settings={**SETTINGS, **more, "CORPUS_DIR": corpus})


def verdicts(corpus: Path) -> dict[str, str]:
    found = {}
    for kind in ("shards", "rejected", "held/yield"):
        for path in sorted((corpus / kind).glob("*.jsonl*")):
            for line in read_lines(path):
                record = orjson.loads(line)
                found[record["url"]] = record.get("reason", "kept")
    return found


def test_pages_behind_the_wall_are_held_with_their_whole_text_and_no_other_page_is(crawled):
    corpus, domain = crawled
    found = verdicts(corpus)
    assert len(found) == 2 * PAGES
    reasons = list(found.values())
    assert reasons.count("held_yield") >= PAGES - TURNS_AT - 5  # a window of five notices by its fifth page
    assert reasons.count("kept") == 2 * PAGES - reasons.count("held_yield")
    records = [orjson.loads(line) for path in (corpus / "held/yield").glob("*.jsonl*") for line in read_lines(path)]
    assert all(f"{domain}/p/word-# gave" in record["detail"] and len(record["text"]) > 800 for record in records)


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


def test_the_domain_is_listed_with_its_shape(crawled):
    corpus, domain = crawled
    listed = on("quarantine", corpus=corpus)
    assert listed.returncode == 0, listed.stderr
    assert re.fullmatch(rf"{domain}: .*{domain}/p/word-# were text when it fell.*\n", listed.stdout)
