"""What every extractor is given: one tree, corrected once, in which notation is text and machinery is gone.

Small passes one after the other; each knows nothing of the others, and most are asked of the bytes first whether the
page has anything for them.
"""

from __future__ import annotations

from typing import Any

from crawler.stages.extraction.cells import write_signs
from crawler.stages.extraction.code import name_languages
from crawler.stages.extraction.edits import move_sidenotes, settle_edits
from crawler.stages.extraction.escaped import drop_shortcodes
from crawler.stages.extraction.gutters import drop_gutters, drop_labels
from crawler.stages.extraction.listings import restore_listings
from crawler.stages.extraction.machinery import drop_machinery
from crawler.stages.extraction.notation import write_notation
from crawler.stages.extraction.ordinals import number_items
from crawler.stages.extraction.wiki import drop_wiki_boxes


def correct(tree: Any, html: bytes) -> None:
    """Correct a parsed page in place; html: its bytes."""
    drop_wiki_boxes(tree, html)
    drop_machinery(tree, html)
    drop_shortcodes(tree, html)
    move_sidenotes(tree, html)
    settle_edits(tree)
    restore_listings(tree, html)
    drop_gutters(tree, html)
    drop_labels(tree)
    name_languages(tree)
    if b"<t" in html or b"<T" in html or b"\0" in html[:1_000]:
        write_signs(tree)
    write_notation(tree)
    number_items(tree)
