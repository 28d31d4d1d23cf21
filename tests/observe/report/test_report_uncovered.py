"""The summary says in which languages nobody looked for names."""

import io

from rich.console import Console

from crawler.config import from_mapping
from crawler.document import Document
from crawler.observe.report import terminal
from crawler.observe.report.summary import summarise
from crawler.observe.report.webpage import page
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of


def corpus(folder, signals):
    made = Corpus(from_mapping({"CORPUS_DIR": str(folder), "WORKER_ID": "w1"}))
    made.open()
    made.keep(
        record_of(Document(url="http://a.test/", domain="a.test", text="x", language="de", language_signals=signals))
    )
    made.close()
    return summarise(str(folder))


def shown(summary):
    console = Console(file=io.StringIO(), width=100, color_system=None)
    terminal.show(summary, console)
    return console.file.getvalue()


def test_the_summary_counts_kept_pages_whose_names_no_model_looks_for(tmp_path):
    summary = corpus(tmp_path / "c", {"pii_names": "uncovered"})
    assert summary.names_uncovered == {"de": 1}
    assert "without name redaction" in shown(summary)
    assert "without name redaction" in page(summary)


def test_the_summary_says_nothing_of_it_where_every_page_was_read(tmp_path):
    summary = corpus(tmp_path / "c", {})
    assert summary.names_uncovered == {}
    assert "without name redaction" not in shown(summary) + page(summary)
