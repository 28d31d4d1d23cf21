"""Runs a command and measures what it and its children cost: wall clock, CPU time, peak memory."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

SAMPLE_SECONDS = 0.1
OWN, CHILDREN, SERVER = "own", "children", "server"
"""Whose CPU time it is: of the command's own process, of those it has started, of a Valkey or Redis among them."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command cost, its child processes included."""

    code: int
    seconds: float  # wall clock
    cpu_seconds: float  # user and system
    peak_bytes: int  # largest sum of proportional set sizes seen at one moment; 0 where /proc is absent
    shares: Mapping[str, float] = field(default_factory=dict)  # CPU seconds of OWN, CHILDREN and SERVER


def measured(command: list[str], output: Path, cwd: Path, limit_seconds: float, daemons_in: Path | None = None) -> Cost:
    """Run `command` with its output in a file.

    daemons_in: processes that work in this folder or below it belong to the command, too; so the embedded server, which
    leaves the tree of its starter. Raises: TimeoutError where it takes longer than `limit_seconds`; it is killed then.
    """
    started, peak, cpu, kinds = time.monotonic(), 0, dict[int, float](), dict[int, str]()
    with output.open("w") as file:
        process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        while (status := os.waitpid(process.pid, os.WNOHANG))[0] == 0:
            tree = list(dict.fromkeys([*_tree(process.pid), *(working_in(daemons_in) if daemons_in else ())]))
            peak = max(peak, sum(_memory(pid) for pid in tree))
            cpu.update({pid: used for pid in tree if (used := _cpu(pid))})
            kinds.update({pid: _kind(pid, process.pid) for pid in tree})
            if time.monotonic() - started > limit_seconds:
                process.kill()
                process.wait()
                raise TimeoutError(f"{' '.join(command[:5])} … took longer than {limit_seconds:.0f} s; see {output}")
            time.sleep(SAMPLE_SECONDS)  # the sampling interval
    process.returncode = os.waitstatus_to_exitcode(status[1])
    shares = {kind: sum(cpu[pid] for pid in cpu if kinds[pid] == kind) for kind in (OWN, CHILDREN, SERVER)}
    return Cost(process.returncode, time.monotonic() - started, sum(cpu.values()), peak, shares)


def _kind(pid: int, root: int) -> str:
    """By the name of its program, which a process has for as long as it runs one."""
    if pid == root:
        return OWN
    with suppress(OSError):
        if Path(f"/proc/{pid}/comm").read_text().startswith(("valkey", "redis")):
            return SERVER
    return CHILDREN


def _tree(root: int) -> list[int]:
    """The process and all its descendants, as /proc shows them."""
    tree, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        tree.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                waiting += map(int, children.read_text().split())
            except OSError:
                continue  # ended meanwhile
    return tree


def working_in(folder: Path) -> list[int]:
    """The processes that work in a folder or below it, as /proc shows them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # ended meanwhile, or not ours
            if entry.readlink().is_relative_to(folder):
                found.append(int(entry.parent.name))
    return found


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _cpu(pid: int) -> float:
    """Seconds of CPU the process has used itself so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS
