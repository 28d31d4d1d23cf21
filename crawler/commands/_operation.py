"""What `scrapy dataset` knows about one of its operations."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from crawler.config import Config


class Load(Protocol):
    """Reads the settings; keyword arguments set some of them first, as `-s` does."""

    def __call__(self, **overrides: object) -> Config:
        """Raises: ConfigError."""


@dataclass(frozen=True, slots=True)
class Operation:
    """syntax: what follows `scrapy dataset`. run: (paths, options, load) -> problems, one sentence each; none = done.

    many: takes several paths.
    """

    syntax: str
    run: Callable[[list[str], argparse.Namespace, Load], list[str]]
    many: bool = False
