"""The report shows of what types the pages are, and how good the learned extractor expects their texts to be."""

import io

import orjson
import pytest
from rich.console import Console

from crawler.config import from_mapping
from crawler.document import Document
from crawler.observe.report import terminal
from crawler.observe.report.summary import summarise
from crawler.observe.report.webpage import page
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of

TYPES, EXPECTED = "Page types, as the extractor classifies them", "Expected extraction quality (F1)"


def corpus(folder, found):
    made = Corpus(from_mapping({"CORPUS_DIR": str(folder), "WORKER_ID": "w1"}))
    made.open()
    for n, (kind, confidence) in enumerate(found):
        made.keep(
            record_of(
                Document(
                    url=f"http://a.test/{n}",
                    domain="a.test",
                    text="x",
                    page_type=kind,
                    extraction_confidence=confidence,
                )
            )
        )
    made.close()
    return summarise(str(folder))


def shown(summary):
    console = Console(file=io.StringIO(), width=100, color_system=None)
    terminal.show(summary, console)
    return console.file.getvalue()


def test_the_report_counts_page_types_and_bands_of_confidence(tmp_path):
    summary = corpus(
        tmp_path / "c", [("forum", 0.95), ("forum", 0.5), ("article", 0.49), ("article", 0.8), ("forum", 1)]
    )
    assert summary.page_types == {"forum": 3, "article": 2}
    assert summary.confidences == {"0.00 to 0.50": 1, "0.50 to 0.80": 1, "0.80 to 1.00": 3}
    assert all(title in shown(summary) for title in (TYPES, EXPECTED))
    assert TYPES in page(summary) and EXPECTED in page(summary)
    assert summary.as_dict()["page_types"] == {"forum": 3, "article": 2}


@pytest.mark.parametrize("found", [[], [(None, None)]])
def test_the_report_is_silent_on_what_the_extractor_does_not_say(tmp_path, found):
    summary = corpus(tmp_path / "c", found)
    assert (summary.page_types, summary.confidences) == ({}, {})
    assert not any(title in shown(summary) + page(summary) for title in (TYPES, EXPECTED))


def test_a_file_whose_manifest_counts_no_words_counts_as_none(tmp_path):
    corpus(tmp_path / "c", [("forum", 0.95)])
    manifest = tmp_path / "c" / "manifest.json"
    content = orjson.loads(manifest.read_bytes())
    for entry in content["files"]:
        del entry["words"]
    manifest.write_bytes(orjson.dumps(content))
    summary = summarise(str(tmp_path / "c"))
    assert (summary.kept, summary.words) == (1, 0)
