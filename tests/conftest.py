"""What tests of more than one room stand on: a real server, a real crawl, a corpus in a folder of its own."""

from __future__ import annotations

import asyncio
import itertools
import logging
import multiprocessing.util
import os
import shutil
import signal
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from crawler.document import Document, Drop, DropReason, Exchange
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.server.embedded import EmbeddedServer
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from tests.support import corpus_folder, shelf, syllables, three_domains
from tests.support.clock import FakeClock
from tests.support.crawl import Crawl
from tests.support.places import SHARED_DATA, WITHOUT_SHARED_DATA
from tests.support.server import durable_server
from tests.support.site import Site

_serial = itertools.count()

settings.register_profile("suite", deadline=None, derandomize=True)  # neither the clock nor chance decides
settings.load_profile("suite")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data; a test that needs it is skipped where it is absent (a public clone)."""
    if not SHARED_DATA.is_dir():
        pytest.skip(WITHOUT_SHARED_DATA)
    return SHARED_DATA


@pytest.fixture(scope="session")
def crawler_commons(shared_data: Path) -> Path:
    return shared_data / "crawler-commons"


@pytest.fixture(scope="session", autouse=True)
def temporary_files_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a killed process leaves (multiprocessing's listener, a scratch folder) goes with the run of the tests.

    A short path: sockets stand in it.
    """
    tmp_path_factory.getbasetemp()  # stays where it is, to be looked at
    multiprocessing.util.get_temp_dir()  # of this process, which looks for it when it ends
    before, folder = os.environ.get("TMPDIR"), tempfile.mkdtemp(prefix="ct-")
    os.environ["TMPDIR"], tempfile.tempdir = folder, None
    yield
    tempfile.tempdir = None
    os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def loggers_are_on() -> None:
    """Libraries switch loggers off for the whole process (Scrapy's dictConfig does): no test inherits that."""
    logging.disable(logging.NOTSET)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.startswith("crawler"):
            logger.disabled, logger.propagate = False, True
            logger.setLevel(logging.NOTSET)


# --- a server and a frontier ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """A server of the S3 protocol with one bucket; fsspec finds it as a user's environment would say."""
    pytest.importorskip("moto.server", reason="moto is not installed (make test installs it)")
    pytest.importorskip("s3fs", reason="s3fs is not installed (make test installs it)")
    from bench.faults.store import object_store

    with object_store() as url:
        yield url


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One real server a test process; every test takes a crawl of its own (`crawl_name`)."""
    with EmbeddedServer(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """A server for this test alone."""
    server = EmbeddedServer(tmp_path / "server")
    yield server.start()
    server.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A server to be killed: it has everything in its file before it answers."""
    with durable_server(tmp_path / "server") as embedded:
        yield embedded


@pytest.fixture
def crawl_name() -> str:
    return f"t{os.getpid()}-{next(_serial)}"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def frontier_run(valkey_url: str, crawl_name: str, clock: FakeClock) -> Callable[..., None]:
    """Run an async scenario against an open Frontier: `frontier_run(scenario, **limits)`."""

    def run(scenario: Callable[[Frontier], Awaitable[None]], **limits: object) -> None:
        async def main() -> None:
            frontier = Frontier(valkey_url, crawl_name, Limits(**limits), now=clock)  # type: ignore[arg-type]
            await frontier.open()
            try:
                await scenario(frontier)
            finally:
                await frontier.close()

        asyncio.run(main())

    return run


# --- a crawl in a process of its own -------------------------------------------------------------------------------


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    made = Crawl(tmp_path / "corpus")
    yield made
    for process in made.processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def make_site() -> Iterator[object]:
    sites: list[Site] = []

    def make(**values: object) -> Site:
        sites.append(Site(**values).start())  # type: ignore[arg-type]
        return sites[-1]

    yield make
    for site in sites:
        site.stop()


# --- a corpus without a crawl --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> corpus_folder.Folder:
    """A corpus folder with a clock and ids that the test owns."""
    return corpus_folder.Folder(tmp_path / "corpus")


@pytest.fixture
def kept() -> Callable[..., dict[str, Any]]:
    return lambda number, **values: record_of(corpus_folder.document(number, **values))


@pytest.fixture
def rejected() -> Callable[..., dict[str, Any]]:
    def make(number: int, reason: DropReason = DropReason.LOW_QUALITY, stage: str = "quality", **values: Any) -> Any:
        return rejection_of(corpus_folder.document(number, **values), Drop(stage, reason, "detail"))

    return make


@pytest.fixture
def document() -> Callable[..., Document]:
    return corpus_folder.document


@pytest.fixture
def exchange() -> Callable[..., Exchange]:
    return corpus_folder.exchange


@pytest.fixture(name="shelf")
def shelf_fixture(tmp_path: Path) -> shelf.Shelf:
    """A corpus of made-up prose in which chosen passages stand more than once."""
    return shelf.Shelf(tmp_path / "corpus")


@pytest.fixture
def prose() -> Callable[[int, int], str]:
    return syllables.prose


@pytest.fixture(name="three_domains")
def three_domains_fixture(tmp_path: Path) -> three_domains.Folder:
    """A corpus of three domains under two licences."""
    three_domains.fill(tmp_path / "corpus")
    return three_domains.Folder(tmp_path / "corpus")


@pytest.fixture
def remote(tmp_path: Path) -> Place:
    """The same corpus at a URL, grown in a spool folder."""
    url, spool = f"memory://withdrawal-{tmp_path.name}", str(tmp_path / "spool")
    three_domains.fill(url, CORPUS_SPOOL_DIR=spool)
    return Place(url, spool)


@pytest.fixture(scope="session")
def add() -> Callable[..., None]:
    return three_domains.add


@pytest.fixture(scope="session")
def unpacked() -> Callable[[Path], bytes]:
    return three_domains.everything
