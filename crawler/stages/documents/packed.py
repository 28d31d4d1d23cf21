"""A file that is a ZIP of XML: what is really inflated is counted, whatever its directory says, and XML has limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, TypeVar

from lxml import etree

from crawler.stages.documents.model import UnreadableError

T = TypeVar("T")
MAX_MEMBERS = 20_000
"""Members of one file: a long book with pictures has 2,000."""
MAX_MEMBER = 64 * 2**20
"""Bytes of one member, inflated; its tree takes ten times as much."""
MAX_INFLATED = 256 * 2**20
"""Bytes of all members that are read."""
_ENCRYPTED = 1
_PIECE = 2**20
_NO_MEMORY = frozenset({etree.ErrorTypes.ERR_NO_MEMORY})


class Package:
    """The members of one file. Raises: UnreadableError (truncated, broken_document, too_large)."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            if b"PK\x05\x06" not in body:
                raise UnreadableError("truncated", f"the file does not end within its {len(body):,} bytes") from error
            raise UnreadableError("broken_document", f"ZIP: {error}"[:200]) from error
        if len(self._zip.filelist) > MAX_MEMBERS:
            raise UnreadableError("too_large", f"{len(self._zip.filelist):,} members; {MAX_MEMBERS:,} are read")
        self._inflated = 0

    def names(self) -> list[str]:
        """Of its members, in the order of its directory."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes | None:
        """The bytes of a member; None where there is none. Raises: UnreadableError, also encrypted."""
        try:
            member = self._zip.getinfo(name)
        except KeyError:
            return None
        if member.flag_bits & _ENCRYPTED:
            raise UnreadableError("encrypted", f"{name[:100]} opens with a password only")
        found = bytearray()
        try:
            with self._zip.open(member) as file:
                while piece := file.read(_PIECE):
                    found += piece
                    self._count(len(piece), len(found), name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError) as error:
            raise UnreadableError("broken_document", f"{name[:100]}: {error}"[:200]) from error
        return bytes(found)

    def xml(self, name: str) -> Any:
        """The root of a member that is XML; None where there is no such member. Raises: UnreadableError."""
        data = self.read(name)
        return None if data is None else root_of(data, name)

    def part(self, name: str) -> bytes | None:
        """The bytes of one member of many; None also where it is damaged. Raises: as `page`."""
        return _spared(self.read, name)

    def page(self, name: str) -> Any:
        """The root of one member of many; None also where it is damaged, so that it takes no other along.

        Raises: UnreadableError where a limit is met.
        """
        return _spared(self.xml, name)

    def _count(self, fresh: int, size: int, name: str) -> None:
        self._inflated += fresh
        if size > MAX_MEMBER or self._inflated > MAX_INFLATED:
            raise UnreadableError("too_large", f"{name[:100]} holds more than {min(size, MAX_MEMBER):,} bytes unpacked")


def _spared(read: Callable[[str], T], name: str) -> T | None:
    try:
        return read(name)
    except UnreadableError as error:
        if error.reason != "broken_document":
            raise
        return None


def root_of(data: bytes, name: str) -> Any:
    """The root element: no entities, no network.

    Raises: UnreadableError where it is no XML, or nested too deep; MemoryError.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        if getattr(error, "code", None) in _NO_MEMORY:  # libxml2 says it like an error of the file
            raise MemoryError from error
        raise UnreadableError("broken_document", f"{name[:100]}: {error}"[:200]) from error


def check_pages(broken: int, pages: int) -> None:
    """Raises: UnreadableError where most slides, sheets or chapters of a file cannot be read."""
    if 2 * broken > pages:
        raise UnreadableError("broken_document", f"{broken:,} of {pages:,} slides, sheets or chapters cannot be read")


def local(element: Any) -> str:
    """The name of an element without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
