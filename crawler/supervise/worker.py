"""A worker is one `gristmill crawl` process under a fixed name; it is started again with back-off when it dies."""

from __future__ import annotations

import asyncio
import ctypes
import enum
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from crawler.config.limits import Limits
from crawler.supervise.usage import Usage

_PR_SET_PDEATHSIG = 1  # prctl(2)
_AGAIN = frozenset({"memusage_exceeded"})
"""Reasons of an end after which a new process goes on where the old one was."""
SUMMED = ("kept", "as_before", "pages", "fetched", "fetched_bytes")
"""Counters that are added up over the processes of a worker, and over workers."""
_CHUNK = 65_536
_LONGEST_LINE = 100_000  # characters of a log line; the rest of a longer one follows as a line of its own


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses before a dead worker is started again, in seconds: first, twice that, … up to most.

    A worker that lived `steady` seconds begins again with the first pause. After `tries` deaths in a row it stays down.
    """

    first: float = 1.0
    most: float = 60.0
    steady: float = 60.0
    tries: int = 5

    def pause(self, deaths: int) -> float:
        """deaths: in a row, at least 1."""
        return min(self.most, self.first * 2.0 ** (deaths - 1))


class State(enum.StrEnum):
    """What a worker does."""

    WORKING = "working"
    WAITING = "restarts"
    DONE = "done"
    FAILED = "failed"


@dataclass(slots=True)
class Worker:
    """One place among the workers. `say` is given each line of its log; it must not block.

    command: argv without the descriptor of the counters, which `with_descriptor` adds. secrets: variables of its
    environment; everybody on this machine can read a command line. limits: of all its processes together, but for what
    one that is killed did in its last second.
    """

    name: str
    with_descriptor: Callable[[int], list[str]]
    say: Callable[[str, str], None]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    backoff: Backoff = Backoff()
    limits: Limits = field(default_factory=Limits)
    state: State = State.WAITING
    starts: int = 0
    usage: Usage | None = None
    _process: asyncio.subprocess.Process | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _asked: int = 0  # how often it was asked to end
    _now: dict[str, Any] = field(default_factory=dict)  # counters of the process that runs, or ran last
    _before: Counter[str] = field(default_factory=Counter)  # of the processes before it

    @property
    def counters(self) -> dict[str, Any]:
        """The latest counters; those of this worker summed over its processes."""
        rejected = Counter(self._now.get("rejected", {}))
        for name, count in self._before.items():
            if name.startswith("rejected:"):
                rejected[name.removeprefix("rejected:")] += count
        sums = {name: self._now.get(name, 0) + self._before[name] for name in SUMMED}
        return {**self._now, **sums, "rejected": dict(rejected)}

    async def run(self) -> State:
        """Keep the worker alive until it is done, stopped or has died too often. Returns DONE or FAILED."""
        deaths, clock = 0, asyncio.get_running_loop().time
        started, left = clock(), self.limits
        while True:
            began = clock()
            code = await self._once(left)
            if code == 0 or self._has_ended() or self._stopping.is_set():
                self.state = State.DONE if code == 0 or self._ended_too_early(code) else State.FAILED
                return self.state
            steady = clock() - began >= self.backoff.steady
            deaths = 1 if steady else deaths + 1
            if deaths >= self.backoff.tries:
                self.say(self.name, f"error: it died {deaths} times in a row ({_how(code)}); it is not restarted")
                self.state = State.FAILED
                return self.state
            await self._wait(self.backoff.pause(deaths), code)
            counted = self.counters
            rest = self.limits.after(counted["kept"], counted["pages"], clock() - started)
            if self._stopping.is_set() or rest is None:
                break
            left = rest
        self.state = State.DONE
        return self.state

    def stop(self) -> None:
        """Ask the process to end: SIGTERM, the first time graceful, the second time at once."""
        self._stopping.set()
        self._asked += 1
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def _ended_too_early(self, code: int) -> bool:
        """True where it was asked once to end, before its crawl had begun or while it began: nothing was cut off."""
        return self._stopping.is_set() and (not self._now or (self._asked == 1 and code == _INTERRUPTED))

    def _has_ended(self) -> bool:
        """True where the process said itself that its crawl is over, well or not: to start it again changes nothing."""
        finished = self._now.get("finished")
        return bool(finished) and finished not in _AGAIN and not self._now.get("fatal")

    async def _wait(self, seconds: float, code: int) -> None:
        self.state = State.WAITING
        self.say(self.name, f"warning: it died ({_how(code)}); restarting in {seconds:g} s")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _once(self, left: Limits) -> int:
        self._settle()
        readable, writable = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self.with_descriptor(writable),
                *(word for name, value in left.settings.items() for word in ("-s", f"{name}={value}")),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=(writable,),
                env={**os.environ, **self.secrets},
                start_new_session=True,  # Ctrl-C on the terminal is meant for the supervisor, who hands it on once
                preexec_fn=_end_with_the_supervisor if sys.platform == "linux" else None,
            )
        except BaseException:
            os.close(readable)
            raise
        finally:
            os.close(writable)
        self.state, self.starts, self.usage = State.WORKING, self.starts + 1, Usage(self._process.pid)
        if self._stopping.is_set():  # asked while it was being started
            self._asked -= 1  # the same request, handed on
            self.stop()
        assert self._process.stdout is not None
        with os.fdopen(readable, "rb", buffering=0) as pipe:
            counters = asyncio.StreamReader()
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(counters), pipe
            )
            try:
                await asyncio.gather(self._hear(counters), self._pass_on(self._process.stdout))
                return await self._process.wait()
            finally:
                transport.close()
                self.usage = None

    async def _hear(self, counters: asyncio.StreamReader) -> None:
        async for line in _lines(counters):
            with suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict):
                    self._now = found

    async def _pass_on(self, log: asyncio.StreamReader) -> None:
        async for line in _lines(log):
            self.say(self.name, line)

    def _settle(self) -> None:
        """The counters of the process that ended count on."""
        for name in SUMMED:
            self._before[name] += self._now.get(name, 0)
        for name, count in self._now.get("rejected", {}).items():
            self._before[f"rejected:{name}"] += count
        self._now = {}


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    rest = ""
    while chunk := await stream.read(_CHUNK):
        *whole, rest = (rest + chunk.decode(errors="replace")).split("\n")
        for line in whole:
            yield line
        if len(rest) > _LONGEST_LINE:
            yield rest
            rest = ""
    if rest:
        yield rest


def _how(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


_INTERRUPTED = 128 + signal.SIGTERM
"""Exit code of a crawl that SIGTERM reached while it began (docs/commands.md)."""
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _end_with_the_supervisor() -> None:
    """Runs in the new process: the kernel sends it SIGTERM when the supervisor dies, however it dies."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
