"""The frame is the element around the text of a page that does not name it in a way that trafilatura knows.

trafilatura looks for the names that news sites and blogs give to the element around their text. Where it finds none it
collects paragraphs, code and tables from all over the page and leaves headings, lists and terms behind: on pages made
by DocBook, Texinfo, Doxygen and by hand. Here the element that holds nearly all paragraphs is given such a name.
"""

from __future__ import annotations

from typing import Any

SHARE = 0.95
"""Of the page's running text that the frame must hold."""
MIN_CHARS = 200
"""Characters of running text under which nothing can be told."""
_RUNNING = ("p", "pre", "dd", "blockquote")
_FRAMES = frozenset({"div", "section", "main", "article"})
_ASIDE = frozenset({"nav", "header", "footer", "aside", "form"})


def mark_frame(tree: Any) -> Any:
    """Mark the innermost element around the page's running text as its body, in place; None where none is marked.

    To be asked where `body_of` finds nothing.
    """
    if next(tree.iter("article", "main"), None) is not None:
        return None
    mass = _mass(tree)
    body = tree.find(".//body") if tree.tag != "body" else tree
    total = mass.get(body, 0)
    if body is None or total < MIN_CHARS:
        return None
    frame = _innermost(body, mass, SHARE * total)
    if frame is body:
        frame = _wrapped(body)
    frame.set("itemprop", "articleBody")
    return frame


def _mass(tree: Any) -> dict[Any, int]:
    """Characters of running text in every element; what stands in navigation, and links, do not count."""
    mass: dict[Any, int] = {}
    for element in tree.iter(*_RUNNING):
        above = list(element.iterancestors())
        if any(ancestor.tag in _RUNNING or ancestor.tag in _ASIDE for ancestor in above):
            continue
        size = len(element.text_content()) - sum(len(link.text_content()) for link in element.iter("a"))
        for ancestor in above:
            mass[ancestor] = mass.get(ancestor, 0) + max(size, 0)
    return mass


def _innermost(body: Any, mass: dict[Any, int], needed: float) -> Any:
    """The deepest element that can be a frame and holds enough; the body where there is none."""
    frame = node = body
    while True:
        inner = next((child for child in node if mass.get(child, 0) >= needed), None)
        if inner is None:
            return frame
        node = inner
        if node.tag in _FRAMES:
            frame = node


def _wrapped(body: Any) -> Any:
    """All of the body in one <div>."""
    frame = body.makeelement("div")
    frame.text, body.text = body.text, None
    frame.extend(list(body))
    body.append(frame)
    return frame
