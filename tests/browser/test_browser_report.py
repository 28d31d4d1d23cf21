"""What the browser did is in the summary: shares by domain, and what a crawl without one has missed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.observe.report.browser import missed_sentence
from crawler.observe.report.summary import summarise
from crawler.observe.report.webpage import page as webpage
from tests.browser.conftest import crawl, drawn, page, prose
from tests.support.loopback_web import PolicyWeb
from tests.support.process import scrapy

TOPICS = ("orchard", "windmill", "ferry", "quarry")


@pytest.fixture
def site(web: PolicyWeb) -> tuple[PolicyWeb, str]:
    """Two pages that a script draws and two as they are."""
    routes = {f"/{n}": drawn(prose(topic)) for n, topic in enumerate(TOPICS[:2])}
    routes |= {f"/{n + 2}": page(f"<main><p>{prose(topic)}</p></main>") for n, topic in enumerate(TOPICS[2:])}
    return web, web.site("127.0.0.2", routes)


def test_the_share_of_drawn_pages_is_reported_by_domain(tmp_path: Path, site: tuple[PolicyWeb, str]) -> None:
    web, here = site
    crawl(tmp_path / "corpus", web, [f"{here}/{n}" for n in range(4)])
    summary = summarise(str(tmp_path / "corpus"))
    assert summary.drawn == {here.removeprefix("http://"): 0.5}
    assert summary.not_drawn == 0
    assert "Pages drawn in a browser, per cent" in webpage(summary)
    shown = scrapy("report", tmp_path / "corpus").stdout
    assert "Pages drawn in a browser, per cent" in shown
    assert "there was no browser" not in " ".join(shown.split())


def test_a_crawl_without_a_browser_goes_on_and_says_once_what_it_missed(
    tmp_path: Path, site: tuple[PolicyWeb, str]
) -> None:
    web, here = site
    settings = {"PATH": "/nonexistent", "HOME": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "none")}
    done = crawl(tmp_path / "corpus", web, [f"{here}/{n}" for n in range(4)], environment=settings)
    assert done.returncode == 0, done.log[-3000:]
    assert len(done.kept) == 2
    assert {record["reason"] for record in done.rejected.values()} == {"no_text"}
    assert "browser" not in done.rejected[f"{here}/0"]["render_signals"]
    shown = " ".join(scrapy("report", tmp_path / "corpus").stdout.split())
    assert shown.count(missed_sentence(2)) == 1


@pytest.mark.parametrize(("mode", "method"), [("never", None), ("always", "js")])
def test_the_mode_decides_for_every_page_and_an_entry_for_its_domain(
    tmp_path: Path, site: tuple[PolicyWeb, str], mode: str, method: str | None
) -> None:
    web, here = site
    other = {"never": "always", "always": "never"}[mode]
    for folder, settings, expected in (("by-setting", mode, method), ("by-entry", other, method)):
        allowlist = tmp_path / "allow.yaml"
        allowlist.write_text(f"- {{domain: '{here.removeprefix('http://')}', tier: A, licence: CC0, js: {mode}}}\n")
        done = crawl(
            tmp_path / folder, web, [f"{here}/0", f"{here}/2"],
            allowlist=allowlist if folder == "by-entry" else None, JS_MODE=settings,
        )  # fmt: skip
        records = done.kept | done.rejected
        assert records[f"{here}/2"]["method_used"] == "fast"  # it was drawn, too, and the text was there before
        assert ("browser" in records[f"{here}/2"]["render_signals"]) == (mode == "always")
        assert (done.kept[f"{here}/0"]["method_used"] if expected else None) == expected


def test_what_decides_verdicts_is_in_the_digest_and_what_is_the_machines_is_not() -> None:
    plain = from_mapping().digest
    for name, value in {"JS_MODE": "never", "BROWSER_TIMEOUT_SECONDS": 5, "BROWSER_MAX_SCROLLS": 1}.items():
        assert from_mapping({name: value}).digest != plain, name
    for name, value in {"BROWSER_PATH": "/x", "BROWSER_CONCURRENCY": 7, "BROWSER_RECYCLE_PAGES": 3}.items():
        assert from_mapping({name: value}).digest == plain, name


def test_a_browser_that_does_not_start_is_said_once_and_the_crawl_goes_on(
    tmp_path: Path, site: tuple[PolicyWeb, str]
) -> None:
    web, here = site
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    done = crawl(tmp_path / "corpus", web, [f"{here}/{n}" for n in range(4)], BROWSER_PATH=broken, JS_MODE="always")
    assert done.log.count(f"{broken} does not start") == 1
    assert sorted(done.kept) == [f"{here}/2", f"{here}/3"]
    assert {record["reason"] for record in done.rejected.values()} == {"needs_browser"}


def test_a_browser_that_is_started_anew_loses_no_page(tmp_path: Path, site: tuple[PolicyWeb, str]) -> None:
    web, here = site
    done = crawl(
        tmp_path / "corpus",
        web,
        [f"{here}/{n}" for n in range(4)],
        BROWSER_RECYCLE_PAGES=1,
        JS_MODE="always",
        BROWSER_CONCURRENCY=1,
    )
    assert len(done.kept) == 4
    manifest = json.loads((tmp_path / "corpus" / "manifest.json").read_bytes())
    assert manifest["runs"][0]["counters"]["playwright/browser_count"] >= 3
