"""Workers that begin together: all of them are up before the first request, so that a run measures no start-up."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from bench.faults.fleet import Fleet
from crawler.frontier.client import Frontier
from crawler.frontier.model import Mode

START_SECONDS = 120.0


def run_together(fleet: Fleet, workers: int, url: str, seconds: float) -> None:
    """Start workers on a paused crawl (`crawl` on the server at `url`), let it run, wait for its end.

    They have to log at INFO. Raises: RuntimeError where a worker fails, or they take longer than `seconds`.
    """
    asyncio.run(_set_mode(url, Mode.PAUSE))
    start_all(fleet, workers)
    asyncio.run(_set_mode(url, Mode.RUN))
    wait_for_end(fleet, seconds)


async def _set_mode(url: str, mode: Mode) -> None:
    frontier = Frontier(url, "crawl")
    await frontier.open()
    await frontier.control.set_mode(mode)
    await frontier.close()


def start_all(fleet: Fleet, workers: int) -> None:
    """Workers w0, w1, …; returns when each has opened its spider. Raises: RuntimeError where one does not."""
    for number in range(workers):
        fleet.start(f"w{number}")
    deadline = time.monotonic() + START_SECONDS
    while not all(_has_opened(worker.output) for worker in fleet.workers):
        if len(fleet.alive) < workers or time.monotonic() > deadline:
            raise RuntimeError(f"a worker ended before it began:\n{_last_words(fleet)}")
        time.sleep(0.05)  # polled: log files of other processes


def _last_words(fleet: Fleet) -> str:
    """How each worker that has not begun ended, and the end of its log; the folder may be gone when somebody looks."""
    late = [worker for worker in fleet.workers if not _has_opened(worker.output)]
    logs = [worker.output.read_text("utf-8", "replace")[-2000:] if worker.output.exists() else "" for worker in late]
    return "\n".join(f"{w.name}, exit code {w.process.poll()}:\n{text}" for w, text in zip(late, logs, strict=True))


def _has_opened(output: Path) -> bool:
    """A worker that was just forked has no log yet."""
    return output.exists() and "Spider opened" in output.read_text("utf-8", "replace")


def wait_for_end(fleet: Fleet, seconds: float) -> None:
    """Until every worker has ended by itself. Raises: RuntimeError where one fails, or they take too long."""
    deadline = time.monotonic() + seconds
    while fleet.alive:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the crawl did not end within {seconds:.0f} s: see {fleet.folder}")
        time.sleep(0.1)  # polled: several processes
    if fleet.failed():
        raise RuntimeError(f"a worker failed: see {fleet.failed()[0].output}")
