"""WebDataset tars: KEY.jpg, KEY.json, KEY.txt, with nothing in them that depends on when or by whom they were written.

A tar grows as `.part` and never under its own name.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from crawler.images.rows import Row
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import PART, disk

SAMPLES = 1_000
"""Samples of one tar."""
MAX_BYTES = 500 * 2**20
"""Of one tar, about."""
Sample = tuple[str, list[tuple[str, bytes]]]
"""Key, and each member's extension and content."""


def key_of(tar: int, place: int) -> str:
    """As img2dataset writes it: five digits for the tar, four for the place in it."""
    return f"{tar:05d}{place:04d}"


class TarWriter:
    """One tar that grows."""

    def __init__(self, path: Path) -> None:
        self.part = path.with_name(f"{path.name}{PART}")
        self.samples = 0
        with disk(self.part):
            self._file = self.part.open("wb")
            self._tar = tarfile.open(fileobj=self._file, mode="w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115  # until `close`

    @property
    def is_full(self) -> bool:
        """True where the next sample belongs to another tar."""
        return self.samples >= SAMPLES or self._file.tell() >= MAX_BYTES

    def add(self, key: str, members: list[tuple[str, bytes]]) -> None:
        """One sample. Raises: StorageError."""
        with disk(self.part):
            for extension, content in members:
                info = tarfile.TarInfo(f"{key}.{extension}")
                info.size, info.mode = len(content), 0o644
                self._tar.addfile(info, io.BytesIO(content))
        self.samples += 1

    def close(self) -> None:
        """On the disk when this returns. Raises: StorageError."""
        with disk(self.part):
            self._tar.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()


def members_of(row: Row, extension: str, data: bytes) -> list[tuple[str, bytes]]:
    """The members of a sample: the image, its row as JSON, its caption."""
    described = orjson.dumps(row, option=orjson.OPT_SORT_KEYS)
    return [(extension, data), ("json", described), ("txt", str(row["caption"]).encode())]


def read_tar(path: Path) -> Iterator[Sample]:
    """The samples of a tar, in order. Raises: StorageError where it is damaged."""
    key, members = "", list[tuple[str, bytes]]()
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r|") as tar:
            for member in tar:
                name, _, extension = member.name.partition(".")
                content: Any = tar.extractfile(member)
                if name != key and members:
                    yield key, members
                    members = []
                key = name
                members.append((extension, content.read()))
        if members:
            yield key, members
    except (tarfile.TarError, OSError) as error:
        raise StorageError(f"{path}: cannot be read ({error}); restore it from a copy") from error


def rows_in_tar(path: Path) -> Iterator[tuple[Row, int, int]]:
    """The row of each sample, in order, with where its image begins in the tar and its bytes; no image is read.

    Raises: StorageError where it is damaged.
    """
    begin = size = 0
    try:
        with tarfile.open(path, mode="r:") as tar:
            for member in tar:
                content: Any = tar.extractfile(member)
                if member.name.endswith(".json"):
                    yield orjson.loads(content.read()), begin, size
                elif not member.name.endswith(".txt"):
                    begin, size = member.offset_data, member.size
    except (tarfile.TarError, OSError, orjson.JSONDecodeError) as error:
        raise StorageError(f"{path}: cannot be read ({error}); restore it from a copy") from error


def rewrite_tar(path: Path, keeps: Callable[[str], bool], saved: Callable[[str, bytes], object]) -> int:
    """Write `.part` beside it with the samples that `keeps` wants; answers how many. saved: sees the image of each of
    the others. Nothing is written where none is left. Raises: StorageError.
    """
    writer = TarWriter(path)
    for key, members in read_tar(path):
        if keeps(key):
            writer.add(key, members)
        else:
            saved(key, members[0][1])
    writer.close()
    if not writer.samples:
        writer.part.unlink()
    return writer.samples
