"""Which tags a page has: to look for one that it lacks is a walk over all of its elements, and there are many."""

from __future__ import annotations

from itertools import islice
from typing import Any


class Tags:
    """The tags of a parsed page, and those that were written into it since."""

    def __init__(self, tree: Any) -> None:
        self._found = {element.tag for element in tree.iter("*")}

    def have(self, *tags: str) -> bool:
        """True where the page may have one of these; False where it has none."""
        return not self._found.isdisjoint(tags)

    def elements(self, tree: Any, *tags: str, most: int) -> list[Any]:
        """The first elements with one of these tags, in page order."""
        return list(islice(tree.iter(*tags), most)) if self.have(*tags) else []

    def add(self, *tags: str) -> None:
        """The page may have these from now on."""
        self._found.update(tags)
