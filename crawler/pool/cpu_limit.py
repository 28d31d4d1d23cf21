"""Inside a worker process of the stage pool: how much CPU time one task may use.

A limit in CPU seconds ends the same pages on a busy machine as on an idle one; a wall-clock limit ends those that were
unlucky. The kernel keeps it, so that it also holds inside a single call into C code, where no Python handler runs.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

EXIT_CODE = -signal.SIGPROF
"""Exit code of a process that has used its time up: killed by SIGPROF, as nobody handles it."""
PATIENCE = 10.0
"""Wall-clock seconds for each CPU second of the limit, before a task that waits for something is given up."""


def within(cpu_seconds: float, function: Callable[..., T], *args: Any) -> T:
    """`function(*args)`; the whole process dies with `EXIT_CODE` where that takes longer.

    All threads of the process count, user and system time together (POSIX `ITIMER_PROF`). For processes that do nothing
    else, called in their main thread.
    """
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        return function(*args)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
