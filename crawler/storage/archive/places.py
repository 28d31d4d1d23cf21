"""A place says where archives are: a path, a folder, a pattern, a list in a file, or any fsspec URL.

In a folder, and where a pattern matches several files, names say which of them are archives; the others are told.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from crawler.decompress import unpack
from crawler.number import number_of
from crawler.storage.archive.names import INSIDE, LISTS, inside, is_archive, is_beside, shown
from crawler.storage.archive.remote import by_age, is_web, open_archive, options, protocols, said
from crawler.storage.files.errors import StorageError, refuse_password

_MAX_LIST = 64 * 2**20
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Found:
    """The archives behind a place, and the files there that are none by their names and that nobody reads."""

    archives: list[str]
    others: list[str]

    @property
    def passed_over(self) -> str:
        """A sentence on the others, where there are some."""
        return (
            f"{number_of(len(self.others), 'file')} not read, such as {shown(self.others[0])}: no archive by its name"
        )


def expand(pattern: str, *, anonymous: bool = False, base: str = "") -> list[str]:
    """The archives that `find` finds."""
    return find(pattern, anonymous=anonymous, base=base).archives


def find(pattern: str, *, anonymous: bool = False, base: str = "") -> Found:
    """The archives behind a path, folder, pattern or URL; or those of a list file (.txt, .paths, .lst, .paths.gz).

    Archives on a local disk come in the order in which they were begun, others in that of their names.
    A list holds one path, URL or pattern a line, `#` comments, and keeps its order; whether its archives exist, and
    whether anything can be read of them, shows when their turn comes. base: where the relative paths of a list begin, a
    URL or a folder; without it see `_rooted`. A local archive has one name, its absolute path, however it was given: a
    replay knows by it what it has read.
    Raises: StorageError where nothing matches or the place cannot be reached.
    """
    refuse_password(pattern)
    if pattern.partition("?")[0].lower().endswith(LISTS):
        lines = [_rooted(line, pattern, base) for line in _listed(pattern, anonymous=anonymous)]
        groups = [_find(line, anonymous) if _is_pattern(line) else Found([_spelt(line)], []) for line in lines]
        archives = dict.fromkeys(name for group in groups for name in group.archives)
        others = dict.fromkeys(name for group in groups for name in group.others if name not in archives)
        return Found(list(archives), list(others))
    return _find(pattern, anonymous)


def _find(pattern: str, anonymous: bool) -> Found:
    refuse_password(pattern)
    wacz, _ = inside(pattern)
    try:
        fs, path = fsspec.core.url_to_fs(wacz, **options(pattern, anonymous=anonymous))
        if wacz != pattern:
            return Found([_spelt(pattern)], [])
        if _is_pattern(pattern):
            found = _of_pattern(fs, path)
        elif not is_web(pattern) and fs.isdir(path):
            found = _of_folder(fs, path)
        elif _is_there(fs, path):
            found = Found([path], [])
        else:
            _may_be_asked_for(fs, path)
            raise FileNotFoundError("there is no such archive")
    except (OSError, ValueError, ImportError) as error:
        raise StorageError(f"{pattern}: {said(error)}") from error
    if not found.archives:
        there = f"; {shown(found.others[0])}, for one, is none by its name" if found.others else ""
        raise StorageError(f"{pattern}: no archive matches; expected files such as archive/*.warc.gz{there}")
    if "file" in protocols(fs):
        return Found(by_age(list(dict.fromkeys(map(_absolute, found.archives)))), found.others)
    return Found([fs.unstrip_protocol(name) for name in found.archives], found.others)


def _of_pattern(fs: Any, path: str) -> Found:
    """What a pattern matches, folders with everything below; where no name is that of an archive, all files."""
    matched = fs.glob(path, detail=True)
    files = sorted(name for name, facts in matched.items() if facts.get("type") != "directory")
    folders = [_of_folder(fs, name) for name in sorted(set(matched) - set(files))]
    archives = [name for name in files if is_archive(name)] + [name for group in folders for name in group.archives]
    others = [name for name in files if not (is_archive(name) or is_beside(name))]
    return Found(archives or others, ([*others] if archives else []) + [n for group in folders for n in group.others])


def _of_folder(fs: Any, path: str) -> Found:
    files = sorted(fs.find(path))
    return Found(list(filter(is_archive, files)), [n for n in files if not (is_archive(n) or is_beside(n))])


def _may_be_asked_for(fs: Any, path: str) -> None:
    """Raises: OSError where it is not known whether a local file is there: a folder above it may not be entered."""
    if "file" in protocols(fs):
        with suppress(FileNotFoundError, NotADirectoryError):
            Path(path).stat()


def _spelt(place: str) -> str:
    """A place as a replay remembers it: a local one as its absolute path, any other as it is."""
    is_local = "://" not in place or place.startswith(("file://", "local://"))
    wacz, member = inside(place)
    return _absolute(str(fsspec.core.url_to_fs(wacz)[1])) + (INSIDE + member if member else "") if is_local else place


def _absolute(path: str) -> str:
    """A folder that is a link has its name on the disk where `..` follows it."""
    return os.path.realpath(path) if ".." in Path(path).parts else os.path.abspath(path)  # noqa: PTH100


def _is_there(fs: Any, path: str) -> bool:
    """Raises: OSError where a web server does not answer, or answers with anything but 404: it may be there."""
    if not {"http", "https"} & set(protocols(fs)):
        return bool(fs.exists(path))
    try:
        return bool(fs.exists(path, strict=True))
    except FileNotFoundError:
        return False
    except Exception as error:  # whatever the client library raises
        status = getattr(error, "status", None)
        answer = (
            f"answers {status} {getattr(error, 'message', '')}".rstrip()
            if status
            else f"cannot be asked ({said(error)})"
        )
        raise OSError(f"the server {answer}; whether there is such an archive is not known") from error


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


def _is_pattern(path_or_url: str) -> bool:
    """Whether signs stand for other characters; not where a file or folder has just this name."""
    has_signs = any(c in path_or_url for c in "*[") or ("?" in path_or_url and not is_web(path_or_url))
    return has_signs and not os.path.exists(path_or_url)  # noqa: PTH110  # False also for what can be no path
