"""The pages for a browser: what comes from outside is text there, whatever it says."""

import re
from pathlib import Path

import lxml.html
import pytest

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe import write as report
from crawler.observe.diagnose import webpage
from crawler.observe.diagnose.diagnosis import diagnose
from crawler.observe.html import TEMPLATES
from crawler.observe.report.duplicates import Bands
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from crawler.storage.files.shards import read_records

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}{% raw %}"


def hostile(number, **values):
    url = f"https://evil.test/{number}?q={HOSTILE}"
    values = {"domain": f"evil{HOSTILE}.test", "title": HOSTILE, "license_tag": HOSTILE, "text": HOSTILE} | values
    return Document(url=url, canonical_url=url, language=f"xx{HOSTILE}", quality_score=0.5, word_count=9, **values)


@pytest.fixture
def folder(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}), clock=lambda: 1_767_225_600.0)
    corpus.open()
    corpus.keep(record_of(hostile(1)))
    for number, reason in ((2, DropReason.LOW_QUALITY), (3, DropReason.HOLD_CONTROL_FILE)):
        corpus.reject(rejection_of(hostile(number), Drop("quality", reason, HOSTILE)))
    corpus.reject(rejection_of(hostile(4, dup_of=HOSTILE), Drop("near", DropReason.NEAR_DUPLICATE, "x")))
    corpus.note({f"yield/quarantined/{HOSTILE}": 5, f"links/{HOSTILE}": 3})
    corpus.close()
    return str(tmp_path)


def elements(page):
    return {element.tag for element in lxml.html.document_fromstring(page).iter() if isinstance(element.tag, str)}


def test_titles_addresses_and_domains_cannot_write_into_the_report(folder):
    report.write(report.read(folder, samples=5, bands=Bands(14, 8, 0.8)))
    page = Path(folder, "report.html").read_text()
    assert elements(page).isdisjoint({"script", "img"})
    assert not re.search(r"<[^>]*onerror", page)
    assert "{{ 7 * 7 }}" in page and page.count("&lt;script&gt;") > 10
    tree = lxml.html.document_fromstring(page)
    assert HOSTILE in [bold.text_content() for bold in tree.iter("b")]  # the title, letter by letter


def test_nor_into_the_diagnosis(folder):
    place = Place(folder)
    records = [r for name in ("shards", "rejected") for r in read_records(place, f"{name}/crawl-w1-000000.jsonl.zst")]
    page = webpage.page(diagnose(records, from_mapping(), source=HOSTILE))
    assert elements(page).isdisjoint({"script", "img"}) and "&lt;script&gt;" in page


def test_no_template_switches_the_escaping_off():
    for template in TEMPLATES.iterdir():
        text = template.read_text()
        assert "| safe" not in text and "|safe" not in text and "autoescape" not in text
