"""The log is printed above the live lines: what is written to the terminal past them would be overwritten."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TextIO, cast


class Above:
    """While it holds, the root logger's handlers that write to a terminal give their lines to `say` instead."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._moved: list[tuple[logging.StreamHandler[TextIO], TextIO]] = []

    def begin(self) -> None:
        """Take the lines; handlers that write to files stay as they are."""
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and _is_terminal(handler.stream):
                own = cast("TextIO", handler.stream)
                handler.setStream(cast("TextIO", _Lines(self._say)))
                self._moved.append((handler, own))

    def end(self) -> None:
        """Give them back."""
        for handler, own in self._moved:
            handler.setStream(own)
        self._moved.clear()


class _Lines:
    """As much of a stream as a handler uses: it writes each record at once, with the end of its line."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def write(self, text: str) -> int:
        self._say(text.removesuffix("\n"))
        return len(text)

    def flush(self) -> None:
        """Every line is on the screen already."""


def _is_terminal(stream: object) -> bool:
    asked = getattr(stream, "isatty", None)
    return asked is not None and bool(asked())
