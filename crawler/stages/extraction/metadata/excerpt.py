"""Searches for authors and dates prune the page they search: they get a copy of the places concerned, not of the page.

The answers are those of a copy of the whole page wherever a search judges elements by their own and their ancestors'
tag and attributes, and reads text only inside the elements it judges.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

from lxml.etree import SubElement
from lxml.html import Element

_NAME = re.compile(r"[A-Za-z][\w-]*")
"""What lxml takes as a name; parsed pages have others, of which no expression speaks."""


def excerpt_of(places: list[Any]) -> Any:
    """A new tree of copies of these elements (in document order, at least one), each below its ancestors.

    What stands below one of them is not copied twice. Of the ancestors the copy has tag and attributes, no text.
    """
    copies: dict[Any, Any] = {}
    copied: set[Any] = set()
    for place in places:
        lineage = list(place.iterancestors())
        if not lineage:
            return deepcopy(place)
        if copied.isdisjoint(lineage):
            copied.add(place)
            copy = deepcopy(place)
            copy.tail = None
            _copy_of(lineage, copies).append(copy)
    return copies[lineage[-1]]


def _copy_of(lineage: list[Any], copies: dict[Any, Any]) -> Any:
    """The copy of the innermost of these ancestors; those that are missing are made, from the root down."""
    parent = None
    for element in reversed(lineage):
        copy = copies.get(element)
        if copy is None:
            tag = element.tag if _NAME.fullmatch(element.tag) else "x"
            attributes = {name: value for name, value in element.items() if _NAME.fullmatch(name)}
            copy = Element(tag, attributes) if parent is None else SubElement(parent, tag, attributes)
            copies[element] = copy
        parent = copy
    return parent
