"""Tags are what the walk reads of an element: its kind, its names and what it says of everything inside.

libxml2 writes the tree out, and one split finds every tag. A site repeats its tags all over its pages, so what a tag
says is remembered by the tag as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from lxml.etree import tostring


class Kind(IntEnum):
    """What a block is to a reader."""

    TEXT = 0
    PARAGRAPH = 1
    HEADING = 2
    ITEM = 3
    TERM = 4
    CELL = 5
    CODE = 6
    QUOTE = 7
    CAPTION = 8
    CONTROL = 9


class Mark(IntEnum):
    """What stands around an element, one bit each, handed down to everything inside."""

    NAV = 1
    HEADER = 2
    FOOTER = 4
    ASIDE = 8
    FORM = 16
    MAIN = 32
    ARTICLE = 64
    TABLE = 128
    NOSCRIPT = 256
    HIDDEN = 512
    LIST = 1024
    LINK = 2048
    PRE = 4096
    QUOTE = 8192
    CONTROL = 16384
    FIGURE = 32768
    COMMENT = 65536
    OTHERS = 131072


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_SKIPPED = _set(
    "head script style template svg math iframe object embed canvas video audio map select option datalist "
    "input img picture source progress meter"
)
_INLINE = _set(
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark nobr q rp rt ruby s samp "
    "small span strike strong sub sup time tt u var wbr data output meta link"
)
_BREAKS = frozenset({"br", "hr"})
KINDS = {
    "p": Kind.PARAGRAPH,
    "li": Kind.ITEM,
    "dt": Kind.TERM,
    "dd": Kind.ITEM,
    "td": Kind.CELL,
    "th": Kind.CELL,
    "pre": Kind.CODE,
    "blockquote": Kind.QUOTE,
    "figcaption": Kind.CAPTION,
    "caption": Kind.CAPTION,
    "summary": Kind.HEADING,
    "legend": Kind.CAPTION,
    "button": Kind.CONTROL,
    "textarea": Kind.CONTROL,
} | {f"h{level}": Kind.HEADING for level in range(1, 7)}
_MARKS = {
    "nav": Mark.NAV,
    "menu": Mark.NAV,
    "header": Mark.HEADER,
    "footer": Mark.FOOTER,
    "aside": Mark.ASIDE,
    "form": Mark.FORM,
    "main": Mark.MAIN,
    "article": Mark.ARTICLE,
    "table": Mark.TABLE,
    "noscript": Mark.NOSCRIPT,
    "ul": Mark.LIST,
    "ol": Mark.LIST,
    "dl": Mark.LIST,
    "a": Mark.LINK,
    "pre": Mark.PRE,
    "blockquote": Mark.QUOTE,
    "button": Mark.CONTROL,
    "textarea": Mark.CONTROL,
    "figure": Mark.FIGURE,
    "dialog": Mark.HIDDEN,
}
_ROLES = {
    "navigation": Mark.NAV,
    "banner": Mark.HEADER,
    "contentinfo": Mark.FOOTER,
    "complementary": Mark.ASIDE,
    "search": Mark.FORM,
    "main": Mark.MAIN,
    "article": Mark.ARTICLE,
    "dialog": Mark.HIDDEN,
    "button": Mark.CONTROL,
}
_NAMES = ("class", "id", "role", "itemprop", "itemtype")


_COMMENT = re.compile(r"comment|respon(?:d|se)|discuss|disqus|repl(?:y|ies)", re.IGNORECASE)
_OTHERS = re.compile(
    r"relat(?:ed|ive)|recommend|sidebar|widget|promo|newsletter|subscri|teaser|trending|popular|more-|also|share"
    r"|cookie|consent|breadcrumb|pagination|menu|navbar|footer|carousel|banner|modal|popup",
    re.IGNORECASE,
)
"""Names by which pages call what visitors wrote below a text, and what leads to other pages."""


MAX_REMEMBERED = 20_000
"""Tags whose reading is remembered; beyond it the memory starts anew."""
LONGEST_REMEMBERED = 300
"""Characters of a tag; longer ones carry data and do not come again."""
MAX_NAMES = 400
"""Characters of an element's names."""


class Role(IntEnum):
    """What the walk does with an element."""

    BLOCK = 0
    INLINE = 1
    BREAK = 2
    SKIPPED = 3


@dataclass(frozen=True, slots=True)
class Tag:
    """A start tag, read."""

    name: str
    role: Role
    is_closed: bool
    """True where nothing is inside."""
    names: str = ""
    """Class, id, role and itemprop, joined by blanks, as the page wrote them."""
    marks: int = 0
    language: str = ""
    """Of <code>: its class, which may name a language."""


_TAG = re.compile(r"<([^>]*)>")
_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)
_ATTRIBUTE = re.compile(r'([^\s=]+)="([^"]*)"')
_REFERENCES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#13;", "\r"), ("&#10;", "\n"), ("&#9;", "\t"))
_known: dict[str, Tag] = {}
_roles: dict[str, Role] = {}


def pieces(element: Any) -> list[str]:
    """The element as it is written out: text, tag, text, tag, …, without angle brackets; the tail is left out.

    Scripts and styles, the only text that is written as it stands, are left out.
    """
    written = tostring(element, encoding="unicode", method="xml", with_tail=False)
    return _TAG.split(_CDATA.sub("", written) if "<![CDATA[" in written else written)


def unescaped(text: str) -> str:
    """Text as the tree has it, from how libxml2 writes it."""
    if "&" in text:
        for reference, character in _REFERENCES:
            text = text.replace(reference, character)
        text = text.replace("&amp;", "&")
    return text


def tag_of(written: str) -> Tag:
    """What a start tag says, from how it is written without its brackets."""
    tag = _known.get(written)
    if tag is None:
        tag = _read(written)
        if len(written) <= LONGEST_REMEMBERED:
            if len(_known) >= MAX_REMEMBERED:
                _known.clear()
            _known[written] = tag
    return tag


def role_of(name: str) -> Role:
    """What the walk does with elements of a name."""
    role = _roles.get(name)
    if role is None:
        role = _role(name)
        if len(_roles) < MAX_REMEMBERED:
            _roles[name] = role
    return role


def _read(written: str) -> Tag:
    is_closed = written.endswith("/")
    name = written.rstrip("/").split(None, 1)[0] if written else ""
    role = _role(name)
    attributes = {} if role in (Role.BREAK, Role.SKIPPED) or len(written) == len(name) else _attributes(written)
    if role is Role.BLOCK:
        names = " ".join(value for key in _NAMES if (value := attributes.get(key)))[:MAX_NAMES]
        return Tag(name, role, is_closed, names, _marks(name, names, attributes))
    return Tag(name, role, is_closed, language=attributes.get("class", "") if name == "code" else "")


def _role(name: str) -> Role:
    if name in _SKIPPED:
        return Role.SKIPPED
    if name in _BREAKS:
        return Role.BREAK
    return Role.INLINE if name in _INLINE else Role.BLOCK


def _attributes(written: str) -> dict[str, str]:
    return {name: unescaped(value) for name, value in _ATTRIBUTE.findall(written)}


def _marks(name: str, names: str, attributes: Mapping[str, str]) -> int:
    marks = int(_MARKS.get(name, 0))
    if attributes:
        marks |= _ROLES.get(attributes.get("role", ""), 0)
        marks |= Mark.COMMENT if _COMMENT.search(names) else 0
        marks |= Mark.OTHERS if _OTHERS.search(names) else 0
        marks |= Mark.HIDDEN if _is_hidden(attributes) else 0
    return marks


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    return bool(style) and "display:none" in str(style).replace(" ", "").lower()
