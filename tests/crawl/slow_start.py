"""The project's settings, with one step of a crawl that takes until it is let on: so that a signal comes meanwhile.

START_WAITS names the step. The folder `reached` in START_FOLDER appears when it begins, a file `go` lets it on.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawler.downloader.resolver import GuardedResolver
from crawler.settings import *  # noqa: F403
from crawler.storage.corpus.corpus import Corpus

SECONDS = 60
STEP = os.environ["START_WAITS"]
REACHED, GO = (Path(os.environ["START_FOLDER"]) / name for name in ("reached", "go"))


def wait(
    reached: str = str(REACHED),
    go: str = str(GO),
    make: Callable[[str, int], None] = os.mkdir,
    is_there: Callable[[str, int], bool] = os.access,
    now: Callable[[], float] = time.monotonic,
    rest: Callable[[float], None] = time.sleep,
    seconds: float = SECONDS,
) -> None:
    """Its tools are arguments: when the interpreter ends, no module has its names any more."""
    make(reached, 0o700)
    limit = now() + seconds
    while not is_there(go, 0) and now() < limit:
        rest(0.02)


def and_wait(call: Callable[..., Any]) -> Callable[..., Any]:
    def slow(*args: Any, **more: Any) -> Any:
        answer = call(*args, **more)
        wait()
        return answer

    return slow


class _Last:
    """Goes when the interpreter takes its modules apart, which is after it has forgotten every signal handler."""

    def __del__(self, wait: Callable[[], None] = wait) -> None:
        wait()


if STEP == "the reactor is made":
    GuardedResolver.from_crawler = and_wait(GuardedResolver.from_crawler)  # type: ignore[method-assign]
elif STEP == "the corpus is opened":
    Corpus.open = and_wait(Corpus.open)  # type: ignore[method-assign]
elif STEP == "the interpreter ends":
    sys.last_object = _Last()  # type: ignore[attr-defined]  # goes with the last of all modules
