"""Some records of an archive are read in one go, in a thread; an error behind them takes none of them along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from crawler.storage.archive.reader import ArchivedResponse, ReadProblem
from crawler.storage.files.errors import ArchiveError

READ_AHEAD = 16  # records
Found = ArchivedResponse | ReadProblem


@dataclass(slots=True)
class Taken:
    """What was read, and what ended it; neither at the end of the archive."""

    items: list[Found] = field(default_factory=list)
    error: ArchiveError | None = None


def take(found: Iterator[Found]) -> Taken:
    """The next records."""
    taken = Taken()
    try:
        for item in islice(found, READ_AHEAD):
            taken.items.append(item)  # those before an error are kept
    except ArchiveError as error:
        taken.error = error
    return taken
