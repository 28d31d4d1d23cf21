"""Roles are read from ids and classes by the extractor; those that were made of content say nothing and are forgotten.

trafilatura discards what is called related, share, tags, cookie, sidebar and the like. Documentation generators make
the id of a section from its heading ("adding-related-objects"), that of a term from the term ("http.cookies.Morsel"),
and the class of an admonition from its title; docutils and DocBook call a boxed note a sidebar.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any
from unicodedata import normalize

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_WRAPPERS = frozenset({"div", "header", "hgroup", "span", "a"})
_WORD = re.compile(r"[a-z0-9]+")
_SECTION_CLASS = re.compile(r"(?:^|\s)(?:sect[1-6]|refsect[1-6]|refsection|refsynopsisdiv|refnamediv|refentry)(?:\s|$)")
"""Classes that DocBook and AsciiDoc give to sections alone."""
_ROLE_WORDS = re.compile(
    r"(?:a|about|ad|ads|also|and|article|articles|author|authors|banner|bar|breadcrumb|breadcrumbs|button|"
    r"buttons|by|caption|comment|comments|consent|content|cookie|cookies|follow|footer|for|from|header|hid"
    r"den|in|latest|leave|like|links|list|may|media|menu|message|more|most|nav|navigation|news|newsletter|"
    r"of|on|our|policy|popular|post|posts|premium|read|recent|recommended|related|reply|respond|s|share|sh"
    r"aring|sidebar|sign|signup|site|social|stories|story|subscribe|tag|tags|the|this|to|top|trending|up|u"
    r"s|viral|widget|with|you|your)"
)
"""An id of these words alone is a role, even above a heading that says the same: "related-posts", "comments"."""
_MIN_GROUP = 2
"""Sections of one kind that have their heading's slug for an id, and not of role words alone: then all of them have."""
_ADMONITION_TITLES = frozenset({"title", "sidebar-title", "topic-title", "admonition-title"})
_BOXES = frozenset({"sidebar", "topic", "admonition", "footnote", "footnote-list"})
"""What docutils calls its <aside> and <div> elements."""


def forget_slugs(tree: Any) -> None:
    """Take away ids that were made of a heading or a term."""
    for term in tree.iter("dt"):
        term.attrib.pop("id", None)
    groups: dict[tuple[str, str], list[tuple[Any, bool]]] = defaultdict(list)
    for element in tree.iter("section", "div", "span"):
        name = element.get("id")
        if name is None:
            continue
        heading = _own_heading(element) if element.tag != "span" else next(element.iterancestors(*_HEADINGS), None)
        if heading is not None:
            kind = element.get("class") or ""
            if _SECTION_CLASS.search(kind):
                del element.attrib["id"]
            elif _is_slug(name, "".join(heading.itertext())):
                groups[element.tag, kind].append((element, all(map(_ROLE_WORDS.fullmatch, _words(name)))))
    for group in groups.values():
        proven = sum(not is_role for _, is_role in group) >= _MIN_GROUP
        for element, is_role in group:
            if proven or not is_role:
                del element.attrib["id"]


def _own_heading(element: Any) -> Any:
    """The heading with which the element begins, inside wrappers perhaps; None where other text comes first."""
    node, depth = element, 0
    while depth < 5 and not (node.text and node.text.strip()):
        for child in node:
            if child.tag in _HEADINGS:
                return child
            if next((text for text in child.itertext() if text.strip()), None) is not None:
                break
            if child.tail and child.tail.strip():
                return None
        else:
            return None
        if child.tag not in _WRAPPERS:
            return None
        node, depth = child, depth + 1
    return None


def _is_slug(name: str, heading: str) -> bool:
    """True where the words of an id stand in the heading in their order: "s-the-end" and "end-1" of "The end"."""
    wanted = [word for word in _words(name) if not word.isdigit() and word not in {"s", "sec", "section"}]
    there = iter(_words(heading))
    return bool(wanted) and all(word in there for word in wanted)


def _words(text: str) -> list[str]:
    return _WORD.findall(normalize("NFKD", text[:300]).lower())


def name_admonitions(tree: Any) -> None:
    """Boxed notes of docutils and DocBook are text: no <aside>, no class that speaks of their title."""
    for box in list(tree.iter("aside", "div")):
        kinds = set((box.get("class") or "").split())
        if _BOXES.isdisjoint(kinds):
            continue
        if "admonition" in kinds or not kinds.isdisjoint({"footnote", "footnote-list"}) or _is_titled(box):
            box.tag = "div"
            box.set("class", "admonition")
            box.attrib.pop("id", None)


def _is_titled(box: Any) -> bool:
    """True for a box whose first text is a paragraph of class "title": a heading there would be a widget's."""
    first = next((e for e in box.iterdescendants() if e.text and e.text.strip()), None)
    while first is not None and first is not box and first.tag != "p":
        first = first.getparent()
    return (
        first is not None and first is not box and not _ADMONITION_TITLES.isdisjoint((first.get("class") or "").split())
    )
