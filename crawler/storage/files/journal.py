"""The append-only file under every output: frames arrive, an fsync makes them durable, a name makes them final.

A file grows as `<name>.part`. A frame is a self-checking unit (a zstd frame with checksum, a gzip member), so after a
crash the file is cut behind its last complete frame and nothing that was synced is lost.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import orjson
import zstandard

from crawler.storage.files.errors import RemovedError, StorageError, unwritten

PART = ".part"
_CHUNK = 1 << 20


class Journal:
    """One growing file. Writes go to `<path>.part`; `seal()` gives it its final name.

    Raises: StorageError for every failure of the disk; the bytes of a failed append are cut off again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.part = part_of(path)
        self.size = 0
        self._dirty = True
        self._named = False  # the directory entry is not durable yet
        with disk(self.part):
            self._file: IO[bytes] = self.part.open("xb", buffering=0)

    def append(self, frame: bytes) -> int:
        """Write one frame and return its offset in bytes. Durable after `sync()`."""
        offset = self.size
        try:
            with disk(self.part):
                _write_all(self._file, frame)
        except StorageError:
            with suppress(OSError):
                self._file.truncate(offset)
            raise
        self.size += len(frame)
        self._dirty = True
        return offset

    def sync(self) -> None:
        """Return when every appended byte, and the file's name, are on the disk."""
        if not self._dirty:
            return
        with disk(self.part):
            os.fsync(self._file.fileno())
            if not os.fstat(self._file.fileno()).st_nlink:
                raise RemovedError(
                    self.part,
                    "it was removed while it was being written, and its records are lost. Restore its folder if "
                    "it is missing; the same command continues with the remaining pages, and another CRAWL_ID fetches "
                    "all of them again",
                )
            if not self._named:
                sync_folder(self.part.parent)
                self._named = True
        self._dirty = False

    def close(self) -> None:
        """Close without sealing; the file stays recoverable."""
        self._file.close()

    def seal(self) -> Path:
        """Sync, close and rename to the final name, which is returned."""
        self.sync()
        self.close()
        rename_durably(self.part, self.path)
        return self.path


class disk:  # noqa: N801  # reads as a phrase: with disk(path)
    """Turns any OSError inside into a StorageError that names the file and the way out."""

    def __init__(self, path: Path | str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            raise unwritten(self._path, error) from error


def part_of(path: Path) -> Path:
    """The in-progress name of a file."""
    return path.with_name(path.name + PART)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def rename_durably(source: Path, target: Path) -> None:
    """Rename and make the new name durable."""
    with disk(target):
        source.replace(target)
        sync_folder(target.parent)


def indented(content: Any) -> bytes:
    """JSON, sorted and indented: equal content has equal bytes."""
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def write_synced(path: Path, content: bytes) -> None:
    """Write a whole file, which is on the disk when this returns. Raises: OSError."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, content: bytes) -> None:
    """Write a small file so that a reader sees the old or the new content, never a mixture."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with disk(path):
            write_synced(temporary, content)
        rename_durably(temporary, path)
    except BaseException:
        remove_draft(temporary)
        raise


def remove_draft(path: Path) -> None:
    """Remove an unfinished file, where that is possible: why it is not wanted is what people have to be told."""
    with suppress(OSError):
        path.unlink()


def create_file(path: Path, content: bytes) -> bool:
    """Write a small file that must be new, in one step; False where there is one. Its folder is made where it lacks."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_synced(temporary, content)
            path.hardlink_to(temporary)
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(path.parent)
    return True


def zstd_frame(data: bytes) -> bytes:
    """One checksummed zstd frame of the journal (level 3: 0.06 ms a page)."""
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)


def cut_to_last_frame(part: Path) -> int:
    """Truncate a `.part` file behind its last complete frame. Returns the bytes cut off.

    The kind of frame is told by the name: `.gz` holds gzip members (WARC), everything else zstd frames.
    """
    is_gzip = part.name.removesuffix(PART).endswith(".warc.gz")
    with disk(part):
        with part.open("rb") as file:
            keep = complete_bytes(file, gzipped=is_gzip)
        cut = part.stat().st_size - keep
        if cut:
            os.truncate(part, keep)
    return cut


def zstd_frames(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The whole zstd frames at the beginning of `data`: where each ends, and what it holds."""
    at = 0
    while at < len(data):
        reader = _frame_reader(gzipped=False)
        try:
            content = reader.decompress(data[at:])
        except zstandard.ZstdError:
            return
        if not reader.eof:
            return
        at = len(data) - len(reader.unused_data)
        yield at, content


def complete_bytes(file: IO[bytes], *, gzipped: bool) -> int:
    """How many bytes from here on are complete, checksummed gzip members or zstd frames; output is thrown away."""
    keep = consumed = 0
    reader = _frame_reader(gzipped)
    while data := file.read(_CHUNK):
        while data:
            try:
                reader.decompress(data)
            except (zlib.error, zstandard.ZstdError):
                return keep
            rest = reader.unused_data if reader.eof else b""
            consumed += len(data) - len(rest)
            data = rest
            if reader.eof:
                keep, reader = consumed, _frame_reader(gzipped)
    return keep


def _frame_reader(gzipped: bool) -> Any:
    return zlib.decompressobj(31) if gzipped else zstandard.ZstdDecompressor().decompressobj()


def _write_all(file: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
