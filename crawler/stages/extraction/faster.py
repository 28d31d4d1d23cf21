"""The extractor's slow parts give way to faster ones with the same result, for all of the process, or stay as they are.

Twelve names of trafilatura and justext are replaced, each library's all together and only where `originals.py`
recognises what they replace. A library that it does not know keeps its own, which is slower and as right; a warning
says so once.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from typing import Any

from trafilatura import main_extractor

from crawler.stages.extraction.originals import problem_of

logger = logging.getLogger(__name__)

LIBRARIES = ("trafilatura", "justext")

_theirs: list[tuple[Any, str, Any]] = []


def install() -> None:
    """Let trafilatura and justext use the faster parts; once per process, harmless when repeated."""
    if _theirs:
        return
    for library in LIBRARIES:
        for module, name, ours in _replacements(library):
            _theirs.append((module, name, getattr(module, name)))
            setattr(module, name, ours)


def uninstall() -> None:
    """Give the libraries their own parts back: for the comparison in tests and benches."""
    while _theirs:
        setattr(*_theirs.pop())


@cache
def _replacements(library: str) -> tuple[tuple[Any, str, Any], ...]:
    """What replaces what; nothing where the originals are not those that were compared. Asked once, so warned once."""
    if problem := problem_of(library):
        logger.warning("%s: extraction uses the library as it is, which is slower; texts may differ", problem)
        return ()
    replacements: tuple[tuple[Any, str, Any], ...] = import_module(f"{__package__}.faster_{library}").REPLACEMENTS
    return replacements


def body_of(tree: Any) -> Any:
    """The element that one of trafilatura's body paths leads to, in its order; None where none does."""
    paths = getattr(main_extractor, "BODY_XPATH", ())  # whichever are installed
    return next((found[0] for path in paths if (found := path(tree))), None)
