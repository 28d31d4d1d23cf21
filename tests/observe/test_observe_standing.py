"""A corpus says how it stands, at every moment of its first crawl and in the same words wherever it is asked."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import pytest

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.frontier.model import Counts, Mode
from crawler.frontier.operate import status
from crawler.frontier.overview import Overview, WorkerView
from crawler.observe import write
from crawler.observe.report.summary import summarise
from crawler.observe.standing import standing, standing_of
from crawler.operations.tend import _standing
from crawler.statkeys import LEFT_ON_HOLD, WAITING
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.support import corpus_crawl
from tests.support.corpus_folder import Folder, document
from tests.support.loopback_web import PolicyWeb
from tests.support.serving import Gate

SITE = "127.0.0.6"
PAGES, FREE = 12, 5
LIMIT = 60  # seconds for what must happen sooner or later


@dataclass
class Crawl:
    folder: Path
    gate: Gate
    process: Popen[str]
    again: Callable[[], Popen[str]]

    def says(self) -> str:
        """The sentence of the report, which is that of `frontier status`."""
        said = summarise(str(self.folder), growing=True).standing
        config = from_mapping({"CORPUS_DIR": str(self.folder)})
        view = status(config, "", 0)
        assert _standing(config, view)[0].sentence == said
        return said

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        if how is not signal.SIGKILL:
            self.gate.open()
        self.process.communicate()


def eventually(what: Callable[[], bool]) -> None:
    until = time.monotonic() + LIMIT
    while not what():
        assert time.monotonic() < until, "this did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    """A crawl in the middle of a site that lets it wait, before its first file is sealed."""
    gate = Gate(FREE)

    def page(n: int) -> Callable[..., None]:
        body = "".join(f"<p>{line}</p>" for line in prose(f"standing {n}", 300 if n % 3 else 5))
        content = f"<html lang=en><title>Page {n}</title><article>{body}</article></html>".encode()

        def answer(handler) -> None:
            gate.pass_through()
            handler.send(200, content)

        return answer

    with PolicyWeb() as web:
        base = web.site(SITE, {f"/{n}": page(n) for n in range(PAGES)})
        folder = tmp_path / "corpus"
        settings = {"JS_MODE": "never", "STAGE_WORKERS": 0, "DOWNLOAD_DELAY": 0.05, "WORKER_ID": "w1"}

        def start() -> Popen[str]:
            return corpus_crawl.start_crawl(folder, [f"{base}/{n}" for n in range(PAGES)], web.port, **settings)

        process = start()
        made = Crawl(folder, gate, process, start)
        try:
            gate.wait()
            yield made
        finally:
            gate.open()
            process.kill()
            if process.stderr is not None and not process.stderr.closed:
                process.communicate()


def test_the_report_is_true_before_the_first_file_is_sealed(crawl: Crawl) -> None:
    def judged() -> int:
        return summarise(str(crawl.folder), growing=True).judged

    eventually(lambda: judged() == FREE)
    found = summarise(str(crawl.folder), growing=True)
    assert not any(folder.files for folder in found.folders)
    assert found.unsealed and sum(found.domains.values()) == found.kept > 0 and found.words > 0
    assert summarise(str(crawl.folder)).judged == 0
    assert crawl.says() == "The crawl runs: 1 worker is at work."
    numbers = write.numbers(write.read(str(crawl.folder), samples=3))
    assert (numbers["kept"], numbers["state"]) == (found.kept, "running")


def test_a_killed_crawl_says_so_at_once_and_goes_on_to_its_end(crawl: Crawl) -> None:
    eventually(lambda: summarise(str(crawl.folder), growing=True).judged == FREE)
    crawl.end(signal.SIGKILL)
    cut = "The crawl was cut off: the worker w1 was killed; its files are not sealed yet: the same crawl command seals "
    assert crawl.says() == f"{cut}them and continues."
    assert summarise(str(crawl.folder), growing=True).judged == FREE
    crawl.gate.open()
    assert corpus_crawl.finished(crawl.folder, crawl.again()).returncode == 0
    found = summarise(str(crawl.folder), growing=True)
    assert (crawl.says(), found.state) == ("The crawl is finished: no URL waits.", "finished")
    assert (found.judged, found.unsealed) == (PAGES, 0)


def test_a_stopped_crawl_says_how_many_urls_wait(crawl: Crawl) -> None:
    crawl.end(signal.SIGTERM)
    found = summarise(str(crawl.folder), growing=True)
    assert found.state == "stopped"
    waiting = PAGES - found.judged
    assert crawl.says() == f"The crawl was stopped: {waiting} URLs wait; the same crawl command continues."


def test_a_folder_that_is_no_corpus_is_an_error_and_a_claimed_one_is_empty(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"no manifest\.json"):
        summarise(str(tmp_path), growing=True)
    place = Place(str(tmp_path / "new"))
    place.claim()
    place.save_json("manifest.json", {"format": "crawler-corpus/1", "files": [], "runs": [], "crawls": [],
                                      "retired": [], "config_digests": [], "counts": {}})  # fmt: skip
    found = summarise(str(tmp_path / "new"), growing=True)
    assert (found.state, found.standing) == ("empty", "Nothing is here yet: no crawl has begun in this folder.")


def test_a_folder_in_which_a_worker_is_just_beginning_is_not_called_broken(tmp_path: Path) -> None:
    corpus = Folder(tmp_path / "c").corpus("w1")
    corpus.lock()
    with pytest.raises(StorageError, match="a worker is just beginning: try again in a moment"):
        summarise(str(tmp_path / "c"), growing=True)
    corpus.unlock()
    with pytest.raises(StorageError, match="no crawl has written here so far"):
        summarise(str(tmp_path / "c"), growing=True)


def test_of_workers_side_by_side_one_says_for_all_that_the_crawl_is_finished(tmp_path: Path) -> None:
    """The others end without a word on what is left, also those that end later; and no word is no error."""
    folder = Folder(tmp_path / "c")
    first, second = folder.opened("w1"), folder.opened("w2")
    first.keep(record_of(document(1)))
    first.note({LEFT_ON_HOLD: 2})
    first.close()
    second.close()
    said = summarise(str(tmp_path / "c"))
    assert said.standing == "The crawl is finished: 2 URLs are on hold, which a later run tries again."
    folder.filled(range(2, 3), "w3")
    said = summarise(str(tmp_path / "c"))
    assert said.standing == "The latest run has ended and did not say what waits: the same crawl command continues."


@pytest.mark.parametrize(
    ("counts", "workers", "said"),
    [
        (Counts(), 0, "Nothing is here yet: the frontier knows no URL."),
        (Counts(queued=5, seen=5), 0, "Nothing is here yet: 5 URLs wait for a first worker."),
        (
            Counts(done=9, seen=9),
            2,
            "The crawl runs: 2 workers wait for URLs, of which there is none now.",
        ),
        (Counts(queued=7, seen=9, mode=Mode.PAUSE), 1, "The crawl is paused: 1 worker waits."),
        (Counts(queued=7, leased=1, seen=9), 2, "The crawl runs: 2 workers are at work."),
        (Counts(queued=1, done=8, seen=9), 0, "The crawl was stopped: 1 URL waits; the same crawl command continues."),
        (
            Counts(queued=1, done=8, seen=9, mode=Mode.DRAIN),
            0,
            "The crawl was stopped: 1 URL waits; after `gristmill frontier resume` the same crawl command continues.",
        ),
        (Counts(done=9, seen=9), 0, "The crawl is finished: no URL waits."),
        (
            Counts(done=8, held=1, seen=9),
            0,
            "The crawl is finished: 1 URL is on hold, which a later run tries again.",
        ),
    ],
)
def test_where_the_frontier_alone_is_at_hand_it_says_the_same(counts: Counts, workers: int, said: str) -> None:
    view = Overview("main", counts, 0, 0.0, None, 0, 0, None, (), workers=workers)
    assert standing_of(view).sentence == said


def test_a_worker_killed_here_is_told_beside_those_at_work_elsewhere_and_counted_once(crawl: Crawl) -> None:
    """The frontier knows of the death only after a while, and of machines that have another folder."""
    eventually(lambda: summarise(str(crawl.folder), growing=True).judged == FREE)
    crawl.end(signal.SIGKILL)
    place = Place(str(crawl.folder))
    seen = (WorkerView("w1", 5.0, alive=True), WorkerView("w2", 1.0, alive=True))
    view = Overview("crawl", Counts(queued=7, seen=9), 0, 0.0, None, 0, 0, None, (), workers=2, workers_seen=seen)
    killed = "the worker w1 was killed: its files are not sealed yet: the same crawl command seals them and continues."
    assert standing(place, place.manifest(), view).sentence == f"The crawl runs: 1 worker is at work; {killed}"
    assert standing(place, place.manifest()).state == "cut_off"


def test_a_run_that_was_stopped_with_an_empty_queue_says_so(tmp_path: Path) -> None:
    corpus = Folder(tmp_path / "c").opened("w1")
    corpus.keep(record_of(document(1)))
    corpus.note({WAITING: 0})
    corpus.close()
    said = summarise(str(tmp_path / "c")).standing
    assert said.startswith("The crawl was stopped when no URL waited; the same crawl command continues")
