"""Word lists and phrases stand in data files beside the code that looks for them; this reads such a file."""

from __future__ import annotations

import re
from importlib import resources

_SECTION = re.compile(r"\[([a-z_0-9]+)\]")
_REFERENCE = re.compile(r"\{([a-z_]+)\}")


def sections(package: str, file: str) -> dict[str, list[str]]:
    """The entries of a data file of a package, by section. The package may be a zip file (a batch job on Spark).

    A line is an entry, `[name]` begins a section, `#` a comment; what is before the first section is under "".
    `{name}` in an entry stands for all entries of an earlier section, as a group of a regular expression.
    """
    found: dict[str, list[str]] = {}
    entries = found.setdefault("", [])
    for line in map(str.strip, resources.files(package).joinpath(file).read_text("utf-8").splitlines()):
        if named := _SECTION.fullmatch(line):
            entries = found.setdefault(named[1], [])
        elif line and line[0] != "#":
            entries.append(_REFERENCE.sub(lambda name: alternatives(found[name[1]]), line))
    return found


def alternatives(expressions: list[str]) -> str:
    """Regular expressions as one group, the first that matches first."""
    return f"(?:{'|'.join(expressions)})"
