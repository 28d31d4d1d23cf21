"""The kind of a body decides who reads it: HTML, plain text, or nobody. Loads no library."""

from __future__ import annotations

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
TEXT_TYPES = frozenset({"text/plain", "text/markdown", "text/x-markdown", "text/x-rst"})

_MAGIC = (
    b"%PDF-",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"\x7fELF",
    b"BZh",
)


def media_kind(content_type: str, body: bytes) -> str | None:
    """Tell "html", "text" or None (nothing the stages read) by the declared type, else by the first bytes."""
    if body.startswith(_MAGIC):
        return None
    media_type = _media_type(content_type)
    if media_type in HTML_TYPES:
        return "html"
    if media_type in TEXT_TYPES:
        return "text"
    if media_type not in {"", "application/octet-stream", "unknown/unknown"}:
        return None
    start = body[:1024].lower()
    if b"<html" in start or b"<!doctype html" in start or b"<head" in start or b"<body" in start:
        return "html"
    return None if b"\0" in start or not start.strip() else "text"


def _media_type(content_type: str) -> str:
    """The type of a header; of values that a proxy has joined with commas, the last that is one (Fetch standard)."""
    types = [value.split(";", 1)[0].strip().lower() for value in content_type.split(",")]
    return next((one for one in reversed(types) if "/" in one and one != "*/*"), types[0])
