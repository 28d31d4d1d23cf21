"""An embedded server whose users were killed ends by itself, and loses nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from crawler.server.embedded import EmbeddedServer
from tests.support.places import PROJECT
from tests.support.serving import Gate

DEADLINE = 60.0  # seconds for what must happen sooner or later
IDLE = 1.0
USER = (
    "import redis, sys; from crawler.server.embedded import EmbeddedServer;"
    "url = EmbeddedServer(sys.argv[1], float(sys.argv[2])).start(); c = redis.Redis.from_url(url);"
    "c.incr('visits'); print(c.info('server')['process_id'], flush=True); c.close(); sys.stdin.read()"
)


def until(condition: Callable[[], bool]) -> float:
    """Seconds it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < DEADLINE
        time.sleep(0.05)  # polled: the server is nobody's child
    return time.monotonic() - began


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


class User:
    """A process that uses the folder's server until it is killed or told to end."""

    def __init__(self, folder: Path, idle: float = IDLE) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(folder), str(idle)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
        assert self.process.stdout is not None
        self.server = int(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "frontier"
    with contextlib.suppress(redis.ConnectionError), contextlib.closing(client(tmp_path / "frontier")) as left:
        os.kill(int(left.info("server")["process_id"]), signal.SIGKILL)


def client(folder: Path) -> redis.Redis:
    return redis.Redis.from_url(EmbeddedServer(folder).url)


def test_a_server_whose_only_user_was_killed_ends_and_the_next_user_finds_everything(folder: Path) -> None:
    first = User(folder)
    first.kill()
    assert until(lambda: not lives(first.server)) >= IDLE / 2
    second = User(folder)
    assert second.server != first.server
    with contextlib.closing(client(folder)) as found:
        assert int(found.get("visits")) == 2
    second.kill()
    until(lambda: not lives(second.server))


def test_a_user_that_is_left_keeps_the_server(folder: Path) -> None:
    one, two = User(folder), User(folder)
    assert one.server == two.server
    one.kill()
    time.sleep(3 * IDLE)  # nothing must happen meanwhile
    assert lives(two.server)
    two.kill()
    until(lambda: not lives(two.server))


def test_whoever_comes_in_time_finds_the_server_running(folder: Path) -> None:
    one = User(folder, idle=DEADLINE)
    one.kill()
    two = User(folder)
    assert two.server == one.server
    two.kill()


def test_a_server_that_is_stopped_takes_its_caretaker_along(folder: Path) -> None:
    server = EmbeddedServer(folder, IDLE)
    with contextlib.closing(redis.Redis.from_url(server.start())) as found:
        pid = int(found.info("server")["process_id"])
    assert caretakers(folder)
    server.stop()
    until(lambda: not lives(pid))
    until(lambda: not caretakers(folder))


def test_a_caretaker_that_was_killed_is_replaced_by_that_of_the_next_user(folder: Path) -> None:
    one = User(folder)
    (mine,) = caretakers(folder)
    os.kill(mine, signal.SIGKILL)
    two = User(folder)
    one.kill()
    two.kill()
    until(lambda: not lives(one.server))


def remove(folder: Path) -> None:
    """Once its caretaker has opened all that it needs of it."""
    until(lambda: is_held(folder / "caretaker.lock"))
    shutil.rmtree(folder)


def is_held(lock: Path) -> bool:
    """Read from the system: to try it could keep the caretaker from having it."""
    return lock.exists() and f":{lock.stat().st_ino} " in Path("/proc/locks").read_text()


def caretakers(folder: Path) -> list[int]:
    lines = subprocess.run(["ps", "-eo", "pid,args", "-ww"], capture_output=True, text=True, check=True).stdout
    found = [line.split(maxsplit=1) for line in lines.splitlines()]
    return [int(pid) for pid, line in found if "caretaker.py" in line and str(folder) in line]


def test_a_crawl_that_was_killed_leaves_no_server_for_ever_and_goes_on_with_the_same_command(crawl, make_site) -> None:
    site = make_site(pages=12)
    site.gate = Gate(5)
    killed = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port)
    site.gate.wait()
    with contextlib.closing(client(crawl.folder / "frontier")) as found:
        server = int(found.info("server")["process_id"])
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    site.gate.open()
    until(lambda: not lives(server))
    until(lambda: not caretakers(crawl.folder))
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert again.returncode == 0, again.stderr
    assert "was it emptied or lost" not in again.stderr
    assert set(crawl.accounted()) == site.urls()


@pytest.mark.parametrize("made_again", [False, True])
def test_a_server_whose_folder_was_removed_ends_as_soon_as_nobody_uses_it(folder: Path, made_again: bool) -> None:
    user = User(folder)
    remove(folder)
    time.sleep(IDLE)  # nothing must happen meanwhile
    assert lives(user.server), "it is in use"
    following = User(folder) if made_again else None
    user.kill()
    until(lambda: not lives(user.server))
    if following is not None:
        assert lives(following.server)
        following.kill()
        until(lambda: not lives(following.server))
    until(lambda: not caretakers(folder))


@pytest.mark.parametrize("removed", [False, True])
def test_the_place_of_a_socket_goes_with_a_server_whose_users_were_killed(folder: Path, removed: bool) -> None:
    deep = folder.parent / ("deep" * 30)
    user = User(deep)
    place = Path(EmbeddedServer(deep).url.removeprefix("unix://")).parent
    assert place.exists()
    assert place.parent != deep
    if removed:
        remove(deep)
    user.kill()
    until(lambda: not lives(user.server))
    until(lambda: not place.exists())


def test_a_server_whose_socket_was_removed_ends_when_nobody_uses_it_and_loses_nothing(folder: Path) -> None:
    user = User(folder)
    (folder / "valkey.sock").unlink()
    user.kill()
    until(lambda: not lives(user.server))
    until(lambda: not caretakers(folder))
    with EmbeddedServer(folder), contextlib.closing(client(folder)) as found:
        assert found.get("visits") == b"1"


def test_a_server_that_was_started_again_ends_with_its_folder_too(folder: Path) -> None:
    user = User(folder)
    os.kill(user.server, signal.SIGKILL)
    until(lambda: not lives(user.server))
    second = User(folder)
    time.sleep(IDLE)  # its caretaker has looked
    shutil.rmtree(folder)
    user.kill()
    second.kill()
    until(lambda: not lives(second.server))


def test_a_crawl_that_fails_at_its_start_leaves_no_server(crawl, make_site, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site(pages=2)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "tests.crawl.broken_start")
    failed = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert failed.returncode == 1 and "this corpus cannot be opened" in failed.stderr
    with contextlib.closing(client(crawl.folder / "frontier")) as left, pytest.raises(redis.ConnectionError):
        left.ping()
