"""A corpus and the commands that work on it: in this process where no crawler is needed, else in one of their own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scrapy.cmdline import execute

from crawler.storage.files.records import record_of
from tests.support import process
from tests.support.corpus_folder import Folder, document, exchange


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def corpus(tmp_path: Path) -> Folder:
    """`corpus` in the current folder: six documents of example.org, archived."""
    folder = Folder(tmp_path / "corpus")
    fill(folder)
    return folder


def fill(folder: Folder, **values: Any) -> None:
    made = folder.opened()
    for number in range(6):
        found = made.archive(exchange(number))
        place = {"warc_file": found.file, "warc_offset": found.offset, "warc_record_id": found.record_id}
        made.keep(record_of(document(number, license_tag="CC0-1.0", doc_id=f"id-{number}", **place, **values)))
    made.close()


@pytest.fixture
def scrapy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Runs a command that needs no crawler, in this process and in `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")
    monkeypatch.delenv("REDIS_URL", raising=False)

    def run(*words: object) -> Done:
        capsys.readouterr()
        monkeypatch.setattr("sys.argv", ["scrapy", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            execute()
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    yield run
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.disabled = False  # Scrapy's logging switches off every logger that it does not know


def process_environment(**more: str) -> dict[str, str]:
    """For a command that a test starts by itself."""
    return process.clean_environment(**{"SCRAPY_SETTINGS_MODULE": "crawler.settings", "COLUMNS": "80", **more})


def scrapy_process(folder: Path, *words: object, timeout: float = 60, **more: str) -> Done:
    """Runs any command in a process of its own; a hang is a failure."""
    named = {"SCRAPY_SETTINGS_MODULE": "crawler.settings", "COLUMNS": "80", **more}
    done = process.scrapy(*words, cwd=folder, timeout=timeout, **named)
    return Done(done.returncode, done.stdout, done.stderr)
