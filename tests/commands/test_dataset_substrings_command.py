"""`gristmill dataset substrings` and `gristmill dataset contaminated`, as a person calls them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import orjson
import pytest

from crawler.operations.substrings import size
from tests.support.noted import manifest_hash, noted
from tests.support.process import scrapy


def dataset(*arguments: object) -> subprocess.CompletedProcess[str]:
    return scrapy("dataset", *arguments)


@pytest.fixture
def quiz(tmp_path, prose, monkeypatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = tmp_path / "quiz.jsonl"
    path.write_bytes(orjson.dumps({"question": prose(30, 1)}))
    return path


def test_substrings_reports_and_then_removes_on_request(shelf, prose):
    shelf.fill(*(f"{prose(160, 10 + n)} {prose(60, 1)}" for n in range(3)))
    listed = dataset("substrings", shelf.path)
    assert listed.returncode == 0, listed.stderr
    assert "3 documents, 660 words" in listed.stdout and "3 × 60 words in 3 documents" in listed.stdout
    assert not (shelf.path / "manifest.0001.json").exists()
    removed = dataset("substrings", "--remove", "--json", "--min-tokens", 60, shelf.path)
    assert removed.returncode == 0, removed.stderr
    report = json.loads(removed.stdout)
    assert report["surplus"] == 120 and report["rewritten"]["changed"] == 2
    assert dataset("verify", shelf.path).returncode == 0


def test_descriptions_of_the_version_before_are_named_until_they_are_made_again(shelf, prose):
    shelf.fill(*(f"{prose(160, 10 + n)} {prose(60, 1)}" for n in range(3)))
    for option in ("--eu", "--html"):
        assert scrapy("report", option, shelf.path).returncode == 0
    assert "older state" not in dataset("verify", shelf.path).stdout
    removed = dataset("substrings", "--remove", "--json", shelf.path)
    assert json.loads(removed.stdout)["rewritten"]["changed"] == 2
    published, report = removed.stderr.splitlines()
    assert published.startswith("eu_summary.*, croissant.json and README.md describe an older state of the corpus: ")
    assert report.startswith("report.html and stats.json describe an older state of the corpus: ")
    assert {published, report} < set(dataset("verify", shelf.path).stdout.splitlines())
    for line in (published, report):
        assert scrapy(*line.split("`")[1].split()[1:]).returncode == 0
    assert "older state" not in dataset("verify", shelf.path).stdout


def test_contaminated_reports_and_then_removes_on_request(shelf, prose, quiz):
    shelf.fill(prose(200, 2), f"{prose(50, 3)} {prose(30, 1)} {prose(50, 4)}")
    listed = dataset("contaminated", "--eval", quiz, shelf.path)
    assert listed.returncode == 0, listed.stderr
    assert "1 of 2 documents repeat an evaluation set" in listed.stdout
    assert "set 'quiz': 18 n-grams; first passage: words 50-80" in listed.stdout
    version = manifest_hash(shelf.path)
    removed = dataset("contaminated", "--eval", quiz, "--remove", "--drop-old", "--json", shelf.path)
    assert noted(shelf.path, version)["operation"] == "dataset contaminated --remove"
    report = json.loads(removed.stdout)
    assert report["sets"] == {"quiz": 1} and report["rewritten"]["rejected"] == 1
    assert report["hits"][0]["words"] == [50, 80]
    [rejected] = shelf.records("rejected")
    assert (rejected["stage"], rejected["reason"]) == ("contamination", "contaminated") and "text" not in rejected
    assert not (shelf.path / "replaced").exists() and len(shelf.texts()) == 1
    assert dataset("verify", shelf.path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["contaminated"], "no evaluation sets: give --eval PATH"),
        (["contaminated", "--eval", "nowhere.jsonl"], "EVAL_SETS"),
        (["substrings"], "there is no such folder"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_with_exit_code_1(shelf, tmp_path, arguments, message):
    if arguments[0] == "contaminated":
        shelf.fill("some text")
    found = dataset(*arguments, shelf.path)
    assert found.returncode == 1 and message in found.stderr and "Traceback" not in found.stderr


def test_sizes_are_read_as_people_write_them():
    assert [size(text) for text in ("1000", "1k", "1.5M", "4G", "4GiB", "2 GB")] == [
        *(1000, 1024, 1_572_864),
        *(2**32, 2**32, 2**31),
    ]
