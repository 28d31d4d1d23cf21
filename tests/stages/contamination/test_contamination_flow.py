"""Live chain, replay and batch job judge alike; the records say which set and where; bad sets stop the start."""

from __future__ import annotations

import re

import orjson
import pytest

from crawler.config import from_mapping
from crawler.document import DropReason
from crawler.documents.from_archive import document_from_archive
from crawler.spark.inputs import ARCHIVED, Input
from crawler.spark.partition import finish, judge
from crawler.stages.chain import Chain
from crawler.storage.archive.reader import read_archive
from crawler.storage.files.shards import read_lines
from tests.stages.contamination.conftest import write_lines
from tests.support.archives import exchange, html, write
from tests.support.process import scrapy

QUESTION = (
    "Which of the old bridges across the river was built without a single iron nail by the carpenters of the valley?"
)

QUIET = {"PII_PERSON": "off", "PROGRESS": "off"}


@pytest.fixture
def quiz(tmp_path):
    return write_lines(tmp_path / "quiz.jsonl", [{"id": 1, "question": QUESTION}])


@pytest.fixture
def archive(tmp_path):
    planted = html("one").replace(b"</main>", f"<p>{QUESTION.upper()}</p></main>".encode())
    pages = [exchange("https://e.org/quiz", planted), exchange("https://e.org/clean", html("two"))]
    return write(tmp_path / "pages.warc.gz", pages)


def test_chain_replay_and_batch_job_give_the_same_verdict(tmp_path, archive, quiz):
    config = from_mapping({"EVAL_SETS": quiz, "PII_PERSON": "off", "WORKER_ID": "w"})
    chain = Chain(config)
    dirty, clean = (chain.run(document_from_archive(r, config)) for r in read_archive(str(archive)))
    assert clean.verdict is None and dirty.verdict.reason is DropReason.CONTAMINATED
    assert re.fullmatch(r"set 'quiz': 9 n-grams; first passage: words \d+-\d+, .*, example 0", dirty.verdict.detail)
    start, end = map(int, re.search(r"characters (\d+)-(\d+)", dirty.verdict.detail).groups())
    assert dirty.text[start:end] == QUESTION.upper()
    assert dirty.signature == b"", "the index of duplicates never sees it"
    [judged, *_] = judge(config, [(0, Input(ARCHIVED, str(archive)))])
    by_batch = orjson.loads(finish(config, judged).json)
    folder = tmp_path / "corpus"
    arguments = ("-a", f"archive={archive}", "-s", f"CORPUS_DIR={folder}", "-s", f"EVAL_SETS={quiz}")
    done = scrapy(
        "crawl",
        "replay",
        *arguments,
        "-s",
        "STAGE_WORKERS=1",
        "-s",
        "WORKER_ID=w",
        settings=QUIET,
        TMPDIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    [by_replay] = [orjson.loads(line) for path in (folder / "rejected").iterdir() for line in read_lines(path)]
    assert by_replay["detail"] == by_batch["detail"] == dirty.verdict.detail
    assert (by_replay["stage"], by_replay["reason"]) == ("contamination", "contaminated")
    assert by_replay["config_digest"] == config.digest
    assert "text" not in by_replay and "text" not in by_batch


@pytest.mark.parametrize(
    ("content", "message"), [(None, "does not exist"), (b'{"q": "short"}', "no example of 13 words")]
)
def test_a_bad_set_stops_the_crawl_before_any_request_with_exit_code_1(tmp_path, content, message):
    path = tmp_path / "quiz.jsonl"
    if content is not None:
        path.write_bytes(content)
    folder = tmp_path / "corpus"
    arguments = ("-a", "url=http://127.0.0.1:1/", "-s", f"CORPUS_DIR={folder}", "-s", f"EVAL_SETS={path}")
    done = scrapy("crawl", "corpus", *arguments, settings=QUIET, TMPDIR=str(tmp_path))
    assert done.returncode == 1 and not folder.exists()
    assert "EVAL_SETS" in done.stderr and message in done.stderr and "Traceback" not in done.stderr
