"""How the program was called, and what Ctrl-C does while it is being loaded: it shows one line from this import on.

Scrapy reads `crawler/settings.py` before anything else of the project, and that imports this first. What the script
`scrapy` imports before it, Scrapy itself, is beyond the reach of a project.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

_told = sys.excepthook


def _one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The process still dies of SIGINT, as a shell expects."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("error: interrupted by SIGINT\n")
    else:
        _told(kind, error, trace)


sys.excepthook = _one_line


def program() -> str:
    """What the person typed to call the program: `gristmill`, or `scrapy` inside the project's folder."""
    return "gristmill" if Path(sys.argv[0]).stem == "gristmill" else "scrapy"
