"""Why a command cannot start, as sentences."""

from __future__ import annotations


class LaunchError(Exception):
    """The crawl cannot start. `problems` holds one sentence each: what, where, what to do."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))
