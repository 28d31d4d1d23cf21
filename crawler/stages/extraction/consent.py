"""Consent managers put their texts into the page, not into a frame; their containers are known by name."""

from __future__ import annotations

import re
from typing import Any

MAX_SHARE = 0.5
"""Of the page's characters, beyond which a container is no banner: some pages wrap everything in such a class."""
DEEPEST = 2
"""Elements below the body at which a container stands at most."""
PAGE_TAGS = ("article", "main", "h1")
"""What no banner holds."""
_NAMES = re.compile(
    r"(?<![a-z])(?:onetrust|usercentrics|didomi|qc-cmp|sp_message_container|truste|tarteaucitron|iubenda-cs|termly"
    r"|osano-cm|klaro|cky-|cmplz|moove_gdpr|borlabs|cmpbox|cmpwrapper|evidon|fc-consent|cc-window|cc-banner|hs-eu-cookie"
    r"|gdpr|cybotcookiebot|cookie-?(?:consent|notice|banner|law|box|bar|popup|modal|wall|policy-(?:banner|popup)))",
    re.IGNORECASE,
)


def drop_consent(tree: Any) -> None:
    """Remove containers of consent managers; they stand at the top of the page's tree, or one element below it."""
    body = tree.find(".//body")
    if body is None:
        return
    for element in [*body, *(child for top in body for child in top)]:
        name = f"{element.get('id', '')} {element.get('class', '')}"
        if len(name) > 1 and is_called_consent(name) and _is_small(element, body):
            element.drop_tree()


def is_called_consent(names: str) -> bool:
    """True where class and id of an element are those of a consent manager's container."""
    return _NAMES.search(names) is not None


def _is_small(element: Any, body: Any) -> bool:
    if next(element.iter(*PAGE_TAGS), None) is not None:
        return False
    return len(element.text_content()) <= MAX_SHARE * len(body.text_content())
