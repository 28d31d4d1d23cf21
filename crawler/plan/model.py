"""A plan is what `crawl.yaml` says: crawls with their limits and gates, and the commands that follow them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crawler.config.budget import FIGURES

IN_ALL, RUN, SEED = "in_all", "run", "seed"
LIMITED = {IN_ALL: tuple(FIGURES), RUN: tuple(FIGURES), SEED: tuple(FIGURES)}
"""What can be limited (`crawler/config/budget.py`): of all runs together, of each run, and of each seed."""
Limits = Mapping[str, Mapping[str, float]]
"""Reach → figure → bound."""
RUN_PLACE = "{run}"
"""Stands in a command for the name of the run."""
AGAIN, NEVER = (1, 130, 143), (2, 3)
"""Exit codes after which a task may be run again, and those after which that changes nothing: a wrong call, a gate."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl.

    arguments: of the spider (`-a`). settings: as after `-s`, those included that other keys stand for. limits: see
    `Limits`. gates: the file of its gates, empty = none. at: line and column in the file, such as "3:5".
    """

    name: str
    corpus: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    workers: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=dict)
    gates: str = ""
    at: str = "1:1"


@dataclass(frozen=True, slots=True)
class Step:
    """A command after the crawls. words: what follows `gristmill`. at: line and column in the file."""

    name: str
    words: tuple[str, ...]
    at: str = "1:1"


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole file. Its paths are relative to `folder`, in which every command is started.

    written: SHA-256 of the file's bytes, hexadecimal.
    """

    name: str
    path: Path
    crawls: tuple[Crawl, ...]
    steps: tuple[Step, ...]
    written: str

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self.path.parent


@dataclass(frozen=True, slots=True)
class Task:
    """One command of a plan.

    kind: crawl, gates or step. words: what follows `gristmill`. inputs, outputs: folders and files of this plan that
    it reads, and that it makes. after: names of the tasks before it. at: line and column in the file.
    """

    name: str
    kind: str
    words: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    after: tuple[str, ...]
    at: str
