"""What a file says about itself in XMP, Dublin Core or as metadata of a book: title, licence, and refusals.

Statements of use become metas and links under the names that pages have for them, so that `crawler/policy` reads them
as it reads a page's. The XML comes from anybody: no entity, no network, no more than `MAX_XML`.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from crawler.stages.documents.model import MAX_LINE, Facts

MAX_XML = 4 * 2**20
"""Bytes of metadata that are read."""
MAX_STATEMENTS = 200
_USE = {
    "reservation": "tdm-reservation", "policy": "tdm-policy", "tdm-reservation": "tdm-reservation",
    "tdm-policy": "tdm-policy", "tdm:reservation": "tdm-reservation", "tdm:policy": "tdm-policy",
}  # fmt: skip
"""Names of TDMRep as PDF (XMP) and EPUB (OPF) have them, and as a page has them."""
_TDM = re.compile(r"https?://(?:www\.)?w3\.org/(?:ns/)?(?:\d{4}/)?(?:ns/)?tdmrep[#/]?")
_PLUS = "http://ns.useplus.org/ldf/xmp/1.0/"
PLUS = "plus:datamining"
"""Name of the meta that carries PLUS's Data Mining property."""
_CC = "http://creativecommons.org/ns#"
_DC = "http://purl.org/dc/elements/1.1/"
_ADDRESS = re.compile(r"https?://[^\s<>\"']{4,300}")
_PROHIBITED = re.compile(rb"DMI-PROHIBITED[A-Z-]{0,60}")
_RESERVED = re.compile(rb"tdm[:_-]reservation[\"'=>\s]{1,20}1", re.IGNORECASE)
_ROBOTS = frozenset({"robots", "x-robots-tag"})


def parsed(data: bytes) -> Any:
    """The root element, None where there is none: broken XML is read as far as it can be."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False, remove_comments=True
    )
    try:
        return etree.fromstring(data[:MAX_XML].strip(b"\x00 \r\n\t\xef\xbb\xbf"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def read_xmp(data: bytes, facts: Facts) -> None:
    """Add what an XMP packet says to the facts; statements that are there already stay."""
    root = parsed(data)
    properties = [] if root is None else _properties(root)
    for name, value in properties:
        space, _, local = name.rpartition("}")
        state(facts, space.lstrip("{"), local, value)
    if not properties:  # nobody can read it: what may be a refusal in it is taken for one
        facts.metas += [(PLUS, found.decode()) for found in _PROHIBITED.findall(data[:MAX_XML])[:5]]
        facts.metas += [("tdm-reservation", "1")] if _RESERVED.search(data[:MAX_XML]) else []


def state(facts: Facts, space: str, local: str, value: str) -> None:
    """Take one property of a file. space: its namespace, "" where it has none."""
    value, name = " ".join(value.split())[:MAX_LINE], local.lower()
    if not value or len(facts.metas) >= MAX_STATEMENTS:
        return
    if _TDM.fullmatch(space) or name.startswith("tdm"):
        if stated := _USE.get(name.replace("_", "-")):
            facts.metas.append((stated, value))
    elif space == _PLUS and name == "datamining":
        facts.metas.append((PLUS, value.rsplit("/", 1)[-1]))
    elif name in _ROBOTS:
        facts.metas.append(("robots", value))
    elif (space == _CC and name == "license") or name in {"webstatement", "rights"}:
        facts.metas += [("rights", value)] if name == "rights" else []
        facts.rel_links += [("license", "", found) for found in _ADDRESS.findall(value)[:5]]
    elif space in {_DC, ""}:
        _describe(facts, name, value)


def _describe(facts: Facts, name: str, value: str) -> None:
    if name == "title":
        facts.title = facts.title or value
    elif name == "creator":
        facts.author = facts.author if value in facts.author else ", ".join(filter(None, (facts.author, value)))
    elif name == "language" and re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}", value):
        facts.language = facts.language or value


def _properties(root: Any) -> list[tuple[str, str]]:
    """Each property with its text, written as an element, as an attribute, or as an alternative in some language."""
    found: list[tuple[str, str]] = []
    for element in root.iter(etree.Element):
        if not isinstance(element.tag, str) or len(found) > MAX_STATEMENTS:
            continue
        if element.tag.endswith("}Description"):
            found += [(str(name), str(value)) for name, value in element.attrib.items()]
        if (parent := element.getparent()) is not None and str(parent.tag).endswith("}Description"):
            found += _values(element)
    return found


def _values(element: Any) -> list[tuple[str, str]]:
    name = str(element.tag)
    resource = next((str(v) for k, v in element.attrib.items() if k.endswith("}resource")), "")
    items = [item for item in element.iter() if str(item.tag).endswith("}li")]
    default = [item for item in items if "x-default" in item.attrib.values()]
    texts = ["".join(item.itertext()) for item in (default or items or [element])]
    return [(name, text) for text in (texts[:20] if not resource else [resource])]
