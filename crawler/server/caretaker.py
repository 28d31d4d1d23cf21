"""A small process that ends an embedded server whose users are gone: `python caretaker.py FOLDER SOCKET IDLE_SECONDS`.

Whoever leaves last stops the server himself. A user that was killed cannot; then, once nobody has used the folder for
IDLE_SECONDS, this process asks the server to write everything to the disk and to end. The server starts again, with
all it knew, for whoever comes next. A server whose folder was removed has nothing left to keep: it ends as soon as
nobody uses it. Only the standard library, so that it costs 8 MB and 20 ms.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

LOCK = "caretaker.lock"
"""Held by the one caretaker of a folder."""
PID = "valkey.pid"
"""Holds the number of the server's process."""
_END_SECONDS = 5.0
"""How long a server that was told to end is waited for."""
_LOOKS = 10
"""How often it looks in IDLE_SECONDS."""


def watch(
    folder: Path, address: str, idle_seconds: float, *, mine: IO[bytes], users: IO[bytes], server: _Server
) -> None:
    """Return when the server of the folder has ended, by itself or because nobody used it any more.

    `users` is what those who use the server hold together. `mine` is let go of while nobody can come: whoever comes
    next finds a caretaker that stays, or none.
    """
    deserted_since: float | None = None
    while True:
        time.sleep(idle_seconds / _LOOKS)
        if not _is_still_there(mine, folder / LOCK):
            if _is_free(users):
                server.end()
                if not folder.exists() and _is_deserted(address):
                    clear(folder, Path(address))
                return
            continue
        with suppress(FileNotFoundError), (folder / "starting.lock").open("rb+") as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)  # nobody comes or goes meanwhile
            with (folder / "server.lock").open("rb+") as running:
                if _is_free(running):
                    clear(folder, Path(address))
                    mine.close()
                    return
            server.reach()
            if not _is_free(users):
                deserted_since = None
                continue
            deserted_since = deserted_since or time.monotonic()
            if time.monotonic() - deserted_since >= idle_seconds:
                _shut_down(address)
                if not _has_ended(folder):
                    server.end()  # its socket is gone, as where old files of /tmp are removed
                clear(folder, Path(address))
                mine.close()
                return


def clear(folder: Path, address: Path) -> None:
    """Remove the socket of a server that has ended, and the folder that was made for it outside of the server's own."""
    with suppress(OSError):
        address.unlink(missing_ok=True)
        if address.parent != folder:
            address.parent.rmdir()


def _has_ended(folder: Path) -> bool:
    """True once the server has let go of its lock, which it does after its last connection."""
    deadline = time.monotonic() + _END_SECONDS
    with (folder / "server.lock").open("rb+") as running:
        while not (free := _is_free(running)) and time.monotonic() < deadline:
            time.sleep(0.01)
    return free


def _is_deserted(address: str) -> bool:
    """True where nobody listens: the place of a folder that was removed may be another's by now."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(address)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


def _is_still_there(mine: IO[bytes], path: Path) -> bool:
    """False where the folder was removed, or another one has its name now."""
    try:
        return os.path.samestat(os.fstat(mine.fileno()), path.stat())
    except OSError:
        return False


def _is_free(lock: IO[bytes]) -> bool:
    """True where no living process holds the lock: the kernel drops the locks of those that were killed."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


class _Server:
    """The server of a folder, held by its process: its socket may have been removed with the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = self._open()

    def reach(self) -> None:
        """Take hold of the one that was started again. Call it while a server runs and nobody comes or goes."""
        if self._process is None or select.select([self._process], [], [], 0)[0]:  # to be read: it has ended
            self._process = self._open()

    def end(self) -> None:
        """At once: all that it answered is written; what is left to sync is the system's.

        One whose folder was removed would else remove the socket of a server that has its place now. Nothing where this
        system has no handles of processes.
        """
        if self._process is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            select.select([self._process], [], [], _END_SECONDS)

    def _open(self) -> int | None:
        with suppress(OSError, ValueError, AttributeError):  # macOS has none
            return os.pidfd_open(int((self._folder / PID).read_text()))
        return None


def _shut_down(address: str) -> None:
    """NOSAVE: there is no snapshot; the append-only file is written and synced all the same."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30.0)
        connection.connect(address)
        connection.sendall(b"SHUTDOWN NOSAVE\r\n")
        connection.recv(1)  # nothing comes: the connection ends with the server


def _become_a_daemon() -> None:
    """Live on without whoever started this: Ctrl-C, terminals and parents are for others."""
    if os.fork():
        os._exit(0)
    os.setsid()


def main() -> None:
    """Look after one folder, unless another caretaker does."""
    folder, address, idle_seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    server = _Server(folder)  # whoever started this still keeps others from starting or ending it
    _become_a_daemon()
    with (
        suppress(FileNotFoundError),  # the folder may be removed with all in it
        (folder / "users.lock").open("rb+") as users,
        (folder / LOCK).open("wb") as mine,
    ):
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        watch(folder, address, idle_seconds, mine=mine, users=users, server=server)


if __name__ == "__main__":
    main()
