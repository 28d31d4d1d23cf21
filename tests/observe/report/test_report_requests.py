"""The report says where the requests went, by domain and shape of URL, and what they brought."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe import write as report
from crawler.observe.report import requests, terminal
from crawler.seeds.allowlist import AllowlistEntry
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
    found = report.read(folder, most_records=4)
    read = sum(row.requests for row in found.requests)
    assert read < 13
    report.write(found)
    assert f"Requests by shape of the URL, of {read} of 13 requests" in (Path(folder) / "report.html").read_text()


def test_a_domain_has_the_sums_of_its_shapes_in_all_three_forms(folder):
    found = report.read(folder)
    (domain,) = requests.by_domain(found.requests)
    assert (domain.requests, domain.kept, domain.fruitless, domain.tokens) == (13, 4, 9, 600)
    out = io.StringIO()
    terminal.show(found.summary, Console(file=out, width=140), requests.sections(found.requests))
    (line,) = [line for line in out.getvalue().splitlines() if line.split()[:4] == ["13", "9", "46", "a.test"]]
    assert line.split()[4] == "/*?*page="
    report.write(found)
    page = (Path(folder) / "report.html").read_text()
    row = next(row for row in page.split("<tr>") if row.startswith("<td>a.test</td>"))
    assert ">13<" in row and ">46.2<" in row and ">/*?*page=<" in row
    (row,) = json.loads((Path(folder) / "stats.json").read_text())["requests_by_domain"]
    assert (row["requests"], row["fruitless"], row["tokens"], row["excludes"]) == (13, 9, 600, ["/*?*page="])


def test_a_visit_that_found_a_page_as_it_was_is_no_fruitless_request(folder):
    before = requests.by_domain(requests.read(folder))[0]
    corpus = Corpus(from_mapping({"CORPUS_DIR": folder, "WORKER_ID": "w2"}), clock=lambda: 1_777_225_600.0)
    corpus.open()
    page = Document(url="https://a.test/post/1", domain="a.test")
    corpus.reject(rejection_of(page, Drop("fetch", DropReason.UNCHANGED)))
    corpus.close()
    after = requests.by_domain(requests.read(folder))[0]
    assert (after.requests, after.unchanged, after.fruitless) == (before.requests + 1, 1, before.fruitless)
    assert after.as_dict()["unchanged"] == 1


def test_the_pattern_in_the_allowlist_leaves_the_barren_shape_out_and_nothing_that_was_kept(folder):
    (pattern,) = requests.by_domain(requests.read(folder))[0].excludes
    rule = AllowlistEntry("a.test", "A", "CC0-1.0", exclude=(pattern,))
    assert all(rule.allows_path(f"/list?page={n}") == "path_excluded" for n in (1, 99, 100))
    assert not any(rule.allows_path(f"/post/{n}") for n in range(4))


def test_no_pattern_is_proposed_for_a_shape_that_is_not_parked_or_would_take_kept_pages_along(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}), clock=lambda: 1_767_225_600.0)
    corpus.open()
    url = "https://a.test/list?page=1&view=1"
    corpus.keep(record_of(Document(url=url, canonical_url=url, domain="a.test", text="t", token_estimate=5)))
    for url in ("https://a.test/list?page=2", "https://b.test/list?page=2"):
        corpus.reject(rejection_of(Document(url=url, domain=url[8:14]), Drop("x", DropReason.TOO_SHORT)))
    parked = Drop("frontier", DropReason.HOLD_BARREN, "3 links")
    corpus.reject(rejection_of(Document(url="https://a.test/list?page=3", domain="a.test"), parked))
    corpus.close()
    assert [domain.excludes for domain in requests.by_domain(requests.read(str(tmp_path)))] == [[], []]


def test_a_short_address_is_not_torn_in_a_terminal_of_80_columns():
    reasons = Counter({"exact_duplicate": 12, "low_quality": 5, "too_short": 33})
    found = [requests.Brought("127.0.0.8:8790", "127.0.0.8:8790/history/*", "", 50, 3, 1200, reasons)]
    out = io.StringIO()
    for _, table in requests.sections(found):
        Console(file=out, width=78).print(table)
    assert "127.0.0.8:8790/history/*" in out.getvalue()


@pytest.mark.parametrize("excludes", [[], ["/*?*page="]])
def test_no_word_of_a_heading_is_broken_in_a_terminal_of_60_columns(excludes):
    found = [requests.Brought("127.0.0.8:8790", "127.0.0.8:8790/page#.html", "", 50, 3, 1200, Counter())]
    domains = [requests.Domain("127.0.0.8:8790", 50, 3, tokens=1200, excludes=excludes)]
    out = io.StringIO()
    for table in (requests._table(found), requests._domain_table(domains)):
        Console(file=out, width=58).print(table)
    words = set(out.getvalue().split())
    assert words >= {"requests", "brought", "document", "tokens", "request", "kept", "shape", "domain"}, out.getvalue()
    assert ("allowlist" in words) == bool(excludes), "a column without an answer is left out"
