"""Where a page leads: its anchors, its frames and what these hold, the other languages of it, and its refresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lxml.html import HtmlElement

from crawler.document import Refresh
from crawler.stages.parse.marks import WORST, mark_of, placed_links
from crawler.stages.text.shadow_root import is_shadow_root
from crawler.urls.canonicalize import is_route
from crawler.urls.refresh import read_refresh
from crawler.urls.resolve import resolve

Parse = Callable[[str], "HtmlElement | str | None"]
"""`parse_html` of the stage."""
MAX_NESTED = 3
"""Documents within documents (`srcdoc`) that are looked into."""
MAX_INNER = 200
"""Such documents of one page."""
_FRAMES = {"frame": "src", "iframe": "src", "embed": "src", "object": "data"}
_PAGES = frozenset({"text/html", "application/xhtml+xml"})


def links_of(
    tree: HtmlElement,
    base: str,
    limit: int,
    parse: Parse,
    refresh: Refresh | None = None,
    *,
    statements: Iterable[HtmlElement] = (),
    charset: str = "utf-8",
    routes: bool = False,
) -> tuple[dict[str, int], int]:
    """Absolute http(s) targets, unique, with their best marks, and how many there are beyond `limit`.

    First those of a refresh, of `statements` (every <link>) and of frames, then the anchors in page order; none with
    rel=nofollow. `base` is the URL that the page's relative links stand on. charset: in which the page's queries are
    encoded. routes: anchors keep fragments that name a page (`is_route`); no other fragment is kept.
    """
    found: dict[str, int] = {}
    beyond: set[str] = set()
    for href, on, mark in _references(tree, base, parse, refresh, statements, routes=routes):
        url = join(on, href if href.isascii() else in_charset(href, charset))
        if url is None:
            continue
        if url in found or len(found) < limit:
            found[url] = min(mark, found.get(url, mark))
        else:
            beyond.add(url)
    return found, len(beyond)


def join(base: str, href: str) -> str | None:
    """WHATWG join; None for what is no http(s) URL."""
    url = resolve(base, href)
    return url if url is not None and url.startswith(("http://", "https://")) else None


def in_charset(href: str, charset: str) -> str:
    """A reference as browsers send it: its query in the page's character set (URL standard, section 4.4, query state).

    What the character set lacks is sent as a reference to a character ("&#1234;").
    """
    asked, hashed, fragment = href.partition("#")
    before, mark, query = asked.partition("?")
    if query.isascii() or charset.startswith("utf"):
        return href
    return before + mark + "".join(_sent(char, charset) for char in query) + hashed + fragment


def _sent(char: str, charset: str) -> str:
    if char.isascii():
        return char
    try:
        return "".join(f"%{byte:02X}" if byte > 0x7E else chr(byte) for byte in char.encode(charset))
    except UnicodeEncodeError:
        return f"%26%23{ord(char)}%3B"


def base_url(page: str, bases: list[HtmlElement]) -> str:
    """The URL that relative links stand on: the first <base href>, joined to the page's own."""
    href = next((href for e in bases if (href := e.get("href")) is not None), None)
    return page if href is None else join(page, href) or page


def refresh_of(statements: Iterable[HtmlElement], page: str, earlier: Refresh | None) -> Refresh | None:
    """Where the page leads by itself, as Chromium decides between several statements: the soonest, then the last.

    statements: every <base> and <meta> in page order; others are left out.
    `earlier`: what the header said. A <base> counts for what stands behind it.
    """
    chosen, bases = earlier, list[HtmlElement]()
    for element in statements:
        if element.tag == "base":
            bases.append(element)
        if element.tag != "meta" or (element.get("http-equiv") or "").lower() != "refresh" or _is_inert(element):
            continue
        for_all = not _is_within(element, "noscript")
        said = read_refresh(element.get("content") or "", page, base_url(page, bases), for_all=for_all)
        if said is not None and (chosen is None or said.seconds <= chosen.seconds):
            chosen = said
    return chosen


def _references(
    tree: HtmlElement,
    base: str,
    parse: Parse,
    refresh: Refresh | None,
    statements: Iterable[HtmlElement],
    *,
    routes: bool,
) -> Iterator[tuple[str, str, int]]:
    """Reference, the URL that it stands on, and mark."""
    if refresh is not None and refresh.url:
        yield refresh.url, base, 0
    for e in statements:
        if e.get("hreflang") and "alternate" in (e.get("rel") or "").lower().split() and e.get("href"):
            yield e.get("href").strip().partition("#")[0], base, 0
    inner = list[tuple[HtmlElement, str]]()
    yield from _framed(tree, base, parse, inner, MAX_NESTED)
    for document, on in [(tree, base), *inner]:
        yield from ((href, on, mark) for href, mark in _anchors(document, routes=routes).items())


def _framed(
    tree: HtmlElement, base: str, parse: Parse, inner: list[tuple[HtmlElement, str]], deeper: int
) -> Iterator[tuple[str, str, int]]:
    """The documents that frames show; those that stand in the page itself are added to `inner`, each with its base."""
    for e in tree.iter(*_FRAMES, "noframes"):
        if _is_inert(e):
            continue
        text = e.text if e.tag == "noframes" else e.get("srcdoc") if e.tag == "iframe" else None
        if text is not None:
            document = parse(text) if deeper and text and len(inner) < MAX_INNER else None
            if document is not None and not isinstance(document, str):
                own = base_url(base, list(document.iter("base")))
                inner.append((document, own))
                yield from _framed(document, own, parse, inner, deeper - 1)
        elif (e.tag not in ("object", "embed") or (e.get("type") or "").strip().lower() in _PAGES) and (
            href := (e.get(_FRAMES.get(e.tag, "src")) or "").strip().partition("#")[0]
        ):
            yield href, base, 0


def _anchors(tree: HtmlElement, *, routes: bool) -> dict[str, int]:
    """References of anchors as they are written, each once, with their best marks."""
    raw: dict[str, int] = {}
    for a, cost in placed_links(tree):
        href, _, fragment = (a.get("href") or "").strip().partition("#")
        if routes and is_route(fragment):
            href = f"{href}#{fragment}"
        if not href or raw.get(href, WORST + 1) <= cost:  # a place in the page itself, or a mark that none can better
            continue
        rel = (a.get("rel") or "").lower()
        if "nofollow" not in rel.split():
            mark = mark_of(a, cost, rel)
            raw[href] = min(mark, raw.get(href, mark))
    return raw


def _is_inert(element: HtmlElement) -> bool:
    """True within a <template>, which no browser shows, unless it is a shadow root."""
    return any(one.tag == "template" and not is_shadow_root(one) for one in element.iterancestors())


def _is_within(element: HtmlElement, tag: str) -> bool:
    return any(one.tag == tag for one in element.iterancestors())
