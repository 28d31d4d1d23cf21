"""Writes small DOCX, ODT and EPUB files by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
)
XHTML = "http://www.w3.org/1999/xhtml"
TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "odt": "application/vnd.oasis.opendocument.text",
    "epub": "application/epub+zip",
}


def packed(members: Mapping[str, str | bytes], mimetype: str = "") -> bytes:
    """A ZIP of these members, `mimetype` first and stored as it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        if mimetype:
            file.writestr(zipfile.ZipInfo("mimetype"), mimetype, zipfile.ZIP_STORED)
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def docx(body: str, **members: str) -> bytes:
    """A DOCX. members: other parts, by their path with `__` for /, without `.xml`."""
    others = {name.replace("__", "/") + ".xml": data for name, data in members.items()}
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
            **others,
        }
    )


def odt(text: str, meta: str = "", manifest: str = "<manifest/>", styles: str = "") -> bytes:
    """An ODT. styles: elements before its body."""
    body = f"<office:body><office:text>{text}</office:text></office:body>"
    content = f"<office:document-content {ODF}>{styles}{body}</office:document-content>"
    said = f"<office:document-meta {ODF}><office:meta>{meta}</office:meta></office:document-meta>"
    return packed({"content.xml": content, "meta.xml": said, "META-INF/manifest.xml": manifest}, TYPES["odt"])


def epub(chapters: Mapping[str, str], metadata: str = "", **members: str) -> bytes:
    """An EPUB; chapters: bodies by file name, in the order of the spine."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    refs = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">'
        f"<metadata>{metadata}</metadata><manifest>{items}</manifest><spine>{refs}</spine></package>"
    )
    pages = {
        f"OEBPS/{name}": f'<html xmlns="{XHTML}"><head><title>{name}</title></head><body>{body}</body></html>'
        for name, body in chapters.items()
    }
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    others = {name.replace("__", "/") + ".xml": data for name, data in members.items()}
    return packed({"META-INF/container.xml": container, "OEBPS/book.opf": opf, **pages, **others}, TYPES["epub"])
