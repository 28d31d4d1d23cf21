"""The whole way of a page: every outcome the demo web declares, read from the files and the server's access log."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections import Counter
from urllib.parse import urlsplit

import pytest

from crawler.config.browser import BrowserConfig
from crawler.document import RECORD_FIELDS
from crawler.observe.report.browser import missed_sentence
from crawler.storage.files.records import spans_in
from demo import scripted, verdicts
from demo.expectations import Fate, expected_outcomes
from demo.outputs import read_corpus
from demo.pages import load_web
from demo.render import Web
from demo.run import resume_command, tally, without_browser
from tests.e2e.conftest import run
from tests.support.corpus_crawl import unpacked

STEPS, TOLERANCE = 5, 1.0  # seconds; arrivals are logged by a server that may have to wait for the processor itself

pytestmark = pytest.mark.usefixtures("demo_crawl")


@pytest.fixture(scope="module")
def studio(demo_crawl) -> dict[str, dict]:
    """What became of the pages that a script draws, by path."""
    if not demo_crawl.web.draws:
        pytest.skip("no browser on this machine")
    base = demo_crawl.web.bases["studio"]
    return {r["canonical_url"].removeprefix(base): r for r in demo_crawl.corpus().kept if base in r["canonical_url"]}


def test_the_crawl_ends_by_itself_and_says_that_it_went_well(demo_crawl) -> None:
    assert demo_crawl.first.code == 0, demo_crawl.first.output[-4000:]


def test_every_page_ends_where_its_file_declares(demo_crawl) -> None:
    assert verdicts.wrong_fates(demo_crawl.web, demo_crawl.corpus()) == []


def test_of_each_group_of_twins_exactly_one_is_kept_and_named(demo_crawl) -> None:
    assert verdicts.wrong_groups(demo_crawl.web, demo_crawl.corpus()) == []


def test_kept_texts_hold_the_article_and_neither_boilerplate_nor_personal_data(demo_crawl) -> None:
    assert verdicts.wrong_texts(demo_crawl.web, demo_crawl.corpus()) == []


def test_no_text_of_a_page_that_policy_refused_is_on_disk(demo_crawl) -> None:
    assert verdicts.leaked_texts(demo_crawl.corpus()) == []
    secret = b"The cake follows him through four ports"
    holders = [f for f in demo_crawl.corpus_dir.rglob("*") if f.is_file() and secret in unpacked(f)]
    assert holders == []


def test_every_page_is_requested_as_often_as_it_needs(demo_crawl) -> None:
    assert verdicts.wrong_requests(demo_crawl.web, demo_crawl.log) == []


def test_nothing_is_requested_that_nobody_links_to(demo_crawl) -> None:
    assert verdicts.unexpected_requests(demo_crawl.web, demo_crawl.log) == []


def test_robots_txt_comes_first_and_once(demo_crawl) -> None:
    assert verdicts.robots_not_first(demo_crawl.log) == []


def test_requests_to_one_host_keep_their_distance(demo_crawl) -> None:
    assert verdicts.impolite_gaps(demo_crawl.log, demo_crawl.delay, TOLERANCE, gaps=STEPS) == []


def test_the_crawler_says_who_it_is(demo_crawl) -> None:
    agents = {access.user_agent for access in demo_crawl.log}
    assert len(agents) == 1
    assert agents.pop().startswith("CorpusBot/")


def test_what_a_page_in_the_browser_asks_for_is_asked_for_in_the_name_of_the_crawler(demo_crawl, studio) -> None:
    asked = [a for a in demo_crawl.log if a.page.startswith(("/vue.js", "/parts/", "/api/"))]
    pages = {access.user_agent for access in demo_crawl.log if access.page == "/robots.txt"}
    assert {access.page.split("/")[1] for access in asked} == {"vue.js", "parts", "api"}
    assert {access.user_agent for access in asked} == pages


def test_every_record_has_every_field_of_the_contract(demo_crawl) -> None:
    for record in demo_crawl.corpus().kept:
        assert set(RECORD_FIELDS) <= set(record), record["url"]
        assert record["noai_checked"] is True
        assert record["doc_id"].startswith("sha256:")
        assert record["robots_status"]


def test_spans_of_personal_data_point_at_their_placeholders(demo_crawl) -> None:
    flagged = [r for r in demo_crawl.corpus().kept if r["pii_flag"]]
    assert flagged
    for record in flagged:
        for start, end, kind in spans_in(record, "pii_spans"):
            assert record["text"][start:end].startswith(f"[{kind}"), record["url"]


def test_an_optout_record_names_the_signal_it_saw(demo_crawl) -> None:
    refused = [r for r in demo_crawl.corpus().rejected if r["reason"] == "optout"]
    assert refused
    for record in refused:
        assert any(signal["verdict"] == "disallow" for signal in record["optout_signals"]), record["url"]


def test_the_manifest_lists_every_file_with_its_true_hash_size_and_count(demo_crawl) -> None:
    folder = demo_crawl.folder / "corpus-1"
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    files = manifest["files"]
    on_disk = {str(f.relative_to(folder)) for d in ("shards", "rejected", "archive") for f in (folder / d).glob("*")}
    indexes = {entry["index"]["path"] for entry in files if "index" in entry}
    assert {entry["path"] for entry in files} | indexes == on_disk
    for entry in files:
        data = (folder / entry["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (
            entry["bytes"],
            entry["sha256"].removeprefix("sha256:"),
        )
    documents = Counter()
    for entry in files:
        documents[entry["path"].partition("/")[0]] += entry["documents"]
    corpus = demo_crawl.corpus()
    assert (documents["shards"], documents["rejected"]) == (len(corpus.kept), len(corpus.rejected))


def test_running_it_again_fetches_nothing_again_but_what_had_failed(demo_crawl) -> None:
    assert demo_crawl.second.code == 0, demo_crawl.second.output[-4000:]
    expected = expected_outcomes(demo_crawl.web)
    outcomes = {url for url, outcome in expected.items() if not any(reason.is_failure for reason in outcome.reasons)}
    again = [f"http://{a.address}{a.page}" for a in demo_crawl.second_log]
    assert [url for url in again if url in outcomes] == []


def test_running_it_again_changes_no_verdict_and_writes_no_page_twice(demo_crawl) -> None:
    before, after = demo_crawl.corpus(), demo_crawl.corpus_after_resume()
    assert sorted(r["canonical_url"] for r in after.kept) == sorted(r["canonical_url"] for r in before.kept)
    final = [r["canonical_url"] for r in after.rejected if not r["reason"].startswith("hold_")]
    assert sorted(final) == sorted(r["canonical_url"] for r in before.rejected if not r["reason"].startswith("hold_"))


def test_the_summary_tells_how_many_were_kept_and_where_they_are(demo_crawl) -> None:
    kept = sum(o.fate is Fate.KEPT for o in expected_outcomes(demo_crawl.web).values()) + 2  # and one of each group
    assert str(kept) in demo_crawl.first.output
    assert "shards" in demo_crawl.first.output


def test_the_report_command_prints_the_same_numbers_later(demo_crawl, scrapy) -> None:
    done = scrapy("report", demo_crawl.corpus_dir)
    assert done.code == 0, done.output
    assert str(len(demo_crawl.corpus_after_resume().kept)) in done.output


def test_the_dataset_verifies(demo_crawl, scrapy) -> None:
    done = scrapy("dataset", "verify", demo_crawl.corpus_dir)
    assert done.code == 0, done.output


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/slides", "js"),
        ("/ladder", "js"),
        ("/shutter", "js"),
        ("/index-cards", "embedded"),
        ("/night-train", "captured"),
    ],
)
def test_a_page_that_a_script_draws_is_kept_whole_whatever_way_its_text_comes(demo_crawl, studio, path, method) -> None:
    text = scripted.paragraphs(demo_crawl.web.sites["studio"].pages[path])
    if path == "/ladder":  # it goes on; the crawl scrolls as often as it may
        text = text[: BrowserConfig().max_scrolls + 1]
        assert studio[path]["render_signals"]["browser"]["scrolls"] == BrowserConfig().max_scrolls
    assert studio[path]["method_used"] == method
    assert [part for part in text if part not in studio[path]["text"]] == []


def test_the_demo_without_a_browser_says_so_in_one_line_and_goes_well(tmp_path, monkeypatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            (programs / name).symlink_to(path)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(programs))
    done = run([sys.executable, "-m", "demo.run", "--corpus", str(tmp_path / "corpus"), "-s", "DOWNLOAD_DELAY=0.05"])
    assert done.code == 0, done.output[-4000:]
    records = read_corpus(tmp_path / "corpus")
    bases = {r["canonical_url"].rpartition("/slides")[0] for r in records.rejected if "/slides" in r["canonical_url"]}
    port = urlsplit(bases.pop()).port
    sites = load_web()
    web = Web(sites, {name: f"http://127.0.0.{site.number}:{port}" for name, site in sites.items()}, draws=False)
    for line in (without_browser(web), tally(web, records), missed_sentence(4)[:46]):
        assert done.output.count(line) == 1, done.output
    assert resume_command(tmp_path / "corpus") in done.output
