"""Lines of pages become paragraphs, headings, items of lists and notes, over the ends of columns and pages.

Nothing here knows of PDF. What begins a paragraph: more room above it, an indent, another size of letters, or a line
before it that had room for its first word. No rule looks at a language; those of case hold where a script has it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from crawler.stages.documents.line import Line
from crawler.stages.documents.model import Block
from crawler.stages.documents.rows import is_rtl
from crawler.stages.text.joins import SENTENCE_ENDS, joined, words_of

_SAME_SIZE = 0.12
_ROOM = 1.3
"""Distance of two lines, as a multiple of the usual one, that parts two paragraphs."""
_RUN = 2.2
_INDENT = 0.7
"""Of the size of the letters."""
_TYPED = 0.6
"""Share of letters of one width from which they are no sign of code."""
_BLANK, _FURTHEST = 4.0, 60
"""Of the size of the letters: room between two lines of one listing at most; columns of indentation at most."""
_LARGER, _SMALLER = 1.15, 0.92
_HEADING_CHARS, _BOLD_WORDS = 250, 15
_BULLET = re.compile(r"[•◦▪▫–—‣●○■□∙·*\-]\s+\S|[•◦▪‣●○■□∙]\S")
_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-z][.)]|\[\d{1,3}\])\s+\S", re.IGNORECASE)
_END = re.compile(rf"[{SENTENCE_ENDS}][\"'”’»)\]」』）]*$")
_NOTE = re.compile(r"[\d*†‡§¶\[(]")


@dataclass(slots=True)
class _Paragraph:
    lines: list[Line]
    right: float
    left: float
    is_item: bool = False
    note: bool = False
    is_code: bool = False

    @property
    def size(self) -> float:
        return median(line.size for line in self.lines)

    @property
    def is_rtl(self) -> bool:
        return is_rtl("".join(line.text for line in self.lines[:3]))


def blocks_of(pages: list[list[Line]]) -> list[Block]:
    """The blocks of a file, in reading order; notes follow the paragraph that they interrupt."""
    lines = [line for page in pages for line in page]
    if not lines:
        return []
    body = _usual_size(lines)
    _mark_code(pages)
    known = words_of(line.text for line in lines)
    order: list[_Paragraph] = []
    waiting: list[_Paragraph] = []
    for page in pages:
        fresh = [one for run in _runs(page) for one in _paragraphs(run)]
        notes = _notes(fresh, body)
        for one in fresh[: len(fresh) - len(notes)]:
            if order and _goes_on(order[-1], one):
                order[-1].lines += one.lines
                order[-1].left, order[-1].right = one.left, one.right
                continue
            order += waiting
            waiting = []
            order.append(one)
        waiting += notes
    order += waiting
    sizes = _heading_sizes(order, body)
    return [_block(one, body, sizes, known) for one in order]


def _mark_code(pages: list[list[Line]]) -> None:
    """Of lines in letters of one width those that follow each other are a listing; a text that is typed so has none."""
    letters = [(len(line.text), line.mono) for page in pages for line in page]
    is_typed = sum(size for size, mono in letters if mono) > _TYPED * sum(size for size, _ in letters)
    for page in pages:
        mono = [line.mono and not is_typed for line in page]
        for number, line in enumerate(page):
            line.mono = (
                mono[number] and (mono[max(0, number - 1) : number] + mono[number + 1 : number + 2]).count(True) > 0
            )


def _usual_size(lines: list[Line]) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], size)) or 1.0


def _runs(lines: list[Line]) -> list[list[Line]]:
    """Lines one below the other, in letters of one size."""
    gaps = [a.y - b.y for a, b in pairwise(lines) if 0 < a.y - b.y < 4 * a.size]
    usual = median(gaps) if gaps else 0.0
    runs: list[list[Line]] = []
    for line in lines:
        if not runs or _is_apart(runs[-1][-1], line, usual):
            runs.append([])
        runs[-1].append(line)
    return runs


def _is_apart(last: Line, line: Line, usual: float) -> bool:
    gap = last.y - line.y
    return (
        gap < -0.5 * last.size
        or gap > _RUN * max(usual, last.size * 0.9)
        or min(last.x1, line.x1) <= max(last.x0, line.x0)
        or abs(line.size / last.size - 1 if last.size else 0) > _SAME_SIZE
    )


def _paragraphs(run: list[Line]) -> list[_Paragraph]:
    left, right = _edge([line.x0 for line in run]), max(line.x1 for line in run)
    gaps = sorted(a.y - b.y for a, b in pairwise(run) if a.y - b.y > 0)
    usual = gaps[len(gaps) // 3] if gaps else 0.0
    found: list[_Paragraph] = []
    for line in run:
        last = found[-1].lines[-1] if found else None
        in_list = bool(found) and found[-1].is_item
        is_item = not line.mono and _is_item(line, last, in_list, right)
        if line.mono and last is not None and last.mono:
            found[-1].lines.append(line)
        elif last is None or is_item or line.mono != last.mono or _begins(found[-1], line, usual):
            found.append(_Paragraph([line], right, left, is_item, is_code=line.mono))
        else:
            found[-1].lines.append(line)
    return found


def _edge(values: list[float]) -> float:
    """Where most lines begin; the outermost where they differ."""
    common = Counter(round(value) for value in values).most_common(1)[0]
    return float(common[0]) if common[1] > 1 else min(values)


def _is_item(line: Line, last: Line | None, in_list: bool, right: float) -> bool:
    if _BULLET.match(line.text):
        return line.text[0] not in "–—-*·" or last is None or in_list or _had_room(last, line, right)
    if not _NUMBERED.match(line.text):
        return False
    return last is None or in_list or _END.search(last.text) is not None or _had_room(last, line, right)


def _begins(paragraph: _Paragraph, line: Line, usual: float) -> bool:
    last, left, right = paragraph.lines[-1], paragraph.left, paragraph.right
    if last.broken:
        return False
    if (usual and last.y - line.y > _ROOM * usual) or (last.bold != line.bold and _is_all_bold(paragraph)):
        return True
    if paragraph.is_rtl:
        left, right = -max(paragraph.right, right), -left
        last, line = _mirrored(last), _mirrored(line)
    first = paragraph.lines[0] if not paragraph.is_rtl else _mirrored(paragraph.lines[0])
    hangs = paragraph.is_item or (len(paragraph.lines) > 1 and paragraph.lines[1].x0 > first.x0 + _INDENT * line.size)
    if not hangs and line.x0 - left > _INDENT * line.size and line.x0 - last.x0 > _INDENT * line.size / 2:
        return True
    if hangs and not paragraph.is_item and abs(line.x0 - first.x0) < 1 and line.x0 < last.x0 - _INDENT * line.size:
        return True
    return _had_room(last, line, right)


def _mirrored(line: Line) -> Line:
    return Line(line.text, -line.x1, -line.x0, line.y, line.size, line.bold, line.broken, line.page, line.at)


def _is_all_bold(paragraph: _Paragraph) -> bool:
    return all(line.bold for line in paragraph.lines)


def _had_room(last: Line, line: Line, right: float) -> bool:
    """True where the first word of a line would have fitted on the one before it, with some room to spare."""
    if last.broken or not line.text:
        return False
    width = (line.x1 - line.x0) / len(line.text)
    word = len(line.text.split(" ", 1)[0])
    spare = 3 * width if _END.search(last.text) else max(8 * width, 0.2 * (right - last.x0))
    return right - last.x1 > min(word, 30) * width + spare


def _goes_on(last: _Paragraph, line: _Paragraph) -> bool:
    """True where a paragraph goes on in another column or on another page."""
    end, begin = last.lines[-1], line.lines[0]
    if last.is_code or line.is_code:
        return last.is_code and line.is_code and (end.page != begin.page or 0 < end.y - begin.y < _BLANK * end.size)
    if end.broken:
        return True
    if end.page == begin.page and end.y > begin.y and min(end.x1, begin.x1) > max(end.x0, begin.x0):
        return False  # one below the other: what parted them stands
    if line.is_item or abs(begin.size / end.size - 1 if end.size else 0) > _SAME_SIZE or _END.search(end.text):
        return False
    if begin.bold != end.bold and (begin.bold or _is_all_bold(last)):
        return False
    return _begins_within(last, begin)


def _begins_within(last: _Paragraph, begin: Line) -> bool:
    """True where a line begins in the middle of a sentence: with a small letter, or, where there are none, below a full
    line.
    """
    end, letter = last.lines[-1], next((sign for sign in begin.text if sign.isalpha()), "")
    if letter.islower():
        return begin.text[0] == letter or not begin.text[0].isalnum()
    if letter.isupper() or letter == "":
        return False
    is_full = end.x0 - last.left < 2 * end.size if last.is_rtl else last.right - end.x1 < 2 * end.size
    return is_full and len(last.lines) > 1


def _notes(fresh: list[_Paragraph], body: float) -> list[_Paragraph]:
    """The notes at the foot of a page: last, in smaller letters, below all else, the first one with a sign."""
    at = len(fresh)
    while at > 0 and fresh[at - 1].size < _SMALLER * body:
        at -= 1
    notes = fresh[at:]
    if not notes or at == 0 or not _NOTE.match(notes[0].lines[0].text):
        return []
    lowest = min(line.y for one in fresh[:at] for line in one.lines)
    if notes[0].lines[0].y > lowest:
        return []
    for note in notes:
        note.note = True
    return notes


def _heading_sizes(order: list[_Paragraph], body: float) -> list[float]:
    """The sizes of headings, the largest first."""
    sizes = {round(one.size, 1) for one in order if one.size > _LARGER * body and not one.note}
    return sorted(sizes, reverse=True)[:6]


def _code(lines: list[Line]) -> str:
    """The lines of a listing, indented as they stand, with an empty one where there is room for it."""
    width = median((line.x1 - line.x0) / max(len(line.text), 1) for line in lines) or 1.0
    lefts: dict[int, float] = {}
    for line in lines:
        lefts[line.page] = min(line.x0, lefts.get(line.page, line.x0))
    pitch = median([a.y - b.y for a, b in pairwise(lines) if a.page == b.page and a.y > b.y] or [0.0])
    written: list[str] = []
    for number, line in enumerate(lines):
        last = lines[number - 1] if number else line
        if last.page == line.page and last.y - line.y > _ROOM * pitch > 0:
            written.append("")
        written.append(
            " " * min(round((line.x0 - lefts[line.page]) / width), _FURTHEST) + line.text + "-" * line.broken
        )
    return "\n".join(written)


def _block(one: _Paragraph, body: float, sizes: list[float], known: Counter[str]) -> Block:
    if one.is_code:
        return Block("code", _code(one.lines))
    text = one.lines[0].text
    for last, line in pairwise(one.lines):
        text = joined(text, line.text, last.broken, known)
    if one.lines[-1].broken:
        text += "-"
    if one.note:
        return Block("paragraph", text, role="footnote")
    is_large = one.size > _LARGER * body and len(text) <= _HEADING_CHARS
    if one.is_item and not is_large:
        return Block("list", text)
    is_bold = _is_all_bold(one) and len(text.split()) <= _BOLD_WORDS and not text.endswith((".", ",", ";"))
    if (is_large or is_bold) and any(map(str.isalpha, text)):
        size = round(one.size, 1)
        level = sizes.index(size) + 1 if size in sizes else min(len(sizes) + 1, 6)
        return Block("heading", text, level)
    return Block("paragraph", text)
