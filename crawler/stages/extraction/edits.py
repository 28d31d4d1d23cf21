"""Marks of an edited text become the text that holds: what was deleted goes, quotation marks stand around a <q>.

Browsers draw <del> struck out, <q> with quotation marks of its language and a sidenote in the margin. Without this the
old word stands glued to the new one, a quotation begins nowhere, and a note runs into the word that it is about.
"""

from __future__ import annotations

from typing import Any

from lxml import etree

from crawler.stages.extraction.raised import text_before

MOST_DELETED = 2_000
"""Characters; whatever is longer is a tag without its end."""
_QUOTES = {
    "en": "“”‘’", "de": "„“‚‘", "fr": "«»‹›", "es": "«»“”", "it": "«»“”", "pt": "“”‘’", "nl": "‘’“”", "pl": "„”«»",
    "cs": "„“‚‘", "sk": "„“‚‘", "sl": "„“‚‘", "hr": "„”‚‘", "sr": "„”‘’", "bg": "„“‘’", "ru": "«»„“", "uk": "«»„“",
    "be": "«»„“", "sv": "””’’", "fi": "””’’", "da": "“”‘’", "nb": "«»‘’", "no": "«»‘’", "nn": "«»‘’", "is": "„“‚‘",
    "et": "„“‚‘", "lv": "“”‘’", "lt": "„“‚‘", "hu": "„”»«", "ro": "„”«»", "el": "«»“”", "tr": "“”‘’", "ja": "「」『』",
    "zh": "“”‘’", "zh-tw": "「」『』", "zh-hant": "「」『』", "zh-hk": "「」『』", "ko": "“”‘’", "fa": "«»‹›",
    "ar": "”“’‘",
    "he": "””’’", "ca": "«»“”", "eu": "«»‹›", "gl": "«»“”", "vi": "“”‘’", "hy": "«»“”", "ka": "„“‚‘", "de-ch": "«»‹›",
    "fr-ch": "«»‹›", "it-ch": "«»‹›", "sq": "«»“”", "mk": "„“‚‘", "kk": "“”‘’", "az": "“”‘’", "pt-pt": "«»“”",
}  # fmt: skip
"""By language: outer and inner quotation marks (Unicode CLDR, "delimiters")."""
_MARKS = frozenset("\"'“”„‟‘’‚«»‹›「」『』《》")
_SIDENOTES = frozenset(
    (
        "sidenote",
        "marginnote",
        "margin-note",
        "side-note",
        "sidenote-content",
        "marginalia",
        "ltx_note_outer",
        "footnote-inline",
    )
)
_BLOCKS = ("p", "li", "dd", "td", "th", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "div")
_NOTES = etree.XPath("//*[self::span or self::small or self::aside][@class]")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def settle_edits(tree: Any) -> None:
    """Deletions, quotations and notes in the margin, in place."""
    for deleted in list(tree.iter("del")):
        _drop_deleted(deleted)
    for quote in list(tree.iter("q")):
        _write_quote(quote)


def move_sidenotes(tree: Any, classes: str) -> None:
    """A note in the margin becomes a paragraph behind the one that it stands in, in place."""
    if _SIDENOTES.isdisjoint(classes.split()):
        return
    last: dict[Any, Any] = {}
    for note in _NOTES(tree):
        if _SIDENOTES.isdisjoint(note.get("class").split()):
            continue
        block = next(note.iterancestors(*_BLOCKS), None)
        if block is None or block.getparent() is None or block.tag == "div":
            continue
        _join(note)
        note.tag = "p"
        if block.tag in {"p", "blockquote"} or block.tag[0] == "h":
            place = last.get(block, block)
            note.tail, place.tail = place.tail, None
            place.addnext(note)
            last[block] = note
        else:
            block.append(note)


def _join(note: Any) -> None:
    """Take a note out of its line; what stands behind it follows what stood before it."""
    tail, note.tail = note.tail, None
    around, previous = note.getparent(), note.getprevious()
    around.remove(note)
    if tail and previous is not None:
        previous.tail = (previous.tail or "") + tail
    elif tail:
        around.text = (around.text or "") + tail


def _drop_deleted(deleted: Any) -> None:
    around = deleted.getparent()
    if around is None or next(deleted.iterancestors("pre"), None) is not None:
        return
    text = deleted.text_content()
    if len(text) > MOST_DELETED:
        return
    behind = deleted.tail or ""
    is_apart = text[:1].isspace() or text[-1:].isspace()
    if is_apart and behind[:1].isalnum() and text_before(deleted)[-1:].isalnum():
        deleted.tail = " " + behind
    deleted.drop_tree()


def _write_quote(quote: Any) -> None:
    text = quote.text_content().strip()
    if not text or text[0] in _MARKS or text_before(quote)[-1:] in _MARKS:
        return
    depth = sum(1 for _ in quote.iterancestors("q"))
    marks = _marks_of(_language(quote))[2 * (depth % 2) :][:2]
    quote.text = marks[0] + (quote.text or "").lstrip()
    if len(quote):
        quote[-1].tail = (quote[-1].tail or "").rstrip() + marks[1]
    else:
        quote.text = quote.text.rstrip() + marks[1]


def _language(element: Any) -> str:
    """The language of what stands around a quotation, which has the marks (CSS Content 3, section 2.4)."""
    for around in element.iterancestors():
        if said := around.get("lang") or around.get(_XML_LANG) or around.get("xml:lang"):
            return str(said).lower().replace("_", "-")
    return "en"


def _marks_of(language: str) -> str:
    while language:
        if found := _QUOTES.get(language):
            return found
        language = language.rpartition("-")[0]
    return _QUOTES["en"]
