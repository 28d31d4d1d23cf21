"""A link's place says, before it is fetched, how likely text is behind it: a mark from 0 to 9, for the frontier.

0 is a link with a sentence of anchor text in the main part of a page, 9 one that nothing speaks for. A mark is a
quarter of an octave of expected text (`shapes.lua`): what a shape has brought outweighs it soon.
"""

from __future__ import annotations

from lxml.html import HtmlElement

ASIDE, HEADER, NAVIGATION, FOOTER = 2, 3, 3, 5
SHORT_ANCHOR, LABEL = 1, 2
LONG_ANCHOR = 20
"""Characters from which an anchor's text is a title, not a label ("next", "Python")."""
WORST = 9
_REGIONS = {"aside": ASIDE, "header": HEADER, "nav": NAVIGATION, "footer": FOOTER}
_ROLES = {"complementary": ASIDE, "banner": HEADER, "navigation": NAVIGATION, "contentinfo": FOOTER}
_LABELS = frozenset({"tag", "category", "author", "search", "sponsored", "ugc", "help", "license"})


def regions(tree: HtmlElement) -> dict[HtmlElement, int]:
    """The links in navigation, header, footer and asides of a page, with what that costs them."""
    found: dict[HtmlElement, int] = {}
    for region in tree.iter("div", "section", "ul", *_REGIONS):
        cost = _REGIONS.get(region.tag) or _ROLES.get(region.get("role") or "")
        if cost:
            for a in region.iter("a"):
                found[a] = max(cost, found.get(a, 0))
    return found


def mark_of(a: HtmlElement, region: int, rel: str) -> int:
    """The mark of one <a>. `region`: what its place costs; `rel`: its lower-case rel attribute."""
    mark = region + (SHORT_ANCHOR if _is_short(a) else 0)
    return min(WORST, mark + LABEL) if rel and not _LABELS.isdisjoint(rel.split()) else mark


def _is_short(a: HtmlElement) -> bool:
    left = LONG_ANCHOR
    for text in a.itertext():
        left -= len(text.strip())
        if left <= 0:
            return False
    return True
