"""The browser's parts by themselves: what a page may ask for, what is remembered of a domain, what is watched."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import psutil
import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy_playwright.handler import Config

from crawler.browser.fetch import Fetched, PageFetcher, RefusedError, plain_headers
from crawler.browser.memory import JUMP, RECENT, DomainMemory
from crawler.browser.private import Browser
from crawler.browser.requests import is_tracker, refusal
from crawler.browser.watch import Watch
from crawler.document import Drop, DropReason
from crawler.middlewares.outcomes import Denied, TryLater
from tests.support.clock import FakeClock


def in_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that awaits, in an event loop of its own."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))

    return run


@pytest.mark.parametrize(
    ("kind", "method", "url", "why"),
    [
        ("script", "GET", "https://a.org/app.js", ""),
        ("fetch", "GET", "https://api.b.org/data", ""),
        ("xhr", "HEAD", "https://a.org/x", ""),
        ("stylesheet", "GET", "https://a.org/x.css", ""),
        ("fetch", "POST", "https://a.org/graphql", "method"),
        ("image", "GET", "https://a.org/x.png", "image"),
        ("media", "GET", "https://a.org/x.mp4", "media"),
        ("font", "GET", "https://a.org/x.woff2", "font"),
        ("ping", "GET", "https://a.org/p", "ping"),
        ("script", "GET", "https://www.googletagmanager.com/gtm.js", "tracker"),
        ("script", "GET", "https://notdoubleclick.net.a.org/x.js", ""),
        ("text-track", "GET", "https://a.org/x", "other"),
    ],
)
def test_scripts_and_data_are_fetched_and_everything_else_is_refused_by_name(
    kind: str, method: str, url: str, why: str
) -> None:
    assert refusal(kind, method, url) == why


def test_a_tracker_is_told_by_its_host_and_not_by_its_path() -> None:
    assert is_tracker("https://stats.g.doubleclick.net/x")
    assert not is_tracker("https://example.org/doubleclick.net")
    assert not is_tracker("https://[broken/")


# --- fetching -------------------------------------------------------------------------------------------------------


def answer(url: str, status: int = 200, body: bytes = b"x", **headers: str) -> Response:
    return Response(url, status=status, body=body, headers=headers)


@in_a_loop
async def test_redirects_are_followed_one_request_each_and_headers_lose_coding_and_cookies() -> None:
    asked: list[str] = []

    async def download(request: Request) -> Response:
        asked.append(request.url)
        if request.url.endswith("/a"):
            return answer(request.url, 302, Location="/b")
        return answer(request.url, 200, b"found", **{"Set-Cookie": "a=b", "Content-Encoding": "gzip", "X-A": "1"})

    found = await PageFetcher(download, 5.0, 1000, "strict").get("https://a.org/a", "fetch", {})
    assert asked == ["https://a.org/a", "https://a.org/b"]
    assert found == Fetched(200, {"x-a": "1"}, b"found")


@pytest.mark.parametrize("status", [401, 402, 403, 451])
def test_of_a_denial_the_page_learns_the_status_and_not_the_text(status: int) -> None:
    async def download(request: Request) -> Response:
        return answer(request.url, status, b"members only")

    found = asyncio.run(PageFetcher(download, 5.0, 1000, "strict").get("https://a.org/a", "fetch", {}))
    assert (found.status, found.body) == (status, b"")


@in_a_loop
async def test_what_comes_back_as_an_outcome_is_a_refusal_with_its_name() -> None:
    forbidden = Denied(Drop("guard", DropReason.NETWORK_FORBIDDEN, "10.0.0.1"))
    for error, name in (
        (forbidden, "forbidden"),
        (Denied(Drop("policy", DropReason.WITHDRAWN)), "withdrawn"),
        (TryLater(Drop("fetch", DropReason.HTTP_ERROR)), "turn"),
        (OSError("reset"), "failed"),
    ):

        async def download(_request: Request, error: Exception = error) -> Response:
            raise error

        with pytest.raises(RefusedError) as refused:
            await PageFetcher(download, 5.0, 1000, "strict").get("https://a.org/", "script", {})
        assert refused.value.name == name


def test_repeated_headers_are_joined() -> None:
    assert plain_headers([(b"Vary", b"a"), (b"vary", b"b")]) == {"vary": "a, b"}


# --- memory ---------------------------------------------------------------------------------------------------------


class Blobs:
    """A store that lies nowhere: what is told is what is read."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}

    async def get_blob(self, name: str) -> bytes | None:
        return self.stored.get(name)

    async def put_blob(self, name: str, value: bytes, ttl: float) -> None:
        assert ttl == 100.0
        self.stored[name] = value


@in_a_loop
async def test_a_domain_goes_to_the_browser_directly_after_so_many_pages_in_a_row_and_is_probed_again(
    clock: FakeClock,
) -> None:
    blobs = Blobs()
    mine, other = (DomainMemory(lambda: blobs, 3, 100.0, clock) for _ in range(2))
    for needed in (True, True, False, True, True):
        await mine.learn("a.org", needed=needed)
        assert not mine.is_direct("a.org")
    await mine.learn("a.org", needed=True)
    assert mine.is_direct("a.org")
    assert not other.is_direct("a.org")
    await other.recall("a.org")
    assert other.is_direct("a.org")  # what one worker learned another one knows
    clock.advance(101.0)
    assert not mine.is_direct("a.org")
    assert not other.is_direct("a.org")


@pytest.mark.parametrize("blob", [b"", b"{", b"[]", b'{"until": "soon"}', b"[" * 100_000])
@in_a_loop
async def test_a_note_that_cannot_be_read_is_no_note(blob: bytes, clock: FakeClock) -> None:
    blobs = Blobs()
    blobs.stored["browser:a.org"] = blob
    memory = DomainMemory(lambda: blobs, 3, 100.0, clock)
    await memory.recall("a.org")
    assert not memory.is_direct("a.org")


def test_a_domain_of_which_far_more_pages_are_drawn_than_before_is_told_once(
    caplog: pytest.LogCaptureFixture, clock: FakeClock
) -> None:
    memory = DomainMemory(Blobs, 3, 100.0, clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(3 * RECENT):
            memory.saw("a.org", drawn=False)
            memory.saw("always.org", drawn=True)
        assert caplog.messages == []
        for _ in range(RECENT):
            memory.saw("a.org", drawn=True)
    assert len(caplog.messages) == 1
    assert f"a.org: {100 * JUMP:.0f} % of its latest {RECENT} pages needed a browser, before that 0 %" in caplog.text


# --- watch ----------------------------------------------------------------------------------------------------------


def running(watch: Watch, code: str) -> subprocess.Popen[bytes]:
    """A process that looks like a renderer of this watch's browser."""
    command = [sys.executable, "-c", code, watch.mark, "--type=renderer"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def ended(watch: Watch, *processes: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """The first of the processes that the watch ends."""
    end = time.monotonic() + 60
    while True:
        watch.look()
        for process in processes:
            if process.poll() is not None:
                return process
        assert time.monotonic() < end, "nobody ended it"
        time.sleep(0.05)


def test_a_renderer_that_uses_too_much_memory_or_time_is_ended_and_only_that_one() -> None:
    fat, busy = Watch(1000.0, 128), Watch(0.5, 10_000)
    calm = running(fat, "import time; print(1, flush=True); time.sleep(600)")
    large = running(fat, "import time; a = b'x' * 2**28; print(1, flush=True); time.sleep(600)")
    loop = running(busy, "print(1, flush=True)\nwhile True: pass")
    try:
        ended(fat, large)
        assert fat.why() == (DropReason.BROWSER_CRASHED, "more than 128 MiB of memory")
        ended(busy, loop)
        assert busy.why() == (DropReason.BROWSER_TIMEOUT, "more than 0.5 s of CPU time")
        assert calm.poll() is None
        assert psutil.Process(calm.pid).nice() >= 10
        fat.kill()
        assert calm.wait(30) == -9
    finally:
        for process in (calm, large, loop):
            process.kill()
            process.communicate()


def test_a_page_that_burns_time_waits_until_the_one_that_was_ended_before_it_was_told_why() -> None:
    watch = Watch(0.2, 256)
    loops = [running(watch, "print(1, flush=True)\nwhile True: pass") for _ in range(2)]
    large = None
    try:
        first = ended(watch, *loops)
        other = next(loop for loop in loops if loop is not first)
        limit = time.monotonic() + 60
        while other.poll() is None and psutil.Process(other.pid).cpu_times().user < 0.4:
            watch.look()
            assert time.monotonic() < limit
        assert other.poll() is None
        large = running(watch, "import time; a = b'x' * 2**29; print(1, flush=True); time.sleep(600)")
        assert ended(watch, other, large) is large  # memory waits for nobody
        assert watch.why() == (DropReason.BROWSER_TIMEOUT, "more than 0.2 s of CPU time")
        assert watch.why() == (DropReason.BROWSER_CRASHED, "more than 256 MiB of memory")
        assert ended(watch, other) is other
    finally:
        for process in (*loops, *filter(None, [large])):
            process.kill()
            process.communicate()


def test_who_hears_of_a_death_before_its_reason_stands_waits_for_it_and_nobody_else_is_given_it(monkeypatch) -> None:
    watch = Watch(1000.0, 64)
    told = []
    asking = threading.Thread(target=lambda: told.append(watch.why()))
    kill = psutil.Process.kill

    def killed(process: psutil.Process) -> None:
        kill(process)
        asking.start()
        asking.join(0.5)  # time to be told something wrong

    large = running(watch, "import time; a = b'x' * 2**27; print(1, flush=True); time.sleep(600)")
    try:
        monkeypatch.setattr(psutil.Process, "kill", killed)
        ended(watch, large)
        asking.join(30)
        assert told == [(DropReason.BROWSER_CRASHED, "more than 64 MiB of memory")]
        assert watch.why() == (DropReason.BROWSER_CRASHED, "its process ended by itself")
    finally:
        monkeypatch.undo()
        large.kill()
        large.communicate()


def test_a_page_that_dies_by_itself_says_so() -> None:
    assert Watch(1.0, 128).why() == (DropReason.BROWSER_CRASHED, "its process ended by itself")


# --- private parts of scrapy-playwright ------------------------------------------------------------------------------


def test_the_parts_of_scrapy_playwright_that_are_named_are_there() -> None:
    for name in ("_launch", "_maybe_launch_browser", "_download_request", "_create_browser_context"):
        assert callable(getattr(Browser, name)), name
    settings = {field.name for field in dataclasses.fields(Config)}
    assert {"launch_options", "max_pages_per_context", "target_closed_max_retries"} <= settings
    assert "restart_disconnected_browser" in settings
