"""`dataset transcribe`: what it says, what is a problem, and what it refuses before anything runs."""

from __future__ import annotations

import json
import sys

import pytest

from tests.dataset.test_dataset_transcribe import OTHER, PROGRAM, Scans, prose

pytest.importorskip("duckdb", reason="duckdb is optional")
pytest.importorskip("pypdfium2", reason="the program of the test reads PDFs")


def test_files_are_counted_read_listed_and_asked_for(scrapy, tmp_path):
    scans = Scans(tmp_path)
    scans.add("a", prose("river"))
    scans.add("b", OTHER)
    scans.add("c", f"FAIL {prose('hill')}")
    scans.close()
    call = ["dataset", "transcribe", "corpus", "--name", "ocr", "--command", PROGRAM, "--code", "toy 1"]
    assert scrapy(*call, "--dry-run").out == "3 files for the program\n"
    done = scrapy(*call, "--json")
    assert done.code == 1 and "--again tries them anew" in done.err
    facts = json.loads(done.out)
    assert (facts["files"], facts["rows"], facts["reasons"]) == (3, 3, {"": 2, "program_failed": 1})
    again = scrapy(*call)
    assert (again.code, again.out) == (0, "0 files for the program\n3 files with a row by this program already\n")
    assert scrapy("dataset", "annotations", "corpus").out.startswith("ocr: 3 files of rejected pages; text, ")
    found = scrapy("dataset", "query", "corpus", "SELECT count(*) FROM rejected WHERE ocr.reason = ''")
    assert found.out.split() == ["count_star()", "2"]
    assert scrapy("dataset", "verify", "corpus").code == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--reason", "optout"], "--reason optout: expected some of needs_ocr"),
        (["--name", "Title"], "an annotation called 'Title'"),
        (["--command", f"{sys.executable} -c 1"], "where the path of the file belongs"),
    ],
)
def test_a_call_that_cannot_work_says_why(scrapy, tmp_path, more, said):
    Scans(tmp_path).close()
    call = ["dataset", "transcribe", "corpus", "--name", "ocr", "--command", PROGRAM, *more]
    done = scrapy(*call)
    assert done.code in (1, 2) and said in done.err
