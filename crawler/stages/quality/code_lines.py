"""The quality rules tell a line of code from one of prose by its marks.

One expression says it best (`tests/stages/quality/test_quality_lines.py` holds this module to it), and asking its
alternatives one by one costs a tenth: most lines have none of the characters that could begin one.
"""

from __future__ import annotations

import re

LONGEST = 400
"""Characters; a line as long as that is none."""
_BEGINS = re.compile(r"[$>#]\s|>>>|//|/\*|\}|import\s|def\s|return\b")
_FIRST = frozenset("$>#/}idr")
_EQUALS = re.compile(r"\s==?\s")


def is_code(line: str) -> bool:
    """True for a statement, a call at the end of the line, an indented line, an assignment or an arrow."""
    if len(line) >= LONGEST:
        return False
    stripped = line.strip()
    if not stripped:
        return False
    return (
        stripped[-1] in ";{}"
        or line[:2].isspace()
        or (stripped[0] in _FIRST and _BEGINS.match(line.lstrip()) is not None)
        or "=>" in line
        or "::" in line
        or "->" in line
        or (stripped[-1] == ")" and _is_call(stripped))
        or ("=" in line and _EQUALS.search(line) is not None)
    )


def _is_call(line: str) -> bool:
    """True where the line, which ends in a bracket, ends in a word with brackets that hold none."""
    opening = line.rfind("(")
    return opening > 0 and (line[opening - 1].isalnum() or line[opening - 1] == "_") and ")" not in line[opening:-1]
