"""Anchors of headings: links that a generator hangs on a heading so that readers can copy its address ("¶")."""

from __future__ import annotations

from typing import Any

_SIGNS = frozenset({"", "¶", "#", "§", "🔗", "\uf0c1", "[link]", "Permalink"})


def leads_to_itself(anchor: Any) -> bool:
    """True for an `<a>` that leads to a place on its page and shows only a sign for that."""
    href = anchor.get("href")
    if href is None or not href.startswith("#"):
        return False
    text = "".join(anchor.itertext()) if len(anchor) else anchor.text or ""
    return text.strip() in _SIGNS
