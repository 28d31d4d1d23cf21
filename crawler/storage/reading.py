"""The records of a sealed file, one after the other: for checks and batch jobs over the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from crawler.storage.errors import StorageError
from crawler.storage.place import Place
from crawler.storage.shards import read_lines


def read_records(place: Place, path: str) -> Iterator[Any]:
    """What stands on each line of a file of the corpus, in order.

    Raises: StorageError where the compression or a line is damaged; OSError where the file cannot be opened.
    """
    with place.open(path) as file:
        for number, line in enumerate(read_lines(file, path)):
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise StorageError(f"line {number + 1} is not JSON ({error}); restore the file from a copy") from None
