"""A small process that ends an embedded server whose users are gone: `python caretaker.py FOLDER SOCKET IDLE_SECONDS`.

Whoever leaves last stops the server himself. A user that was killed cannot; then, once nobody has used the folder for
IDLE_SECONDS, this process asks the server to write everything to the disk and to end. The server starts again, with
all it knew, for whoever comes next. Only the standard library, so that it costs 8 MB and 20 ms.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

LOCK = "caretaker.lock"
"""Held by the one caretaker of a folder."""
_LOOKS = 10
"""How often it looks in IDLE_SECONDS."""


def watch(folder: Path, address: str, idle_seconds: float, mine: IO[bytes]) -> None:
    """Return when the server of the folder has ended, by itself or because nobody used it any more.

    `mine` is let go of while nobody can come: whoever comes next finds a caretaker that stays, or none.
    """
    deserted_since: float | None = None
    while True:
        time.sleep(idle_seconds / _LOOKS)
        with (folder / "starting.lock").open("rb+") as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)  # nobody comes or goes meanwhile
            if _is_free(folder / "server.lock"):
                mine.close()
                return
            if not _is_free(folder / "users.lock"):
                deserted_since = None
                continue
            deserted_since = deserted_since or time.monotonic()
            if time.monotonic() - deserted_since >= idle_seconds:
                _shut_down(address)
                mine.close()
                return


def _is_free(lock: Path) -> bool:
    """True where no living process holds the lock: the kernel drops the locks of those that were killed."""
    with lock.open("rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


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
    _become_a_daemon()
    with suppress(FileNotFoundError), (folder / LOCK).open("wb") as mine:  # the folder may be removed with all in it
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        watch(folder, address, idle_seconds, mine)


if __name__ == "__main__":
    main()
