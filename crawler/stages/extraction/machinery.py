"""Machinery is what a page puts into its text to work it: edit links, ways back from notes, words for screen readers.

It is told by what generators call it and by where it leads and stands, not by its words, for which every language has
others. Each of these elements goes before any extractor reads the tree; what stands behind it stays.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

from lxml import etree

MOST = 20_000
"""Elements of a page that are asked."""
LONGEST_HINT = 80
"""Characters of what is said to screen readers alone about a link."""
MOST_LETTERS = 3
"""Characters of a link back from a note that has several: "a", "12"."""
_GONE = frozenset(
    ("mw-editsection", "editsection", "mw-cite-backlink", "cite-accessibility-label", "footnote-backref",
     "fn-backref", "footnote-back", "footnote-backlink", "reversefootnote", "data-footnote-backref",
     "footnote-return", "footnoteBackLink", "footnote-return-link", "easy-footnote-to-top", "Inline-Template",
     "need_ref_tag", "vector-visually-hidden", "mw-jump-link", "ltx_tag_note_backref")
)  # fmt: skip
_UNHEARD = re.compile(
    r"(?:^|[\s_-])(?:sr-?only|visually-?hidden|screen-?reader(?:s|-?text|-?only)?|a11y-?hidden|element-invisible"
    r"|assistive-text|show-for-sr|hidden-visually|accessib(?:le|ility)-?(?:hidden|text|only)?|off-?screen|reader-only"
    r"|sr-text|sr)(?:$|[\s_-])",
    re.IGNORECASE,
)
"""How style sheets call what only screen readers are to read."""
_MAY_HIDE = ("sr", "visually", "screen", "a11y", "assistive", "element-invisible", "accessib", "reader-only")
"""One of which stands in each of these names."""
_CLIPPED = re.compile(r"clip(?:-path)?:(?:rect|inset)\(|left:-\d{3,}", re.IGNORECASE)
_BACK = frozenset("↩↑↵⏎⤴^⮌⬑↖⇑⬆⏏←‹«△▲🔙🔝")
_NO_SIGN = frozenset("\ufe0e\ufe0f\u200b\xa0 \t\r\n⁰¹²³⁴⁵⁶⁷⁸⁹0123456789[]()")
_NEEDS = re.compile(r"\s*\[\s*([^\[\]]{3,60}?)\s*\]\s*")
_BY_NAME = etree.XPath("//*[@class]")


def drop_machinery(tree: Any, classes: str, styles: str) -> None:
    """Every piece of it, in place; classes, styles: all of the page."""
    if not _GONE.isdisjoint(classes.split()):
        for element in filter(_is_named, _BY_NAME(tree)[:MOST]):
            _drop(element)
    lower = classes.lower()
    is_named = any(word in lower for word in _MAY_HIDE) and _UNHEARD.search(lower) is not None
    may_hide = is_named or "clip" in styles or "left:" in styles
    found: dict[str, list[Any]] = {"a": [], "li": [], "sup": []}
    for element in tree.iter(*found):
        found[element.tag].append(element)
    for link in found["a"]:
        if may_hide:
            _drop_hints(link)
        if link.getparent() is not None:
            _drop_if_back(link)
    for note in found["li"]:
        if (note.text or "").strip() in {"^", "↑"}:
            _drop_letters_back(note)
    for sup in filter(_asks_for_more, found["sup"]):
        _drop(sup)


def _drop_if_back(link: Any) -> None:
    if link.get("role") == "doc-backlink" or link.get("rel") == "footnote-back":
        _drop(link)
    elif "#" in link.get("href", "") and leads_back(link):
        _drop_way_back(link)


def _drop_hints(link: Any) -> None:
    """What only screen readers say within a link, or directly behind it."""
    behind = link.getnext()
    for hint in [
        *link.iterdescendants("span", "small", "i", "em"),
        *([] if behind is None or behind.tag != "span" else [behind]),
    ]:
        if (hint.get("class") or hint.get("style")) and _is_hint(hint):
            _drop_hint(hint)


def leads_back(link: Any) -> bool:
    """True for a link to another place of the page, whose text is only a sign for the way back."""
    href = link.get("href") or ""
    if "#" not in href or href.endswith(("#", "#top")):
        return False
    sign = ""
    for char in chain.from_iterable(link.itertext()):
        if char in _BACK:
            sign += char
        elif char not in _NO_SIGN:
            return False
    return bool(sign) and (sign != "^" or _is_in_note(link))


def _is_in_note(link: Any) -> bool:
    return next(link.iterancestors("li", "p", "td", "dd", "div"), None) is not None


def _drop_way_back(link: Any) -> None:
    """The link, and others behind it that lead back from the same note: "^ a b"."""
    around = link.getparent()
    if around.tag in {"b", "sup", "strong"} and around.getparent() is not None and _is_alone(link):
        link = around
    more = link.getnext()
    while more is not None and not _words(link.tail):
        inner = more if more.tag == "a" else more.find("a") if len(more) == 1 and not _words(more.text) else None
        if inner is None or "#" not in (inner.get("href") or "") or len(more.text_content().strip()) > MOST_LETTERS:
            break
        following = more.getnext()
        link.tail = more.tail
        more.tail = None
        _drop(more)
        more = following
    _drop(link)


def _drop_letters_back(note: Any) -> None:
    """Several ways back behind a sign that is none: "^ a b"."""
    while len(note) and not _words(note.text):
        first = note[0]
        inner = first if first.tag == "a" else first.find("a") if len(first) == 1 and not _words(first.text) else None
        if inner is None or "#" not in (inner.get("href") or "") or len(first.text_content().strip()) > MOST_LETTERS:
            break
        note.text = ""
        _drop(first)


def _is_alone(link: Any) -> bool:
    around = link.getparent()
    return len(around) == 1 and not _words(around.text) and not _words(link.tail)


def _words(text: str | None) -> str:
    return (text or "").strip(" \t\r\n,;^↑")


def _is_named(element: Any) -> bool:
    return not _GONE.isdisjoint(element.get("class").split())


def _is_hint(element: Any) -> bool:
    """True for what only screen readers say of a link that has words of its own: how it opens."""
    if not (
        _UNHEARD.search(element.get("class") or "") or _CLIPPED.search((element.get("style") or "").replace(" ", ""))
    ):
        return False
    text = " ".join(element.text_content().split())
    if not text or len(text) > LONGEST_HINT:
        return False
    link = next(element.iterancestors("a"), None)
    if link is None:
        link = element.getprevious()
    elif len(" ".join(link.text_content().split())) <= len(text):
        return False  # the only words of the link
    opens = link is not None and link.get("target", "").lower() in {"_blank", "blank", "new", "_new"}
    return opens or (text[0] in "([（" and text[-1] in ")]）")


def _drop_hint(hint: Any) -> None:
    """The hint, and the blank before it at the end of its link."""
    around, previous = hint.getparent(), hint.getprevious()
    if around.tag == "a" and hint.getnext() is None and not (hint.tail or "").strip():
        hint.tail = None
        if previous is not None:
            previous.tail = (previous.tail or "").rstrip() or None
        else:
            around.text = (around.text or "").rstrip() or None
    _drop(hint)


def _asks_for_more(sup: Any) -> bool:
    """True for "[citation needed]": words in brackets that are no number and no letter of a note."""
    if "[" not in "".join(sup.itertext())[:3]:
        return False
    found = _NEEDS.fullmatch(sup.text_content())
    if (
        found is None
        or any(map(str.isdigit, found[1]))
        or any(a.get("href", "").startswith("#") for a in sup.iter("a"))
    ):
        return False
    return (
        " " in found[1]
        or found[1].endswith(("?", "？"))
        or (next(sup.iter("a"), None) is not None and len(found[1]) > 4)
    )


def _drop(element: Any) -> None:
    if element.getparent() is not None:
        element.drop_tree()
