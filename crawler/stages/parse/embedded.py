"""The text that a page carries as data for its own scripts: JSON-LD `articleBody`, and the state of Next and Nuxt.

Taken where a page shows too little itself, so that no browser is needed. Sources: schema.org (articleBody), Next.js
(`<script id="__NEXT_DATA__" type="application/json">`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lxml.html import HtmlElement

from crawler.stages.text.json_data import NoJSONError, read_json
from crawler.stages.text.words import count_words

MAX_NODES = 200_000
"""Values looked at in one script."""
MIN_WORDS = 8
"""Words of a value, from which it is prose and no label."""
_BODIES = ("articleBody", "reviewBody", "text")
_SPACES = re.compile(r"[ \t\r\f\v]++")
_BLOCK = re.compile(
    r"</?+(?:p|div|br|li|h[1-6]|tr|ul|ol|section|article|blockquote|pre)\b[^<>]{0,2000}+>", re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]{0,2000}+>")
_PROSE = re.compile(r"[.!?。！？…।۔؟։።།။។]|[ก-๛ກ-ໟ]{40}")
"""The end of a sentence; Thai and Lao have no mark for it."""


class Embedded(NamedTuple):
    """Text found in data. source: "json-ld" or "state"."""

    text: str
    source: str


def embedded_text(tree: HtmlElement) -> Embedded | None:
    """The longest text that the page's own data hold; None where they hold none."""
    described = "\n\n".join(_of_json_ld(tree))
    if described:
        return Embedded(described, "json-ld")
    state = "\n\n".join(_of_state(tree))
    return Embedded(state, "state") if state else None


def captured_text(bodies: Iterable[bytes]) -> str:
    """The running text of JSON that a page has fetched, one body after the other, each line of values once."""
    found: dict[str, None] = {}
    for body in bodies:
        found.update(dict.fromkeys(prose_of(parsed(body))))
    return "\n\n".join(found)


def prose_of(data: Any) -> list[str]:
    """Running text among the values of parsed JSON, in order, each once."""
    found: dict[str, None] = {}
    for value in _strings(data):
        text = plain(value)
        if count_words(text) >= MIN_WORDS and _PROSE.search(text):
            found[text] = None
    return list(found)


def parsed(text: str | bytes) -> Any:
    """The JSON in a script; None where it is none, or too much."""
    try:
        return read_json(text)
    except NoJSONError:
        return None


def plain(value: str) -> str:
    """A value without markup: block elements end lines."""
    if "<" in value:
        value = _TAG.sub("", _BLOCK.sub("\n", value))
    lines = (_SPACES.sub(" ", line).strip() for line in html.unescape(value).splitlines())
    return "\n".join(line for line in lines if line)


def _of_json_ld(tree: HtmlElement) -> Iterator[str]:
    for script in tree.iter("script"):
        if (script.get("type") or "").partition(";")[0].strip().lower() == "application/ld+json":
            for node in _dicts(parsed(script.text or "")):
                body = next((node[name] for name in _BODIES if isinstance(node.get(name), str)), None)
                if body and len(text := plain(body)) > 0 and count_words(text) >= MIN_WORDS:
                    yield text
                    return


def _of_state(tree: HtmlElement) -> Iterator[str]:
    for script in tree.iter("script"):
        if script.get("id") in {"__NEXT_DATA__", "__NUXT_DATA__"}:
            yield from prose_of(parsed(script.text or ""))
            return


def _dicts(data: Any) -> Iterator[dict[str, Any]]:
    return (node for node in _nodes(data) if isinstance(node, dict))


def _strings(data: Any) -> Iterator[str]:
    return (node for node in _nodes(data) if isinstance(node, str))


def _nodes(data: Any) -> Iterator[Any]:
    """Every value, in the order of the document, without recursion."""
    stack, left = [data], MAX_NODES
    while stack and left:
        node, left = stack.pop(), left - 1
        yield node
        if isinstance(node, dict):
            stack.extend(reversed(node.values()))
        elif isinstance(node, list):
            stack.extend(reversed(node))
