"""The rounds in Spark over the same documents, on a cluster of processes here, also where an executor is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

import psutil

from crawler.dedup.rounds import find_gone
from crawler.spark.session import spark_context, spark_session
from crawler.spark.tables import SparkTables

_EXECUTOR = "CoarseGrainedExecutorBackend"


def rounds(stored: Path, work: Path, out: Path, master: str, partitions: int, kill: bool) -> dict[str, Any]:
    """Find the duplicates of the Parquet file `stored`; writes `gone` to the folder `out`. kill: an executor, after the
    first round. Raises: RuntimeError where there was none to kill.
    """
    if master.startswith("local-cluster"):
        import pyspark

        os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    began, killed, undecided = time.monotonic(), [], []

    def look(count: int) -> None:
        undecided.append(count)
        if kill and len(undecided) == 1:
            killed.append(_kill())

    with spark_context(master) as context:
        session = spark_session(context)
        session.conf.set("spark.sql.shuffle.partitions", str(partitions))
        tables = SparkTables(session, str(work), _remove)
        tables.put("texts", session.read.parquet(str(stored)).repartition(partitions))
        gone = find_gone(tables, progress=look)
        session.sql("SELECT ord, owned_by, exact, agreeing FROM gone").coalesce(1).write.parquet(str(out))
    return {
        "spark_duplicates": gone,
        "spark_seconds": round(time.monotonic() - began, 1),
        "spark_undecided": undecided,
        "executors_killed": len(killed),
    }


_remove: Callable[[str], None] = rmtree


def _kill() -> int:
    """SIGKILL for one executor of this process's own cluster."""
    for child in psutil.Process().children(recursive=True):
        try:
            is_executor = any(word.endswith(_EXECUTOR) for word in child.cmdline())
        except psutil.Error:
            continue
        if is_executor:
            child.send_signal(signal.SIGKILL)
            return int(child.pid)
    raise RuntimeError("no executor to kill: expected --master local-cluster[N,CORES,MIB]")
