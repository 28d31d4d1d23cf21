"""Scrapy's `DropItem` from a pipeline that is not ours becomes a verdict: who said it, and its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.document import Drop, Reason

if TYPE_CHECKING:
    from scrapy.exceptions import DropItem

MAX_NAMES = 100
"""Reasons that are told apart in one run; what comes later is `custom:other`."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOST_WORDS = 512  # characters, as of every detail


class ForeignVerdicts:
    """Names the verdicts of other pipelines, a bounded number of them."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def verdict(self, error: DropItem) -> Drop:
        """Reason `custom:<name>`: the exception's `reason` where it is a name, else the class of its pipeline."""
        given = getattr(error, "reason", None)
        name = given if isinstance(given, str) and _NAME.fullmatch(given) else _name_of(_pipeline_of(error))
        if name not in self._names and len(self._names) >= MAX_NAMES:
            name = "other"
        self._names.add(name)
        words = "".join(char if char.isprintable() else " " for char in str(error)[:_MOST_WORDS])
        return Drop("pipelines", Reason.custom(name), words)


def _pipeline_of(error: BaseException) -> str:
    """The class whose `process_item` raised; empty where the traceback does not say."""
    trace, found = error.__traceback__, ""
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_name == "process_item" and "self" in frame.f_locals:
            found = type(frame.f_locals["self"]).__name__
        trace = trace.tb_next
    return found


def _name_of(cls: str) -> str:
    """NoRivers -> no_rivers; `pipeline` where nothing of the name can stand in a reason."""
    name = _HUMP.sub("_", cls).lower().strip("_")[:40]
    return name if _NAME.fullmatch(name) else "pipeline"
