"""One crawl of all forms, and one replay of its archive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.corpus_crawl import CorpusCrawl, crawl, replay
from tests.wire.forms import PAGE, STAY, Form, forms
from tests.wire.raw_web import RawWeb

SETTINGS: dict[str, object] = {
    "EXTRACTION_MIN_WORDS": 0,
    "NEARDUP_MIN_SHINGLES": 10_000,  # names that differ in a digit
    "OPTOUT_PROFILE": "minimal",  # robots.txt is the one file that each site is asked for
    "RETRY_TIMES": 0,
    "LOG_LEVEL": "INFO",
    "CRAWL_ID": "wire",
}


@dataclass
class Crawled:
    forms: list[Form]
    port: int
    live: CorpusCrawl
    again: CorpusCrawl


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    known, folder = forms(), tmp_path_factory.mktemp("wire")
    with RawWeb(known) as web:
        seeds = [f"http://{form.here}:{web.port}{PAGE}" for form in known]
        seeds += [f"http://{form.there}:{web.port}/" for form in known if form.kind not in STAY]  # are in scope, too
        live = crawl(folder / "live", seeds, web.port, **SETTINGS)
    again = replay(folder / "live" / "archive", folder / "again", NETWORK_PORTS=web.port, **SETTINGS)
    yield Crawled(known, web.port, live, again)
