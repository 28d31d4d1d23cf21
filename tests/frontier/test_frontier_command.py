"""`scrapy frontier` as a person types it, against a frontier with something in it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Candidate, Limits

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scrapy_frontier(valkey_url, crawl_name):
    def run(*args: str, **settings: str) -> subprocess.CompletedProcess[str]:
        given = {"REDIS_URL": valkey_url, "CRAWL_ID": crawl_name, "DOWNLOAD_DELAY": "10", **settings}
        options = [part for name, value in given.items() if value for part in ("-s", f"{name}={value}")]
        return subprocess.run(
            [sys.executable, "-m", "scrapy", "frontier", *options, *args],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def filled(valkey_url, crawl_name) -> None:
    async def fill() -> None:
        frontier = Frontier(valkey_url, crawl_name, Limits())
        await frontier.open()
        await frontier.put([Candidate(f"https://deep.example/{i}") for i in range(50)])
        await frontier.put([Candidate("https://small.example/"), Candidate("https://held.example/")])
        await frontier.block("small.example", frontier.now() + 3600.0, "HTTP 429")
        for lease in (await frontier.lease(2)).leases:
            if lease.scope == "held.example":
                await frontier.hold(lease.token, frontier.now() + 3600.0, "robots.txt answers 503")
            else:
                await frontier.release([lease.token])
        await frontier.close()

    asyncio.run(fill())


def test_status_shows_what_a_person_asks_first(scrapy_frontier, filled):
    done = scrapy_frontier("status")
    assert done.returncode == 0, done.stderr
    assert "queued 51 (1 of them far in the future)   leased 0   on hold 1" in done.stdout
    assert "50  deep.example" in done.stdout
    assert "blocked: HTTP 429" in done.stdout


def test_status_for_machines_counts_what_politeness_allows_not_the_depth_of_one_host(scrapy_frontier, filled):
    status = json.loads(scrapy_frontier("--json", "status").stdout)
    assert status["counts"]["queued"] == 51
    assert 0 < status["fetchable"] <= 6  # one a ten seconds


def test_a_crawl_is_paused_and_resumed_requeued_and_purged(scrapy_frontier, filled):
    assert scrapy_frontier("pause").returncode == 0
    assert ": pause" in scrapy_frontier("status").stdout
    assert scrapy_frontier("resume").stdout == "running\n"
    assert scrapy_frontier("requeue", "held").stdout == "1 URLs went back into their queues\n"
    assert scrapy_frontier("purge", "deep.example").stdout.startswith("50 URLs of deep.example are gone")


def test_a_misspelt_action_and_a_missing_frontier_are_errors(scrapy_frontier, tmp_path):
    wrong = scrapy_frontier("requeue", "everything")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "requeue held|later|dead" in wrong.stderr
    absent = scrapy_frontier("status", REDIS_URL="", CORPUS_DIR=str(tmp_path / "none"))
    assert absent.returncode == 1
    assert "holds no frontier" in absent.stderr
    assert not (tmp_path / "none").exists()
