"""The report says where the requests went, by domain and shape of URL, and what they brought."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe.report import report, requests, terminal
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of, rejection_of


@pytest.fixture
def folder(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}), clock=lambda: 1_767_225_600.0)
    corpus.open()
    for n in range(4):
        url = f"https://a.test/post/{n}"
        made = Document(url=url, canonical_url=url, domain="a.test", text="t", token_estimate=100 * n)
        corpus.keep(record_of(made))
    for n in range(9):
        reason = DropReason.TOO_SHORT if n else DropReason.EXACT_DUPLICATE
        corpus.reject(rejection_of(Document(url=f"https://a.test/list?page={n}", domain="a.test"), Drop("x", reason)))
    held = Drop("frontier", DropReason.HOLD_BARREN, "3 links")
    corpus.reject(rejection_of(Document(url="https://a.test/list?page=99", domain="a.test"), held))
    forbidden = Drop("policy", DropReason.ROBOTS_DISALLOWED, "robots.txt")
    corpus.reject(rejection_of(Document(url="https://a.test/private/1", domain="a.test"), forbidden))
    corpus.close()
    return str(tmp_path)


def test_each_shape_has_its_requests_and_what_they_brought(folder):
    first, second = requests.read(folder)
    assert (first.shape, first.requests, first.kept, first.tokens_a_request) == ("a.test/*?page", 9, 0, 0)
    assert first.reasons == {"too_short": 8, "exact_duplicate": 1}
    assert (second.shape, second.requests, second.kept, second.tokens) == ("a.test/post/#", 4, 4, 600)
    assert second.tokens_a_request == 150


def test_terminal_page_and_numbers_show_the_same(folder):
    found = report.read(folder)
    out = io.StringIO()
    terminal.show(found.summary, Console(file=out, width=140), requests.sections(found.requests))
    (line,) = [line for line in out.getvalue().splitlines() if "a.test/post/#" in line]
    assert line.split()[:3] == ["4", "4", "150"]
    assert "too_short 8, exact_duplicate 1" in out.getvalue()
    report.write(found)
    assert "a.test/post/#: 4 kept, 150 tokens a request" in (Path(folder) / "report.html").read_text()
    rows = json.loads((Path(folder) / "stats.json").read_text())["requests"]
    assert [(row["shape"], row["requests"]) for row in rows] == [("a.test/*?page", 9), ("a.test/post/#", 4)]


def test_a_large_corpus_is_read_in_part(folder):
    assert sum(row.requests for row in requests.read(folder, most_records=4)) < 13
