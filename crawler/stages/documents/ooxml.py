"""What DOCX, PPTX and XLSX have in common (ECMA-376, part 2): properties of the file, and relations of its parts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from crawler.stages.documents.model import Facts
from crawler.stages.documents.packed import Package, local
from crawler.stages.documents.said import plausible_author, plausible_title
from crawler.stages.documents.xmp import state

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Target(NamedTuple):
    """kind: last word of the relation's type, as "slide", "hyperlink". place: a member's name, or an address."""

    kind: str
    place: str
    is_outside: bool


def facts_of(package: Package, reader: str) -> Facts:
    """What the properties of the file say. reader: for `Facts.reader`. Raises: UnreadableError."""
    facts = Facts(reader=reader)
    core = package.xml("docProps/core.xml")
    for element in () if core is None else core:
        text = "".join(element.itertext()).strip()
        if local(element) == "created" and (day := _DAY.match(text)):
            facts.date = day[0]
        elif isinstance(element.tag, str):
            state(facts, element.tag.rpartition("}")[0].lstrip("{"), local(element), text)
    custom = package.xml("docProps/custom.xml")
    for element in () if custom is None else custom:
        state(facts, "", str(element.get("name", "")), "".join(element.itertext()))
    facts.title, facts.author = plausible_title(facts.title), plausible_author(facts.author)
    return facts


def targets(package: Package, part: str) -> dict[str, Target]:
    """Where the relations of a part lead, by their id. Raises: UnreadableError."""
    folder, name = posixpath.split(part)
    root = package.page(posixpath.join(folder, "_rels", f"{name}.rels"))
    found = {}
    for element in () if root is None else root:
        if not isinstance(element.tag, str):
            continue
        place = str(element.get("Target", ""))
        is_outside = element.get("TargetMode") == "External" or "://" in place
        if not is_outside:
            place = posixpath.normpath(posixpath.join("/", folder, unquote(place))).lstrip("/")
        kind = str(element.get("Type", "")).rpartition("/")[2]
        found[str(element.get("Id", ""))] = Target(kind, place, is_outside)
    return found


def of_kind(relations: Mapping[str, Target], kind: str) -> Iterator[str]:
    """The members to which relations of this kind lead."""
    return (one.place for one in relations.values() if one.kind == kind and not one.is_outside)


def addresses(relations: Mapping[str, Target]) -> dict[str, str]:
    """The relations that lead to the web, by their id."""
    return {name: one.place for name, one in relations.items() if one.place.lower().startswith(("http://", "https://"))}
