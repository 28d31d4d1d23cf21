"""Presidio's recognisers, imported with the first candidate that asks for one.

Presidio brings spaCy along: half a second and 50 MiB.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from crawler.imports import untimed


@cache
def presidio() -> Any:
    """The package `presidio_analyzer`, with its `predefined_recognizers`."""
    with untimed():
        import crawler.stages.models.spacy_alone  # isort: skip  # noqa: F401  # before Presidio, which imports all of spaCy
        import presidio_analyzer.predefined_recognizers

    logging.getLogger("presidio-analyzer").setLevel(logging.CRITICAL)  # recognisers log the value they failed on
    return presidio_analyzer


@cache
def recogniser(name: str, **options: str) -> Any:
    """The ready-made recogniser of this class, one for all of a process."""
    return getattr(presidio().predefined_recognizers, name)(**options)
