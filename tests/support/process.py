"""A `scrapy` command as a person types it, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support import warm
from tests.support.places import PROJECT

OF_THE_PERSON = {"REDIS_URL", "CORPUS_DIR", "CRAWL_ID"}
"""What whoever runs the tests may have set for crawls of his own."""


def clean_environment(**more: str) -> dict[str, str]:
    """The environment of the tests without settings of the person who runs them."""
    clean = {name: value for name, value in os.environ.items() if name not in OF_THE_PERSON}
    return clean | {"PYTHONPATH": str(PROJECT), "COLUMNS": "120"} | more


def options(settings: Mapping[str, object]) -> list[str]:
    """Settings as the command line takes them."""
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


def scrapy(
    *arguments: object,
    settings: Mapping[str, object] | None = None,
    cwd: Path = PROJECT,
    timeout: float = 180,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `scrapy ARGUMENTS -s …` to its end; one that hangs fails the test."""
    return warm.run(
        [sys.executable, "-m", "scrapy", *map(str, arguments), *options(settings or {})],
        cwd=cwd,
        env=clean_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
