"""Reads files as the stages do: through the process that may die of them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain
from crawler.stages.documents.call import Nursery

OPEN = {"EXTRACTION_MIN_WORDS": 1, "QUALITY_RULES": "", "QUALITY_MIN_SCORE": 0, "LANGUAGE_MIN_SCORE": 0,
        "PII_PERSON": "off"}  # fmt: skip
"""Nothing rejects a document for its text."""


@pytest.fixture(scope="session")
def nursery():
    made = Nursery()
    yield made
    made.close()


@pytest.fixture(scope="session")
def read(nursery):
    """`read(body, kind="pdf")`: what the child says of a file."""

    def one(body, kind="pdf", seconds=4.0, max_pages=5_000, max_links=1_000):
        return nursery.read(kind, body, seconds=seconds, max_pages=max_pages, max_links=max_links)

    return one


@pytest.fixture(scope="session")
def judged():
    """`judged(body, content_type, url)`: the document after parsing, opt-outs and extraction."""
    chains = {}

    def one(body, content_type="application/pdf", url="http://a.test/file", **settings):
        key = tuple(sorted(settings.items()))
        if key not in chains:
            chains[key] = Chain(from_mapping(OPEN | settings))
        doc = Document(url, html=body, content_type=content_type, crawled_at="2026-11-27T00:00:00Z")
        return chains[key].run(doc, ("parse", "optout", "extraction"))

    return one


@pytest.fixture(scope="session")
def printed(tmp_path_factory):
    """`printed(html)`: the PDF that Chromium prints of a page."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    program = next((found for name in names if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium that prints")

    def one(html):
        folder = tmp_path_factory.mktemp("printed")
        (folder / "page.html").write_text(html, encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/own",
        ]
        command = [program, *options, f"--print-to-pdf={folder}/page.pdf", f"file://{folder}/page.html"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        return (folder / "page.pdf").read_bytes()

    return one
