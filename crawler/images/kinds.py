"""What are these bytes? By their first ones, as browsers tell (MIME Sniffing standard, section 6.1), no header."""

from __future__ import annotations

READ = ("JPEG", "PNG", "WEBP", "AVIF", "GIF", "BMP", "TIFF")
"""Kinds that are decoded, as Pillow calls them."""
_BEGINNINGS = {
    b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG", b"GIF87a": "GIF", b"GIF89a": "GIF", b"BM": "BMP",
    b"II*\0": "TIFF", b"MM\0*": "TIFF", b"\0\0\1\0": "ICO",
}  # fmt: skip
_BRANDS = frozenset({b"avif", b"avis"})
_HEAD = 4096


def kind_of(data: bytes) -> str:
    """One of `READ`, or "ICO", "SVG"; empty for everything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    if data[4:8] == b"ftyp":
        size = min(int.from_bytes(data[:4], "big"), 256)
        return "AVIF" if _BRANDS & {data[at : at + 4] for at in range(8, size, 4)} else ""
    found = next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "")
    return found or ("SVG" if _is_svg(data[:_HEAD]) else "")


def _is_svg(head: bytes) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return text.startswith(b"<") and b"<svg" in text and b"<html" not in text and b"<!doctype html" not in text
