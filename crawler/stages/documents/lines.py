"""The lines of a page of a PDF, as PDFium orders them: text, place, size. What is tilted or has no letters is left out.

Places are points from the left and from the bottom of the page as it is shown, turned as it asks for (`/Rotate`).
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as c

from crawler.stages.documents.line import Line
from crawler.stages.documents.model import MAX_PAGE_CHARS, UnreadableError
from crawler.stages.documents.rows import is_rtl, rows_of
from crawler.stages.documents.spaces import EVERY, false_spaces, missing_spaces, with_spaces, without

_LIGATURES = re.compile("[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]+")
"""Latin ligatures, and presentation forms of Hebrew and Arabic: what fonts draw, and nobody writes."""
_ODD = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_LINE = re.compile("[^\r\n\ufffe]+")
_SAMPLES = 6
_TILT = 0.1
"""Rise over run from which a line is tilted: a watermark, a stamp in the margin."""
_MOST_ODD = 0.5
"""Share of a line's characters (sampled) without a letter in Unicode, from which the line says nothing."""
BOLD = 600
_NAME, _FIXED_PITCH = 128, 1
"""Bytes of a font's name that are looked at, and the flag of its descriptor (ISO 32000-1, table 123)."""
_MONO = re.compile(
    rb"mono(?!type|tone)|courier|consol|menlo|typewriter|\bcmtt|(?:^|\+)(?:ec|sf|lm|la|t1|zi4|tx|ul)?tt[a-z]{0,3}\d"
    rb"|inconsolata|andale|fixed|letter ?gothic|source ?code|fira ?code|lucida ?(?:console|sans ?typewriter)"
    rb"|nimbusmon|pcr[rb]8|txtt",
    re.IGNORECASE,
)
"""Names of such fonts: programs for TeX do not say it by the flag."""
RESTORED = "restored_spaces"
"""Name of a count: where one page lacked spaces, the pages after it are looked at whole."""


@dataclass(slots=True)
class _Page:
    """A page of text as PDFium has read it, and how it is turned."""

    text: Any
    turn: int
    width: float
    height: float
    lacks_spaces: bool = False
    restored: int = 0

    def shown(self, x: float, y: float) -> tuple[float, float]:
        """A place of the page's own as a reader sees it."""
        if self.turn == 90:
            return y, self.width - x
        if self.turn == 180:
            return self.width - x, self.height - y
        return (self.height - y, x) if self.turn == 270 else (x, y)

    def origin(self, index: int) -> tuple[float, float]:
        x, y = ctypes.c_double(), ctypes.c_double()
        c.FPDFText_GetCharOrigin(self.text, index, x, y)
        return self.shown(x.value, y.value)

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Left, bottom, right, top."""
        rect = c.FS_RECTF()
        c.FPDFText_GetLooseCharBox(self.text, index, rect)
        (ax, ay), (bx, by) = self.shown(rect.left, rect.bottom), self.shown(rect.right, rect.top)
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)

    def is_mono(self, index: int) -> bool:
        """True for a character of a font whose letters are of one width, as its name or its own statement says."""
        name, flags = ctypes.create_string_buffer(_NAME), ctypes.c_int()
        size = c.FPDFText_GetFontInfo(self.text, index, name, _NAME, flags)
        return size > 0 and (bool(flags.value & _FIXED_PITCH) or _MONO.search(name.raw[:size]) is not None)


def lines_of(page: Any, text: Any, number: int, counts: Counter[str]) -> list[Line]:
    """The lines of a page in reading order. page, text: of pypdfium2. counts: lines left out, by why.

    Raises: UnreadableError where the page has too many characters.
    """
    size = text.count_chars()
    if size > MAX_PAGE_CHARS:
        raise UnreadableError("too_large", f"page {number + 1} has {size:,} characters")
    own = _Page(text.raw, page.get_rotation() % 360, *page.get_size())
    tall = own.height  # as it is shown; the page's own measures are those before it is turned
    if own.turn in {90, 270}:
        own.width, own.height = own.height, own.width
    whole = text_of(text, size)
    pieces = list(_LINE.finditer(whole))
    own.lacks_spaces = counts[RESTORED] > 0 or any(_missing(own, piece[0], piece.start()) for piece in pieces[::EVERY])
    lines = []
    for found in pieces:
        line = _line(own, whole, found.span(), counts)
        if line is not None:
            line.broken = whole[found.end() : found.end() + 1] == "\ufffe"
            line.page, line.at = number, line.y / tall if tall else 0.5
            lines.append(line)
    counts[RESTORED] += own.restored
    return rows_of(lines)


def text_of(text: Any, size: int) -> str:
    """All that PDFium reads on a page, its marks for lines and hyphens included."""
    if not size:
        return ""
    buffer = ctypes.create_string_buffer(2 * (size + 1))
    written = c.FPDFText_GetText(text.raw, 0, size, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
    return buffer.raw[: 2 * max(0, written - 1)].decode("utf-16-le", "replace")


def _line(page: _Page, whole: str, span: tuple[int, int], counts: Counter[str]) -> Line | None:
    start, end = span
    while start < end and whole[start].isspace():
        start += 1
    while end > start and whole[end - 1].isspace():
        end -= 1
    if start == end:
        return None
    indices = [c.FPDFText_GetCharIndexFromTextIndex(page.text, at) for at in _sampled(start, end)]
    first, last = indices[0], indices[-1]
    (x, y), (other_x, other_y) = page.origin(first), page.origin(last)
    boxes = [page.box(first), page.box(indices[len(indices) // 2]), page.box(last)]
    height = sorted(box[3] - box[1] for box in boxes)[1]
    if abs(other_y - y) > max(_TILT * abs(other_x - x), height):
        counts["tilted_lines"] += 1
        return None
    text = whole[start:end]
    if _is_odd(page, text, indices):
        counts["garbled_lines"] += 1
        return None
    return Line(
        _as_written(page, text, start),
        min(box[0] for box in boxes),
        max(box[2] for box in boxes),
        min(y, other_y) if abs(other_y - y) < height / 2 else y,
        height,
        bold=all(c.FPDFText_GetFontWeight(page.text, index) >= BOLD for index in (first, last)),
        mono=all(page.is_mono(index) for index in (first, indices[len(indices) // 2], last)),
    )


def _sampled(start: int, end: int) -> list[int]:
    step = max(1, (end - start) // (_SAMPLES - 1))
    return [*range(start, end - 1, step), end - 1]


def _is_odd(page: _Page, text: str, indices: list[int]) -> bool:
    """True where most of the letters have no meaning outside their font."""
    unknown = sum(c.FPDFText_HasUnicodeMapError(page.text, index) == 1 for index in indices)
    if unknown >= _MOST_ODD * len(indices):
        return True
    return _ODD.search(text) is not None and len(_ODD.findall(text)) >= _MOST_ODD * len(text)


def _missing(page: _Page, text: str, start: int) -> list[int]:
    return missing_spaces(text, lambda at: page.box(c.FPDFText_GetCharIndexFromTextIndex(page.text, start + at)))


def _with_its_spaces(page: _Page, text: str, start: int) -> str:
    false = false_spaces(text, lambda at: page.box(c.FPDFText_GetCharIndexFromTextIndex(page.text, start + at)))
    missing = [at - sum(gone < at for gone in false) for at in _missing(page, text, start)]
    page.restored += len(false) + len(missing)
    return with_spaces(without(text, false), missing)


def _as_written(page: _Page, text: str, start: int) -> str:
    if page.lacks_spaces and not is_rtl(text):
        text = _with_its_spaces(page, text, start)
    elif "\u0627\u0644" in text:
        text = _with_ligatures(page, text, start)
    return " ".join(_ODD.sub("", _without_ligatures(text)).split())


def _without_ligatures(text: str) -> str:
    if not _LIGATURES.search(text):
        return text
    return _LIGATURES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _with_ligatures(page: _Page, text: str, start: int) -> str:
    """The ligature of lam and alef holds both letters, and PDFium turns them round with the line: here they turn back.

    Letters of one ligature stand on one place; alef and lam side by side, as in the article, on two.
    """
    letters = list(text)
    for at in range(len(letters) - 1):
        if letters[at] in "\u0622\u0623\u0625\u0627" and letters[at + 1] == "\u0644":
            one, two = (c.FPDFText_GetCharIndexFromTextIndex(page.text, start + at + n) for n in (0, 1))
            if page.origin(one) == page.origin(two):
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
    return "".join(letters)
