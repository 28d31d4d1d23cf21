"""Markup that a page shows as text by mistake goes: `<strong>` around words of a sentence, whose signs were escaped.

Which tags these are is noted on the tree, before the extractor. A page that speaks of markup is left alone: some of it
stands in its code, or a tag without its end, or an element that is no formatting. Characters that were escaped twice
(`&amp;nbsp;`) become what they stand for, and shortcodes that no plug-in has replaced (`[vc_row]`) go, by the same
rule.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

from lxml import etree

from crawler.stages.extraction.code import CODE

LEAST_WORDS = 2
"""Words behind the beginning of an element, somewhere on the page, from which its tags are no examples of one."""
MOST = 2_000
"""Texts with a sign of a tag that are looked at; a page with more of them speaks of markup."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,9})(?:\s[^<>]{0,400}+|\s?/)?>")
_PAIRS = frozenset(
    ("a", "abbr", "b", "big", "blockquote", "cite", "em", "font", "i", "li", "ol", "p", "q", "s", "small", "span",
     "strike", "strong", "sub", "sup", "u", "ul")
)  # fmt: skip
_LINES = frozenset(("blockquote", "br", "hr", "li", "ol", "p", "ul"))
"""Where one of these goes, a blank stays."""
_BREAKS = frozenset(("br", "hr"))
_UNREAD = frozenset(
    ("head", "iframe", "math", "noembed", "noscript", "script", "select", "style", "svg", "template", "textarea")
)
_UNREAD_BUT_TITLE = _UNREAD - {"head"}
_WITH_SIGNS = ".//text()[contains(., '<')]"


def escaped_tags(tree: Any, html: bytes) -> frozenset[str]:
    """The tags that stand in the text of a page by mistake, white space collapsed; none on nearly every page."""
    if b"&lt;/" not in html and b"&#60;/" not in html:
        return frozenset()
    found: set[str] = set()
    is_read = False
    texts = tree.xpath(_WITH_SIGNS)
    for text in texts if len(texts) <= MOST else ():
        tags = [*_TAG.finditer(text)]
        around = {element.tag for element in _around(text)} if tags else set()
        if not tags or not _UNREAD.isdisjoint(around):
            continue
        if not around.isdisjoint(CODE) or not _are_pairs(tags):
            return frozenset()
        found.update(" ".join(tag[0].split()) for tag in tags)
        is_read = is_read or any(len(text[one.end() : two.start()].split()) >= LEAST_WORDS for one, two in _begun(tags))
    return frozenset(found) if is_read else frozenset()


def without_tags(text: str, tags: Collection[str]) -> str:
    """The text without these tags; a line of nothing else goes."""
    if not tags:
        return text
    lines = []
    for line in text.split("\n"):
        cleaned = _TAG.sub(lambda tag: tag[0] if " ".join(tag[0].split()) not in tags else _instead(tag), line)
        if cleaned != line:
            indent = line[: len(line) - len(line.lstrip())]
            cleaned = indent + " ".join(cleaned.split())
            if not cleaned.strip():
                continue
        lines.append(cleaned)
    return "\n".join(lines)


def _begun(tags: list[re.Match[str]]) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Each tag that begins an element, and the next one."""
    return ((one, two) for one, two in pairwise(tags) if not one[1] and one[2].lower() in _PAIRS)


def _instead(tag: re.Match[str]) -> str:
    return " " if tag[2].lower() in _LINES else ""


def _around(text: Any) -> Iterator[Any]:
    """The elements that a text stands in."""
    element = text.getparent()
    if not text.is_tail:
        yield element
    yield from element.iterancestors()


def _are_pairs(tags: list[re.Match[str]]) -> bool:
    """True for elements of running text, each with its end."""
    opened: list[str] = []
    for tag in tags:
        name = tag[2].lower()
        if name in _BREAKS:
            continue
        if name not in _PAIRS or (tag[1] and (not opened or opened.pop() != name)):
            return False
        if not tag[1]:
            opened.append(name)
    return not opened


_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}\d{0,2}|#\d{2,7}|#[xX][0-9a-fA-F]{2,6});")
_TWICE = re.compile(rb"&(?:amp|#0?38|#[xX]26);(?:amp;)*(?:[a-zA-Z]{2,8}\d{0,2}|#\d{2,7}|#[xX][0-9a-fA-F]{2,6});")
"""The same in the bytes of a page; addresses have many, so this only spares most pages the search in their text."""
_MENTIONED = re.compile(r"""["'“”‘’«»„`(]\s?&#?\w{2,8};\s?["'“”‘’«»„`)]""")
"""In quotation marks or brackets: the page speaks of it."""
_SHOWS_TAGS = re.compile(r"&lt;/?[a-zA-Z!]")
_WITH_ENTITIES = etree.XPath(".//text()[contains(., '&') and contains(., ';')]")
_TITLES = etree.XPath("//meta[contains(@content, '&') and contains(@content, ';')]")


def unescape(tree: Any, html: bytes) -> bool:
    """Write characters that a page has escaped twice as what they stand for, in place; False where it has none.

    A page that speaks of them, in its code or in quotation marks, or that shows markup, is left alone.
    """
    if not _TWICE.search(html) and b"\0" not in html[:1_000]:
        return False
    found = [text for text in _WITH_ENTITIES(tree) if _ENTITY.search(text)]
    read = [text for text in found if _UNREAD_BUT_TITLE.isdisjoint(e.tag for e in _around(text))]
    if not read or len(read) > MOST or any(_is_mention(text) for text in read):
        return False
    for text in read:
        _put(text, unescaped(text))
    for meta in _TITLES(tree)[:MOST]:
        meta.set("content", unescaped(meta.get("content")))
    return True


def unescaped(text: str) -> str:
    """A text with every character that is still escaped in it written out; three times at most."""
    for _ in range(3):
        plain = _ENTITY.sub(lambda found: entities.unescape(found[0]), text)
        if plain == text:
            break
        text = plain
    return text


def _is_mention(text: Any) -> bool:
    if _MENTIONED.search(text) or _SHOWS_TAGS.search(text):
        return True
    return any(element.tag in CODE for element in _around(text))


_SHORTCODE = re.compile(
    r"\[(/?)([a-zA-Z][a-zA-Z0-9]{0,20}(?:[_-][a-zA-Z0-9]{1,20}){0,6})"
    r"((?:\s{1,9}[\w-]{1,40}\s?=\s?(?:[\"“”„″'‘’′][^\]\[\"“”„″'‘’′]{0,600}[\"“”″'‘’′]{1,2}|[^\s\]\[]{1,200})){0,40})"
    r"\s{0,9}/?\](?!\()"
)
_BUILDERS = re.compile(
    r"(?:vc|et_pb|fusion|av|nectar|wpb|mk|us|cs|dt|qode|edgtf|mkdf|eltdf|thb|tatsu|kc|stm|ult|x|tie|themify|woodmart|porto"
    r"|ux|bt_bb|minti|cmsmasters|rt|td|tm_pb|siteorigin|elementor|fl_builder|wpforms|contact-form)[_-]",
    re.IGNORECASE,
)
"""How the shortcodes of WordPress's page builders begin."""
_OWN = frozenset(
    ("caption", "gallery", "audio", "video", "embed", "playlist", "rev_slider", "wp_caption", "row", "column")
)
"""Those of WordPress itself, which count with their attributes or their end."""
_WITH_BRACKETS = etree.XPath(".//text()[contains(., '[') and contains(., ']')]")
_MAY_BE_SHORT = re.compile(
    rb"\[/?(?:[a-zA-Z][a-zA-Z0-9]{0,20}[_-][a-zA-Z0-9_-]{1,40}|caption|gallery|audio|video|embed|playlist)[\s\]]"
)


def drop_shortcodes(tree: Any, html: bytes) -> None:
    """Shortcodes that stand in the text go, their content stays, in place; on a page about them they all stay."""
    if not _MAY_BE_SHORT.search(html):
        return
    read = []
    for text in _WITH_BRACKETS(tree)[:MOST]:
        if not _SHORTCODE.search(text):
            continue
        around = {element.tag for element in _around(text)}
        if not _UNREAD.isdisjoint(around):
            continue
        if not around.isdisjoint(CODE):
            if any(_BUILDERS.match(found[2]) for found in _SHORTCODE.finditer(text)):
                return
            continue
        read.append(text)
    ended = {found[2] for text in read for found in _SHORTCODE.finditer(text) if found[1]}
    for text in read:
        _put(text, _SHORTCODE.sub(lambda found: "" if _is_shortcode(found, ended) else found[0], text))


def _is_shortcode(found: re.Match[str], ended: Collection[str]) -> bool:
    name = found[2]
    if _BUILDERS.match(name):
        return True
    return ("_" in name or name in _OWN) and (bool(found[3].strip()) or name in ended)


def _put(text: Any, new: str) -> None:
    """Replace a text of the tree."""
    around = text.getparent()
    if text.is_tail:
        around.tail = new
    else:
        around.text = new
