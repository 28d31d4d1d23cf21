"""Real crawls for the end-to-end tests: the demo web in one process, `gristmill crawl corpus` in another.

The crawl of the demo web runs once a test session, however many test processes there are: the first one that needs it
does the work under a file lock, the others read what it left.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from demo.outputs import Access, CorpusRecords, read_access_log, read_corpus
from demo.pages import load_second, load_web
from demo.render import Web
from demo.run import AGAIN, crawl_command, draws_pages, served
from tests.support.once import made_once
from tests.support.places import PROJECT

POLITE_DELAY = 0.4  # seconds; longer than the jitter of a busy machine, so that the access log can be judged
CRAWL_SECONDS = 240.0  # a crawl that takes longer is broken; the demo promises 60 s on a machine of its own


@dataclass(frozen=True)
class Finished:
    """One finished command."""

    code: int
    output: str  # standard output and standard error


@dataclass(frozen=True)
class DemoCrawl:
    """What three runs of the same command left behind: two over the demo web, one over its second generation."""

    folder: Path
    bases: dict[str, str]
    first: Finished
    second: Finished
    third: Finished  # the second generation of the web, with RECRAWL, on a copy of the corpus
    first_requests: int  # lines of the access log that belong to the first run
    second_requests: int  # … and to the first two

    @property
    def delay(self) -> float:
        """Seconds between requests to one host that the crawl was told to keep."""
        return POLITE_DELAY

    @property
    def web(self) -> Web:
        return Web(load_web(), self.bases, draws_pages([]))

    @property
    def corpus_dir(self) -> Path:
        return self.folder / "corpus"

    @property
    def log(self) -> list[Access]:
        return read_access_log(self.folder / "access.jsonl")[: self.first_requests]

    @property
    def second_log(self) -> list[Access]:
        return read_access_log(self.folder / "access.jsonl")[self.first_requests : self.second_requests]

    @property
    def third_log(self) -> list[Access]:
        return read_access_log(self.folder / "access.jsonl")[self.second_requests :]

    @property
    def second_web(self) -> Web:
        """The web as it was when the third run came."""
        return Web(load_second(), self.bases, draws_pages([]))

    @property
    def second_corpus_dir(self) -> Path:
        """The output folder of the third run."""
        return self.folder / "corpus-second"

    def corpus(self) -> CorpusRecords:
        """The output folder as the first run left it."""
        return read_corpus(self.folder / "corpus-1")

    def corpus_after_resume(self) -> CorpusRecords:
        return read_corpus(self.corpus_dir)


def clean_environment() -> dict[str, str]:
    """The environment of the tests without settings of the person who runs them."""
    return {name: value for name, value in os.environ.items() if name not in {"REDIS_URL", "CORPUS_DIR", "CRAWL_ID"}}


def run(command: list[str], seconds: float = CRAWL_SECONDS, cwd: Path = PROJECT) -> Finished:
    """Run a command to its end; fails the test where it takes longer than `seconds`."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Finished(done.returncode, done.stdout)


@pytest.fixture
def scrapy() -> Callable[..., Finished]:
    """Runs `scrapy` with the given arguments in the project's folder."""
    return lambda *arguments: run([sys.executable, "-m", "scrapy", *map(str, arguments)], seconds=90.0)


@pytest.fixture(scope="session")
def demo_crawl(tmp_path_factory: pytest.TempPathFactory) -> DemoCrawl:
    """The demo web crawled once, once more with the same command, and again after it changed."""
    return made_once(tmp_path_factory, "demo-crawl", _crawl_all)


def _crawl_all(folder: Path) -> DemoCrawl:
    folder.mkdir()
    with served(folder) as server:
        command = crawl_command(server, folder / "seeds.txt", folder / "corpus", [], POLITE_DELAY)
        first = run(command)
        requests = len(read_access_log(server.access_log))
        if (folder / "corpus").exists():
            shutil.copytree(folder / "corpus", folder / "corpus-1", ignore=shutil.ignore_patterns("*.sock"))
        second = run(command)
        until_second = len(read_access_log(server.access_log))
        shutil.copytree(folder / "corpus", folder / "corpus-second", ignore=shutil.ignore_patterns("*.sock"))
        server.change()
        command = crawl_command(server, folder / "seeds.txt", folder / "corpus-second", AGAIN, POLITE_DELAY)
        third = run(command)
        return DemoCrawl(folder, dict(server.web.bases), first, second, third, requests, until_second)
