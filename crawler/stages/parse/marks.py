"""A link's place says, before it is fetched, how likely text is behind it: a mark from 0 to 9, for the frontier.

0 is a link with a sentence of anchor text in the main part of a page, 9 one that nothing speaks for. A mark is a
quarter of an octave of expected text (`shapes.lua`): what a shape has brought outweighs it soon.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml.html import HtmlElement

ASIDE, HEADER, NAVIGATION, FOOTER = 2, 3, 3, 5
SHORT_ANCHOR, LABEL = 1, 2
LONG_ANCHOR = 20
"""Characters from which an anchor's text is a title, not a label ("next", "Python")."""
WORST = 9
_REGIONS = {"aside": ASIDE, "header": HEADER, "nav": NAVIGATION, "footer": FOOTER}
_ROLES = {"complementary": ASIDE, "banner": HEADER, "navigation": NAVIGATION, "contentinfo": FOOTER}
_LABELS = frozenset({"tag", "category", "author", "search", "sponsored", "ugc", "help", "license"})


def placed_links(tree: HtmlElement) -> Iterator[tuple[HtmlElement, int]]:
    """Every <a> and <area> in page order; an <a> in navigation, header, footer or an aside with what that costs it."""
    costs: dict[HtmlElement, int] = {}
    for element in tree.iter("a", "area", "div", "section", "ul", *_REGIONS):
        tag = element.tag
        if tag in {"a", "area"}:
            yield element, costs.get(element, 0)
        elif cost := _REGIONS.get(tag) or _ROLES.get(element.get("role") or ""):
            for a in element.iter("a"):
                costs[a] = max(cost, costs.get(a, 0))


def mark_of(a: HtmlElement, region: int, rel: str) -> int:
    """The mark of one <a>. `region`: what its place costs; `rel`: its lower-case rel attribute."""
    mark = region + (SHORT_ANCHOR if _is_short(a) else 0)
    return min(WORST, mark + LABEL) if rel and not _LABELS.isdisjoint(rel.split()) else mark


def _is_short(a: HtmlElement) -> bool:
    if not len(a):  # as most are: no need of a walk
        return len((a.text or "").strip()) < LONG_ANCHOR
    left = LONG_ANCHOR
    for text in a.itertext():
        left -= len(text.strip())
        if left <= 0:
            return False
    return True
