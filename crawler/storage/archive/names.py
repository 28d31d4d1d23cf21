"""Names tell which files of a folder are archives, which lie beside them, and which nobody here knows.

A file that somebody names is opened whatever its name is: its first bytes say what it is.
"""

from __future__ import annotations

import os
import re
from posixpath import basename

from crawler.storage.files.errors import ArchiveError

ARC = "ARC files are not read; convert them first: warcio recompress IN OUT.warc.gz"
LISTS = (".txt", ".paths", ".lst", ".paths.gz")
_ARCHIVE = re.compile(r"[^/]\.(?:warc|wet|arc|wacz)(?:\.(?!part$|tmp$|paths|txt$|json)[a-z0-9]+)*", re.IGNORECASE)
_ARC = re.compile(r".+\.arc(?:\.[a-z0-9]+)?", re.IGNORECASE | re.DOTALL)
_BESIDE = (".cdx", ".cdxj", ".idx", ".cdx.gz", ".cdxj.gz", ".md5", ".sha1", ".sha256")
INSIDE = "!/"
"""Between a WACZ and the archive in it: `site.wacz!/archive/data.warc.gz`."""


def is_archive(name: str) -> bool:
    """True for what is called an archive (`a.warc.gz`, `A.WARC`, `b.warc.gz.open`, `c.wacz`); not for an unfinished one
    of ours (`.part`), and not for what lies beside one."""
    found = _ARCHIVE.search(basename(name))
    return found is not None and basename(name).endswith(found[0]) and not is_beside(name)


def is_beside(name: str) -> bool:
    """True for an index or a hash of an archive, and for a hidden file: nobody misses it."""
    return basename(name).startswith(".") or name.lower().endswith(_BESIDE)


def is_wacz(name: str) -> bool:
    """True for a WACZ, not for an archive in it."""
    return name.partition("?")[0].lower().endswith(".wacz")


def inside(name: str) -> tuple[str, str]:
    """The WACZ and what is meant in it; the name itself and nothing where it is no archive in a WACZ."""
    at = name.lower().find(f".wacz{INSIDE}")
    return (name[: at + 5], name[at + 5 + len(INSIDE) :]) if at >= 0 else (name, "")


def check_name(name: str) -> None:
    """Raises: ArchiveError where the name is that of an ARC file, or none that a record can carry."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ArchiveError(
            f"{shown(name)}: a name that is not UTF-8, which no record can carry; rename the file"
        ) from None
    if _ARC.fullmatch(name.partition("?")[0] if "://" in name else name):
        raise ArchiveError(f"{name}: {ARC}")


def shown(name: str) -> str:
    """A name for people, whatever bytes it has."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
