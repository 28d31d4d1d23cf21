"""The images of one page, in page order: URL, alternative text, caption, place in the record's text, and rules.

Only what stands in the page decides here; nothing is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml.html import HtmlElement

from crawler.images.captions import caption_of, line_of
from crawler.images.place_in_text import Cursor
from crawler.images.srcset import source_of
from crawler.stages.parse.links import base_url, join
from crawler.urls.canonicalize import address

MAX_IMAGES = 500
"""Images of one page that are looked at."""
MAX_PIXEL = 2
"""CSS pixels of a side with which a page draws what only counts its readers."""
_SILENT = frozenset({"script", "style", "template", "noscript", "title"})
_LENGTH = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*")
_STYLE = re.compile(r"(?:^|;)\s*(?:width|height)\s*:\s*(\d{1,6})(?:\.\d*)?px", re.IGNORECASE)
_SVG = re.compile(r"\.svgz?(?:[?#]|$)", re.IGNORECASE)


@dataclass(slots=True)
class Candidate:
    """One image of one page.

    name: canonical URL, by which two pages have the same image; url: the spelling to ask for. alt, title: attributes,
    on one line. caption: that of its figure, else `alt`: the first that is fit to be one. index: among the images of
    the page, from 0. offset: characters of the record's text before it. refusal: the outcome that the page alone gives
    it; empty: ask for it.
    """

    url: str
    name: str
    alt: str
    caption: str
    title: str
    index: int
    offset: int
    refusal: str = ""


def images_of(tree: HtmlElement, page_url: str, text: str) -> Iterator[Candidate]:
    """The images of a parsed page; `text` is that of its record."""
    base = base_url(page_url, tree.xpath("//base[@href]"))
    cursor, index = Cursor(text), 0
    for element, piece in _walk(tree):
        if piece is not None:
            cursor.pass_by(piece)
        elif element is not None:
            if index >= MAX_IMAGES:
                yield Candidate("", "", "", "", "", index, cursor.offset, "beyond")
            else:
                yield _candidate(element, base, index, cursor.offset)
            index += 1


def _walk(tree: HtmlElement) -> Iterator[tuple[HtmlElement | None, str | None]]:
    """Images and pieces of text, in page order. An image in `noscript` is one, its text is not."""
    silent: list[HtmlElement] = []
    stack: list[tuple[HtmlElement, bool]] = [(tree, False)]
    while stack:
        element, left = stack.pop()
        if left:
            if silent and silent[-1] is element:
                silent.pop()
            if element.tail and not silent and element is not tree:
                yield None, element.tail
            continue
        if not isinstance(element.tag, str):
            if element.tail and not silent:
                yield None, element.tail
            continue
        if element.tag in _SILENT:
            silent.append(element)
        if element.tag in {"img", "amp-img"}:
            yield element, None
        elif element.text and not silent:
            yield None, element.text
        stack.append((element, True))
        stack += [(child, False) for child in reversed(element)]


def _candidate(image: HtmlElement, base: str, index: int, offset: int) -> Candidate:
    source = source_of(image)
    alt, figure, title = line_of(image.get("alt")), _figure_caption(image), line_of(image.get("title"))
    made = Candidate("", "", alt, "", title, index, offset)
    if not source:
        made.refusal = "no_source"
    elif source[:5].lower() == "data:":
        made.refusal = "data_url"
    elif (found := address(joined) if (joined := join(base, source)) else None) is None:
        made.refusal = "not_http"
    else:
        made.url, made.name = found.asked, found.name
        made.caption, refusal = caption_of(figure, alt)
        made.refusal = _rule(image, found.name, figure) or refusal
    return made


def _rule(image: HtmlElement, name: str, figure: str) -> str:
    if _SVG.search(name):
        return "svg"
    sides = [int(found[1]) for side in ("width", "height") if (found := _LENGTH.fullmatch(image.get(side, "")))]
    sides += [int(value) for value in _STYLE.findall(image.get("style", ""))]
    if sides and min(sides) <= MAX_PIXEL:
        return "tracking_pixel"
    mute = image.get("alt", "-").strip() == "" or image.get("role", "").strip().lower() in {"presentation", "none"}
    if not figure and (mute or image.get("aria-hidden", "").strip().lower() == "true"):
        return "decoration"
    return ""


def _figure_caption(image: HtmlElement) -> str:
    """The caption of the innermost figure around it."""
    figure = next(image.iterancestors("figure"), None)
    caption = None if figure is None else next(figure.iter("figcaption"), None)
    return "" if caption is None else line_of(caption.text_content())
