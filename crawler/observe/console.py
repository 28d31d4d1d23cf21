"""The console that answers are printed on: on a terminal and in a file, the same lines end where their text ends.

rich pads the lines of a table to the width of the screen. In a file or a pipe these blanks are rubbish: `diff`, `grep`
with `$` and editors show them.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from crawler.observe.plain import beneath, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

_PADDING = re.compile(r" +(?=\n)")


def answers_on(out: TextIO | None = None, *, highlight: bool = True) -> Console:
    """A console on standard output, or on `out`. highlight: colour numbers and paths."""
    file = beneath(out or sys.stdout)
    return _console(file if file.isatty() else cast("TextIO", _Trimmed(file)), highlight=highlight)


def on_stderr() -> Console:
    """A console on standard error, for what is shown while something is done."""
    return _console(beneath(sys.stderr), highlight=True)


def _console(file: TextIO, *, highlight: bool) -> Console:
    """rich writes its colours among the text, so the text is made `visible` before it does."""
    from rich.console import Console  # late: most commands print nothing with it
    from rich.segment import Segment

    class PlainConsole(Console):
        def _render_buffer(self, buffer: Iterable[Segment]) -> str:
            return super()._render_buffer(
                segment if segment.control else segment._replace(text=visible(segment.text)) for segment in buffer
            )

    return PlainConsole(file=file, highlight=highlight)


class _Trimmed:
    """A file that is no terminal, without the blanks at the ends of lines. rich writes whole lines."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(_PADDING.sub("", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
