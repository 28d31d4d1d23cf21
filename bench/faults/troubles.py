"""Troubles of the surroundings that a worker has to live through: none of them is a death, and none is a page's fault.

Each begins at a moment of the plan, and `Troubles.lift` ends those whose time has passed. What a trouble may make a
worker say and end with is declared beside it; whoever ends otherwise has failed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import psutil
import redis

from bench.faults.fleet import Fleet, Worker
from bench.web.target import Answer
from crawler.server import embedded
from crawler.trouble import of_this_machine

TWIN, STANDSTILL, DESCRIPTORS, PASSWORD, CLOCK, FULL = "twin", "standstill", "descriptors", "password", "clock", "full"
TROUBLES = (TWIN, STANDSTILL, DESCRIPTORS, PASSWORD, CLOCK, FULL)
"""A second worker of one name; SIGSTOP beyond the lease; no file descriptor left; the server's password is another for
a while; its clock is set on or back; its memory is full for a while."""
OF_THE_SERVER = (PASSWORD, CLOCK, FULL)
ERROR = "error: "
LASTS = 4.0
"""Seconds of a password, of full memory and of too few descriptors."""
STANDS_STILL = 14.0
"""Seconds: longer than two leases of the campaign."""
SET_BY = 40.0
"""Seconds by which the clock is set on or back."""
_AT = r"(?:the )?[\w' ]+ at \S+"
_LACKS = re.escape(str(of_this_machine(OSError(errno.EMFILE, ""))))
ENDS_WITH = {
    TWIN: r"\S+: another live process writes as '\S+'; .+|another live worker of crawl '\S+' has the name '\S+': .+",
    DESCRIPTORS: rf"(?:{_AT} cannot be reached: |\S+: )?{_LACKS}",
    PASSWORD: rf"{_AT} refuses the password \([^()]+\): .+|\S+ refuses the password in REDIS_URL: .+",
    FULL: rf"{_AT} runs, but its memory is full \(OOM [^()]+\): .+",
}
"""The one sentence that a worker ends with which ends on its own, whole, by trouble; it is started again, but for a
twin. After the others nobody ends."""
FLOOD_PAGES, FLOOD_LINKS, FLOOD_LENGTH = 3, 250, 1_800
_FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")


@dataclass(frozen=True, slots=True)
class Happened:
    """A trouble that began. name: of the worker that it happened to; "": to the server, and so to all."""

    what: str
    name: str

    def ends(self, worker: str, sentence: str) -> bool:
        """True where it may have let this worker end with this sentence."""
        return self.name in {"", worker} and re.fullmatch(ENDS_WITH.get(self.what, "(?!)"), sentence) is not None


@dataclass
class Troubles:
    """The troubles of one run. url: of the server; clock: the file that `faketime` reads, None = not installed."""

    url: str
    clock: Path | None
    happened: list[Happened] = field(default_factory=list)
    twins: list[Worker] = field(default_factory=list)
    shifted: bool = False
    _password: str = ""
    _ends: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def begin(self, what: str, victim: Worker, fleet: Fleet, number: float) -> None:
        """Let it happen to this worker, or to its server. number: 0 to 1, where the trouble has two directions."""
        self.happened.append(Happened(what, "" if what in OF_THE_SERVER else victim.name))
        if what == TWIN:
            self.twins.append(fleet.start(victim.name))
        elif what == STANDSTILL:
            os.kill(victim.process.pid, signal.SIGSTOP)
            self._later(STANDS_STILL, lambda: _tell(victim, signal.SIGCONT))
        elif what == DESCRIPTORS:
            self._few_descriptors(victim)
        elif what == CLOCK and self.clock is not None:
            self.shifted = not self.shifted
            by = SET_BY if number < 0.5 else -SET_BY
            self.clock.write_text(f"{by:+.0f}" if self.shifted else "+0")
        elif what == PASSWORD:
            self._set_password("another")
            self._ask(lambda client: client.client_kill_filter(_type="normal", skipme=True))
            self._later(LASTS, lambda: self._set_password(""))
        elif what == FULL:
            self._ask(lambda client: client.config_set("maxmemory", 1))
            self._later(LASTS, lambda: self._ask(lambda client: client.config_set("maxmemory", 0)))

    def lift(self, *, now: bool = False) -> None:
        """End what has lasted long enough; `now`: everything."""
        due = [one for one in self._ends if now or one[0] <= time.monotonic()]
        for one in due:
            self._ends.remove(one)
            one[1]()

    def explain(self, worker: Worker) -> bool:
        """True where a trouble that reached this worker let it end: with exit code 1, and that sentence alone."""
        said = worker.output.read_text("utf-8", "replace").splitlines() if worker.process.poll() == 1 else []
        errors = [line.removeprefix(ERROR) for line in said if line.startswith(ERROR)]
        if len(errors) != 1 or any(line.startswith("Traceback") for line in said):
            return False
        return any(one.ends(worker.name, errors[0]) for one in self.happened)

    def _few_descriptors(self, victim: Worker) -> None:
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(victim.process.pid)
            soft, hard = process.rlimit(resource.RLIMIT_NOFILE)
            process.rlimit(resource.RLIMIT_NOFILE, (_highest(process) + 1, hard))
            self._later(LASTS, lambda: _limit(process, soft, hard))

    def _later(self, seconds: float, end: Callable[[], None]) -> None:
        self._ends.append((time.monotonic() + seconds, end))

    def _set_password(self, password: str) -> None:
        self._ask(lambda client: client.config_set("requirepass", password))
        self._password = password

    def _ask(self, what: Callable[[redis.Redis], object]) -> None:
        with contextlib.closing(redis.Redis.from_url(self.url, password=self._password or None)) as client:
            what(client)


@contextlib.contextmanager
def movable_clock(folder: Path) -> Iterator[Path | None]:
    """A server that is started inside has a clock that the yielded file sets; None where `faketime` is missing."""
    if not _FAKETIME.exists():
        yield None
        return
    file = folder / "clock"
    file.write_text("+0")
    wanted = {
        "LD_PRELOAD": str(_FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    with patch.dict(os.environ, wanted), patch.object(embedded, "_JEMALLOC", ()):  # it and faketime wait for each other
        yield file


def flood(base: str) -> dict[str, Answer]:
    """Pages of a site whose links are more than the frontier takes of one domain; its robots.txt disallows them all."""
    pages = [f"/page/{number}" for number in range(FLOOD_PAGES)]
    answers = {"/robots.txt": Answer(b"User-agent: *\nDisallow: /f/\n", kind="text/plain")}
    answers["/"] = Answer("".join(f'<a href="{page}">further</a> ' for page in pages).encode())
    for page in pages:
        links = (f'<a href="{base}/f/{page[6:]}/{n}/{"x" * FLOOD_LENGTH}">{n}</a>' for n in range(FLOOD_LINKS))
        answers[page] = Answer(f"<html><body>{' '.join(links)}</body></html>".encode())
    return answers


def _highest(process: psutil.Process) -> int:
    return max((int(path.name) for path in Path(f"/proc/{process.pid}/fd").iterdir()), default=2)


def _limit(process: psutil.Process, soft: int, hard: int) -> None:
    with contextlib.suppress(psutil.Error, OSError):
        process.rlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _tell(worker: Worker, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        if worker.process.poll() is None:
            os.kill(worker.process.pid, number)
