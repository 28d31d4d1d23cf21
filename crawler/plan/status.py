"""How far a run of a plan is, from its marks and locks: read at any time, beside whoever is at work."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from crawler.plan.model import Plan
from crawler.plan.read import read
from crawler.plan.state import Mark, Runs
from crawler.plan.tasks import tasks_of
from crawler.problems import InputError


def standing(plan: Plan, asked: str | None = None) -> dict[str, Any]:
    """Each task of a run, by default of the latest. Raises: InputError, also where there is no such run."""
    runs = Runs(plan)
    names = runs.names()
    if asked is not None and asked not in names:
        known = f"known: {', '.join(names[-10:])}" if names else "none has begun"
        raise InputError([f"--run {asked}: there is no such run; {known}"])
    run = runs.chosen(asked) if asked is not None else names[-1] if names else None
    tasks = []
    for task in tasks_of(plan):
        mark = runs.mark(run, task.name) if run is not None else None
        state = _state(mark, run is not None and runs.is_at_work(task.name))
        tasks.append({"name": task.name, "kind": task.kind, "state": state, "code": mark and mark["code"],
                      "at": mark and mark["at"]})  # fmt: skip
    return {"run": run, "finished": run is not None and runs.is_finished(run), "tasks": tasks}


def as_run(plan: Plan, run: str, known: Collection[str]) -> Plan | None:
    """The plan as this run was begun, or gone on with: whoever changed the file since has not run it yet.

    known: names of settings that may be set. None where it is not there. Raises: InputError.
    """
    path = Runs(plan).plan_of(run)
    return read(path, known, plan.name) if path.exists() else None


def versions(task: str | None, plan: Plan, run: str) -> dict[str, str]:
    """The versions that one task of a run, or all of them, read and made; of two tasks the later one's."""
    runs = Runs(plan)
    found: dict[str, str] = {}
    for one in tasks_of(plan):
        if task in (None, one.name) and (mark := runs.mark(run, one.name)) is not None:
            found |= mark["versions"]
    return found


def _state(mark: Mark | None, at_work: bool) -> str:
    if mark is None:
        return "waiting"
    if mark["state"] == "begun":
        return "running" if at_work else "cut off"
    return mark["state"]
