"""A stage process ends with the worker that started it, whatever it is doing then.

An idle one reads the end of its pipe. One in the middle of a task would go on for as long as the task takes, and for
ever where it only waits: who ends such tasks (`cpu_limit.PATIENCE`) is gone. The fork server lives as long as any of
them.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing import connection, parent_process
from typing import TypeVar

T = TypeVar("T")


def started(begin: Callable[[T], None], argument: T) -> None:
    """The first call in a stage process: from here on it ends with its parent; then `begin(argument)`."""
    end_with_parent()
    begin(argument)


def end_with_parent() -> None:
    """Have this process killed when its parent ends, however that happens; nothing in a process without a parent.

    The parent holds the other end of a pipe, and the system closes it. On Linux the pipe then sends a signal that ends
    even a process in native code that never lets Python run (fcntl(2), F_SETSIG). Elsewhere a thread waits for it.
    """
    parent = parent_process()
    if parent is None:
        return
    sentinel: int = parent.sentinel
    if sys.platform == "linux":
        fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
        if connection.wait([sentinel], 0):  # it ended before we asked for the signal
            _end()
    else:
        threading.Thread(target=_wait, args=(sentinel,), name="parent-watch", daemon=True).start()


def _wait(sentinel: int) -> None:
    connection.wait([sentinel])
    _end()


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
