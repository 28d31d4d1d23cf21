"""A document in RTF becomes plain text: paragraphs are lines, the cells of a row stand side by side.

Rich Text Format Specification 1.9.1 (Microsoft, 2008). Hidden and deleted text, styles, pictures and the instructions
of fields are left out. One pass over the bytes; groups nest as deep as they like, since none is read by recursion.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

from crawler.stages.text.shifted import lowered, raised

MAGIC = b"{\\rtf"
MOST_OPEN = 10_000
"""Groups that are open at once; a document of more is read as far as that."""
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+", re.DOTALL
)
_LEFT_OUT = frozenset(
    b"info colortbl stylesheet pict header headerl headerr headerf footer footerl footerr footerf themedata "
    b"datastore fldinst colorschememapping latentstyles listtable listoverridetable rsidtbl generator xmlnstbl "
    b"bkmkstart bkmkend objdata nonshppict mmathPr filetbl revtbl private operator company comment doccomm "
    b"category keywords subject manager hlinkbase creatim revtim printim buptim userprops template wgrffmtfilter "
    b"annotation atnid atnauthor atrfstart atrfend pgptbl docvar sp ".split()
)
_SIGNS = {
    b"par": "\n", b"line": "\n", b"sect": "\n", b"page": "\n", b"column": "\n", b"tab": "\t", b"emdash": "—",
    b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”", b"bullet": "•",
    b"emspace": " ", b"enspace": " ",
    b"cell": "\x1f", b"nestcell": "\x1f", b"row": "\n", b"nestrow": "\n",
}  # fmt: skip
_CHARSETS = {77: "mac-roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253", 162: "cp1254",
             163: "cp1258", 177: "cp1255", 178: "cp1256",
             186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}  # fmt: skip
"""By the number of a font's character set."""
_SHIFTS = {b"super": "super", b"sub": "sub", b"nosupersub": "", b"plain": ""}
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class _State:
    """What holds in a group."""

    left_out: bool = False
    hidden: bool = False
    skip: int = 1
    """Characters behind one of Unicode that stand for it where it is not known."""
    font: int = -1
    target: str = "text"
    is_fonts: bool = False
    shift: str = ""
    is_begin: bool = False


@dataclass(slots=True)
class _Reader:
    page: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=lambda: {"text": [], "title": [], "author": [], "note": []})
    notes: list[str] = field(default_factory=list)
    """Of the paragraph or the row that is being read: they stand behind it."""
    day: list[int] = field(default_factory=list)
    """Year, month and day on which the document was begun."""
    waiting: bytearray = field(default_factory=bytearray)
    """Bytes of one character set that are not decoded yet."""
    shifted: list[str] = field(default_factory=list)
    state: _State = field(default_factory=_State)
    open: list[_State] = field(default_factory=list)
    """What holds in the groups around."""
    skipped: int = 0
    """Characters that are still to be passed over."""
    depth_fits: bool = True

    def turn(self, brace: bytes) -> None:
        """A group begins or ends; what follows the end of the document, or stands too deep, is not read."""
        self.skipped = 0
        if brace == b"{":
            self.open.append(self.state)
        elif self.open:
            self.enter(self.open.pop())
        self.depth_fits = 0 < len(self.open) <= MOST_OPEN

    def take(self, data: bytes) -> None:
        """Bytes of a text, without those that only stand for a character of Unicode."""
        self.skipped, data = max(0, self.skipped - len(data)), data[self.skipped :]
        if not (self.state.left_out or self.state.is_fonts):
            self.waiting += data

    def write(self, text: str) -> None:
        self.flush()
        self._put(text)

    def _put(self, text: str) -> None:
        if not (self.state.left_out or self.state.hidden or self.state.is_fonts):
            (self.shifted if self.state.shift else self.parts[self.state.target]).append(text)
            if text == "\n" and self.notes and self.state.target == "text":
                self.parts["text"] += [f"{note}\n" for note in self.notes]
                self.notes = []

    def flush(self) -> None:
        if self.waiting:
            codec = self.fonts.get(self.state.font, self.page)
            text = bytes(self.waiting).decode(codec, "replace")
            self.waiting.clear()
            self._put(text)

    def enter(self, state: _State) -> None:
        """Go on in another state; what stood above or below the line is written where that ends."""
        if state != self.state:
            self.flush()
        if self.shifted and state.shift != self.state.shift:
            text, self.shifted = "".join(self.shifted), []
            self.parts[self.state.target].append(lowered(text) if self.state.shift == "sub" else raised(text))
        if self.state.target == "note" != state.target:
            note, self.parts["note"] = " ".join("".join(self.parts["note"]).split()), []
            self.notes += [note] if note else []
        self.state = state


class Read(NamedTuple):
    """A document. title, author: as it says; date: ISO 8601 day on which it was begun; each "" where there is none."""

    text: str
    title: str
    author: str
    date: str


def read_rtf(body: bytes) -> Read:
    """Text, title, author and date of a document."""
    reader = _Reader()
    at = 0
    while (found := _TOKEN.match(body, at)) and reader.depth_fits:
        at = found.end()
        word, number, code, sign, brace, run = found.groups()
        if brace:
            reader.turn(brace)
        elif word == b"bin":
            at += max(0, int(number or 0))
        elif word:
            _read_word(reader, word, int(number) if number else None)
        elif code or run or (sign and sign in b"\\{}"):
            reader.take(bytes([int(code, 16)]) if code else run or sign)
        elif sign:
            _read_sign(reader, sign)
    reader.flush()
    reader.enter(_State())
    text, title, author = ("".join(reader.parts[name]) for name in ("text", "title", "author"))
    text = "\n".join([text, *reader.notes])
    return Read(_lines(text), " ".join(title.split()), " ".join(author.split()), _day(reader.day))


def _day(numbers: list[int]) -> str:
    try:
        return date(*numbers).isoformat() if len(numbers) == 3 else ""
    except (ValueError, OverflowError):
        return ""


def _read_sign(reader: _Reader, sign: bytes) -> None:
    if sign == b"*":
        reader.enter(replace(reader.state, left_out=True))
    elif sign in b"\r\n":
        reader.write("\n")
    elif sign in b"~_":
        reader.write(" " if sign == b"~" else "-")


def _read_word(reader: _Reader, word: bytes, value: int | None) -> None:
    state = reader.state
    if sign := _SIGNS.get(word):
        reader.write(sign)
    elif word == b"u" and value is not None:
        reader.write(_character(value))
        reader.skipped = state.skip
    elif word == b"uc":
        reader.state = replace(state, skip=max(0, min(value or 0, 10)))
    elif word in _LEFT_OUT:
        reader.enter(replace(state, left_out=True, is_begin=word == b"creatim"))
    elif word == b"footnote" and not state.left_out:
        reader.enter(replace(state, target="note", shift=""))
    elif state.is_begin and word in {b"yr", b"mo", b"dy"}:
        reader.day.append(value or 0)
    elif word in {b"title", b"author"} and state.left_out:
        reader.enter(replace(state, left_out=False, target=word.decode()))
    elif word in _SHIFTS:
        shift = _SHIFTS[word] if value != 0 else ""
        reader.enter(replace(state, shift=shift, hidden=state.hidden and word != b"plain"))
    elif word in {b"v", b"deleted"}:
        reader.enter(replace(state, hidden=value != 0))
    else:
        _read_charset(reader, word, value)


def _read_charset(reader: _Reader, word: bytes, value: int | None) -> None:
    state = reader.state
    if word == b"fonttbl":
        reader.enter(replace(state, is_fonts=True))
    elif word == b"ansicpg" and value:
        reader.page = _codec(f"cp{value}")
    elif word == b"mac":
        reader.page = "mac-roman"
    elif word == b"f" and value is not None:
        reader.enter(replace(state, font=value))
    elif word == b"fcharset" and value in _CHARSETS and state.is_fonts:
        reader.fonts[state.font] = _CHARSETS[value]


def _character(value: int) -> str:
    """A character of Unicode, a signed number of 16 bits; halves of a pair are joined at the end."""
    return chr(value & 0xFFFF)


def _codec(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        return {"cp10000": "mac-roman", "cp936": "gb18030"}.get(name, "cp1252")
    return name


def _lines(text: str) -> str:
    """Halves of a pair joined; rows of cells as lines; at most one empty line in a row."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = []
    for line in text.split("\n"):
        cells = line.split("\x1f")
        flat = " | ".join(_BLANKS.sub(" ", cell).strip() for cell in (cells[:-1] if len(cells) > 1 else cells))
        lines.append(" ".join(flat.split(" ")) if len(cells) == 1 else " ".join(flat.split()))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
