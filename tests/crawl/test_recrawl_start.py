"""What a second run does not even load: a site that has not changed pays for none of it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.changing_site import ChangingSite, Page
from tests.support.serving import article

NEEDED_BY_NOBODY = {
    "aiohttp",  # Scrapy's remote control, which is off
    "twisted.conch",  # telnet, which is off
    "rich",  # the progress, which is off
    "numpy",
    "datasketch",
    "trafilatura",
    "resiliparse",
    "ftfy",
    "langdetect",
    "py3langid",
    "spacy",
    "presidio_analyzer",
}
STARTED = "multiprocessing.popen_forkserver"  # loaded by the start of a stage process


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    site = ChangingSite()
    site.pages = {f"/p{n}": Page(article(f"/p{n}"), etag=f'"p{n}"') for n in range(2)}
    site.start()
    yield site
    site.stop()


def test_a_run_without_changes_loads_no_stage_and_starts_no_process(crawl, site, tmp_path, monkeypatch):
    monkeypatch.setenv("WARM", "0")  # a warm one has loaded everything
    monkeypatch.setenv("WHAT_WAS_LOADED", str(tmp_path / "loaded"))
    watched = {
        "NETWORK_PORTS": site.port,
        "EXTENSIONS": json.dumps(
            {"tests.crawl.what_was_loaded.WhatWasLoaded": 1, "crawler.observe.live.extension.ProgressExtension": 2}
        ),
    }
    arguments = {"url": ",".join(map(site.url, site.pages))}

    def loaded(**settings: object) -> set[str]:
        done = crawl.run(arguments, **watched, **settings)
        assert done.returncode == 0, done.stderr
        return set((tmp_path / "loaded").read_text().split())

    assert STARTED in loaded()
    again = loaded(RECRAWL=1, RECRAWL_INTERVAL_SECONDS=0)
    assert {asked.status for asked in site.log[-2:]} == {304}
    assert STARTED not in again
    assert NEEDED_BY_NOBODY & again <= {"numpy", "rich"}, (
        "the start asks whether the extractor's model fits its features"
    )
    assert "scipy" not in again
