"""The console that answers are printed on: on a terminal and in a file, the same lines end where their text ends.

rich pads the lines of a table to the width of the screen. In a file or a pipe these blanks are rubbish: `diff`, `grep`
with `$` and editors show them.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console

_PADDING = re.compile(r" +(?=\n)")


def answers_on(out: TextIO | None = None, *, highlight: bool = True) -> Console:
    """A console on standard output, or on `out`. highlight: colour numbers and paths."""
    from rich.console import Console  # late: most commands print nothing with it

    file = out or sys.stdout
    return Console(file=file if file.isatty() else cast("TextIO", _Trimmed(file)), highlight=highlight)


class _Trimmed:
    """A file that is no terminal, without the blanks at the ends of lines. rich writes whole lines."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(_PADDING.sub("", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
