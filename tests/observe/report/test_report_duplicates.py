"""The report says what was seen before: kinds, clusters with their domains, and what the bands can see."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe import write as report
from crawler.observe.report import duplicates, terminal
from crawler.observe.report.duplicates import Bands
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of, rejection_of

BANDS = Bands(14, 8, 0.8)


def copy(number, owner, domain, reason=DropReason.NEAR_DUPLICATE, stage="near"):
    doc = Document(url=f"https://{domain}/{number}", domain=domain, dup_of=owner, dup_similarity=0.9)
    return rejection_of(doc, Drop(stage, reason, "detail"))


@pytest.fixture
def folder(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}), clock=lambda: 1_767_225_600.0)
    corpus.open()
    corpus.keep(record_of(Document(url="https://a.test/", canonical_url="https://a.test/", domain="a.test", text="t")))
    for number in range(6):
        corpus.reject(copy(number, "https://a.test/", f"mirror{number % 2}.test"))
    corpus.reject(copy(7, "https://b.test/<x>", "c.test", DropReason.EXACT_DUPLICATE, "exact"))
    corpus.reject(copy(8, None, "quiz.test", DropReason.CONTAMINATED, "contamination"))
    corpus.reject(copy(9, None, "d.test", DropReason.LOW_QUALITY, "quality"))
    corpus.close()
    return str(tmp_path)


def test_duplicates_are_counted_by_kind_and_clusters_name_owner_and_domains(folder):
    found = report.read(folder, bands=BANDS).duplicates
    assert found.kinds == {"exact_duplicate": 1, "near_duplicate": 6, "contaminated": 1}
    assert [(c.owner, c.copies, c.domains) for c in found.clusters] == [
        ("https://a.test/", 6, {"mirror0.test": 3, "mirror1.test": 3}),
        ("https://b.test/<x>", 1, {"c.test": 1}),
    ]


def test_the_curve_is_that_of_the_bands():
    assert [round(BANDS.seen(s), 3) for s in (0.5, 0.7, 0.8, 0.9, 1.0)] == [0.053, 0.565, 0.924, 1.0, 1.0]


@pytest.mark.parametrize("width", [60, 120])
def test_the_terminal_shows_kinds_clusters_and_the_curve(folder, width):
    found = report.read(folder, bands=BANDS)
    console = Console(width=width, record=True, file=io.StringIO())
    terminal.show(found.summary, console, duplicates.sections(found.duplicates))
    text = console.export_text()
    for part in ("Seen before", "near_duplicate", "https://a.test/", "mirror0.test 3", "14 × 8 bands", "92%", "▁"):
        assert part in text, text


def test_the_page_and_the_numbers_have_the_same_parts(folder):
    report.write(report.read(folder, bands=BANDS))
    page = Path(folder, "report.html").read_text()
    assert "https://b.test/&lt;x&gt;" in page and "<x>" not in page
    assert len(re.findall(r"<polyline points=", page)) == 1
    numbers = json.loads(Path(folder, "stats.json").read_bytes())["duplicates"]
    assert numbers["kinds"]["near_duplicate"] == 6 and numbers["clusters"][0]["copies"] == 6
    assert [0.8, 0.9235] in numbers["detection_curve"]


def test_a_corpus_without_duplicates_says_nothing_about_them(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}))
    corpus.open()
    corpus.close()
    found = report.read(str(tmp_path), bands=BANDS).duplicates
    assert list(duplicates.sections(found)) == []
