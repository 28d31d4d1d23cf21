"""Archives are opened where they are, on a disk, on a server or in a WACZ: streamed, never copied first.

The operator names these addresses, the web does not, so the network guard of the crawl has no part in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, cast

import fsspec

from crawler.storage.archive.members import Piece, pieces
from crawler.storage.archive.names import INSIDE, inside, is_wacz, shown
from crawler.storage.archive.wacz import archives_in, open_member
from crawler.storage.files.errors import ArchiveError, refuse_password

READ_AHEAD = 4 * 2**20
"""Bytes asked for in one request to a remote archive."""
MAX_ASKED = 100
"""More remote archives than these are not asked for their sizes before the start."""


def members_of(path_or_url: str, *, anonymous: bool = False) -> list[str]:
    """The archives that are read for this one: itself, or those in a WACZ. Raises: ArchiveError."""
    if not is_wacz(path_or_url):
        return [path_or_url]
    try:
        with open_archive(path_or_url, anonymous=anonymous) as file:
            names = [f"{path_or_url}{INSIDE}{name}" for name in archives_in(file)]
    except ArchiveError:
        raise
    except Exception as error:  # whatever `zipfile` raises
        raise ArchiveError(
            f"{path_or_url}: no WACZ that can be read ({said(error)}); restore it from a copy"
        ) from error
    if not names:
        raise ArchiveError(f"{path_or_url}: this WACZ holds no archive, such as archive/data.warc.gz")
    return by_age(names) if "://" not in path_or_url else names


def open_archive(path_or_url: str, *, anonymous: bool = False) -> IO[bytes]:
    """Open for reading; only the parts that are read are fetched.

    Raises: ArchiveError where it cannot be opened, with what to install or check.
    """
    refuse_password(path_or_url)
    place, member = inside(path_or_url)
    try:
        if member:
            return cast("IO[bytes]", Remote(_in_wacz(place, member, anonymous), path_or_url))
        fs, path = fsspec.core.url_to_fs(path_or_url, **options(path_or_url, anonymous=anonymous))
        if "file" in protocols(fs):
            return cast("IO[bytes]", fs.open(path, "rb"))
        file = fs.open(path, "rb", block_size=READ_AHEAD, cache_type="readahead")
        if is_web(path_or_url) and not _gives_parts(file):
            return cast("IO[bytes]", Remote(fs.open(path, "rb", block_size=0), path_or_url, can_seek=False))
        return cast("IO[bytes]", Remote(file, path_or_url))
    except ArchiveError:
        raise
    except Exception as error:  # whatever the client library raises
        raise ArchiveError(f"{shown(path_or_url)}: cannot be opened ({said(error)}); check the path or URL") from error


def _in_wacz(place: str, member: str, anonymous: bool) -> Any:
    file = open_archive(place, anonymous=anonymous)
    try:
        return open_member(file, member)
    except BaseException:
        file.close()
        raise


def sizes_of(archives: list[str], *, anonymous: bool = False) -> list[int | None]:
    """Bytes of each archive; None where nobody says, and for all of them where asking would take too many requests."""
    if len(archives) > MAX_ASKED and any("://" in name for name in archives):
        return [None] * len(archives)
    return [size_of(name, anonymous=anonymous) for name in archives]


def size_of(path_or_url: str, *, anonymous: bool = False) -> int | None:
    """Bytes of an archive; None where its server does not say."""
    with suppress(OSError, ValueError, ImportError, ArchiveError):
        if inside(path_or_url)[1]:
            with open_archive(path_or_url, anonymous=anonymous) as file:
                return file.seek(0, os.SEEK_END)
        fs, path = fsspec.core.url_to_fs(path_or_url, **options(path_or_url, anonymous=anonymous))
        size = fs.size(path)
        return int(size) if size is not None else None
    return None


def _gives_parts(file: Any) -> bool:
    """Whether a web server answers with a part of a file; only asking for one tells."""
    if not getattr(file, "size", None):
        return False
    try:
        file.seek(file.size - 1)
        file.read(1)
        file.seek(0)
    except ValueError:
        return False
    return True


class Remote:
    """An archive on a server. can_seek: where it is False bytes come in their order, once.

    Every method raises ArchiveError where the server does not give what it is asked for, whatever its driver raises:
    nobody may take that for the end of the archive.
    """

    def __init__(self, stream: Any, name: str, *, can_seek: bool = True) -> None:
        self._stream, self._name, self._can_seek = stream, name, can_seek

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes (-1: all that are left); none at the end."""
        with self._asked():
            return bytes(self._stream.read(size))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to that byte."""
        with self._asked():
            return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        """The byte at which reading stands."""
        return int(self._stream.tell())

    def seekable(self) -> bool:
        """True where an earlier byte can be asked for again."""
        return self._can_seek

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it."""
        self._stream.close()

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except ArchiveError:
            raise
        except Exception as error:  # whatever the client library raises
            raise unreadable(self._name, error) from error


def unreadable(name: str, error: Exception) -> ArchiveError:
    """What to say of an archive that stopped giving bytes before its end."""
    return ArchiveError(
        f"{name}: cannot be read to its end ({said(error)}); what was read is recorded, the same command goes on there"
    )


_ANONYMOUS: dict[str, dict[str, Any]] = {
    "s3": {"anon": True},
    "s3a": {"anon": True},
    "gs": {"token": "anon"},
    "gcs": {"token": "anon"},
}


def options(path_or_url: str, *, anonymous: bool) -> dict[str, Any]:
    """What fsspec is told of the place."""
    return _ANONYMOUS.get(path_or_url.partition("://")[0], {}) if anonymous else {}


def is_web(path_or_url: str) -> bool:
    """True for what a web server has."""
    return path_or_url.startswith(("http://", "https://"))


def protocols(fs: Any) -> tuple[str, ...]:
    """The names of a file system."""
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def said(error: Exception) -> str:
    """What an error says, or what it is called."""
    return str(error) or type(error).__name__


_DATE = re.compile(rb"^WARC-Date:[ \t]*([0-9][0-9TZ:.+-]{3,40})\r?$", re.MULTILINE | re.IGNORECASE)
_HEAD = 8192  # bytes; more than the head of any first record


def by_age(paths: list[str]) -> list[str]:
    """Archives on a local disk, by the date of their first record, then by name; those without one come first."""
    return sorted(paths, key=lambda path: (begun(path), path))


def begun(path: str) -> str:
    """WARC-Date of the first record; empty where it cannot be read (who reads the archive then says why)."""
    with suppress(OSError, EOFError, ArchiveError), open_archive(members_of(path)[0]) as file:
        for piece in pieces(file):
            match = _DATE.search(piece.data[:_HEAD]) if isinstance(piece, Piece) else None
            return match[1].decode() if match else ""
    return ""
