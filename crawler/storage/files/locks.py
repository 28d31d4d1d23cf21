"""Who writes here: one lock file per writer name, so that nobody touches the files of a live worker.

`flock` locks vanish with the process that holds them, also after SIGKILL; no time-out has to guess who is dead.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from crawler.storage.files.journal import disk

_PAUSE = 0.1  # seconds between two tries
_LONGEST_TOKEN = 64  # characters


class WriterLock:
    """An exclusive lock on a file, held until `release()` or the end of the process. The file goes with the lock.

    In it stands the `token` of the process that has it. Whoever takes the lock of a process that was killed knows from
    `predecessor` which one that was: it has ended, or it would hold the lock.
    """

    def __init__(self, path: Path, token: str = "") -> None:
        self.path = path
        self.token, self.predecessor = token, ""
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        """True from `acquire` to `release`."""
        return self._fd is not None

    def acquire(self, *, wait: bool = False) -> bool:
        """Take the lock; False where another live process holds it (never with `wait`).

        Raises: StorageError where the folder cannot be written.
        """
        while True:
            with disk(self.path):
                fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                except BlockingIOError:
                    os.close(fd)
                    return False
            if _is_current(fd, self.path):
                self._fd = fd
                with disk(self.path):
                    self.predecessor = os.pread(fd, _LONGEST_TOKEN, 0).decode("ascii", "replace")
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, self.token.encode(), 0)
                return True
            os.close(fd)  # the holder before us removed the file: what we locked has no name any more

    def acquire_within(self, seconds: float, pause: Callable[[float], object] = time.sleep) -> bool:
        """Take the lock, asking again for so long; False where it is still held then.

        A live worker keeps its lock; one that seals what our predecessor left holds it for a moment only.
        Raises: StorageError as `acquire`.
        """
        for _ in range(max(1, round(seconds / _PAUSE))):
            if self.acquire():
                return True
            pause(_PAUSE)
        return False

    def is_held(self) -> bool:
        """True where a live process holds the lock; changes nothing, so it also answers on a disk for reading only."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

    def release(self) -> None:
        """Remove the lock file, where that is possible, and let go: without a holder the file locks nothing."""
        if self._fd is not None:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._fd)
            self._fd = None


def _is_current(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
