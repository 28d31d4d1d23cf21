"""Really Simple Licensing 1.0 (rslstandard.org): a licence in XML, named by robots.txt, a Link header or a <link>.

`License:` in robots.txt is fetched and read before the first page; one without a value names no licence and says
nothing. A licence that only the page or its header names is not fetched: unless it is one that has been read, it counts
as a refusal, because nobody knows what it says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from lxml import etree

from crawler.document import Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.robots.match import Rule, RuleSet, normalize
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, Links, signal
from crawler.urls.resolve import resolve as absolute

NAME = "rsl"
VERSION = "2"
MEDIA_TYPE = "application/rsl+xml"

_TRAINING = frozenset({"all", "ai-all", "ai-train", "train-ai", "train-genai"})
_WORDS = re.compile(r"[\s,]+")
_LINK = re.compile(r"<([^<>]*)>([^<>]*)")


@dataclass(slots=True)
class Licence:
    """What one <license> says about training."""

    permits: bool | None = None
    prohibits: bool = False
    paid: bool = False


@dataclass(slots=True)
class LicenceFile:
    """The contents of one RSL document: path pattern and the licences offered for it."""

    contents: list[tuple[str, list[Licence]]] = field(default_factory=list)


def unreadable(body: bytes) -> str:
    """Why these bytes are no RSL document; empty where they are one."""
    try:
        root = _root(body)
    except (etree.XMLSyntaxError, ValueError):
        return "the RSL licence is no well-formed XML"
    return "" if _name(root) == "rsl" else "the RSL licence has no <rsl> element"


def parse(body: bytes) -> LicenceFile:
    """The licences of a readable document."""
    file = LicenceFile()
    for content in _children(_root(body), "content"):
        target = urlsplit(content.get("url") or "/")
        path = target.path or "/"
        licences = [_licence(element) for element in _children(content, "license")]
        if content.get("server"):  # a licence has to be obtained there first, even a free one
            licences.append(Licence(paid=True))
            for licence in licences:
                licence.paid = True
        file.contents.append((path + (f"?{target.query}" if target.query else ""), licences))
    return file


def verdict_of(file: LicenceFile, path: str) -> str:
    """What the most specific matching <content> says: refused where a licence prohibits, or none lets us train free."""
    rules = RuleSet(Rule(True, pattern.encode(), n) for n, (pattern, _) in enumerate(file.contents))
    matched = rules.match(normalize(path.encode("utf-8", "surrogatepass")))
    if matched is None:
        return UNKNOWN
    licences = [one for pattern, many in file.contents if pattern == file.contents[matched.line][0] for one in many]
    if any(licence.prohibits for licence in licences):
        return DISALLOW
    if any(licence.permits and not licence.paid for licence in licences):
        return ALLOW
    if any(licence.paid or licence.permits is False for licence in licences):
        return DISALLOW
    return UNKNOWN


def from_file(file: LicenceFile, url: str, path: str) -> Signal:
    """The signal of a licence that robots.txt names."""
    return signal(NAME, "robots.txt", url, verdict_of(file, path))


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """Every RSL licence that a Link header names (RFC 8288)."""
    found = [match for value in values_of(headers, b"link") for match in _LINK.finditer(value)]
    return [signal(NAME, "header", target, UNKNOWN) for target, rest in (m.groups() for m in found) if _is_rsl(rest)]


def from_links(links: Links, _context: Context) -> list[Signal]:
    """Every RSL licence that a <link> in the head names."""
    return [
        signal(NAME, "meta", href, UNKNOWN)
        for rel, kind, href in links
        if href.strip()  # HTML: a <link> without an address links to nothing
        and "license" in rel.lower().split()
        and kind.split(";", 1)[0].strip().lower() == MEDIA_TYPE
    ]


def resolve(signals: list[Signal], base: str) -> Signal | None:
    """A refusal for the first licence that a page or header names and that robots.txt did not let us read."""
    ours = [s for s in signals if s.protocol == NAME]
    read = {s.value for s in ours if s.carrier == "robots.txt"}
    for one in ours:
        if one.carrier != "robots.txt" and absolute(base, one.value) not in read:
            return Signal(NAME, one.carrier, f"a licence that was not read: {one.value}"[:512], DISALLOW)
    return None


def _is_rsl(parameters: str) -> bool:
    text = parameters.lower().replace('"', "").replace(" ", "")
    return "rel=license" in text and f"type={MEDIA_TYPE}" in text


def _licence(element: Any) -> Licence:
    licence = Licence()
    for permits in _children(element, "permits"):
        if _is_usage(permits):
            licence.permits = bool(licence.permits) or not _TRAINING.isdisjoint(_words(permits))
    licence.prohibits = any(
        _is_usage(found) and not _TRAINING.isdisjoint(_words(found)) for found in _children(element, "prohibits")
    )
    kinds = [(payment.get("type") or "free").lower() for payment in _children(element, "payment")]
    licence.paid = any(kind != "free" for kind in kinds)
    return licence


def _is_usage(element: Any) -> bool:
    return (element.get("type") or "usage").lower() == "usage"


def _words(element: Any) -> set[str]:
    return set(_WORDS.split((element.text or "").lower()))


def _root(body: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(body, parser)


def _children(element: Any, name: str) -> list[Any]:
    return [child for child in element if _name(child) == name]


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


DETECTOR = Detector(
    NAME,
    VERSION,
    "the licence (RSL) does not let us train on it freely",
    headers=from_headers,
    links=from_links,
    in_minimal=False,
    resolve=resolve,
)
