"""Problems of YAML files by their lines; tests/config/test_yaml_file.py holds the columns."""

from __future__ import annotations

import re


def by_line(problems: list[str]) -> list[str]:
    """Each problem without its column, which has to be there: `file:2:7: …` → `file:2: …`."""
    found = [re.fullmatch(r"(?s)(.+?:\d+):\d+(: .*)", problem) for problem in problems]
    assert all(found), problems
    return [match[1] + match[2] for match in found if match]
