"""A process notes whether the embedded server of its folder had other users when it joined.

Whoever was not there before has nothing in the server that it could have lost: nobody needs to be waited for.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

_in_use: Counter[Path] = Counter()  # users in this process
_alone: dict[Path, str] = {}


def joined(folder: Path) -> None:
    """A user in this process has joined the folder's server."""
    _in_use[folder] += 1


def was_alone(folder: Path, run_id: str) -> None:
    """It was the only one, in this process and all others. run_id: of the server it found or started."""
    _alone[folder] = run_id


def left(folder: Path) -> None:
    """A user in this process has left."""
    _in_use[folder] -= 1
    if not _in_use[folder]:
        _alone.pop(folder, None)


def found_alone(folder: Path) -> str:
    """The run_id of the folder's server, where this process found no other user when it began; empty elsewhere."""
    return _alone.get(folder.absolute(), "")
