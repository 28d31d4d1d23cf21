"""What the tests of the native kernel share: both ways of computing, and pages with something of everything."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crawler import native
from crawler.native.library import binary

PROBE = (Path(__file__).resolve().parents[2] / "bench" / "extraction" / "probe.html").read_text("utf-8")


def _has_binary() -> bool:
    try:
        return bool(binary())
    except native.NativeError:
        return False


built = pytest.mark.skipif(not _has_binary(), reason="no native binary is built for this kind of machine")


@contextmanager
def mode(name: str) -> Iterator[None]:
    native.use(name)
    try:
        yield
    finally:
        native.use("auto")


def both(compute: Callable[[], Any]) -> tuple[Any, Any]:
    """What Python and what C answers."""
    with mode("off"):
        python = compute()
    with mode("required"):
        return python, compute()


def mutated(text: str, seed: int, changes: int = 12) -> str:
    """A page with pieces of it moved, doubled, cut out and cut in two."""
    chance = random.Random(seed)
    for _ in range(changes):
        at, size = chance.randrange(len(text)), chance.choice((1, 3, 12, 80, 400))
        piece = text[at : at + size]
        match chance.randrange(4):
            case 0:
                text = text[:at] + text[at + size :]
            case 1:
                text = text[:at] + piece * chance.choice((2, 3, 9)) + text[at + size :]
            case 2:
                to = chance.randrange(len(text))
                text = text[:to] + piece + text[to:]
            case 3:
                text = text[:at] + chance.choice(WORDS) + text[at:]
    return text or PROBE


WORDS = ("<br>", "<p>", "</div>", "<li>", "<a href='#x'>", "</a>", "<span hidden>", "<pre>", "&amp;", "&#8203;", "é",
         "中", "\U0001f517", "<script>", "<!-- a --> ", "<td colspan=3>", "<h2>", "<x-y>", "<?php x ?>", "\n",
         '<span aria-hidden="true">', "<code>", "<button>", "A", "9", " ")  # fmt: skip
