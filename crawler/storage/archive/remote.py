"""Where archives are: a path, a folder, a pattern, a list in a file, or any fsspec URL; streamed, never copied first.

The operator names these addresses, the web does not, so the network guard of the crawl has no part in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import fsspec

from crawler.decompress import unpack
from crawler.storage.archive.members import Piece, pieces
from crawler.storage.files.errors import StorageError, refuse_password

READ_AHEAD = 4 * 2**20
"""Bytes asked for in one request to a remote archive."""
ARC = "ARC files are not read; convert them first: warcio recompress IN OUT.warc.gz"
MAX_ASKED = 100
"""More remote archives than these are not asked for their sizes before the start."""
SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wet", ".wet.gz")
_LISTS = (".txt", ".paths", ".lst", ".paths.gz")
_MAX_LIST = 64 * 2**20
_GZIP = b"\x1f\x8b"


def expand(pattern: str, *, anonymous: bool = False, base: str = "") -> list[str]:
    """The archives behind a path, folder, pattern or URL; or those of a list file (.txt, .paths, .lst, .paths.gz).

    Archives on a local disk come in the order in which they were begun, others in that of their names.
    A list holds one path, URL or pattern a line, `#` comments, and keeps its order; whether its archives exist shows
    when their turn comes. base: where the relative paths of a list begin, a URL or a folder; without it see `_rooted`.
    A local archive has one name, its absolute path, however it was given: a replay knows by it what it has read.
    Raises: StorageError where nothing matches or the place cannot be reached.
    """
    refuse_password(pattern)
    if pattern.partition("?")[0].endswith(_LISTS):
        lines = [_rooted(line, pattern, base) for line in _listed(pattern, anonymous=anonymous)]
        groups = [_expand_one(line, anonymous=anonymous) if _is_pattern(line) else [_spelt(line)] for line in lines]
        return list(dict.fromkeys(name for group in groups for name in group))
    return _expand_one(pattern, anonymous=anonymous)


def _expand_one(pattern: str, *, anonymous: bool) -> list[str]:
    refuse_password(pattern)
    try:
        fs, path = fsspec.core.url_to_fs(pattern, **_options(pattern, anonymous=anonymous))
        if _is_pattern(pattern):
            found = sorted(fs.glob(path))
        elif not _is_web(pattern) and fs.isdir(path):
            found = sorted(name for name in fs.find(path) if name.endswith(SUFFIXES))
        elif _is_there(fs, path):
            found = [path]
        else:
            _may_be_asked_for(fs, path)
            raise FileNotFoundError("there is no such archive")
    except (OSError, ValueError, ImportError) as error:
        raise StorageError(f"{pattern}: {_said(error)}") from error
    if not found:
        raise StorageError(f"{pattern}: no archive matches; expected files such as archive/*.warc.gz")
    if "file" in _protocols(fs):
        return by_age(list(dict.fromkeys(_absolute(name) for name in found)))
    return [fs.unstrip_protocol(name) for name in found]


def _may_be_asked_for(fs: Any, path: str) -> None:
    """Raises: OSError where it is not known whether a local file is there: a folder above it may not be entered."""
    if "file" in _protocols(fs):
        with suppress(FileNotFoundError, NotADirectoryError):
            Path(path).stat()


def _spelt(place: str) -> str:
    """A place as a replay remembers it: a local one as its absolute path, any other as it is."""
    is_local = "://" not in place or place.startswith(("file://", "local://"))
    return _absolute(str(fsspec.core.url_to_fs(place)[1])) if is_local else place


def _absolute(path: str) -> str:
    """A folder that is a link has its name on the disk where `..` follows it."""
    return os.path.realpath(path) if ".." in Path(path).parts else os.path.abspath(path)  # noqa: PTH100


def _is_there(fs: Any, path: str) -> bool:
    """Raises: OSError where a web server does not answer, or answers with anything but 404: it may be there."""
    if not {"http", "https"} & set(_protocols(fs)):
        return bool(fs.exists(path))
    try:
        return bool(fs.exists(path, strict=True))
    except FileNotFoundError:
        return False
    except Exception as error:  # whatever the client library raises
        status = getattr(error, "status", None)
        said = (
            f"answers {status} {getattr(error, 'message', '')}".rstrip()
            if status
            else f"cannot be asked ({_said(error)})"
        )
        raise OSError(f"the server {said}; whether there is such an archive is not known") from error


def _listed(path_or_url: str, *, anonymous: bool) -> list[str]:
    with open_archive(path_or_url, anonymous=anonymous) as file:
        data = file.read(_MAX_LIST)
    if data.startswith(_GZIP):
        data = _unpacked(data, path_or_url)
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise StorageError(f"{path_or_url}: byte {error.start} is not UTF-8; save the list as UTF-8") from None
    names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not names:
        raise StorageError(f"{path_or_url}: names no archive; expected one path or URL a line")
    return names


def _unpacked(data: bytes, path_or_url: str) -> bytes:
    found = unpack(data, "gzip", _MAX_LIST)
    if found.error is not None or found.rest.strip(b"\0"):
        raise StorageError(f"{path_or_url}: the gzip data is damaged or unfinished; fetch the list again")
    return found.data


def _rooted(line: str, listed_in: str, base: str) -> str:
    """A path of a list as it can be opened.

    Common Crawl's lists (`crawl-data/CC-MAIN-…/wet.paths.gz`) name files from the root of the server that the list
    itself lies on: where the first folder of the path is one above the list, the path begins where that folder does.
    Raises: StorageError where a list on a server names a path that begins nowhere.
    """
    if "://" in line or line.startswith("/"):
        return line
    if base:
        return f"{base.rstrip('/')}/{line}"
    top, below, _ = line.partition("/")
    above, found, _ = listed_in.rpartition(f"/{top}/") if below else ("", "", "")
    if found:
        return f"{above}/{line}"
    if listed_in.startswith(f"{top}/") or "://" not in listed_in:
        return line
    raise StorageError(
        f"{listed_in}: names {line!r}, a relative path; say where such paths begin, for Common Crawl with "
        "-a base=https://data.commoncrawl.org/"
    )


def open_archive(path_or_url: str, *, anonymous: bool = False) -> IO[bytes]:
    """Open for reading; only the parts that are read are fetched.

    Raises: StorageError where it cannot be opened, with what to install or check.
    """
    refuse_password(path_or_url)
    try:
        fs, path = fsspec.core.url_to_fs(path_or_url, **_options(path_or_url, anonymous=anonymous))
        if "file" in _protocols(fs):
            return cast("IO[bytes]", fs.open(path, "rb"))
        file = fs.open(path, "rb", block_size=READ_AHEAD, cache_type="readahead")
        if _is_web(path_or_url) and not _gives_parts(file):
            return cast("IO[bytes]", Remote(fs.open(path, "rb", block_size=0), path_or_url, can_seek=False))
        return cast("IO[bytes]", Remote(file, path_or_url))
    except Exception as error:  # whatever the client library raises
        raise StorageError(f"{path_or_url}: cannot be opened ({_said(error)}); check the path or URL") from error


def sizes_of(archives: list[str], *, anonymous: bool = False) -> list[int | None]:
    """Bytes of each archive; None where nobody says, and for all of them where asking would take too many requests."""
    if len(archives) > MAX_ASKED and any("://" in name for name in archives):
        return [None] * len(archives)
    return [size_of(name, anonymous=anonymous) for name in archives]


def size_of(path_or_url: str, *, anonymous: bool = False) -> int | None:
    """Bytes of an archive; None where its server does not say."""
    with suppress(OSError, ValueError, ImportError):
        fs, path = fsspec.core.url_to_fs(path_or_url, **_options(path_or_url, anonymous=anonymous))
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

    Every method raises StorageError where the server does not give what it is asked for, whatever its driver raises:
    nobody may take that for the end of the archive.
    """

    def __init__(self, stream: Any, name: str, *, can_seek: bool = True) -> None:
        self._stream, self._name, self._can_seek = stream, name, can_seek

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes (-1: all that are left); none at the end."""
        with self._asked():
            return bytes(self._stream.read(size))

    def seek(self, offset: int) -> int:
        """Go to that byte."""
        with self._asked():
            return int(self._stream.seek(offset))

    def tell(self) -> int:
        """The byte at which reading stands."""
        return int(self._stream.tell())

    def seekable(self) -> bool:
        """True where an earlier byte can be asked for again."""
        return self._can_seek

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever the client library raises
            raise unreadable(self._name, error) from error


def unreadable(name: str, error: Exception) -> StorageError:
    """What to say of an archive that stopped giving bytes before its end."""
    return StorageError(
        f"{name}: cannot be read to its end ({_said(error)}); what was read is recorded, the same command goes on there"
    )


_ANONYMOUS: dict[str, dict[str, Any]] = {
    "s3": {"anon": True},
    "s3a": {"anon": True},
    "gs": {"token": "anon"},
    "gcs": {"token": "anon"},
}


def _options(path_or_url: str, *, anonymous: bool) -> dict[str, Any]:
    return _ANONYMOUS.get(path_or_url.partition("://")[0], {}) if anonymous else {}


def _is_web(path_or_url: str) -> bool:
    return path_or_url.startswith(("http://", "https://"))


def _is_pattern(path_or_url: str) -> bool:
    """Whether signs stand for other characters; not where a file or folder has just this name."""
    has_signs = any(c in path_or_url for c in "*[") or ("?" in path_or_url and not _is_web(path_or_url))
    return has_signs and not os.path.exists(path_or_url)  # noqa: PTH110  # False also for what can be no path


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


def check_name(path_or_url: str) -> None:
    """Raises: StorageError where the name is not that of an archive that can be read."""
    name = path_or_url.partition("?")[0] if _is_web(path_or_url) else path_or_url
    name = name.removesuffix(".part")
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path_or_url).decode("utf-8", "backslashreplace")
        raise StorageError(f"{shown}: a name that is not UTF-8, which no record can carry; rename the file") from None
    if name.endswith((".arc", ".arc.gz")):
        raise StorageError(f"{path_or_url}: {ARC}")
    if not name.endswith(SUFFIXES):
        raise StorageError(f"{path_or_url}: not an archive name; expected one of {', '.join(SUFFIXES)}")


_DATE = re.compile(rb"^WARC-Date:[ \t]*([0-9][0-9TZ:.+-]{3,40})\r?$", re.MULTILINE | re.IGNORECASE)
_HEAD = 8192  # bytes; more than the head of any first record


def by_age(paths: list[str]) -> list[str]:
    """Archives on a local disk, by the date of their first record, then by name; those without one come first."""
    return sorted(paths, key=lambda path: (begun(path), path))


def begun(path: str) -> str:
    """WARC-Date of the first record; empty where it cannot be read (who reads the archive then says why)."""
    with suppress(OSError, EOFError), Path(path).open("rb") as file:
        for piece in pieces(file):
            match = _DATE.search(piece.data[:_HEAD]) if isinstance(piece, Piece) else None
            return match[1].decode() if match else ""
    return ""
