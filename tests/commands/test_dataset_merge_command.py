"""`gristmill dataset merge` as a person types it, and what is done with its corpus then."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.places import PROJECT
from tests.support.three_domains import fill


def run(*args: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", *args]
    return warm.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120)


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    fill(tmp_path / "a", pages=3, WORKER_ID="a")
    fill(tmp_path / "b", pages=4, WORKER_ID="b")
    return [str(tmp_path / "a"), str(tmp_path / "b")]


def test_the_merged_corpus_goes_through_every_operation(tmp_path: Path, two: list[str]) -> None:
    out = str(tmp_path / "all")
    done = run("dataset", "merge", "--out", out, *two, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{two[0]}: 9 kept, 6 rejected, 0 held" in done.stdout
    assert "15 pages are in more than one of them" in done.stdout and "the later fetch of a page stays" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.replace(str(tmp_path), "").splitlines())
    for args, said in (
        (["dataset", "verify", out], "each page exactly once"),
        (["report", out], "The merge is finished."),
        (["report", "--eu", out], "eu_summary"),
        (["dataset", "query", out, "SELECT count(*) AS n FROM documents"], "n\n12\n"),
        (["dataset", "exclude", "--domain", "alder.example", "--reason", "asked", "--yes", out], "corpus version 2"),
        (["dataset", "verify", out], "each page exactly once"),
        (["dataset", "export", "--to", "jsonl.gz", "--out", str(tmp_path / "release"), out], ""),
        (["dataset", "log", out], "dataset merge"),
    ):
        done = run(*args, folder=tmp_path)
        assert done.returncode == 0 and said in done.stdout, (args, done.stdout, done.stderr)


def test_a_merge_that_cannot_be_is_one_sentence_and_exit_code_1(tmp_path: Path, two: list[str]) -> None:
    out = str(tmp_path / "all")
    done = run("dataset", "merge", "--json", "--out", out, two[0], two[0], folder=tmp_path)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["error"]["problems"]) == (1, [f"{two[0]} is given twice: name each corpus once"])
    assert not Path(out).exists()
