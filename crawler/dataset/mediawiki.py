"""A dump of a wiki becomes an archive to replay: each page a record of its own, in the format it was exported in.

A dump (`pages-articles.xml`, plain or packed with gzip, bzip2 of one or many streams, zstd) is read from front to back,
one page in memory. A record has the page with its newest revision; whoever wrote it, and what they said of it, is not
taken over. The stages read it (`crawler/stages/documents/mediawiki.py`), so its licence, its revision and its markup
are in the archive, and it can be judged again without the dump.
Source: https://www.mediawiki.org/xml/export-0.11.xsd
"""

from __future__ import annotations

import bz2
import gzip
import os
import re
import sys
import uuid
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lxml import etree

from crawler.stages.documents.packed import local
from crawler.storage.archive.records import gzip_member, resource_record, warcinfo_record
from crawler.storage.archive.remote import open_archive
from crawler.storage.files.errors import ArchiveError, StorageError
from crawler.version import __version__

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SCHEMA = "http://www.mediawiki.org/xml/export-0.11/"
MEDIA_TYPE = "application/xml"
SOFTWARE = f"gristmill/{__version__} (dataset mediawiki)"
MAX_PAGE_BYTES = 64 * 2**20
"""Of XML between the ends of two pages or revisions; MediaWiki itself has a limit of 2 MiB."""
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_SPACES = frozenset({"6", "14"})
"""Files and categories: the reader has to know what the wiki calls them."""
_DAY = re.compile(r"(?<!\d)(20\d\d)(\d\d)(\d\d)(?!\d)")
_SAFE = "/:@!$'()*,;~"
"""Signs of a title that MediaWiki leaves as they are in an address (`wfUrlencode`)."""


@dataclass(frozen=True, slots=True)
class Wiki:
    """What a dump says of its wiki. article: address before the title. spaces: names of files and categories."""

    name: str
    language: str
    article: str
    spaces: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class WikiPage:
    """One page with its newest revision. moment: RFC 3339."""

    title: str
    number: str
    space: str
    revision: str
    moment: str
    text: str


@dataclass(slots=True)
class Parted:
    """What was written. left_out: pages by why. problem: a sentence where the dump could not be read to its end."""

    pages: int = 0
    bytes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    problem: str = ""


def day_of(name: str) -> str | None:
    """The day in the name of a dump, ISO 8601; None where it has none."""
    found = _DAY.search(name.rpartition("/")[2])
    return "-".join(found.groups()) if found else None


def part(dump: str, out: Path, *, day: str, licence: str = "", spaces: Collection[str] = ("0",)) -> Parted:
    """Write each page of the dump into the new archive `out`.

    dump: a path or an fsspec URL. day: of the dump, ISO 8601: when the pages were as they are there. licence: tag for
    each record; empty = nobody says. spaces: numbers of the namespaces whose pages are wanted.
    A dump that is damaged or cut off gives the pages before that, and a problem. Equal dumps give equal bytes.
    Raises: StorageError where `out` is there, the dump cannot be opened, is none, or has no page that is wanted.
    """
    if out.exists():
        raise StorageError(f"{out}: exists already; give another name, or remove it")
    done, unfinished = Parted(), out.with_name(f"{out.name}.part")
    date = f"{day}T00:00:00Z"
    try:
        with unfinished.open("wb") as file:
            file.write(warcinfo_record(_about(dump, licence), out.name, _id(f"{dump} {day}"), date, gzip_member))
            for url, page, body in _bodies(dump, frozenset(spaces), done):
                licences = [("X-Crawl-Licence", licence)] if licence else []
                written = resource_record(url, MEDIA_TYPE, body, _id(f"{url} {page.revision}"), date, licences)
                done.pages, done.bytes = done.pages + 1, done.bytes + file.write(written)
            file.flush()
            os.fsync(file.fileno())
        if done.pages:
            unfinished.replace(out)
    except OSError as error:
        raise StorageError(f"{unfinished}: cannot be written ({error.strerror})") from error
    finally:
        unfinished.unlink(missing_ok=True)
    if not done.pages:
        left_out = ", ".join(f"{count:,} {why}" for why, count in sorted(done.left_out.items()))
        raise StorageError(done.problem or f"{dump}: has no page that is wanted ({left_out or 'none at all'})")
    return done


def _about(dump: str, licence: str) -> dict[str, str]:
    name = dump.rpartition("/")[2]
    said = {"software": SOFTWARE, "format": "WARC File Format 1.1", "isPartOf": name}
    return {**said, "description": f"pages of the dump {name}" + (f" under {licence}" if licence else "")}


def _id(of: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, of))


def _bodies(dump: str, spaces: frozenset[str], done: Parted) -> Iterator[tuple[str, WikiPage, bytes]]:
    """Address, page and export of each page that is wanted."""
    try:
        for wiki, page in _pages(dump, done):
            if page.space not in spaces:
                done.left_out[f"of namespace {page.space}"] += 1
            elif not (page.text.strip() and page.title):
                done.left_out["without title or text"] += 1
            else:
                title = quote(page.title.replace(" ", "_"), safe=_SAFE)
                yield wiki.article + title, page, _export(wiki, page)
    except (EOFError, zlib.error, zstd.ZstdError, etree.XMLSyntaxError, gzip.BadGzipFile, _DamageError) as error:
        written = (
            "the pages before that were written, and may be damaged where a checksum is wrong; fetch the dump again "
            "and write another archive"
        )
        nothing = "nothing was written; fetch the dump again"
        done.problem = f"{dump}: cannot be read to its end ({str(error)[:200]}); {written if done.pages else nothing}"


class _DamageError(Exception):
    """What lies below could not be read on."""


class _Reading:
    """The bytes of a dump, unpacked. An error of reading is told from one of writing."""

    def __init__(self, file: Any) -> None:
        self._file, self._left = file, MAX_PAGE_BYTES

    def read(self, size: int) -> bytes:
        """Raises: _DamageError, also where a page is so long that it cannot be one."""
        try:
            data = bytes(self._file.read(size))
        except OSError as error:
            raise _DamageError(str(error)) from error
        self._left -= len(data)
        if self._left < 0:
            raise _DamageError(f"a page of more than {MAX_PAGE_BYTES:,} bytes")
        return data

    def go_on(self) -> None:
        """A page or a revision has ended."""
        self._left = MAX_PAGE_BYTES


def _pages(dump: str, done: Parted) -> Iterator[tuple[Wiki, WikiPage]]:
    wiki: Wiki | None = None
    with _opened(dump) as file:
        reading = _Reading(file)
        steps = etree.iterparse(
            reading, events=("end",), tag=("{*}siteinfo", "{*}page", "{*}revision"), resolve_entities=False,
            no_network=True, load_dtd=False, huge_tree=True,
        )  # fmt: skip
        for _, element in steps:
            name = local(element)
            reading.go_on()
            if name == "siteinfo":
                wiki = _wiki(dump, element)
            elif name == "revision":
                _keep_newest(element, done)
            elif wiki is None:
                raise StorageError(
                    f"{dump}: a page comes before siteinfo; expected a dump with it (export schema 0.11)"
                )
            else:
                if (page := _page(element, done)) is not None:
                    yield wiki, page
                _let_go(element)
    if wiki is None:
        raise StorageError(f"{dump}: is no dump of a wiki; expected XML with the root mediawiki and a siteinfo")


def _opened(dump: str) -> Any:
    """A file of the dump, unpacked. Raises: StorageError where it cannot be opened."""
    try:
        raw = open_archive(dump)
        start = raw.read(8)
        raw.seek(0)
    except (OSError, ArchiveError) as error:
        why = getattr(error.__cause__ or error, "strerror", None) or error
        raise StorageError(f"{dump}: cannot be opened ({why}); check the path or URL") from error
    if start.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return zstd.open(raw)
    if start.startswith(b"7z"):
        raise StorageError(f"{dump}: is a 7z archive, which is not read; unpack it, or take the dump in bz2")
    return raw


def _wiki(dump: str, element: Any) -> Wiki:
    base = _said(element, "base")
    head, mark, _ = base.rpartition("title=") if "title=" in base else base.rpartition("/")
    if not mark or not base.startswith(("http://", "https://")):
        raise StorageError(f"{dump}: siteinfo says no address of the wiki (base {base[:100]!r}), so no page has one")
    named = [(str(each.get("key")), each.text or "") for each in element.iter() if local(each) == "namespace"]
    root = element.getparent()
    language = "" if root is None else str(root.get(_LANGUAGE) or "")
    return Wiki(_said(element, "sitename"), language, head + mark, tuple(s for s in named if s[0] in _SPACES))


def _page(element: Any, done: Parted) -> WikiPage | None:
    """None for what is no page to read, which is counted."""
    revision = _child(element, "revision")
    text = _child(revision, "text")
    if _child(element, "redirect") is not None:
        done.left_out["redirects"] += 1
    elif text is None or text.get("deleted") is not None:
        done.left_out["whose text the wiki hides"] += 1
    elif (model := _said(revision, "model") or "wikitext") != "wikitext":
        done.left_out[f"of {model[:60]}, no wikitext"] += 1
    else:
        return WikiPage(
            title=_said(element, "title"),
            number=_said(element, "id"),
            space=_said(element, "ns") or "0",
            revision=_said(revision, "id"),
            moment=_said(revision, "timestamp"),
            text=text.text or "",
        )
    return None


def _keep_newest(revision: Any, done: Parted) -> None:
    """Of the revisions of a page up to this one the newest stays: a page with thousands needs memory for two.

    Those behind it may still be read: the parser is ahead.
    """
    found = [revision, *(one for one in revision.itersiblings(preceding=True) if local(one) == "revision")]
    newest = max(found, key=lambda each: (_said(each, "timestamp"), _number(_said(each, "id"))))
    for each in found:
        if each is not newest:
            done.left_out["older revisions"] += 1
            each.getparent().remove(each)


def _number(said: str) -> int:
    return int(said) if said.isascii() and said.isdigit() else 0


def _let_go(page: Any) -> None:
    page.clear()
    parent = page.getparent()
    while parent is not None and page.getprevious() is not None:
        del parent[0]


def _child(element: Any, name: str) -> Any:
    return None if element is None else next((child for child in element if local(child) == name), None)


def _said(element: Any, name: str) -> str:
    child = _child(element, name)
    return "" if child is None else str(child.text or "").strip()


def _export(wiki: Wiki, page: WikiPage) -> bytes:
    """An export of this page alone."""
    root = etree.Element("mediawiki", {_LANGUAGE: wiki.language} if wiki.language else {}, nsmap={None: SCHEMA})
    site = etree.SubElement(root, "siteinfo")
    etree.SubElement(site, "sitename").text = wiki.name
    spaces = etree.SubElement(site, "namespaces")
    for key, name in wiki.spaces:
        etree.SubElement(spaces, "namespace", key=key).text = name
    made = etree.SubElement(root, "page")
    for name, value in (("title", page.title), ("ns", page.space), ("id", page.number)):
        etree.SubElement(made, name).text = value
    revision = etree.SubElement(made, "revision")
    for name, value in (("id", page.revision), ("timestamp", page.moment), ("model", "wikitext"), ("text", page.text)):
        etree.SubElement(revision, name).text = value
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True))
