"""The usable cores are those that this process may run on, which in a container are fewer than the machine has."""

from __future__ import annotations

import math
import os
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(limit: Path = _CGROUP_LIMIT) -> int:
    """Cores that this process may use: its affinity, and the limit of its container (cgroup v2 `cpu.max`)."""
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(free, _container_cores(limit) or free))


def _container_cores(limit: Path) -> int | None:
    try:
        quota, period = limit.read_text().split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no container, "max", another system
        return None
