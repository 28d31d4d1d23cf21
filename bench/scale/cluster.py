"""The rounds in Spark over the same documents, on a cluster of processes here, also where an executor is in trouble.

The driver gets `DRIVER_MEMORY`: with it, a run says that the driver needs no more, however many documents there are.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from shutil import rmtree
from threading import Timer
from typing import Any

import psutil

from crawler.dedup.rounds import find_gone
from crawler.spark.session import spark_context, spark_session
from crawler.spark.tables import SparkTables

_EXECUTOR = "CoarseGrainedExecutorBackend"
DRIVER_MEMORY = "512m"
"""Of the Java heap: the least that Spark 4 starts with is 450 MiB."""
STALLED = 30.0
"""Seconds for which an executor stands still."""


def rounds(stored: Path, work: Path, out: Path, master: str, partitions: int, trouble: str) -> dict[str, Any]:
    """Find the duplicates of the Parquet file `stored`; writes `gone` to the folder `out`.

    trouble: what befalls an executor after the first round, "kill" (SIGKILL) or "stall" (it stands still, and Spark's
    speculation runs its tasks elsewhere); else nothing. Raises: RuntimeError where there is none.
    """
    if master.startswith("local-cluster"):
        import pyspark

        os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    speculative = "--conf spark.speculation=true " if trouble == "stall" else ""
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory {DRIVER_MEMORY} {speculative}pyspark-shell"
    began, troubled, undecided = time.monotonic(), [], []

    def look(count: int) -> None:
        undecided.append(count)
        if trouble and len(undecided) == 1:
            troubled.append(_trouble(trouble))

    with spark_context(master) as context:
        session = spark_session(context)
        session.conf.set("spark.sql.shuffle.partitions", str(partitions))
        tables = SparkTables(session, str(work), rmtree)
        tables.put("texts", session.read.parquet(str(stored)).repartition(partitions))
        gone = find_gone(tables, progress=look)
        session.sql("SELECT ord, owned_by, exact, agreeing FROM gone").coalesce(1).write.parquet(str(out))
        used = _used()
    return {
        "spark_duplicates": gone,
        "spark_seconds": round(time.monotonic() - began, 1),
        "spark_undecided": undecided,
        "spark_in_trouble": len(troubled),
        **used,
    }


def _executors() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if _EXECUTOR in " ".join(_words(child))]


def _words(process: psutil.Process) -> list[str]:
    """Its command line; of one that has ended meanwhile nothing."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _trouble(kind: str) -> int:
    """For one executor of this process's own cluster."""
    if not (found := _executors()):
        raise RuntimeError("no executor here: expected --master local-cluster[N,CORES,MIB]")
    child = found[0]
    child.send_signal(signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
    if kind == "stall":
        Timer(STALLED, child.send_signal, [signal.SIGCONT]).start()
    return int(child.pid)


def _used() -> dict[str, Any]:
    """Peak memory of the driver's two processes in MiB, and CPU seconds of all that lives; of a dead one nothing."""
    me = psutil.Process()
    java = next(child for child in me.children() if child.name() == "java")
    everything = [me, *me.children(recursive=True)]
    cpu = sum(map(_cpu, everything))
    return {"driver_python_mib": _peak(me), "driver_java_mib": _peak(java), "cpu_seconds": round(cpu, 1)}


def _cpu(process: psutil.Process) -> float:
    try:
        return float(sum(process.cpu_times()[:2]))
    except psutil.Error:
        return 0.0


def _peak(process: psutil.Process) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024
