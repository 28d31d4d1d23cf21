"""What every extractor is given: one tree, corrected once, in which notation is text and machinery is gone.

Small passes one after the other; each knows nothing of the others, and most look first among the classes and styles of
the page, which are collected once, whether it has anything for them.
"""

from __future__ import annotations

from typing import Any

from lxml import etree

from crawler.stages.extraction.cells import write_signs
from crawler.stages.extraction.code import name_languages
from crawler.stages.extraction.edits import move_sidenotes, settle_edits
from crawler.stages.extraction.escaped import drop_shortcodes
from crawler.stages.extraction.gutters import drop_gutters, drop_labels
from crawler.stages.extraction.listings import restore_listings
from crawler.stages.extraction.machinery import drop_machinery
from crawler.stages.extraction.notation import write_notation
from crawler.stages.extraction.ordinals import number_items
from crawler.stages.extraction.tags import Tags
from crawler.stages.extraction.wiki import drop_wiki_boxes

_CLASSES = etree.XPath("//@class", smart_strings=False)
_STYLES = etree.XPath("//@style", smart_strings=False)


def correct(tree: Any, html: bytes, tags: Tags | None = None) -> None:
    """Correct a parsed page in place; html: its bytes."""
    tags = tags or Tags(tree)
    classes, styles = (" ".join(dict.fromkeys(found(tree))) for found in (_CLASSES, _STYLES))
    drop_wiki_boxes(tree, classes)
    drop_machinery(tree, classes, styles)
    drop_shortcodes(tree, html)
    move_sidenotes(tree, classes)
    if tags.have("del", "q"):
        settle_edits(tree)
    restore_listings(tree, classes, styles, tags)
    if tags.have("pre"):
        drop_gutters(tree, classes)
        drop_labels(tree)
        name_languages(tree)
    if tags.have("td", "th"):
        write_signs(tree)
    write_notation(tree, styles)
    if tags.have("ol"):
        number_items(tree)
