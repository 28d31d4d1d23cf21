"""A consent wall is a page that shows a request for consent and next to nothing else.

A banner over a text is none: the text underneath is read. The wall is told by how much stands outside the elements that
ask (named by id, class or role as consent tools name them, and speaking of cookies or consent).
"""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from crawler.stages.text.visible import words_within

OUTSIDE_WORDS = 40
"""Words outside the request, from which a page is none: menus and footers of a wall stay below. Our own judgement."""
ASKING_WORDS = 12
"""Words of a request, below which it is none."""
PAGE_WORDS = 1_500
"""Words of a page, from which nobody looks: no request is so long."""
_NAMED = re.compile(
    r"cookie|consent|gdpr|cmp[-_]|didomi|onetrust|usercentrics|sp_message|truste|privacy[-_](?:wall|notice|modal|banner)",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"cookie|consent|einwillig|zustimm|consentement|consentimiento|consentimento|consenso|toestemming|zgod[aęyz]",
    re.IGNORECASE,
)


def consent_words(tree: HtmlElement, whole: int) -> int:
    """Words of the request for consent on a page that holds little else; 0 where there is no wall.

    `whole`: words that the page shows (`visible_words`), counted up to PAGE_WORDS.
    """
    asking = sum(words_within(element, PAGE_WORDS) for element in _requests(tree)) if whole < PAGE_WORDS else 0
    return asking if asking >= ASKING_WORDS and whole - asking < OUTSIDE_WORDS else 0


def _requests(tree: HtmlElement) -> list[HtmlElement]:
    """The outermost elements that ask for consent."""
    found: list[HtmlElement] = []
    inside: set[HtmlElement] = set()
    for element in tree.iter("div", "section", "aside", "form", "dialog", "main"):
        if element in inside:
            continue
        name = f"{element.get('id', '')} {element.get('class', '')}"
        if _NAMED.search(name[:500]) and _SPEAKS.search(element.text_content()[:20_000]):
            found.append(element)
            inside.update(element.iter())
    return found
