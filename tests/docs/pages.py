"""The pages of the documentation as lines of prose, names of files and modules, links and anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "demo" / "README.md"])
CODE_FOLDERS = ("crawler", "tests", "bench", "demo", "scripts", "k8s", "integrations", "docs")
_MADE = (" begin -->", "writes from here -->"), ("end -->", "to here -->")
"""How a block begins and ends that a command writes into a page."""


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line that is no code, no table, no heading and not written by a command."""
    code = made = False
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif line.startswith("<!--"):
            made = line.endswith(_MADE[0]) or (made and not line.endswith(_MADE[1]))
        elif not code and not made and not line.startswith(("|", "#")):
            yield number, line


def spans(page: Path) -> Iterator[str]:
    """The text of every code span and of every line of a code block."""
    text = page.read_text("utf-8")
    yield from (line for block in re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
                for line in block.splitlines())  # fmt: skip
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^```\w*\n.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for heading in re.findall(r"^#{1,6} (.+)$", page.read_text("utf-8"), flags=re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", heading).lower()).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return frozenset(found)


@cache
def files() -> frozenset[str]:
    """Every file of the project's folders, relative to its root."""
    return frozenset(
        path.relative_to(ROOT).as_posix()
        for folder in CODE_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if "__pycache__" not in path.parts and ".cache" not in path.parts
    )
