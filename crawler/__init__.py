"""gristmill: web pages into text that is worth training on, and that can be defended.

What other programs may use is `crawler.__all__` (docs/library.md); each name is loaded when it is first asked for. Who
reads the code starts at `settings.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crawler.version import __version__

if TYPE_CHECKING:
    from crawler.api import *

__all__ = [
    "STAGES",
    "Chain",
    "Config",
    "ConfigError",
    "CorpusWriter",
    "Document",
    "Drop",
    "DropReason",
    "Frontier",
    "InputError",
    "Link",
    "Reason",
    "Record",
    "Signal",
    "StorageError",
    "Verdict",
    "__version__",
    "configure",
    "corpus_writer",
    "decide",
    "judge",
    "page",
    "query",
    "read_corpus",
]


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name in __all__:
        return getattr(import_module("crawler.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
