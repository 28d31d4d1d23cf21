"""A run that judges nothing says why: its seeds are known or refused, or the crawl is draining."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.statkeys import WAITING
from tests.support import warm
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.places import PROJECT
from tests.support.serving import article

LOOPBACK = "127.0.0.0/8"


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as server:
        server.site("127.0.0.2", {"/": Answer(body=article("The first page")), "/b": Answer(body=article("Another"))})
        yield server


def scrapy(corpus: Path, web: PolicyWeb, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    given = {
        "CORPUS_DIR": corpus, "NETWORK_ALLOW": LOOPBACK, "NETWORK_PORTS": web.port, "FRONTIER_IDLE_SECONDS": 0.3,
        "EXTRACTION_MIN_WORDS": 5, "STAGE_WORKERS": 0,
    } | settings  # fmt: skip
    options = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    return warm.run(
        [sys.executable, "-m", "scrapy", *arguments, *options],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(PROJECT), "COLUMNS": "300"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_second_run_says_that_its_seeds_are_known(tmp_path: Path, web: PolicyWeb) -> None:
    url = f"url={web.base('127.0.0.2')}/"
    first = scrapy(tmp_path / "c", web, "crawl", "corpus", "-a", url)
    assert first.returncode == 0, first.stderr[-2000:]
    assert "Nothing was judged" not in first.stdout
    again = scrapy(tmp_path / "c", web, "crawl", "corpus", "-a", url)
    assert again.returncode == 0, again.stderr[-2000:]
    assert "Nothing was judged in this run" in again.stdout
    assert "1 of 1 seed was known before this run and keeps its verdict" in again.stdout


def test_a_crawl_that_drains_says_so_and_goes_on_once_it_is_resumed(tmp_path: Path, web: PolicyWeb) -> None:
    corpus, page = tmp_path / "c", f"url={web.base('127.0.0.2')}"
    assert scrapy(corpus, web, "crawl", "corpus", "-a", f"{page}/").returncode == 0
    assert scrapy(corpus, web, "frontier", "drain").returncode == 0
    drained = scrapy(corpus, web, "crawl", "corpus", "-a", f"{page}/b")
    assert drained.returncode == 0, drained.stderr[-2000:]
    assert "the crawl is draining" in drained.stdout
    assert "the crawl is draining" in drained.stderr
    assert "/b" not in web.asked["127.0.0.2"]
    waits = "1 URL waits in the frontier: after `gristmill frontier resume` the same crawl command continues"
    assert waits in drained.stdout
    stopped = "The crawl was stopped: 1 URL waits; after `gristmill frontier resume` the same crawl command continues."
    for said in (scrapy(corpus, web, "report", str(corpus)), scrapy(corpus, web, "frontier", "status")):
        assert stopped in " ".join(said.stdout.split()), said.stdout
    assert scrapy(corpus, web, "frontier", "resume").returncode == 0
    resumed = scrapy(corpus, web, "crawl", "corpus", "-a", f"{page}/b")
    assert "/b" in web.asked["127.0.0.2"]
    assert "Nothing was judged" not in resumed.stdout
    assert "in the frontier" not in resumed.stdout


def test_a_crawl_that_drains_with_nothing_left_to_do_has_come_to_its_end(tmp_path: Path, web: PolicyWeb) -> None:
    corpus, page = tmp_path / "c", f"url={web.base('127.0.0.2')}"
    assert scrapy(corpus, web, "crawl", "corpus", "-a", f"{page}/").returncode == 0
    assert scrapy(corpus, web, "frontier", "drain").returncode == 0
    drained = scrapy(corpus, web, "crawl", "corpus")
    assert drained.returncode == 0, drained.stderr[-2000:]
    assert "in the frontier" not in drained.stdout
    runs = json.loads((corpus / "manifest.json").read_text())["runs"]
    assert len(runs) == 2 and not any(WAITING in run["counters"] for run in runs)


def test_a_seed_of_a_withdrawn_domain_is_refused_with_a_sentence(tmp_path: Path, web: PolicyWeb) -> None:
    corpus, page = tmp_path / "c", f"url={web.base('127.0.0.2')}"
    assert scrapy(corpus, web, "crawl", "corpus", "-a", f"{page}/").returncode == 0
    gone = scrapy(
        corpus,
        web,
        "dataset",
        "exclude",
        "--domain",
        f"127.0.0.2:{web.port}",
        "--reason",
        "asked for",
        "--yes",
        str(corpus),
    )
    assert gone.returncode == 0, gone.stderr
    asked = len(web.asked["127.0.0.2"])
    again = scrapy(corpus, web, "crawl", "corpus", "-a", f"{page}/b")
    assert "Nothing was judged in this run" in again.stdout
    assert "1 seed is " in again.stdout
    assert len(web.asked["127.0.0.2"]) == asked


def test_what_keeps_the_only_host_from_being_asked_is_told_with_the_words_to_copy_and_leaves_no_folder(tmp_path, web):
    page = f"url={web.base('127.0.0.2')}/"
    refused = scrapy(tmp_path / "c", web, "crawl", "corpus", "-a", page, NETWORK_ALLOW="", NETWORK_PORTS="80,443")
    assert refused.returncode == 1 and not (tmp_path / "c").exists()
    words = f"--allow-local, or -s NETWORK_ALLOW=127.0.0.2/32 -s NETWORK_PORTS=80,443,{web.port}"
    assert words in refused.stderr, refused.stderr
    both = scrapy(tmp_path / "c", web, "crawl", "corpus", "-a", page, NETWORK_ALLOW="", LANGUAGE_MIN_SCORE="x")
    assert "NETWORK_ALLOW=127.0.0.2/32" in both.stderr and "LANGUAGE_MIN_SCORE='x'" in both.stderr
    assert not (tmp_path / "c").exists()


def test_verdicts_of_wrong_settings_stay_and_the_error_says_so(tmp_path: Path, web: PolicyWeb) -> None:
    pages = ",".join(f"{web.base(f'127.0.0.{number}')}/" for number in range(2, 6))
    refused = scrapy(tmp_path / "c", web, "crawl", "corpus", "-a", f"url={pages}", NETWORK_ALLOW="10.1.0.0/16")
    assert refused.returncode == 1
    assert "no page could be fetched" in refused.stderr
    assert "--allow-local for the URLs of the command, else NETWORK_ALLOW and NETWORK_PORTS" in refused.stderr
    assert "start another crawl (another CORPUS_DIR and CRAWL_ID)" in refused.stderr
