"""The archived page is shown as what it is without its scripts, links and files, the kept parts marked.

What is left are elements with harmless attributes; the frame it stands in has an opaque origin and a policy of its own
that runs and loads nothing, so that two walls stand between the page and who looks at it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from lxml.html import HtmlElement, tostring

from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode
from crawler.storage.archive.reader import ArchivedResponse
from crawler.wire.media import content_type, media_kind

CSP = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""Of the frame: no script, no request, no form, an origin that is nobody's."""
MAX_PAGE = 3 * 2**20
"""Bytes of a page that is drawn."""
MAX_TEXT = 500_000
"""Characters of a text whose parts are looked for in the page."""
_SHINGLE = 4
_SHORT = 12
"""A passage of fewer words than a shingle is marked from so many characters on."""
_SHARE = 0.5
"""A passage is marked where at least so many of its shingles stand in the text."""
_GONE = frozenset(
    {"script", "link", "meta", "base", "iframe", "frame", "frameset", "object", "embed", "applet", "portal", "svg"}
    | {"audio", "video", "source", "track", "template", "fencedframe", "input", "button", "select", "textarea", "title"}
)
_HARMLESS = frozenset(
    {"class", "id", "lang", "dir", "style", "title", "alt", "colspan", "rowspan", "align", "valign", "start", "open"}
)
_BLOCKS = ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "pre", "blockquote", "dt", "dd", "figcaption",
           "div", "section", "article", "main", "summary", "caption")  # fmt: skip
_WORD = re.compile(r"\w+")
_ASKS = re.compile(r"url|import|image|src|\\\\", re.IGNORECASE)
"""What a style would ask for a file with; the policy of the frame refuses it anyway."""
_HEAD = (
    '<!doctype html><html><head><meta charset="utf-8"><title>Archived page</title><style>'
    "html{background:#fff;color:#1d2430;font:15px/1.5 system-ui,sans-serif}body{margin:1rem;overflow-wrap:anywhere}"
    "img{border:1px dashed #98a2b3;padding:.2rem;color:#5b6575}pre{white-space:pre-wrap}"
    "[data-kept]{background:#dff5ea!important;color:#10291f!important;box-shadow:-.3rem 0 #12805c!important}"
    "</style></head>"
)
Shingles = set[tuple[str, ...]]


def frame_of(page: ArchivedResponse, text: str) -> str:
    """A complete document: the page without anything that acts, with what stands in `text` marked."""
    body = page.drawn or page.body
    kind = "html" if page.drawn else media_kind(content_type(page.headers), body)
    if len(body) > MAX_PAGE:
        return note(f"The page has {len(body):,} bytes; up to {MAX_PAGE:,} are drawn.")
    found = decode(body, None if page.drawn else content_type(page.headers)) if kind else None
    if found is None:
        return note("The bytes of this page are not text.")
    shingles = shingles_of(text[:MAX_TEXT])
    if kind != "html":
        return f"{_HEAD}<body>{''.join(_lines(found[0], shingles))}</body></html>"
    tree = parse_html(found[0])
    if not isinstance(tree, HtmlElement):
        return note(f"The page cannot be drawn: {tree or 'it is empty'}.")
    _disarm(tree)
    mark(tree, shingles)
    body_of = tree.find("body")
    return f"{_HEAD}{tostring(tree if body_of is None else body_of, encoding='unicode')}</html>"


def note(sentence: str) -> str:
    """A document that says why there is no page."""
    return f"{_HEAD}<body><p>{html.escape(sentence)}</p></body></html>"


def shingles_of(text: str) -> Shingles:
    """Runs of one to four words that stand in the text, line by line and across lines."""
    words = _WORD.findall(text.casefold())
    return {tuple(words[at : at + size]) for size in range(1, _SHINGLE + 1) for at in range(len(words) - size + 1)}


def mark(tree: HtmlElement, shingles: Shingles) -> None:
    """Give the attribute `data-kept` to every innermost block whose text is in the kept one."""
    for element in tree.iter(*_BLOCKS):
        if next(element.iterdescendants(*_BLOCKS), None) is None and is_kept(element.text_content(), shingles):
            element.set("data-kept", "")


def is_kept(passage: str, shingles: Shingles) -> bool:
    """True where the passage stands in the text of the shingles, redactions and small changes aside."""
    words = _WORD.findall(passage[:MAX_TEXT].casefold())
    if len(words) < _SHINGLE:
        return len("".join(words)) >= _SHORT and tuple(words) in shingles
    runs = [tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)]
    return sum(run in shingles for run in runs) >= _SHARE * len(runs)


def _disarm(tree: HtmlElement) -> None:
    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or (element.tag.lower() in _GONE and element is not tree):
            element.drop_tree()
            continue
        for name in set(element.attrib) - _HARMLESS:
            del element.attrib[name]
        if _ASKS.search(element.get("style", "")):
            del element.attrib["style"]
        if element.tag == "style" and _ASKS.search(element.text or ""):
            element.text = ""


def _lines(text: str, shingles: Shingles) -> Iterator[str]:
    for line in text.splitlines():
        kept = " data-kept" if is_kept(line, shingles) else ""
        yield f"<pre{kept}>{html.escape(line) or ' '}</pre>"
