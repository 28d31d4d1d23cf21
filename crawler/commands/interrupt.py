"""SIGINT and SIGTERM while a command works: what it holds open is closed, and a sentence takes a traceback's place."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

Handler = Callable[[int, Any], None]
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A signal asked the command to end. No `Exception`: nobody who handles errors may go on after it.

    A `KeyboardInterrupt`, because an event loop logs any other one that a callback raises, and goes on.
    """

    def __init__(self, number: int) -> None:
        self.exitcode = 128 + number
        super().__init__(f"interrupted by {signal.Signals(number).name}")


@contextmanager
def interruptible(then: Handler | None = None) -> Iterator[None]:
    """While this is open the first signal raises `Interrupted` in the main thread; the second kills, as it always does.

    `then` handles the signals that come after a good end, without a gap; else whoever did before does again. Elsewhere
    than in the main thread nothing changes: Python lets nobody else set handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    after: dict[signal.Signals, Any] = {number: signal.getsignal(number) for number in SIGNALS}

    def end(number: int, _: Any) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        raise Interrupted(number)

    for number in SIGNALS:
        signal.signal(number, end)
    try:
        yield
        after = dict.fromkeys(SIGNALS, then) if then else after
    finally:
        for number, handler in after.items():
            signal.signal(number, handler)


def leave(error: Interrupted) -> NoReturn:
    """End the process: everything is closed, and what an event loop was in the middle of has no more to say."""
    sys.stderr.write(f"error: {error}\n")
    sys.stderr.flush()
    os._exit(error.exitcode)


@contextmanager
def die_at_once() -> Iterator[None]:
    """While a reactor asks for a page that is kept nowhere, the first signal ends the process: nothing can be lost."""

    def end(number: int, _: Any) -> None:
        leave(Interrupted(number))

    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
