"""The other side of the wire: a web server that knows when each request began and when its answer was through.

One asyncio loop in a thread serves every site, each on a loopback address of its own and all on one port. What a page
does wrong (an error once, a broken connection once, slowness) is part of the page. Times are `time.monotonic()`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

BEAT = 0.01  # seconds between two looks at how long the server had to wait for the processor
RESET = -1  # instead of a status: the connection breaks before the answer
LONGEST_HEAD = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """What a URL answers: `first` are the statuses of the first requests (or RESET), then `status` for ever."""

    body: bytes = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    location: str = ""
    seconds: float = 0.0
    first: tuple[int, ...] = ()
    deadly: bool = False  # whoever asks for it dies before the answer: `Target.on_deadly` sees to it


@dataclass(slots=True)
class Visit:
    """One request as the server saw it. `end` is None while it lasts; `status` RESET where the connection broke."""

    host: str
    path: str
    start: float
    agent: str = ""
    end: float | None = None
    status: int = 0
    late: float = 0.0  # so many seconds earlier it may have arrived: the server itself had to wait for the processor


NOTHING = Answer(b"<html><body><h1>Not found</h1></body></html>", status=404)


@dataclass
class Target:
    """Serves `sites` (host → path → answer), which may be filled in after the start, when the port is known."""

    hosts: Sequence[str]
    sites: Mapping[str, Mapping[str, Answer]] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    port: int = 0
    on_deadly: Callable[[int], None] = lambda _: None
    """Given the client's port of a request for a deadly page; runs in the server's thread."""

    def __enter__(self) -> Self:
        sockets = listen_on_all(self.hosts)
        self.port = sockets[0].getsockname()[1]
        self._asked: Counter[tuple[str, str]] = Counter()
        self._changed = threading.Condition()
        self._stalls: list[tuple[float, float]] = []
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(sockets, started), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set_result, None)
        self._thread.join()

    def base(self, host: str) -> str:
        return f"http://{host}:{self.port}"

    def wait_for(self, count: int, seconds: float) -> bool:
        """Wait until `count` requests have been seen; False where they did not come in time."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.visits) >= count, seconds)

    def log(self) -> list[Visit]:
        """All requests so far, with what is known of the log's own lateness."""
        with self._changed:
            visits, stalls = list(self.visits), list(self._stalls)
        for visit in visits:
            at = bisect(stalls, (visit.start - BEAT, 0.0))  # the first that may have ended just before
            for began, ended in stalls[max(0, at - 1) : at + 2]:
                if began <= visit.start <= ended + BEAT:
                    visit.late = max(visit.late, visit.start - began)
        return visits

    # --- in the thread -----------------------------------------------------------------------------------------------
    def _serve(self, sockets: list[socket.socket], started: threading.Event) -> None:
        self._loop.run_until_complete(self._run(sockets, started))
        self._loop.close()

    async def _run(self, sockets: list[socket.socket], started: threading.Event) -> None:
        self._ended = self._loop.create_future()
        servers = [await asyncio.start_server(self._connected, sock=sock, limit=LONGEST_HEAD) for sock in sockets]
        started.set()
        watch = asyncio.ensure_future(self._watch())
        await self._ended
        watch.cancel()
        for server in servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT)
            now = time.monotonic()
            if now - before > 2 * BEAT:
                with self._changed:
                    self._stalls.append((before, now))

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # a killed worker, or the end of the bench
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        while head := await _read_head(reader):
            line, *fields = head.decode("latin-1").split("\r\n")
            agent = next((f.partition(":")[2].strip() for f in fields if f.lower().startswith("user-agent:")), "")
            visit = Visit(host, line.split(" ")[1], time.monotonic(), agent)
            with self._changed:
                self.visits.append(visit)
                self._changed.notify_all()
            try:
                if not await self._answer(visit, reader, writer):
                    return
            finally:
                visit.end = time.monotonic()

    async def _answer(self, visit: Visit, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Send the answer. False where the connection is over."""
        answer = self.sites.get(visit.host, {}).get(visit.path, NOTHING)
        turn = self._asked[visit.host, visit.path]
        self._asked[visit.host, visit.path] += 1
        visit.status = answer.first[turn] if turn < len(answer.first) else answer.status
        if answer.deadly:
            self.on_deadly(writer.get_extra_info("peername")[1])
            return False
        if answer.seconds and await _hung_up(reader, answer.seconds):
            return False
        if visit.status == RESET:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return False
        body = answer.body if visit.status == answer.status else b"<html><body>Not now</body></html>"
        lines = [f"HTTP/1.1 {visit.status} .", f"Content-Type: {answer.kind}", f"Content-Length: {len(body)}"]
        if answer.location and visit.status == answer.status:
            lines.append(f"Location: {answer.location}")
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        await writer.drain()
        return True


async def _read_head(reader: asyncio.StreamReader) -> bytes:
    """The request's head; empty where the client has gone. Requests have no body here."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        return await reader.readuntil(b"\r\n\r\n")
    return b""


async def _hung_up(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Wait; True where the client went away meanwhile."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return not await reader.read(1)
    return False


def listen_on_all(hosts: Sequence[str]) -> list[socket.socket]:
    """Listening sockets on one port that is free on all hosts. Raises: OSError where there is none."""
    for _ in range(50):
        sockets: list[socket.socket] = []
        try:
            for host in hosts:
                sockets.append(socket.create_server((host, sockets[0].getsockname()[1] if sockets else 0), backlog=128))
        except OSError:
            for sock in sockets:
                sock.close()
        else:
            return sockets
    raise OSError(f"no port is free on all of {', '.join(hosts)}")


@contextlib.contextmanager
def served(hosts: Sequence[str]) -> Iterator[Target]:
    """A running target without pages."""
    with Target(hosts) as target:
        yield target
