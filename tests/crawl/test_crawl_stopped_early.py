"""A worker that is taken away while it starts or ends leaves no run, no lock and no half-made folder behind."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.storage.files.place import Place
from tests.support.crawl import read_until
from tests.support.serving import DEADLINE, Gate

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@pytest.fixture
def waiting(crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.Popen[str]]:
    """Starts a crawl and returns when it waits at this step (tests/crawl/slow_start.py)."""

    def start(step: str, arguments: dict[str, str], **settings: Any) -> subprocess.Popen[str]:
        monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "tests.crawl.slow_start")
        monkeypatch.setenv("START_WAITS", step)
        monkeypatch.setenv("START_FOLDER", str(tmp_path))
        worker = crawl.start(arguments, LOG_LEVEL="INFO", **settings)
        limit = time.monotonic() + DEADLINE
        while not (tmp_path / "reached").exists():
            assert worker.poll() is None, worker.communicate()
            assert time.monotonic() < limit
            time.sleep(0.02)  # polled: a file of another process
        monkeypatch.delenv("SCRAPY_SETTINGS_MODULE")
        return worker

    return start


def let_on(worker: subprocess.Popen[str], tmp_path: Path) -> str:
    (tmp_path / "go").touch()
    return worker.communicate(timeout=DEADLINE)[1]


@BOTH
def test_a_worker_stopped_between_its_checks_and_its_reactor_ends_with_the_code_of_the_signal(
    waiting, crawl, make_site, tmp_path, number
):
    site = make_site(pages=3)
    worker = waiting("the reactor is made", {"url": site.url(0)}, NETWORK_PORTS=site.port)
    worker.send_signal(number)
    said = let_on(worker, tmp_path)
    assert worker.returncode == 128 + number, said
    assert f"error: interrupted by {number.name}: the crawl had not begun" in said
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert len(Place(str(crawl.folder)).manifest()["runs"]) == 1, "the first had not begun"


@BOTH
def test_a_worker_stopped_while_its_corpus_in_a_store_is_opened_ends_its_run(
    waiting, make_site, tmp_path, store, redis_url, number
):
    site = make_site(pages=3)
    url = f"{store}/opened-{number}"
    places = {"CORPUS_DIR": url, "CORPUS_SPOOL_DIR": tmp_path / "spool", "REDIS_URL": redis_url}
    worker = waiting("the corpus is opened", {"url": site.url(0)}, NETWORK_PORTS=site.port, **places)
    worker.send_signal(number)
    read_until(worker, f"Received {number.name}")
    said = let_on(worker, tmp_path)
    assert worker.returncode == 0, said
    (run,) = Place(url).manifest()["runs"]
    assert run["ended"], "verify --fix is not held up by a worker that is gone"


def test_a_worker_stopped_twice_while_its_corpus_is_opened_ends_at_once(waiting, make_site, tmp_path):
    site = make_site(pages=3)
    worker = waiting("the corpus is opened", {"url": site.url(0)}, NETWORK_PORTS=site.port)
    for _ in range(2):
        worker.send_signal(signal.SIGTERM)
        read_until(worker, "Received SIGTERM")
    said = worker.communicate(timeout=DEADLINE)[1]  # nobody has let it on
    assert worker.returncode == 143, said
    assert not (tmp_path / "go").exists()


def test_a_signal_while_the_interpreter_ends_does_not_change_what_the_crawl_has_done(
    waiting, make_site, tmp_path, monkeypatch
):
    monkeypatch.setenv("WARM", "0")  # a warm one does not take its interpreter apart
    site = make_site(pages=3)
    worker = waiting("the interpreter ends", {"url": site.url(0)}, NETWORK_PORTS=site.port)
    worker.send_signal(signal.SIGTERM)
    said = let_on(worker, tmp_path)
    assert worker.returncode == 0, said


def test_the_summary_of_a_stopped_crawl_says_how_much_waits_and_what_goes_on(crawl, make_site):
    site = make_site(pages=30)
    site.gate = Gate(10)
    worker = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, PROGRESS="auto", LOG_LEVEL="INFO")
    site.gate.wait()
    worker.send_signal(signal.SIGINT)
    read_until(worker, "Received SIGINT")
    site.gate.open()
    out, err = worker.communicate(timeout=DEADLINE)
    assert worker.returncode == 0, err
    assert "Stopped before its end" in out
    (waiting,) = re.findall(r"(\d+) URLs wait in the frontier: the same crawl command continues", out)
    assert 0 < int(waiting) < 30
    finished = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, PROGRESS="auto")
    assert finished.returncode == 0 and "Stopped" not in finished.stdout
    assert set(crawl.accounted()) == site.urls()
