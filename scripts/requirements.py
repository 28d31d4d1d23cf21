#!/usr/bin/env python3
"""Writes requirements.txt from pyproject.toml: what the product needs, and what it needs to drive a browser.

    .venv/bin/python scripts/requirements.py

For whoever installs the packages alone and runs the project from its folder. The reasons come along.
"""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
HEAD = """\
# What a crawl needs, a browser included. Written from pyproject.toml by scripts/requirements.py, not by hand.
"""
_ITEM = re.compile(r"""    (?:(["'])(?P<what>.*)\1,  )?(?P<why>#.*)""")


def section(project: str, name: str) -> list[str]:
    """The lines of the list `name` of pyproject.toml, as pip reads them; each with its reason."""
    found = re.search(rf"^{name} = \[.*\n((?: .*\n)*)\]$", project, re.MULTILINE)
    assert found, name
    items = [_ITEM.fullmatch(line) for line in found[1].splitlines()]
    assert all(items), f"{name}: a requirement without a reason"
    return [f"{item['what']}  {item['why']}" if item["what"] else item["why"] for item in items if item]


def text() -> str:
    """What requirements.txt has to hold."""
    project = (PROJECT / "pyproject.toml").read_text("utf-8")
    browser = ["# --- pages that need a browser ---", *section(project, "browser")]
    return HEAD + "\n".join([*section(project, "dependencies"), *browser]) + "\n"


if __name__ == "__main__":
    (PROJECT / "requirements.txt").write_text(text(), "utf-8")
