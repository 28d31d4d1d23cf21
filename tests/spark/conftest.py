"""The batch job and the replay spider as commands, each in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawler.storage.files.shards import read_lines
from tests.support.places import PROJECT

SETTINGS = {"PII_PERSON": "off", "WORKER_ID": "w"}

Records = list[dict[str, object]]


@dataclass
class Outcome:
    """What a command left behind, whichever it was."""

    done: subprocess.CompletedProcess[str]
    kept: Records
    rejected: Records


@pytest.fixture(scope="session")
def spark_installed() -> None:
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed (make spark installs it)")
    if shutil.which("java") is None:
        pytest.skip("no Java runtime (apt-get install openjdk-17-jre-headless)")


@pytest.fixture(scope="session")
def run_job(spark_installed: None) -> Callable[..., Outcome]:
    def run(archive: str, folder: Path, *options: str, path: str = "", **settings: str) -> Outcome:
        command = [sys.executable, "-m", "crawler.spark.job", "--output", str(folder), *options]
        command += ["--archive", archive] if archive else []
        paths = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))
        done = _run([*command, *_pairs("--set", SETTINGS | settings)], PYTHONPATH=paths)
        return Outcome(done, _shards(folder / "shards"), _shards(folder / "rejected"))

    return run


@pytest.fixture
def submit_job(spark_installed: None) -> Callable[..., Outcome]:
    """As docs/spark.md says: from a folder elsewhere, with the project as a zip file and nothing else."""

    def submit(archive: str, folder: Path, master: str) -> Outcome:
        import pyspark

        code = folder.with_name("code")
        shutil.make_archive(str(code / "crawler"), "zip", PROJECT, "crawler")
        home = Path(pyspark.__file__).parent
        command = [str(home / "bin" / "spark-submit"), "--master", master, "--conf", "spark.ui.enabled=false"]
        command += ["--py-files", str(code / "crawler.zip"), str(PROJECT / "crawler" / "spark" / "job.py")]
        command += ["--archive", archive, "--output", str(folder), *_pairs("--set", SETTINGS)]
        paths = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(home.parent)}
        done = _run(command, code, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}", **paths)
        return Outcome(done, _shards(folder / "shards"), _shards(folder / "rejected"))

    return submit


@pytest.fixture(scope="session")
def run_replay() -> Callable[..., Outcome]:
    def run(archive: str, folder: Path, **settings: str) -> Outcome:
        fixed = {"CORPUS_DIR": str(folder), "STAGE_WORKERS": "0", "PROGRESS": "off"}
        command = [sys.executable, "-m", "scrapy", "crawl", "replay", "-a", f"archive={archive}"]
        done = _run([*command, *_pairs("-s", SETTINGS | fixed | settings)])
        return Outcome(done, _shards(folder / "shards"), _shards(folder / "rejected"))

    return run


def _run(command: list[str], cwd: Path = PROJECT, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120", "SPARK_LOCAL_IP": "127.0.0.1", **variables}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=900, check=False)


def _pairs(option: str, settings: dict[str, str]) -> list[str]:
    return [part for name, value in settings.items() for part in (option, f"{name}={value}")]


def _shards(folder: Path) -> Records:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl*")) for line in read_lines(path)]
