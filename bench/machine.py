"""Where and of what a figure was measured: the machine and the commit, as the pages of docs/ say it."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from bench.places import PROJECT


def commit() -> str:
    """The commit of the project, with `-dirty` where files differ from it."""
    command = ["git", "-C", str(PROJECT), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def machine() -> str:
    """Cores, processor and Python."""
    model = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), model)
    except OSError:
        pass  # not Linux: the processor's name is all there is
    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}"
