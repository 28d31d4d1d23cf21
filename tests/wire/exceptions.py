"""Where the crawl differs from Chromium on purpose: for each form how it ends here, and why."""

from __future__ import annotations

from typing import NamedTuple


class Exempt(NamedTuple):
    outcome: str  # "kept", "held", or the reason of the record
    why: str


def _all(names: str, outcome: str, why: str) -> dict[str, Exempt]:
    return dict.fromkeys(names.split(), Exempt(outcome, why))


EXCEPTIONS: dict[str, Exempt] = {
    **_all("status-404 redirect-404", "gone", "an answer that is no success is no page"),
    **_all(
        "status-four-digits status-two-digits status-999 redirect-201 redirect-300 redirect-305 redirect-306 "
        " redirect-310 redirect-399 redirect-none redirect-301-none redirect-empty redirect-blank"
        " redirect-content-location redirect-uri",
        "http_error",
        "an answer that is no success is no page, a redirect without a target neither",
    ),
    **_all("redirect-user", "off_scope", "nobody's name and password are sent anywhere"),
    **_all("icy", "download_failed", "a stream of music begins so; its head is no text"),
    **_all("chunk-no-last-line-end", "kept", "the last chunk has come: only an empty line is missing"),
    **_all(
        "coding-gzip-comma-after coding-gzip-comma-before coding-gzip-identity coding-identity-gzip coding-gzip-utf-8"
        " coding-utf-8-gzip coding-x-x-gzip coding-gzip-none coding-gzip-and-identity-lines coding-x-deflate"
        " coding-brotli",
        "undecodable",
        "Chromium shows the packed bytes as letters; no text is in them",
    ),
    **_all(
        "coding-gzip-torn coding-gzip-no-trailer coding-gzip-short-trailer coding-gzip-wrong-checksum",
        "undecodable",
        "half a page is no page, and a stream without its end or with a wrong checksum does not prove to be whole",
    ),
    **_all("coding-gzip-members", "kept", "all members are the page (RFC 1952 section 2.2); Chromium reads the first"),
    **_all(
        "coding-none-but-gzip html-is-png html-is-gzip plain-is-postscript",
        "not_text",
        "the bytes of a file format are no text, whatever their label says",
    ),
    **_all("plain-is-pdf html-is-pdf", "truncated", "a PDF is one whatever its label says, and this one has no end"),
    **_all("text-css text-json text-javascript", "not_text", "code and data are no text to read"),
    **_all(
        "xml-root-other xml-root-rss xml-root-atom xml-none-other",
        "not_text",
        "Chromium draws a tree of the markup; feeds and data are no pages",
    ),
    **_all("xml-root-no-namespace", "kept", "what calls its root html is a page"),
    **_all(
        "xml-broken-as-xhtml type-xhtml-parameter",
        "kept",
        "XHTML that is not well formed is read as the HTML that it is",
    ),
    **_all("xml-xhtml-as-application-vnd.wap.xhtml+xml", "kept", "XHTML of telephones is a page"),
    **_all(
        "type-text-slash type-slashes type-equals type-colon type-html-dot type-x-html type-text-star type-html-plus"
        " type-control type-latin1 nosniff-none nosniff-star nosniff-bare type-markdown-html"
        " none-span none-strong none-html-far",
        "kept",
        "Chromium shows the source, for its own safety; nothing is run here, and a page is read as a page",
    ),
    **_all("none-bom none-utf-16", "kept", "a byte order mark before markup does not make it plain text"),
    **_all("none-is-escape plain-is-escape", "kept", "control characters are taken out of a text"),
    **_all("plain-is-control", "kept", "text with a stray control character is text"),
    **_all("none-is-rtf", "language_unknown", "read as text, and too short to have a language"),
    **_all("disposition-attachment", "kept", "the header is about windows; a crawl saves every page"),
    **_all("robots-icy robots-to-user", "held", "what is not asked for or not read is no permission"),
    **_all("robots-coding-gzip-torn", "held", "half a robots.txt is no permission"),
    **_all("robots-to-empty robots-to-none", "held", "a redirect that leads nowhere is no permission"),
    **_all("robots-to-one-slash", "held", "a robots.txt that redirects to a page is no permission"),
    **_all("robots-type-octet robots-nul", "robots_disallowed", "rules are rules, whatever their label says"),
}
