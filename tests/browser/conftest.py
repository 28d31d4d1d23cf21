"""A web of pages that scripts draw, and crawls of it with a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.browser.find import browser_path
from crawler.config.browser import BrowserConfig
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.process import scrapy


@pytest.fixture(autouse=True, scope="session")
def chromium() -> str:
    path = browser_path(BrowserConfig())
    if path is None:
        pytest.skip("no Chromium: scripts/setup-debian.sh installs one where it may")
    return path


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as running:
        yield running


def prose(topic: str, lines: int = 14) -> str:
    """Running text of a page of its own."""
    return " ".join(
        f"On day {n} the keeper of the {topic} wrote down what the {topic} cost, and who came to see the {topic}."
        for n in range(lines)
    )


def page(body: str, head: str = "") -> Answer:
    return Answer(body=f"<!doctype html><html lang=en><head><title>A page</title>{head}</head><body>{body}".encode())


def drawn(text: str, root: str = "root", more: str = "") -> Answer:
    """A shell, and the script that draws its text."""
    script = f"document.getElementById('{root}').innerHTML = '<main><h1>Drawn</h1><p>{text}</p></main>';{more}"
    return page(f"<div id={root}></div><script>{script}</script>")


def script(text: str) -> Answer:
    return Answer(body=text.encode(), content_type="text/javascript")


def crawl(
    folder: Path,
    web: PolicyWeb,
    seeds: list[str],
    timeout: float = 120,
    allowlist: Path | None = None,
    environment: dict[str, str] | None = None,
    **more: object,
) -> CorpusCrawl:
    """A crawl of exactly these pages, to its end."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.parent / f"{folder.name}-seeds.txt"
    file.write_text("\n".join(seeds) + "\n")
    arguments = ["-a", f"seeds={file}", *(["-a", f"allowlist={allowlist}"] if allowlist else [])]
    settings = SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": web.port} | more
    found = scrapy("crawl", "corpus", *arguments, settings=settings, timeout=timeout, **environment or {})
    return CorpusCrawl(folder, found.stderr, found.returncode)


def replay(folder: Path, corpus: Path, **more: object) -> CorpusCrawl:
    """The archive of a corpus judged again, on a machine without a browser."""
    settings = SETTINGS | {"CORPUS_DIR": folder, "JS_MODE": "auto"} | more
    place = f"{corpus}/archive/*.warc.gz"
    found = scrapy("crawl", "replay", "-a", f"archive={place}", settings=settings, PATH="/nonexistent")
    return CorpusCrawl(folder, found.stderr, found.returncode)
