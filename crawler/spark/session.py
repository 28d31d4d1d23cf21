"""How the batch job gets at Spark: under `spark-submit` as the cluster says, from Python on this machine alone."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LOCAL = "local[*,4]"
"""Every core of this machine, and four tries a task as on a cluster."""

_PARTITIONS = 4
"""Of a shuffle on one machine: Spark's 200 would be as many files and tasks for every step."""


class SparkError(Exception):
    """Spark cannot be used; the text says why and what to do."""


@contextmanager
def spark_context(master: str | None = None) -> Iterator[Any]:
    """A `SparkContext`, stopped at the end.

    Started by `spark-submit`, everything is as its options say. Started by Python, the default is every core of this
    machine, nothing listens beyond loopback, and there is no web interface.
    Raises: SparkError where pyspark or Java is missing.
    """
    _check_installed()
    from pyspark import SparkConf, SparkContext

    conf = SparkConf().setAppName("crawler")
    if not _submitted():
        for name, value in _local_settings(master or LOCAL).items():
            conf.set(name, value)
    elif master:
        conf.setMaster(master)
    context = SparkContext(conf=conf)
    try:
        yield context
    finally:
        context.stop()


def spark_session(context: Any) -> Any:
    """The `SparkSession` of a context, for DataFrames."""
    from pyspark.sql import SparkSession

    return SparkSession(context)


def remove(context: Any, path: str) -> None:
    """Delete a folder of Spark's own file systems; none there is no error."""
    folder = context._jvm.org.apache.hadoop.fs.Path(path)
    folder.getFileSystem(context._jsc.hadoopConfiguration()).delete(folder, True)


@contextmanager
def removed(context: Any, path: str) -> Iterator[None]:
    """Delete a folder at the end, whatever happens."""
    try:
        yield
    finally:
        remove(context, path)


def versions_of(context: Any) -> dict[str, str]:
    """Versions of Spark and of the Java it runs on."""
    return {"spark": str(context.version), "java": str(context._jvm.java.lang.System.getProperty("java.version"))}


def is_retry() -> bool:
    """Inside a task: True where an earlier try of it has failed."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return task is not None and task.attemptNumber() > 0


def _check_installed() -> None:
    if find_spec("pyspark") is None:
        raise SparkError("pyspark is not installed: run `pip install 'gristmill[spark]'`")
    home = os.environ.get("JAVA_HOME")
    if not (home and (Path(home) / "bin" / "java").exists()) and shutil.which("java") is None:
        raise SparkError("no Java was found: install a Java runtime, version 17 or 21, or set JAVA_HOME")


def _submitted() -> bool:
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _local_settings(master: str) -> dict[str, str]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.master": master, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    settings["spark.sql.shuffle.partitions"] = str(_PARTITIONS)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings
