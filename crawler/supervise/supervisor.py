"""The supervisor runs all workers of one machine: signals go on to them, their counters come together in one view."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from crawler.observe.live.progress import Counters, WorkerCounters
from crawler.supervise.worker import SUMMED, State, Worker

TICK_SECONDS = 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def supervise(workers: Sequence[Worker], show: Callable[[Counters], None]) -> list[str]:
    """Run the workers until each is done. `show` is given the counters of all once a second.

    SIGINT and SIGTERM ask every worker to finish what it has in hand, a second one to end at once. Returns the names
    of workers that failed.
    """
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, _stop_all, workers)
    ticking = asyncio.ensure_future(_tick(workers, show))
    try:
        states = await asyncio.gather(*(worker.run() for worker in workers))
    finally:
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
        for number in SIGNALS:
            loop.remove_signal_handler(number)
    return [worker.name for worker, state in zip(workers, states, strict=True) if state is State.FAILED]


def _stop_all(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.stop()


async def _tick(workers: Sequence[Worker], show: Callable[[Counters], None]) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        show(together(workers))


def together(workers: Sequence[Worker]) -> Counters:
    """Sums over the workers; what is true of the whole crawl (queued, leased, on hold) is the latest that came."""
    rejected: Counter[str] = Counter()
    whole = Counters()
    for worker in workers:
        found = worker.counters
        for name in SUMMED:
            setattr(whole, name, getattr(whole, name) + found[name])
        rejected.update(found["rejected"])
        whole.workers.append(_line(worker, found))
    latest = max((worker.counters for worker in workers), key=lambda found: found.get("at", 0.0), default={})
    whole.queued, whole.leased, whole.held = (int(latest.get(name, 0)) for name in ("queued", "leased", "held"))
    whole.paused = bool(latest.get("paused"))
    whole.domains = sorted({domain for worker in workers for domain in worker.counters.get("domains", [])})
    whole.rejected = dict(rejected)
    return whole


def ends(workers: Sequence[Worker]) -> list[dict[str, Any]]:
    """What the workers have told of their ends, the latest last; a worker that was killed has told nothing."""
    told = [worker.counters for worker in workers if "told" in worker.counters]
    return [found["told"] for found in sorted(told, key=lambda found: float(found["at"]))]


def _line(worker: Worker, found: dict[str, Any]) -> WorkerCounters:
    cores, memory = worker.usage.look() if worker.usage is not None else (0.0, 0)
    judged = found["kept"] + sum(found["rejected"].values())
    return WorkerCounters(worker.name, str(worker.state), judged, cores, memory, max(0, worker.starts - 1))
