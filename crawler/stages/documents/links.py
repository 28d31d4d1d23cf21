"""Where a page of a PDF leads: its link annotations, and addresses that stand in its text."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as c

_MOST = 2_000
"""Links of one page."""
_LONGEST = 2_048
"""Bytes of an address."""


def links_of(pdf: Any, page: Any, text: Any) -> Iterator[str]:
    """Absolute http(s) URLs, in the order of the page. pdf, page, text: of pypdfium2."""
    at, link = ctypes.c_int(0), c.FPDF_LINK()
    for _ in range(_MOST):
        if not c.FPDFLink_Enumerate(page.raw, at, link):
            break
        action = c.FPDFLink_GetAction(link)
        if action and c.FPDFAction_GetType(action) == c.PDFACTION_URI:
            yield from _address(_uri(pdf, action))
    found = c.FPDFLink_LoadWebLinks(text.raw)
    try:
        for number in range(min(c.FPDFLink_CountWebLinks(found), _MOST)):
            yield from _address(_written(found, number))
    finally:
        c.FPDFLink_CloseWebLinks(found)


def _uri(pdf: Any, action: Any) -> str:
    size = c.FPDFAction_GetURIPath(pdf.raw, action, None, 0)
    if not 1 < size <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    c.FPDFAction_GetURIPath(pdf.raw, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _written(found: Any, number: int) -> str:
    size = c.FPDFLink_GetURL(found, number, None, 0)
    if not 1 < size <= _LONGEST:
        return ""
    buffer = (ctypes.c_ushort * size)()
    c.FPDFLink_GetURL(found, number, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00")


def _address(url: str) -> Iterator[str]:
    url = url.strip()
    if url.lower().startswith(("http://", "https://")) and not any(ord(sign) < 33 for sign in url):
        yield url
