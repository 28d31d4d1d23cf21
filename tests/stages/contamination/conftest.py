"""Evaluation sets and documents of words that nobody else has: seeded syllables, so no overlap is by chance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.contamination.stage import ContaminationStage


def write_lines(path: Path, records: list[object]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


@pytest.fixture(autouse=True)
def index_folder(tmp_path, monkeypatch) -> Path:
    """Index files of a test stay in its folder."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def stage(tmp_path) -> Callable[..., ContaminationStage]:
    def make(records: list[object] | None = None, **settings: object) -> ContaminationStage:
        if records is not None:
            settings["EVAL_SETS"] = str(write_lines(tmp_path / "quiz.jsonl", records))
        return ContaminationStage(from_mapping(settings))

    return make


def page(text: str) -> Document:
    return Document(url="http://a.test/1", text=text)
