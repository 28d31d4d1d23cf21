"""Runs the tasks of a plan through the same commands that a person types; killed at any point, it goes on from there.

A task is begun durably before its command starts and finished after it. Whoever finds it begun waits until no process
of it lives (its lock), and then looks: what stands whole stays, what was cut off is made again.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from crawler.plan import made
from crawler.plan.model import NEVER, RUN_PLACE, Plan, Task
from crawler.plan.state import Lock, Mark, Runs
from crawler.plan.tasks import named, tasks_of
from crawler.problems import InputError

_PAUSE = 1.0  # seconds between two looks at the tasks before
Say = Callable[[str], object]
"""Takes a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended. codes: exit code of each task that ran now. code: 0, or that of the task that stopped the run."""

    run: str
    codes: dict[str, int]
    problems: list[str]
    code: int


class Busy(InputError):  # noqa: N818  # a state, told as a sentence
    """Another process is at work on it, and nobody asked to wait."""


def run(
    plan: Plan,
    *,
    asked: str | None = None,
    only: str | None = None,
    wait: bool = False,
    after: bool = False,
    say: Say,
    rest: Callable[[], object] = lambda: time.sleep(_PAUSE),
) -> Ended:
    """Run what is not done yet, in the plan's folder, which is the working folder.

    asked: the name of the run. only: one task. after: wait until the tasks before it are done. rest: between two looks.
    Raises: InputError (`Busy` among them), StorageError.
    """
    runs, tasks = Runs(plan), tasks_of(plan)
    if only is not None and only not in [task.name for task in tasks]:
        raise InputError([f"there is no task {only!r}; known: {', '.join(task.name for task in tasks)}"])
    name = runs.chosen(asked)  # before waiting: who waits for a run is done with it, and begins no further one
    lock = runs.lock_of(only or ".plan")
    with _held(lock, wait, "this plan is at work" if only is None else f"{only} is at work", say):
        if runs.is_finished(name):
            return Ended(name, {}, [], 0)
        codes: dict[str, int] = {}
        wanted = [task for task in tasks if only in (None, task.name)]
        while only is not None and (missing := _first_missing(runs, name, wanted[0], tasks)):
            mark = runs.mark(name, missing)
            code = mark["code"] if mark is not None and mark["state"] == "failed" else None
            if not after or code in NEVER:
                problem = f"{only} comes after {missing}, which is not done in run {name}"
                return Ended(
                    name, codes, [problem], code if after and code else 1
                )  # and a name that was mistyped begins no run
            rest()
        runs.begin(name)
        for task in wanted:
            own = lock if only is not None else runs.lock_of(task.name)
            with _held(own, wait, f"{task.name} is at work", say) if own is not lock else nullcontext():
                code = _do(runs, name, task, own, say)
            if code is not None:
                codes[task.name] = code
            if code:
                sentence = f"{task.name} ended with exit code {code}: {_meaning(code)}"
                return Ended(name, codes, [sentence], code)
        if all((mark := runs.mark(name, task.name)) and mark["state"] == "done" for task in tasks):
            runs.finish(name)
        return Ended(name, codes, [], 0)


def _of_run(task: Task, run: str) -> Task:
    return replace(task, words=named(task.words, run), inputs=named(task.inputs, run), outputs=named(task.outputs, run))


def _first_missing(runs: Runs, run: str, task: Task, tasks: Sequence[Task]) -> str:
    """The first task before it that is not done in the run of that name, which no other can stand for; empty = none."""
    before = {one.name: one for one in tasks}
    waiting = list(task.after)
    for name in waiting:
        mark = runs.mark(run, name)
        if mark is None or mark["state"] != "done":
            return name
        waiting += [one for one in before[name].after if one not in waiting]
    return ""


def _do(runs: Runs, run: str, plain: Task, lock: Lock, say: Say) -> int | None:
    """Run a task whose lock is held; None where it is done already. Raises: InputError, StorageError."""
    task = _of_run(plain, run)
    mark = runs.mark(run, task.name)
    if mark is not None and mark["state"] == "done":
        if mark["words"] == list(task.words):
            return None
        if task.kind == "step":
            raise InputError([
                f"{task.name} was done by another command in run {run}: begin a new run (--run NAME), or write the "
                f"command back: {' '.join(mark['words'])}"
            ])  # fmt: skip
    if task.kind == "step" and _clear(run, task, mark, say, names_run=any(RUN_PLACE in text for text in plain.outputs)):
        runs.set_mark(run, task, "done", code=0, versions=made.versions((*task.inputs, *task.outputs)))
        return None
    runs.set_mark(run, task, "begun")
    say(f"run {run}: {task.name}: gristmill {' '.join(task.words)}")
    code = _call(task.words, lock)
    if code == 0:
        runs.set_mark(run, task, "done", code=0, versions=made.versions((*task.inputs, *task.outputs)))
    else:
        runs.set_mark(run, task, "failed", code=code)
    return code


def _clear(run: str, task: Task, mark: Mark | None, say: Say, *, names_run: bool) -> bool:
    """Make room for what the task makes; True where an earlier try had made it whole. Raises: InputError, StorageError.

    Only what this very task has begun in this run is taken away: it was not there when it began.
    """
    there = [output for output in task.outputs if made.is_there(output)]
    if mark is None or mark["words"] != list(task.words):
        if there:
            other = "name the run otherwise (--run NAME)" if names_run else "write {run} into its name"
            whole = f"; it is whole: where .plan was removed, {other} and it stays" if made.is_whole(task) else ""
            raise InputError([
                f"{task.name} would make {there[0]}, which is there already and was not made in run {run}: move it "
                f"away, or {other}{whole}"
            ])  # fmt: skip
        return False
    if task.outputs and len(there) == len(task.outputs) and made.is_whole(task):
        return True
    for output in there:
        say(f"{output} was left by {task.name}, which was cut off: it is made again")
        made.remove(output)
    return False


def _call(words: Sequence[str], lock: Lock) -> int:
    """Exit code of the command; that of the signal where this process was asked to end meanwhile.

    A signal goes on to the command, whose end is waited for: a crawl ends with 0 then, and is not done.
    """
    call = [sys.executable, "-m", "crawler.commands.gristmill", *words]
    asked: list[int] = []
    children: list[subprocess.Popen[bytes]] = []

    def hand_on(number: int, _: object) -> None:
        asked.append(number)
        for child in children:
            child.send_signal(number)

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        # a session of its own: Ctrl-C on the terminal reaches it once, through this process
        process = subprocess.Popen(  # noqa: S603  # our own program; the words are the plan's
            call, pass_fds=(lock.fd,), stdin=subprocess.DEVNULL, start_new_session=True
        )
        children.append(process)
        if asked:
            process.send_signal(asked[0])
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 + asked[0] if asked else code if code >= 0 else 128 - code


@contextmanager
def _held(lock: Lock, wait: bool, busy: str, say: Say) -> Iterator[None]:
    """The lock, while this is open. Raises: Busy."""
    try:
        if not lock.acquire(wait=wait, say=lambda: say(f"{busy}: waiting for its end")):
            raise Busy([f"{busy}, in another process: give --wait to wait for its end"])
        yield
    finally:
        lock.close()


def _meaning(code: int) -> str:
    if code in (130, 143):
        return "it was asked to end; the same command continues from here"
    if code == 2:
        return "the call is wrong, and a second try would change nothing"
    if code == 3:
        return "a gate does not hold, and a second try would change nothing"
    return "its output is above; the same command continues from here"
