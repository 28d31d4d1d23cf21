"""The durable state of a plan, in `.plan/NAME/` of its folder: what each run has done, and who is at work.

A mark is a small file that is replaced in one step. A lock belongs to a task and is handed on to its process, so that
it lasts as long as anything of the task lives, whoever started it and was killed since.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypedDict, cast

import orjson

from crawler.plan.model import Plan, Task
from crawler.problems import InputError
from crawler.storage.files.journal import disk, indented, replace_file, sync_folder
from crawler.times import rfc3339

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+@=~-]{0,199}", re.ASCII)
_PAUSE = 0.2  # seconds between two looks at a lock


class Mark(TypedDict):
    """What is known of a task in one run. state: begun, done or failed. words: of the command, as it was started.

    code: exit code, None while it is begun. versions: of each corpus that it reads or makes, the SHA-256 of the
    manifest by path, once it is done.
    """

    state: str
    words: list[str]
    code: int | None
    at: str
    versions: dict[str, str]


class Lock:
    """An exclusive lock on a file that stays; `fd` is handed on to a child, which then holds it, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def acquire(self, *, wait: bool, say: Callable[[], object]) -> bool:
        """False where somebody else has it, never with `wait`. say: called once where it has to be waited for."""
        said = False
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not wait:
                    return False
                if not said:
                    say()
                    said = True
                time.sleep(_PAUSE)
            else:
                return True

    def close(self) -> None:
        """Let go of it, as far as this process is concerned."""
        with suppress(OSError):
            os.close(self.fd)


class Runs:
    """Every run of a plan. A run has a name: a number, or what `--run` said."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan.path
        self.folder = plan.folder / ".plan" / plan.name
        self._runs = self.folder / "runs"

    def names(self) -> list[str]:
        """Of every run, the latest last."""
        try:
            found = [entry for entry in self._runs.iterdir() if entry.is_dir()]
        except FileNotFoundError:
            return []
        return [path.name for path in sorted(found, key=lambda path: (self._begun(path.name), path.name))]

    def chosen(self, asked: str | None) -> str:
        """The run that was asked for, else the latest that is not finished, else a new one. Raises: InputError."""
        if asked is not None:
            if not _RUN.fullmatch(asked):
                raise InputError([f"--run {asked!r}: expected letters, digits and . _ : + @ = ~ -, at most 200"])
            return asked
        names = self.names()
        if names and not self.is_finished(names[-1]):
            return names[-1]
        numbers = [int(name) for name in names if name.isdecimal()]
        return str(max(numbers, default=0) + 1)

    def begin(self, run: str) -> None:
        """Note that there is such a run; its first moment stays."""
        folder = self._runs / run
        with disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "begun").exists():
                replace_file(folder / "begun", f"{time.time():.6f}\n".encode())
            replace_file(self.plan_of(run), self._plan.read_bytes())
            for above in (self._runs, self.folder, self.folder.parent):
                sync_folder(above)

    def plan_of(self, run: str) -> Path:
        """The plan as the run was begun, or gone on with, last."""
        return self._runs / run / "plan.yaml"

    def finish(self, run: str) -> None:
        """Every task of it is done."""
        replace_file(self._runs / run / "finished", f"{rfc3339(time.time())}\n".encode())

    def is_finished(self, run: str) -> bool:
        """True once every task of it was done."""
        return (self._runs / run / "finished").exists()

    def _begun(self, run: str) -> float:
        try:
            return float((self._runs / run / "begun").read_text())
        except (OSError, ValueError):  # it is just being made
            return time.time()

    def mark(self, run: str, task: str) -> Mark | None:
        """What is known of a task. Raises: InputError where its mark cannot be read: doubt is no absence."""
        path = self._path(run, task)
        try:
            found = orjson.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError([f"{path}: cannot be read ({error}): remove it, and the task runs again"]) from None
        if not (isinstance(found, dict) and found.keys() == Mark.__annotations__.keys()):
            raise InputError([f"{path}: is no mark of this version: remove it, and the task runs again"])
        return cast("Mark", found)

    def set_mark(
        self, run: str, task: Task, state: str, *, code: int | None = None, versions: dict[str, str] | None = None
    ) -> None:
        """Write a mark durably. Raises: StorageError."""
        mark = Mark(state=state, words=list(task.words), code=code, at=rfc3339(time.time()), versions=versions or {})
        replace_file(self._path(run, task.name), indented(mark))

    def lock_of(self, task: str) -> Lock:
        """The lock of a task, the same in every run; not taken yet."""
        return Lock(self.folder / "locks" / task)

    def is_at_work(self, task: str) -> bool:
        """True while a process of the task lives. Changes nothing."""
        try:
            fd = os.open(self.folder / "locks" / task, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

    def _path(self, run: str, task: str) -> Path:
        return self._runs / run / f"{task}.json"
