"""The first stage turns fetched bytes into what every later one reads: one decode, one parse, links and statements.

Fills `tree`, `metas`, `rel_links`, `html_lang`, `nofollow`, `links` with `link_marks`, `title`, `description` and
`charset`. No text exists yet when it returns: the opt-out stage decides first. Plain text travels as a `str` in
`doc.tree`.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from lxml import etree
from lxml.html import HtmlComment, HtmlElement, HTMLParser, document_fromstring

from crawler.config import Config, CrawlConfig, DocumentsConfig, ExtractionConfig
from crawler.document import Document, Drop, DropReason
from crawler.policy.signals.meta_robots import is_for_robots
from crawler.stages.documents.markdown import READER, read_markdown
from crawler.stages.documents.model import FileText
from crawler.stages.parse.consent import PAGE_WORDS, consent_words
from crawler.stages.parse.embedded import embedded_text
from crawler.stages.parse.files import FileReader
from crawler.stages.parse.links import base_url, join, links_of, refresh_of
from crawler.stages.parse.markup import PAPERS, take_paper, take_text
from crawler.stages.parse.other import as_page, read_other, read_text
from crawler.stages.parse.prescan import hostile_reason
from crawler.stages.parse.record import read_record
from crawler.stages.parse.shell import LIMITS, shell_features
from crawler.stages.text.normal import line_of
from crawler.stages.text.visible import visible_words
from crawler.urls.rel_canonical import from_links
from crawler.wire.files import file_kind
from crawler.wire.media import media_kind

MAX_STATEMENTS = 500
"""<meta> and <link> elements read from one page, those that may refuse something before all others."""
MAX_FEEDS = 10
"""Feeds that one page names."""
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
MAX_HEAD_CHARS = 1_000
"""Characters of title and description."""

_CONTROL = bytes(c for c in range(32) if c not in b"\t\n\r\f")
_FORM_FEED_IS_SPACE = bytes.maketrans(b"\f", b" ")
_DOCTYPE = re.compile(rb"<\s?!\s?doctype[^>]*+>", re.IGNORECASE)
_SELF_CLOSED_ROOT = re.compile(rb"(<html\b[^<>/]*+(?:/(?!>)[^<>/]*+)*+)/>", re.IGNORECASE)
_END = re.compile(rb"</(?:body|html)(?=[\s/>])[^<>]*+>", re.IGNORECASE)
_NOTHING_MORE = re.compile(
    rb"(?:\s++|</(?:body|html)(?=[\s/>])[^<>]*+>|(?><!--.*?-->)|(?><script\b.*?</script[^<>]*+>))*+",
    re.IGNORECASE | re.DOTALL,
)
"""What stands behind the end of a page that shows nothing."""
_LIMITS = frozenset({etree.ErrorTypes.ERR_RESOURCE_LIMIT, etree.ErrorTypes.ERR_INTERNAL_ERROR})
"""How libxml2 names a limit of its own that it met; before 2.13 an internal error."""
_MAX_DEPTH = 255
"""Elements below the root where libxml2 stops; other limits than that of depth leave a shallower tree."""
_CLASSES = etree.ElementDefaultClassLookup(element=HtmlElement, comment=HtmlComment)
"""lxml.html asks a Python function for the class of every element it touches; this answers in C, 10 % of extraction."""
_FOR_ROBOTS = {"robots": "robots", "x-robots-tag": "robots", "tdm-reservation": "tdm-reservation"}
"""Statements that pages also write as a property or as a header, and the name under which they count."""
_VOCABULARY = re.compile(r"[:.]")


def of_config(config: Config) -> ParseStage:
    """The stage as a configuration asks for it."""
    return ParseStage(config.extraction, config.documents, config.crawl.stage_timeout_seconds)


class ParseStage:
    """Bytes to one shared lxml tree, with everything a page says about itself and where it leads."""

    name: ClassVar[str] = "parse"

    def __init__(
        self,
        config: ExtractionConfig | None = None,
        documents: DocumentsConfig | None = None,
        seconds: float = CrawlConfig().stage_timeout_seconds,
    ) -> None:
        self._max_links = (config or ExtractionConfig()).max_links
        self._read_file = FileReader(documents or DocumentsConfig(), seconds, self._max_links)

    def __call__(self, doc: Document) -> Document | Drop:
        """Parse `doc.html` by `doc.content_type`.

        Drops: not_text (a type the stages cannot read), undecodable, hostile_html; those of `FileReader`.
        """
        if doc.fields:
            doc.document_kind = "json"
            return self._read_record(doc)
        if (file := file_kind(doc.content_type, doc.html)) is not None:
            found = self._read_file(doc, file)
            return self._read_markup_of(doc, found) if isinstance(found, str) else found or doc
        kind = media_kind(doc.content_type, doc.html)
        if kind is None:
            return Drop(self.name, DropReason.NOT_TEXT, f"content type {doc.content_type[:100]!r}")
        doc.document_kind = kind
        if kind in PAPERS:
            return take_paper(doc, kind, self._max_links) or doc
        read = read_other(doc, kind) if kind in {"rtf", "mail"} else read_text(doc, kind)
        if isinstance(read, Drop):
            return read
        text, kind = read
        return self._read_tree(doc, text) if kind == "html" else take_text(doc, text, self._max_links)

    def _read_tree(self, doc: Document, text: str) -> Document | Drop:
        tree = parse_html(text)
        if isinstance(tree, str):
            return Drop(self.name, DropReason.HOSTILE_HTML, tree)
        doc.tree = tree
        if tree is not None:
            _read_page(doc, tree, self._max_links)
            _read_what_is_shown(doc, tree)
        return doc

    def _read_markup_of(self, doc: Document, markup: str) -> Document | Drop:
        """A book is the page that its chapters make; what it says of itself stands outside of them."""
        said, linked, title = doc.metas, doc.rel_links, doc.title
        read = self._read_tree(doc, as_page(doc, markup)[0])
        doc.metas, doc.rel_links, doc.title = [*said, *doc.metas], [*linked, *doc.rel_links], title or doc.title
        return read

    def _read_record(self, doc: Document) -> Document | Drop:
        """A record of a JSON source: no links are followed from it."""
        found = read_record(doc)
        if isinstance(found, Drop):
            return found
        text, form = found
        tree = parse_html(text) if form == "html" else text
        if form == "html" and isinstance(tree, str):
            return Drop(self.name, DropReason.HOSTILE_HTML, tree)
        doc.tree, doc.html, doc.charset = tree, text.encode("utf-8", "replace"), "utf-8"
        if form == "markdown":
            content = read_markdown(text)
            doc.tree, doc.extractor, doc.title = FileText(content.blocks), READER, doc.title or content.title or None
        return doc


def _read_what_is_shown(doc: Document, tree: HtmlElement) -> None:
    may_ask = b"ookie" in doc.html or b"onsent" in doc.html
    words = visible_words(tree, PAGE_WORDS if may_ask else LIMITS.visible_words)
    if may_ask:
        doc.consent_words = consent_words(tree, words)
    if features := shell_features(tree, words):
        doc.render_signals["shell"] = features
        doc.embedded = embedded_text(tree)


def parse_html(text: str) -> HtmlElement | str | None:
    """One tree of the page, None where nothing is in it, or a sentence (`str`) where it is hostile.

    The tree is what `trafilatura.utils.load_html` builds: no comments, no processing instructions, control
    characters removed, so that the extractor takes it as it is.
    """
    parser = HTMLParser(
        collect_ids=False, default_doctype=False, encoding="utf-8", remove_comments=True, remove_pis=True
    )
    parser.set_element_class_lookup(_CLASSES)
    data = _repaired(text.encode("utf-8", "replace"))
    if not data or data.isspace():
        return None
    if reason := hostile_reason(data):  # the very bytes that libxml2 gets, whatever the page was encoded in
        return reason
    try:
        tree = document_fromstring(data, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        tree = None
    if tree is not None and _met_a_limit(parser.error_log) and _depth_at_end(tree) >= _MAX_DEPTH:
        return f"nested deeper than {_MAX_DEPTH + 1} elements"
    return tree


def _met_a_limit(log: Any) -> bool:
    if log.last_error is None:
        return False
    return any(e.domain == etree.ErrorDomains.PARSER and e.type in _LIMITS for e in log.filter_from_fatals())


def _depth_at_end(tree: HtmlElement) -> int:
    """How many elements below the root were open when the parser stopped."""
    depth, node = 0, tree
    while len(node):
        depth, node = depth + 1, node[-1]
    return depth


def _repaired(data: bytes) -> bytes:
    """What libxml2 stumbles over: control characters, a slashed doctype or root (lxml bug 1955915)."""
    data = data.translate(_FORM_FEED_IS_SPACE, _CONTROL)
    head = _DOCTYPE.sub(b"", data[:4096], count=1)
    return _without_early_ends(_SELF_CLOSED_ROOT.sub(rb"\1>", head, count=1) + data[4096:])


def _without_early_ends(data: bytes) -> bytes:
    """Browsers read on behind </body> and </html> (a template that brings its own), libxml2 leaves out what follows."""
    first = _END.search(data)
    if first is None or _NOTHING_MORE.fullmatch(data, first.start()):
        return data
    return _END.sub(b"", data)


def _read_page(doc: Document, tree: HtmlElement, max_links: int) -> None:
    doc.html_lang = _html_lang(tree)
    statements = list(tree.iter("title", "base", "meta", "link"))
    said = {tag: [one for one in statements if one.tag == tag] for tag in ("title", "base", "meta", "link")}
    page = doc.drawn_url or doc.url
    base = base_url(page, said["base"])
    doc.metas = _metas(said["meta"])
    doc.rel_links = _rel_links(said["link"], base)
    feeds = (href for rel, kind, href in doc.rel_links if kind in _FEEDS and "alternate" in rel.split())
    doc.feeds = list(dict.fromkeys(feeds))[:MAX_FEEDS]
    doc.canonical_link = from_links(doc.rel_links, doc.domain) or doc.canonical_link
    doc.nofollow = doc.nofollow or _says_nofollow(doc.metas)
    doc.refresh = refresh_of(statements, page, doc.refresh)
    routes = doc.choices.get("js_routes") == "hash"
    charset = doc.charset or "utf-8"
    links, doc.links_beyond = links_of(
        tree, base, max_links, parse_html, doc.refresh, statements=said["link"], charset=charset, routes=routes
    )
    doc.links, doc.link_marks = list(links), bytes(links.values())
    named = dict(reversed(doc.metas))
    shared = _property(said["meta"], "og:description")
    doc.title = next((_clean(title.text) for title in said["title"]), None) or doc.title
    doc.description = _clean(named.get("description")) or _clean(shared) or doc.description


def _html_lang(tree: HtmlElement) -> str | None:
    value = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or tree.get("xml:lang")
    return value.strip()[:35].lower() or None if value else None


def _metas(metas: list[HtmlElement]) -> list[tuple[str, str]]:
    both = ((_name_of(m), m.get("content")) for m in metas)
    named = [(name.strip().lower(), content) for name, content in both if name is not None and content is not None]
    if len(named) > MAX_STATEMENTS:
        named = sorted(dict.fromkeys(named), key=lambda statement: _rank(statement[0]))
    return named[:MAX_STATEMENTS]


def _rank(name: str) -> int:
    """0 for a meta to robots, 1 for one to a crawler of whatever name, 2 for words of a vocabulary (`og:title`)."""
    if name in _FOR_ROBOTS or is_for_robots(name):
        return 0
    return 2 if _VOCABULARY.search(name) else 1


def _name_of(meta: HtmlElement) -> str | None:
    """The name of a <meta>; a statement for robots counts under `property`, and as the header it stands for, too."""
    if (name := meta.get("name")) is not None:
        return str(name)
    other = (meta.get("property") or meta.get("http-equiv") or "").strip().lower()
    return _FOR_ROBOTS.get(other)


def _rel_links(links: list[HtmlElement], base: str) -> list[tuple[str, str, str]]:
    both = ((e.get("rel"), e.get("href"), e.get("type", "")) for e in links)
    found = [(rel.strip().lower(), kind, href) for rel, href, kind in both if rel is not None and href is not None]
    if len(found) > MAX_STATEMENTS:
        found = sorted(found, key=lambda link: "license" not in link[0].split())
    return [(rel, kind.strip().lower(), join(base, href) or href) for rel, kind, href in found[:MAX_STATEMENTS]]


def _says_nofollow(metas: list[tuple[str, str]]) -> bool:
    tokens = (t.strip().lower() for name, content in metas if name == "robots" for t in content.split(","))
    return any(token in {"nofollow", "none"} for token in tokens)


def _property(metas: list[HtmlElement], name: str) -> str | None:
    return next((m.get("content") for m in metas if m.get("property") == name), None)


def _clean(text: str | None) -> str | None:
    return line_of(text, MAX_HEAD_CHARS) if text else None
