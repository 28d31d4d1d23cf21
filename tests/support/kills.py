"""Deaths at every step that reaches the disk: what does each of them leave behind?"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any


def die_at_every_step(source: Path, target: Path, work: Callable[[Path], object]) -> int:
    """Do `work` on a copy of a corpus and die at the first, second, third … fsync, unlink, rename or replace.

    Each copy is left as the death left it, in <target>/<step>; answers how many steps there are.
    """
    step = 0
    while True:
        step += 1
        folder = target / str(step)
        shutil.copytree(source, folder)
        child = os.fork()
        if not child:
            _die_after(step)
            work(folder)
            os._exit(0)
        if os.WIFEXITED(os.waitpid(child, 0)[1]):
            return step


def _die_after(steps: int) -> None:
    left = [steps]

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

        return step

    os.fsync, os.unlink, os.rename, os.replace = map(dying, (os.fsync, os.unlink, os.rename, os.replace))
