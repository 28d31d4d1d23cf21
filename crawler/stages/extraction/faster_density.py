"""Faster link density: trafilatura asks every division, list and paragraph twice how much of it is links, same answer.

Elements without a link are passed over before anything else is asked, and the second round is left out where the first
one removed nothing: it would find the same tree. `faster_trafilatura.py` says when the parts here are used.
"""

from __future__ import annotations

from typing import Any

from trafilatura import htmlprocessing, main_extractor
from trafilatura.xpaths import DISCARD_IMAGE_ELEMENTS, OVERALL_DISCARD_XPATH, TEASER_DISCARD_XPATH

_theirs = main_extractor.prune_unwanted_sections
_ROUNDS = 2
_SHORT, _DEEP = 100, 3
"""Characters and children of a division that goes because it is short and has links."""


def prune_unwanted_sections(tree: Any, potential_tags: set[str], options: Any, keep_teasers: bool = False) -> Any:
    """What `trafilatura.main_extractor.prune_unwanted_sections` does, but for its precision mode, which it does."""
    if options.focus == "precision":
        return _theirs(tree, potential_tags, options, keep_teasers)
    discard = main_extractor.prune_unwanted_nodes
    tree = discard(tree, OVERALL_DISCARD_XPATH, with_backup=True)
    if "graphic" not in potential_tags:
        tree = discard(tree, DISCARD_IMAGE_ELEMENTS)
    if options.focus != "recall" and not keep_teasers:
        tree = discard(tree, TEASER_DISCARD_XPATH)
    for _ in range(_ROUNDS):
        removed = _prune(tree, "div", backtracking=True) + _prune(tree, "list") + _prune(tree, "p")
        if not removed:
            break
    if "table" in potential_tags:
        dense = main_extractor.link_density_test_tables
        for table in [table for table in tree.iter("table") if dense(table) is True]:
            htmlprocessing.delete_element(table, keep_tail=False)
    main_extractor.strip_tags(tree, "span", *(() if "ref" in potential_tags else ("ref",)))
    return tree


def _prune(tree: Any, tag: str, *, backtracking: bool = False) -> int:
    """What `trafilatura.htmlprocessing.delete_by_link_density` does; answers how many elements went."""
    gone = []
    for element in tree.iter(tag):
        if next(element.iterdescendants("ref"), None) is None:
            continue
        dense, short = htmlprocessing.link_density_test(element)
        if not dense and backtracking and short and len(element) >= _DEEP:
            dense = len(htmlprocessing.trim(element.text_content())) < _SHORT
        if dense and not (tag == "p" and _holds_an_item(element)):
            gone.append(element)
    for element in gone:
        htmlprocessing.delete_element(element)
    return len(gone)


def _holds_an_item(paragraph: Any) -> bool:
    parent = paragraph.getparent()
    return parent is not None and parent.tag in {"item", "td", "th"}
