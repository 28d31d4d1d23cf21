"""Pages a site lists itself: sitemaps, sitemap indexes, feeds and text lists, read in a worker process.

`parse_sitemap` never raises and never fetches. Formats: https://www.sitemaps.org/protocol.html, RSS 2.0 and 1.0, Atom
(RFC 4287), JSON Feed 1.1 (jsonfeed.org), one URL a line; each also gzipped. Real files are sloppy, so names are
compared without their namespace, and broken XML is put right where that is certain (`markup.py`). Entities a file
declares are refused, its DTD is never loaded.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson
from lxml import etree

from crawler.decompress import unpack
from crawler.number import number_of
from crawler.seeds.markup import decoded, repaired, whole
from crawler.seeds.timestamps import parse_timestamp
from crawler.urls.canonicalize import MAX_URL_LENGTH, Address, address, printable
from crawler.urls.resolve import resolve

MAX_ENTRIES = 50_000  # sitemaps.org
MAX_BYTES = 50 * 2**20  # sitemaps.org, uncompressed
MAX_NESTING = 3  # index files above a page, counted from the file that was asked for
MAX_PROBLEMS = 20
NO_LIST = "an HTML page, expected a sitemap"
"""The problem of a file that is a page: what many sites answer to any path."""

_MAX_GZIP_LAYERS = 2
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_ITEM_TAGS = {"url": "urlset", "sitemap": "index", "item": "rss", "entry": "atom"}
_ROOTS = {"urlset": "urlset", "sitemapindex": "index", "rss": "rss", "rdf": "rss", "feed": "atom"}


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One listed page. `url` is canonical, `lastmod` seconds since the epoch, `priority` the file's own 0.0 to 1.0.

    `found`: how the file spells the URL, where that is not `url` (`crawler.urls.canonicalize.Address`).
    """

    url: str
    lastmod: float | None = None
    priority: float | None = None
    found: str = ""


@dataclass(slots=True)
class Sitemap:
    """What one file says.

    kind: "urlset", "index", "rss", "atom", "json", "text", "api", "oai", or "unknown": none of these. Of a repository
    (`crawler.seeds.oai`): stopped: why its harvest ends here without being whole; harvested: its name, and the day on
    which the harvest began that ends here. deleted: pages whose records are. rights: by canonical URL, of its licence.
    """

    kind: str = "unknown"
    entries: list[SitemapEntry] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)  # URLs of further sitemaps, as they are to be requested
    problems: list[str] = field(default_factory=list)  # sentences; at most MAX_PROBLEMS and a count
    left_out: Counter[str] = field(default_factory=Counter)  # records that name no page, by why
    deleted: list[SitemapEntry] = field(default_factory=list)
    rights: dict[str, str] = field(default_factory=dict)
    harvested: tuple[str, str] | None = None
    stopped: str = ""


class ListReader(Protocol):
    """Reads lists that are no sitemaps. It crosses to the process that reads them."""

    def read(self, body: bytes, url: str, depth: int, content_type: str = "") -> Sitemap:
        """What the list at `url` says, the `depth`-th from 0. content_type: value of its header. Never raises."""


def parse_sitemap(body: bytes, url: str, nesting: int = 0, content_type: str = "") -> Sitemap:
    """Read one file fetched from `url`. `nesting`: how many index files led to it; the last one's own list is ignored.

    content_type: value of its header.

    Never raises on any bytes. What is beyond MAX_BYTES or MAX_ENTRIES is left out and said so in `problems`.
    """
    reader = _Reader(url, nesting)
    text = decoded(reader.unpacked(body), content_type).lstrip("\ufeff \t\r\n\x00")
    head = text[:1024].lower()
    if not head:
        reader.complain("the file is empty")
    elif head.startswith(("<!doctype html", "<html")):
        reader.complain(NO_LIST)
    elif head.startswith("{"):
        reader.read_json(text)
    elif head.startswith("<"):
        reader.read_xml(text)
    else:
        reader.read_text(text)
    return reader.finished()


class _Reader:
    """Collects what one file says, within the limits."""

    def __init__(self, url: str, nesting: int) -> None:
        self.url = url
        self.nesting = nesting
        self.found = Sitemap()
        self.seen: set[str] = set()
        self.complaints = 0
        self.items = 0  # good, bad and repeated ones: the work is bounded
        self.others = 0  # the same of other languages of pages
        self.full = self.is_cut = False

    def complain(self, text: str) -> None:
        self.complaints += 1
        if self.complaints <= MAX_PROBLEMS:
            self.found.problems.append(text)

    def finished(self) -> Sitemap:
        if self.complaints > MAX_PROBLEMS:
            self.found.problems.append(f"and {self.complaints - MAX_PROBLEMS} more")
        return self.found

    def unpacked(self, body: bytes) -> bytes:
        """The file without gzip (a .gz may be sent gzipped once more), at most MAX_BYTES of it."""
        for _ in range(_MAX_GZIP_LAYERS):
            if not body.startswith(b"\x1f\x8b"):
                break
            body = self._gunzipped(body)
        if len(body) > MAX_BYTES:
            self.complain(f"more than {MAX_BYTES} bytes: the rest is ignored")
            self.is_cut = True
        return body[:MAX_BYTES]

    def _gunzipped(self, body: bytes) -> bytes:
        found = unpack(body, "gzip", MAX_BYTES, salvage=True)
        if found.error is not None or found.rest.strip(b"\0"):
            self.complain("damaged or unfinished gzip data: read as far as it goes")
            self.is_cut = True
        return found.data

    def read_text(self, text: str) -> None:
        """One URL a line; a file without any URL is no list at all. Half a line at the end of a cut file is none."""
        text = text[: text.rfind("\n") + 1] if self.is_cut else text
        for number, line in enumerate(io.StringIO(text, newline=None), 1):
            if self.full:
                break
            if link := line.strip():
                self._add(link, where=f"line {number}")
        self.found.kind = "text" if self.found.entries else "unknown"

    def read_json(self, text: str) -> None:
        """A JSON Feed (https://www.jsonfeed.org/version/1.1/): the pages its items name."""
        try:
            feed = orjson.loads(text.encode("utf-8", "replace"))
        except orjson.JSONDecodeError as error:
            self.complain(f"broken JSON: {str(error)[:200]}")
            return
        items = feed.get("items") if isinstance(feed, dict) else None
        if not isinstance(items, list) or "jsonfeed.org" not in str(feed.get("version", ""))[:100]:
            self.complain("expected a JSON Feed, with its version and its items")
            return
        self.found.kind = "json"
        for number, item in enumerate(items, 1):
            if self.full:
                break
            fields = item if isinstance(item, dict) else {}
            changed = fields.get("date_modified") or fields.get("date_published") or ""
            link = fields.get("url")
            self._add(
                link if isinstance(link, str) else "",
                lastmod=parse_timestamp(changed) if isinstance(changed, str) else None,
                where=f"item {number}",
                base=self.url,
            )

    def read_xml(self, text: str) -> None:
        text, odd = repaired(text)
        text, is_cut = whole(text, _ROOTS, _ITEM_TAGS)
        if is_cut:
            self.complain("the file ends within an entry, which is left out")
        try:
            self._read_xml(text.encode("utf-8", "replace"))
        except (etree.LxmlError, ValueError, LookupError) as error:
            self.complain(f"broken XML: {str(error)[:200]}")
        if odd and self.items:
            self.complain(
                f"broken XML, put right in {number_of(odd, 'place')} (such as a bare &, which is read as text)"
            )

    def _read_xml(self, data: bytes) -> None:
        events = etree.iterparse(
            io.BytesIO(data),
            events=("start", "end"),
            recover=True,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            encoding="utf-8",
            remove_comments=True,
            remove_pis=True,
        )
        root = None
        for event, element in events:
            if root is None:
                root = element
                self.found.kind = _ROOTS.get(_local(root, root), "unknown")
                if _declares_entities(root):
                    self.complain("declares entities of its own: refused")
                    return
            if event == "end" and (kind := _ITEM_TAGS.get(_local(element, root))) and not _inside_item(element, root):
                self._item(kind, element, root)
                _forget(element)
                if self.full:
                    return
        if len(events.error_log):
            first = events.error_log[0]
            self.complain(f"line {first.line}: broken XML, read as far as it goes: {first.message[:200]}")
        if self.found.kind == "unknown":
            self.complain("expected urlset, sitemapindex, rss, feed or a list of URLs")

    def _item(self, kind: str, element: Any, root: Any) -> None:
        if self.found.kind == "unknown":
            self.found.kind = kind  # the root is misspelt, its content is not
        fields = dict(_fields(element, root))
        place = f"line {element.sourceline}"
        name = _feed_link(fields) if kind in ("rss", "atom") else "loc"
        link, holder = fields.get(name) or (_text(element), element)
        if kind in ("rss", "atom") and not name:
            link = ""
        base = self._base_of(holder)
        if kind == "index":
            self._nest(link, place, base)
            return
        changed = parse_timestamp(next((fields[name][0] for name in _CHANGED if name in fields), ""))
        priority = _priority(fields["priority"][0] if "priority" in fields else "")
        self._add(link, changed, priority, where=place, base=base)
        for other in _other_languages(element, root) if kind == "urlset" else ():
            self._add(other.get("href"), changed, priority, where=place, base=self._base_of(other), counts=False)

    def _base_of(self, element: Any) -> str:
        """What a relative URL in this element stands on: the file, unless `xml:base` says otherwise."""
        base = self.url
        for one in [*reversed(list(element.iterancestors())), element]:
            if (said := one.get(_XML_BASE)) is not None and len(said) <= MAX_URL_LENGTH:
                base = resolve(base, said.strip()) or base
        return base

    def _nest(self, link: str, where: str, base: str) -> None:
        if self.nesting >= MAX_NESTING:
            self.complain(f"index files nested more than {MAX_NESTING} deep: ignored")
            self.full = True
        elif (url := self._named(link, where, base)) is not None:
            self.found.nested.append(url.asked)

    def _add(
        self,
        link: str,
        lastmod: float | None = None,
        priority: float | None = None,
        *,
        where: str,
        base: str | None = None,
        counts: bool = True,
    ) -> None:
        if (url := self._named(link, where, base, counts=counts)) is not None:
            self.found.entries.append(SitemapEntry(url.name, lastmod, priority, url.found))

    def _named(self, link: str, where: str, base: str | None = None, *, counts: bool = True) -> Address | None:
        """The address of a new link; None where it is none, a repetition or one too many."""
        if self.items >= MAX_ENTRIES or self.others >= MAX_ENTRIES:
            self.complain(f"more than {MAX_ENTRIES} entries: the rest is ignored")
            self.full = True
            return None
        self.items, self.others = self.items + counts, self.others + (not counts)
        url = address(link, base, routes=True) if link and "\ufffd" not in link else None
        if url is None:
            self.complain(f"{where}: expected an http(s) URL, found {printable(link)}")
        elif url.name not in self.seen:
            self.seen.add(url.name)
            return url
        return None


_CHANGED = ("lastmod", "pubdate", "updated", "date", "published")


def _local(element: Any, root: Any) -> str:
    """Lower-case name without namespace. A prefix nobody declared counts as foreign, unless the root has it too."""
    tag = element.tag
    if not isinstance(tag, str):  # an entity reference
        return ""
    name = tag.rpartition("}")[2]
    prefix, colon, rest = name.rpartition(":")
    if colon and prefix == str(root.tag).rpartition("}")[2].rpartition(":")[0]:
        name = rest
    return name.lower()


def _inside_item(element: Any, root: Any) -> bool:
    """True for elements of extensions that happen to be called url, item or entry (media feeds have them)."""
    parent = element.getparent()
    while parent is not None and parent is not root:
        if _local(parent, root) in _ITEM_TAGS:
            return True
        parent = parent.getparent()
    return False


def _other_languages(element: Any, root: Any) -> list[Any]:
    """The `xhtml:link` elements that name a page in other languages (hreflang)."""
    links = (
        child for child in element if _local(child, root) == "link" and child.get("hreflang") and child.get("href")
    )
    return [link for link in links if "alternate" in link.get("rel", "").lower().split()]


def _fields(element: Any, root: Any) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Direct children by name, the first with a text of each; extensions such as image:loc lie one level deeper.

    Each with its text and the element that holds it.
    """
    known: set[str] = set()
    for child in element:
        name = _local(child, root)
        text = _text(child)
        if name == "link" and not text and child.get("rel", "alternate") == "alternate":
            text = child.get("href", "").strip()  # Atom
        if name == "guid" and child.get("ispermalink", child.get("isPermaLink", "")).lower() == "false":
            name = "guid-not-permanent"
        if text and name not in known:
            known.add(name)
            yield name, (text, child)


def _text(element: Any) -> str:
    """Text of the element itself, references that were not resolved left out."""
    return (element.text or "").strip() + "".join(
        (child.tail or "").strip() for child in element if not isinstance(child.tag, str)
    )


def _feed_link(fields: dict[str, tuple[str, Any]]) -> str:
    """The field with an item's link; of RSS also the guid where it is a URL: some feeds have nothing else."""
    if "link" in fields:
        return "link"
    guid = next((name for name in ("guid", "guid-not-permanent") if name in fields), "")
    return guid if guid and fields[guid][0].startswith(("http://", "https://")) else ""


def _priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _declares_entities(root: Any) -> bool:
    dtd = root.getroottree().docinfo.internalDTD
    return dtd is not None and any(True for _ in dtd.iterentities())


def _forget(element: Any) -> None:
    """Free the element and what stands before it, so that memory does not grow with the file."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]
