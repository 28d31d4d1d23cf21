"""Inside an executor, after a crash: one page in a process of its own, so that it can take nothing but itself along."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class CrashError(Exception):
    """The process of one page ended without an answer; the text says how."""


def isolated(function: Callable[[], T]) -> T:
    """What `function` returns, called in a fork of this process, which has the models loaded already.

    Raises: CrashError where the fork dies, or where `function` raises.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(function, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        raise CrashError(signal.Signals(-code).name)
    if code > 0:
        raise CrashError(f"exit code {code}")
    answer: T = pickle.loads(data)  # noqa: S301  # our own fork wrote it
    return answer


def _answer(function: Callable[[], object], writer: int) -> None:
    """In the fork: write the answer and end at once, without the parent's clean-up and half-written buffers."""
    code = 1
    try:
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(function(), pipe)
        code = 0
    finally:
        os._exit(code)
