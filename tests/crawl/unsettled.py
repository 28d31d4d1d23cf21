"""The project's settings, with a worker that has no file descriptor left when it acknowledges its first page."""

from __future__ import annotations

import errno
import os
from typing import Any

from crawler.frontier.client import Frontier
from crawler.settings import *  # noqa: F403

_settle = Frontier.settle
_failed: list[object] = []


async def settle(frontier: Frontier, items: list[Any]) -> list[bool]:
    if not _failed:
        _failed.append(items)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "ack.lua")
    return await _settle(frontier, items)


Frontier.settle = settle  # type: ignore[method-assign,assignment]
