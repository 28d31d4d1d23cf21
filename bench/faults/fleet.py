"""Worker processes that come and go: started, killed, replaced, counted, and cleared away at the end.

Most of what a worker costs at its start is the import of its libraries, and a campaign starts hundreds. `Warm` forks
workers from a process that has imported them; from there on it is the same command line in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from crawler.config import from_mapping
from crawler.stages.chain import modules

Command = Callable[[str], list[str]]
"""The scrapy command line of the worker of this name."""


LIBRARIES = (
    "scrapy.cmdline",
    "scrapy.crawler",
    "crawler.spiders.corpus",
    "crawler.pipelines.settlement",
    "bench.faults.warm",
)
"""What a warm start has imported besides the stages. No reactor: each worker installs its own."""


class Running(Protocol):
    """What is used of a process."""

    pid: int

    def poll(self) -> int | None:
        """The exit code; None while it runs."""

    def kill(self) -> None:
        """Send SIGKILL."""

    def terminate(self) -> None:
        """Send SIGTERM."""

    def wait(self) -> object:
        """Wait for its end."""


Start = Callable[[list[str], Path, Path], Running]
"""Start a scrapy command line: arguments, output file, folder."""


def cold(arguments: list[str], output: Path, cwd: Path) -> Running:
    """A new interpreter."""
    with output.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", *arguments],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


class Warm:
    """A fork of a process that has imported the libraries. Not for workers that start processes themselves."""

    def __init__(self, arguments: list[str], output: Path, cwd: Path) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([*LIBRARIES, *modules(from_mapping())])
        self._process = context.Process(target=_become_scrapy, args=(arguments, str(output), str(cwd)))
        self._process.start()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self) -> object:
        self._process.join()
        return self._process.exitcode


def _become_scrapy(arguments: list[str], output: str, cwd: str) -> None:
    os.setsid()
    for source, targets in ((os.open(os.devnull, os.O_RDONLY), (0,)), (_output(output), (1, 2))):
        for target in targets:
            os.dup2(source, target)
    os.chdir(cwd)
    sys.path.insert(0, cwd)
    sys.argv = ["scrapy", *arguments]
    from scrapy.cmdline import execute

    execute()


def _output(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)


@dataclass
class Worker:
    """One process in a session of its own, and where its output goes."""

    name: str
    process: Running
    output: Path
    killed: bool = False


@dataclass
class Fleet:
    """Every worker of one run, dead or alive. Use as a context: what still lives at the end is killed."""

    command: Command
    folder: Path  # output files
    cwd: Path
    begin: Start = cold
    workers: list[Worker] = field(default_factory=list)

    def __enter__(self) -> Fleet:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.alive:
            worker.process.kill()
        for worker in self.workers:
            for pid in survivors(worker.process.pid):
                _signal(pid, signal.SIGKILL)
            worker.process.wait()

    def start(self, name: str) -> Worker:
        output = self.folder / f"{name}-{len(self.workers)}.log"
        process = self.begin(self.command(name), output, self.cwd)
        worker = Worker(name, process, output)
        self.workers.append(worker)
        return worker

    def kill(self, worker: Worker) -> None:
        """SIGKILL for the process itself; whatever it started has to notice."""
        worker.killed = True
        worker.process.kill()
        worker.process.wait()

    @property
    def alive(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.process.poll() is None]

    def failed(self) -> list[Worker]:
        """Workers that ended on their own with another exit code than 0."""
        return [w for w in self.workers if not w.killed and w.process.poll() not in (None, 0)]

    def left_behind(self, seconds: float = 5.0) -> list[int]:
        """Processes that outlive the worker that started them by `seconds`."""
        deadline = time.monotonic() + seconds
        while found := [pid for w in self.workers if w.process.poll() is not None for pid in survivors(w.process.pid)]:
            if time.monotonic() > deadline:
                return found
            time.sleep(0.05)  # polled: they are not our children
        return []


def survivors(session: int) -> list[int]:
    """Living processes of a session, as /proc shows them; none where there is no /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of_session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue  # ended meanwhile
        if int(of_session) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def settings(**values: object) -> list[str]:
    """Settings as Scrapy's command line takes them."""
    return [part for name, value in values.items() for part in ("-s", f"{name}={value}")]
