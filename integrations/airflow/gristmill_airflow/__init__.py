"""Airflow DAGs from the plans of gristmill: one task for each step, without importing the crawler.

The scheduler reads a file that `gristmill plan steps --json crawl.yaml > crawl.plan.json` has written, so that parsing
a DAG starts no program; only the workers need gristmill.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

SCHEMA, VERSION = "gristmill/plan-steps", 1
RUN = "{{ dag_run.logical_date.isoformat() if dag_run.logical_date else run_id }}"
"""The run of the plan bears the date of Airflow's run: a retry, a task that is cleared, and a run of the same date that
was killed all mean the same one."""


def plan_of(steps: str | Path) -> dict[str, Any]:
    """What `plan steps --json` wrote. Raises: ValueError where it is something else."""
    found = json.loads(Path(steps).read_text("utf-8"))
    if not isinstance(found, dict) or (found.get("schema"), found.get("version")) != (SCHEMA, VERSION):
        raise ValueError(f"{steps}: expected the answer of `gristmill plan steps --json` ({SCHEMA} {VERSION})")
    if "error" in found:
        raise ValueError(f"{steps}: the plan has problems: {'; '.join(found['error']['problems'])}")
    return found


def command_of(task: dict[str, Any], codes: dict[str, list[int]], *, program: str = "gristmill") -> str:
    """The line of bash for a task. A code after which a second try changes nothing becomes 99: failed, no retry."""
    words = [RUN if word == "{run}" else shlex.quote(word) for word in task["call"][1:]]
    never = "|".join(map(str, codes["never"]))
    return f"{program} {' '.join(words)}; code=$?; case $code in {never}) exit 99;; esac; exit $code"


def dag_of(steps: str | Path, *, program: str = "gristmill", retries: int = 3, **dag: Any) -> Any:
    """A DAG of the plan. program: how gristmill is called on the workers. dag: arguments of `airflow.sdk.DAG`.

    Each task pushes the last line of its output to XCom: the versions of its corpora, as JSON. A gate that does not
    hold (exit code 3) and a wrong call (2) fail at once; everything else is tried again `retries` times.
    Raises: ValueError.
    """
    from airflow.exceptions import AirflowFailException, AirflowSkipException
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG

    class Step(BashOperator):
        """A BashOperator whose exit code 99 fails without a retry."""

        def execute(self, context: Any) -> Any:
            try:
                return super().execute(context)
            except AirflowSkipException as error:
                raise AirflowFailException("the call is wrong, or a gate does not hold: see the log above") from error

    plan = plan_of(steps)
    arguments = {"dag_id": f"gristmill_{plan['plan']}", "schedule": None, "catchup": False, "max_active_runs": 1, **dag}
    with DAG(**arguments) as made:
        tasks = {
            task["name"]: Step(
                task_id=task["name"],
                bash_command=command_of(task, plan["codes"], program=program),
                skip_on_exit_code=99,
                retries=retries,
                do_xcom_push=True,
            )
            for task in plan["tasks"]
        }
        for task in plan["tasks"]:
            for before in task["after"]:
                tasks[before] >> tasks[task["name"]]
    return made
