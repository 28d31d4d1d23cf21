"""Where archives are: a path, a folder, a pattern, a list in a file, or any fsspec URL; streamed, never copied first.

The operator names these addresses, the web does not, so the network guard of the crawl has no part in it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import IO, Any, cast

import fsspec

from crawler.storage.errors import StorageError

READ_AHEAD = 4 * 2**20
"""Bytes asked for in one request to a remote archive."""
_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wet", ".wet.gz")
_LISTS = (".txt", ".paths", ".lst")
_MAX_LIST = 64 * 2**20


def expand(pattern: str, *, anonymous: bool = False) -> list[str]:
    """The archives behind a path, folder, pattern, URL, or a list file of these (one a line, `#` comments), sorted.

    A list keeps its order. Raises: StorageError where nothing matches or the place cannot be reached.
    """
    if pattern.partition("?")[0].endswith(_LISTS):
        lines = _listed(pattern, anonymous=anonymous)
        return list(dict.fromkeys(name for line in lines for name in _expand_one(line, anonymous=anonymous)))
    return _expand_one(pattern, anonymous=anonymous)


def _expand_one(pattern: str, *, anonymous: bool) -> list[str]:
    try:
        fs, path = fsspec.core.url_to_fs(pattern, **_options(pattern, anonymous=anonymous))
        if any(c in path for c in "*?[") and not _is_query(pattern):
            found = sorted(fs.glob(path))
        elif not _is_web(pattern) and fs.isdir(path):
            found = sorted(name for name in fs.find(path) if name.endswith(_SUFFIXES))
        else:
            found = [path]
    except (OSError, ValueError, ImportError) as error:
        raise StorageError(f"{pattern}: {_said(error)}") from error
    if not found:
        raise StorageError(f"{pattern}: no archive matches; expected files such as archive/*.warc.gz")
    return [name if "file" in _protocols(fs) else fs.unstrip_protocol(name) for name in found]


def _listed(path_or_url: str, *, anonymous: bool) -> list[str]:
    with open_archive(path_or_url, anonymous=anonymous) as file:
        lines = file.read(_MAX_LIST).decode("utf-8", "replace").splitlines()
    names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not names:
        raise StorageError(f"{path_or_url}: names no archive; expected one path or URL a line")
    return names


def open_archive(path_or_url: str, *, anonymous: bool = False) -> IO[bytes]:
    """Open for reading; only the parts that are read are fetched.

    Raises: StorageError where it cannot be opened, with what to install or check.
    """
    try:
        fs, path = fsspec.core.url_to_fs(path_or_url, **_options(path_or_url, anonymous=anonymous))
        if "file" in _protocols(fs):
            return cast("IO[bytes]", fs.open(path, "rb"))
        return cast("IO[bytes]", fs.open(path, "rb", block_size=READ_AHEAD, cache_type="readahead"))
    except (OSError, ValueError, ImportError) as error:
        raise StorageError(f"{path_or_url}: cannot be opened ({_said(error)}); check the path or URL") from error


def size_of(path_or_url: str, *, anonymous: bool = False) -> int | None:
    """Bytes of an archive; None where its server does not say."""
    with suppress(OSError, ValueError, ImportError):
        fs, path = fsspec.core.url_to_fs(path_or_url, **_options(path_or_url, anonymous=anonymous))
        size = fs.size(path)
        return int(size) if size is not None else None
    return None


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


def _is_query(path_or_url: str) -> bool:
    return _is_web(path_or_url) and "?" in path_or_url


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
