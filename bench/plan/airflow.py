"""A real Airflow runs a plan with `dags test`; it is killed at each task and started again while the orphan works.

    python -m venv airflow-venv && airflow-venv/bin/pip install 'apache-airflow==3.3.*'
    python -m bench.plan.airflow airflow-venv [TASK …]

TASK: to be killed at (all, and none). Prints a line for each: whether everything was fetched once, and the registry is
that of an undisturbed run. Exit code 1 where not.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import orjson

from crawler.storage.corpus.registry import Registry
from crawler.storage.files.place import Place
from tests.plan.conftest import Mill, crawl_of
from tests.support.process import clean_environment

ROOT = Path(__file__).resolve().parents[2]
STEPS = """\
steps:
- dataset verify corpus
- name: release
  run: dataset export corpus --to jsonl.gz --out release-{run}
"""
DATE, LIMIT = "2026-01-01T00:00:00+00:00", 600  # seconds
DAG = """\
from gristmill_airflow import dag_of

dag = dag_of({steps!r}, program={program!r}, retries=0)
"""


def main(venv: Path, tasks: Sequence[str | None]) -> int:
    """Exit code."""
    failed = 0
    for task in tasks:
        with tempfile.TemporaryDirectory() as folder, Mill(6) as mill:
            began = time.monotonic()
            wrong = _one(venv.absolute(), Path(folder), mill, task)
            print(
                f"killed at {task or 'nothing'}: {wrong or 'as undisturbed'} ({time.monotonic() - began:.0f} s)",
                flush=True,
            )
            failed += bool(wrong)
    return int(failed > 0)


def _one(venv: Path, folder: Path, mill: Mill, task: str | None) -> str:
    """What differs from an undisturbed run, as words; empty = nothing."""
    environment = clean_environment(
        AIRFLOW_HOME=str(folder / "airflow"), AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__CORE__DAGS_FOLDER=str(folder / "dags"),
    )  # fmt: skip
    program = f"env PYTHONPATH={ROOT} {sys.executable} -m crawler.commands.gristmill"
    (folder / "plan.yaml").write_text(crawl_of(mill) + STEPS)
    call = [*program.split(), "plan", "steps", "--json", str(folder / "plan.yaml")]
    (folder / "steps.json").write_bytes(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout)
    (folder / "dags").mkdir()
    (folder / "dags" / "mill.py").write_text(DAG.format(steps=str(folder / "steps.json"), program=program))
    environment["PYTHONPATH"] = str(ROOT / "integrations" / "airflow")
    airflow = str(venv / "bin" / "airflow")
    log = (folder / "airflow.log").open("ab")

    def begin(*words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([airflow, *words], env=environment, cwd=folder, stdout=log, stderr=log,
                                start_new_session=True)  # fmt: skip

    if begin("db", "migrate").wait(LIMIT):
        return (folder / "airflow.log").read_text()[-2000:]
    if task is not None:
        first = begin("dags", "test", "gristmill_mill", DATE)
        end = time.monotonic() + LIMIT
        while not list(folder.glob(f".plan/*/runs/*/{task}.json")) and first.poll() is None:
            if time.monotonic() > end:
                return f"{task} never began"
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    code = begin("dags", "test", "gristmill_mill", DATE).wait(LIMIT)
    states = {path.stem: orjson.loads(path.read_bytes())["state"] for path in folder.glob(".plan/*/runs/*/*.json")}
    pages = sorted(path for path in mill.paths() if path[1:].isdecimal())
    children = len(Registry(Place(str(folder / "corpus"))).children()) if (folder / "corpus").is_dir() else 0
    if code or set(states.values()) != {"done"} or len(states) != 3:
        return f"exit code {code}, {states}: {(folder / 'airflow.log').read_text()[-2000:]}"
    if pages != sorted(f"/{n}" for n in range(6)):
        return f"fetched {pages}"
    return "" if children == 1 else f"{children} releases are registered"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:] or ("mill", "dataset-verify", "release", None)))
