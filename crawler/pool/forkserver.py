"""How the stage pool's processes start: from a fork server, without the parent's main module, without Scrapy.

A process of its own class is unpickled in the child, so this module stays as light as the worker.
"""

from __future__ import annotations

import os
import sys
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def compute_in_one_thread() -> None:
    """Processes that start from now on multiply matrices in one thread each: a worker is started for every core.

    Their libraries read it once, when they are loaded. What the environment says already stays.
    """
    for name in _THREADS:
        os.environ.setdefault(name, "1")


class QuietProcess(ForkServerProcess):
    """Starts without importing the parent's main module: `scrapy` would cost every worker 40 MB for nothing."""

    def start(self) -> None:
        """Start with the parent's main module out of sight."""
        main = sys.modules["__main__"]
        hidden: dict[str, Any] = {
            name: main.__dict__.pop(name) for name in ("__file__", "__spec__") if name in main.__dict__
        }
        main.__spec__ = None
        try:
            super().start()
        finally:
            vars(main).update(hidden)


class QuietContext(ForkServerContext):
    """A fork-server context whose processes are quiet."""

    Process = QuietProcess
