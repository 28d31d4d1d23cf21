"""A shell is a page whose text a script has yet to draw: named features on the parsed tree, then one decision.

The features go onto the record (`render_signals`), so that a decision can be looked up. They are asked for only where
the page shows little: on any other page counting stops at the limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lxml.html import HtmlElement

from crawler.stages.text.visible import WORD

ROOTS = frozenset(
    (
        *("root", "app", "__next", "__nuxt", "___gatsby", "app-root", "main-app", "react-root", "svelte", "ember-app"),
        *("q-app", "vue-app", "page-root", "application"),
    )
)
"""Ids of the element into which frameworks draw a page."""
STATES = ("__NEXT_DATA__", "__NUXT__", "__NUXT_DATA__", "__INITIAL_STATE__", "__PRELOADED_STATE__", "__APOLLO_STATE__")
"""Names under which frameworks leave a page's data in a script."""
_CONTAINERS = ("div", "main", "section", "article")
_FRAMEWORK_ATTRIBUTES = {
    "data-reactroot": "react",
    "ng-app": "angular",
    "ng-version": "angular",
    "data-v-app": "vue",
    "data-server-rendered": "vue",
    "data-sveltekit-hydrate": "svelte",
    "data-ember-extension": "ember",
}
_FRAMEWORK_FILES = (
    ("/_next/", "next"),
    ("/_nuxt/", "nuxt"),
    ("react", "react"),
    ("vue", "vue"),
    ("angular", "angular"),
    ("ember", "ember"),
    ("svelte", "svelte"),
    ("preact", "preact"),
)
_ASKS_FOR_SCRIPTS = re.compile(r"java\s?script", re.IGNORECASE)
_ON_DEMAND = re.compile(
    r"search|result|modal|dialog|popup|toast|tooltip|banner|cookie|consent|button|bar|menu|nav|header|footer",
    re.IGNORECASE,
)
"""In the id of a container: what is drawn there on demand or beside the text is no text of the page (a search page)."""


@dataclass(frozen=True, slots=True)
class ShellLimits:
    """How little a page has to show. Our own judgement, held against the pages named in `docs/browser.md`."""

    visible_words: int = 150
    """Words outside scripts, menus included, from which a page is none: navigation and footer of a shell stay below."""
    main_words: int = 50
    """Words of main text from which a page is none: text is there, whatever a script would add."""


LIMITS = ShellLimits()


def shell_features(tree: HtmlElement, words: int, limits: ShellLimits = LIMITS) -> dict[str, Any]:
    """The features of a shell by name; empty where the page shows enough, or has no script that could draw more.

    `words`: those that the page shows (`visible_words`), counted up to the limit at least.

    visible_words; scripts (elements); script_share (of all characters of the tree's text, 0 to 1); and the marks:
    empty_root (id or tag of a container without content), bare (nothing visible at all), noscript (asks for scripts),
    framework (its name), state (name of the embedded data).
    """
    if words >= limits.visible_words:
        return {}
    scripts = [e for e in tree.iter("script") if _runs(e)]
    if not scripts:
        return {}
    found: dict[str, Any] = {"visible_words": words, "scripts": len(scripts), "script_share": _share(tree, scripts)}
    marks = {
        "bare": words == 0,
        "empty_root": _empty_root(tree),
        "noscript": any(_ASKS_FOR_SCRIPTS.search(e.text_content()) for e in tree.iter("noscript")),
        "framework": _framework(tree, scripts),
        "state": _state(tree),
    }
    return found | {name: value for name, value in marks.items() if value}


def looks_like_shell(features: Mapping[str, Any], main_words: int, limits: ShellLimits = LIMITS) -> bool:
    """True where too little text came out of a page (`main_words`) on which a script would draw more.

    One mark says so by itself: an empty root of a framework, nothing visible, embedded state. A request for scripts and
    a framework's files stand on ordinary pages, too, and count together with a container that is empty.
    """
    if not features or main_words >= limits.main_words:
        return False
    if features.get("bare") or features.get("state") or features.get("empty_root") in ROOTS:
        return True
    return bool(features.get("empty_root")) and bool(features.get("noscript") or features.get("framework"))


def _runs(script: HtmlElement) -> bool:
    """False for scripts that hold data only."""
    kind = (script.get("type") or "").strip().lower()
    return kind in {"", "module", "text/babel"} or "javascript" in kind


def _share(tree: HtmlElement, scripts: list[HtmlElement]) -> float:
    size = len(tree.text_content())
    return round(sum(len(e.text or "") for e in scripts) / size, 2) if size else 0.0


def _empty_root(tree: HtmlElement) -> str | None:
    """A container without text: a framework's root before any other one with an id."""
    first = None
    for element in tree.iter(*_CONTAINERS, "app-root"):
        name = element.get("id") or ("app-root" if element.tag == "app-root" else "")
        if name and (name in ROOTS or first is None) and not _has_content(element):
            if name in ROOTS:
                return str(name)
            first = None if _ON_DEMAND.search(name) else str(name)[:40]
    return first


def _has_content(element: HtmlElement) -> bool:
    """True where somebody would see something in it, a picture included; a spinner is none."""
    if any(True for _ in element.iter("img", "form", "table", "video", "input", "a", "p", "li")):
        return True
    return len(WORD.findall(element.text_content()[:1_000])) > 3  # "Loading, please wait"


def _framework(tree: HtmlElement, scripts: list[HtmlElement]) -> str | None:
    for name, framework in _FRAMEWORK_ATTRIBUTES.items():
        if tree.find(f".//*[@{name}]") is not None or tree.get(name) is not None:
            return framework
    files = " ".join((e.get("src") or "").rpartition("?")[0] or e.get("src") or "" for e in scripts).lower()
    return next((framework for part, framework in _FRAMEWORK_FILES if part in files), None)


def _state(tree: HtmlElement) -> str | None:
    for script in tree.iter("script"):
        name, head = script.get("id") or "", (script.text or "").lstrip()[:60]
        for state in STATES:
            if name == state or head.startswith((f"window.{state}", f'window["{state}"]', f"self.{state}")):
                return state
    return None
