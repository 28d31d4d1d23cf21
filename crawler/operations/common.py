"""What several operations do alike: show how far a reading is, ask a person, refuse a folder that is a URL."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crawler.operations.declared import WrongCall


@contextmanager
def reading() -> Iterator[Callable[[str], None]]:
    """A line on standard error while something is read, where that is a terminal; what is given replaces it."""
    from crawler.observe.console import on_stderr

    with on_stderr().status("reading …") as status:
        yield status.update


def agreed(question: str) -> bool:
    """True where a person at a terminal says yes."""
    if not sys.stdin.isatty():
        return False
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def refuse_url(out: str | None) -> None:
    """Raises: WrongCall where `--out` is not a folder on this machine."""
    if out is not None and "://" in out:
        raise WrongCall("--out: expected a folder on this machine; copy it from there")
