"""`labels.jsonl` of a corpus: what people said of documents, a line each.

The file is theirs: lines are added, and none is changed. A line goes only with the page that it is about, where that is
withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson

from crawler.storage.corpus.recovery import lock_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import LEDGERS, Place

LABELS = "labels.jsonl"
_LOCK = ".labels"


@contextmanager
def written_alone(place: Place) -> Iterator[None]:
    """Of two at once one would write over the line of the other. Waits for its turn."""
    (place.root / LEDGERS).mkdir(parents=True, exist_ok=True)
    lock = lock_of(place, _LOCK)
    lock.acquire(wait=True)
    try:
        yield
    finally:
        lock.release()


def forget_labels(place: Place, goes: Callable[[Mapping[str, Any]], bool]) -> int:
    """Take out the lines for which `goes` holds; how many. What is no label stays. Raises: StorageError."""
    with written_alone(place):
        try:
            with place.open(LABELS) as file:
                lines = file.read().splitlines(keepends=True)
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            raise StorageError(f"{place.path_of(LABELS)}: cannot be read ({error})") from error
        stay = [line for line in lines if not goes(_object(line))]
        if len(stay) < len(lines):
            place.put(LABELS, b"".join(stay))
        return len(lines) - len(stay)


def _object(line: bytes) -> dict[str, Any]:
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return values if isinstance(values, dict) else {}
