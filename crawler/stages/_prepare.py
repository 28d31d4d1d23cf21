"""Inside the extraction stage: small corrections of the tree before any extractor reads it."""

from __future__ import annotations

from typing import Any

from crawler.stages._render import protect_preformatted

_PARAGRAPH_CLASSES = frozenset({"para", "simpara", "formalpara"})
"""What DocBook and Publican call a paragraph that they write as <div>: without this, half of such a page is lost."""
_ANCHOR_SIGNS = frozenset({"¶", "#", "§", "🔗", "\uf0c1", "[link]", "Permalink"})


_CODE = ("pre", "code", "tt", "kbd", "samp")


def code_chars(tree: Any) -> int:
    """Characters that the page itself marks as code: <pre>, and <code>, <tt>, <kbd>, <samp> outside of it."""
    found = (e for e in tree.iter(*_CODE) if not any(a.tag in _CODE for a in e.iterancestors()))
    return sum(len(text) for element in found for text in element.itertext())


def prepare(tree: Any) -> None:
    """Mark preformatted text, unwrap inline code, make <p> of DocBook's <div class="para">, drop heading anchors.

    In place. trafilatura saves <code> out of sections it drops, which tears sentences apart.
    """
    protect_preformatted(tree)
    for code in list(tree.iter(*_CODE[1:])):
        if _is_inline(code):
            code.drop_tag()
    for div in tree.iter("div"):
        if not _PARAGRAPH_CLASSES.isdisjoint((div.get("class") or "").split()) and div.find(".//div") is None:
            div.tag = "p"
    for anchor in tree.iter("a"):
        if (anchor.get("href") or "").startswith("#") and (anchor.text or "").strip() in _ANCHOR_SIGNS:
            anchor.text = None


def _is_inline(code: Any) -> bool:
    """True for code inside a sentence: one line, not in <pre>."""
    if any("\n" in text.strip() for text in code.itertext()) or code.find(".//br") is not None:
        return False
    return next(code.iterancestors("pre"), None) is None
