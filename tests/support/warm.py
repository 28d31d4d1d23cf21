"""`scrapy` in a process of its own that does not import first: it is forked from one that has done so.

A crawl of one page takes four seconds of CPU. All but half a second go into imports and models, the same ones in each.
Here each test process keeps one process that has loaded them (`warm_server`). A command has a process, streams, an
environment, a folder, a session and signals of its own, as by `subprocess`; only the imports are not its own. The same
holds for what it starts of these programs itself (`plan run` its tasks), and for the fork server of its stage pool.

What is about the start itself stays cold: another interpreter, options of Python, variables that it reads when it
starts, another project. `WARM=0` in the environment makes every command so. In the crawls of the demo, in the recipes
of the documentation and beside the batch job `scrapy` starts as it does for a user.
"""

from __future__ import annotations

import atexit
import inspect
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.places import PROJECT
from tests.support.warm_server import NUMBER, send

PLAIN = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Before a command: without these two capabilities the modes of files hold for root, too. Warm as well."""
PROGRAMS = ("scrapy", "crawler.commands.gristmill")
"""Modules that are run by `python -m`."""
_AT_THE_START = ("PYTHON", "LANG", "LC_", "LD_", "TZ", "MALLOC_", "OMP_", "OPENBLAS_", "MKL_", "HF_")
"""Beginnings of the names of what an interpreter or a library reads once."""
_OURS = dict(os.environ)
"""The environment of the server: what no test has changed."""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""As the server has it, for the stage processes: a test that starts a pool of its own leaves it in the environment."""
_LONGEST = 8_000
"""Bytes of a command line that others can see (`_be_named`)."""
_asking = threading.Lock()


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen`, warm where the command is one of `PROGRAMS` of this project and of this interpreter."""

    _answer: int | None = None

    def _execute_child(self, *given: Any) -> None:
        asked = inspect.signature(super()._execute_child).bind(*given).arguments  # type: ignore[misc]
        if not _is_as_usual(asked):
            super()._execute_child(*given)  # type: ignore[misc]
            return
        order = {
            "command": [os.fspath(word) for word in _without_prefix(asked["args"])[2:]],
            "plain": list(asked["args"][: len(PLAIN)]) == PLAIN,
            "cwd": os.path.realpath(asked["cwd"] or "."),
            "environment": dict(os.environ if asked["env"] is None else asked["env"]),
            "session": asked["start_new_session"],
        }
        ends = [asked["p2cread"], asked["c2pwrite"], asked["errwrite"]]
        self._answer, theirs = os.pipe()
        with _asking:
            send(_server(), order, [number if end == -1 else end for number, end in enumerate(ends)] + [theirs])
        os.close(theirs)
        self._close_pipe_fds(*(asked[name] for name in _PIPES))  # type: ignore[attr-defined]
        self._child_created = True
        self.pid = self._next_number()

    def _next_number(self) -> int:
        assert self._answer is not None
        found = os.read(self._answer, NUMBER.size)
        assert found, "the warm server is gone"
        return int(NUMBER.unpack(found)[0])

    def _internal_poll(self, *given: Any, **named: Any) -> int | None:
        if self._answer is None:
            return super()._internal_poll(*given, **named)  # type: ignore[misc, no-any-return]
        if self.returncode is None and select.select([self._answer], [], [], 0)[0]:
            self._end()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._answer is None:
            return super()._wait(timeout)  # type: ignore[misc, no-any-return]
        if self.returncode is None:
            if not select.select([self._answer], [], [], timeout)[0]:
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
            self._end()
        return self.returncode

    def _end(self) -> None:
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                self.returncode = self._next_number()
                os.close(self._answer)  # type: ignore[arg-type]


_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


def run(
    command: list[str], *, timeout: float | None = None, input: str | None = None, **given: Any
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` with `check=False`, warm where that is possible."""
    if given.pop("capture_output", False):
        given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        given["stdin"] = subprocess.PIPE
    with Popen(command, **given) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _without_prefix(args: Sequence[str]) -> Sequence[str]:
    """The command itself, behind `PLAIN`."""
    return args[len(PLAIN) :] if list(args[: len(PLAIN)]) == PLAIN else args


def _is_as_usual(asked: dict[str, Any]) -> bool:
    args, env = asked["args"], os.environ if asked["env"] is None else asked["env"]
    return (
        not isinstance(args, (str, bytes))
        and not (asked["pass_fds"] or asked["preexec_fn"] or asked["shell"])
        and can_be_warm([os.fspath(word) for word in _without_prefix(args)], env, asked["cwd"])
    )


def can_be_warm(command: Sequence[str], env: Mapping[str, str], cwd: Any) -> bool:
    """Whether this is a program of this project that reads at its start what the server has read."""
    return (
        sys.platform == "linux"
        and env.get("WARM", os.environ.get("WARM")) != "0"
        and list(command[:2]) == [sys.executable, "-m"]
        and command[2] in PROGRAMS
        and _read_at_the_start(env) == _read_at_the_start(_OURS)
        and _is_this_project(cwd, env)
    )


def _is_this_project(cwd: Any, env: Any) -> bool:
    """Where `crawler` is the one of this project, as in the server."""
    folder = Path(cwd or ".").resolve()
    return folder == PROJECT or (env.get("PYTHONPATH") == str(PROJECT) and not (folder / "crawler").exists())


def _read_at_the_start(env: Any) -> dict[str, str]:
    found = {name: value for name, value in env.items() if name.startswith(_AT_THE_START)}
    return found | {"PYTHONPATH": found.get("PYTHONPATH") or str(PROJECT)} | _one_thread(found)


def _one_thread(found: dict[str, str]) -> dict[str, str]:
    return {name: found.get(name, number) for name, number in _ONE_THREAD.items()}


@cache
def _server() -> socket.socket:
    """The server of this test process; it ends with it."""
    ours, theirs = socket.socketpair()
    code = f"from tests.support.warm_server import main; main({theirs.fileno()})"
    environment = _OURS | {"PYTHONPATH": str(PROJECT)} | _ONE_THREAD
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", code, " " * _LONGEST],
            cwd=PROJECT,
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    atexit.register(_end, ours, process)
    assert ours.recv(1) == b"!", "the warm server did not start"
    return ours


def _end(control: socket.socket, process: subprocess.Popen[bytes]) -> None:
    control.close()
    process.wait()
