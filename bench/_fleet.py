"""Worker processes that come and go: started, killed, replaced, counted, and cleared away at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Command = Callable[[str], list[str]]
"""The command line of the worker of this name."""


@dataclass
class Worker:
    """One process in a session of its own, and where its output goes."""

    name: str
    process: subprocess.Popen[bytes]
    output: Path
    killed: bool = False


@dataclass
class Fleet:
    """Every worker of one run, dead or alive. Use as a context: what still lives at the end is killed."""

    command: Command
    folder: Path  # output files
    cwd: Path
    workers: list[Worker] = field(default_factory=list)

    def __enter__(self) -> Fleet:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            for pid in survivors(worker.process.pid):
                _signal(pid, signal.SIGKILL)
            worker.process.wait()

    def start(self, name: str) -> Worker:
        output = self.folder / f"{name}-{len(self.workers)}.log"
        with output.open("wb") as file:
            process = subprocess.Popen(
                self.command(name),
                cwd=self.cwd,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
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


def scrapy(*arguments: str) -> list[str]:
    """A scrapy command line with this Python."""
    return [sys.executable, "-m", "scrapy", *arguments]


def settings(**values: object) -> list[str]:
    """Settings as Scrapy's command line takes them."""
    return [part for name, value in values.items() for part in ("-s", f"{name}={value}")]
