"""AsciiDoc (as Asciidoctor reads it) becomes blocks: no markup is left in the text.

Line by line, without recursion; nothing is included, and conditions are not decided: what stands between them is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from crawler.stages.documents.asciidoc_inline import Names, inline
from crawler.stages.documents.model import Block, Content
from crawler.stages.documents.said import plausible_author

READER = "asciidoc-2"
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_UNDERLINES = "=-~^+"
_ATTRIBUTE = re.compile(r":(!?[\w-]{1,60}!?):(?:[ \t]+(.*)|$)")
_FENCE = re.compile(
    r"(-{4,200}|\.{4,200}|/{4,200}|\+{4,200}|={4,200}|\*{4,200}|_{4,200}|--|```\w{0,40}|[|,:!]={3,200})$"
)
_ITEM = re.compile(r"[ \t]*(\*{1,6}|-|\.{1,6}|\d{1,6}\.|<\d{1,3}>|<\.>)[ \t]+(?:\[[ x*]\][ \t]+)?(\S.*)")
_TERM = re.compile(r"[ \t]*(\S.{0,500}?)(?:::{1,3}|;;)(?:[ \t]+(\S.*))?$")
_ADMONITION = re.compile(r"(?:NOTE|TIP|WARNING|CAUTION|IMPORTANT):[ \t]+")
_MACRO = re.compile(
    r"(include|image|video|audio|toc|ifdef|ifndef|ifeval|endif|stem|latexmath)::[^\[\]\n]{0,1000}\[(.{0,1000})\]$"
)
_CALLOUT = re.compile(r"[ \t]*(?:(?://|#|--|;;)[ \t]*)?<(?:\d{1,3}|\.)>(?=[ \t]*$)", re.MULTILINE)
"""A number at the end of a line of code, which a list below the code explains."""
_STYLE = re.compile(r"\[[^\n]{0,1000}\]$")
_TITLE = re.compile(r"\.(?=[^\s.])(.{1,500})$")
_AUTHOR = re.compile(r"[^\W\d_][\w.'’-]*(?:[ \t]+[\w.'’-]+){0,3}(?:[ \t]+<[^<>\n]{1,200}>)?(?:;.*)?$")
_REVISION = re.compile(r"v?\d[\w.]{0,20}(?:,.*)?$|\d{4}-\d{2}-\d{2}")
_NO_TEXT = frozenset({"+", "'''", "<<<", "---", "***"})


@dataclass(slots=True)
class _State:
    names: Names = field(default_factory=Names)
    blocks: list[Block] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    form: str = "paragraph"
    sign: str = ""
    author: str = ""
    quotes: list[str] = field(default_factory=list)

    def put(self, form: str, text: str, level: int = 0, sign: str = "") -> None:
        """A block, then the footnotes that it has."""
        if text := text if form == "code" else inline(text, self.names):
            self.blocks.append(Block(form, sign + text, level, "quotation" if self.quotes else ""))
        notes, self.names.notes = self.names.notes, []
        self.blocks += (Block("paragraph", found, role="footnote") for note in notes
                        if (found := inline(note, self.names)))  # fmt: skip

    def close(self) -> None:
        """What has been read so far is a block."""
        waiting, self.waiting = self.waiting, []
        form, sign, self.form, self.sign = self.form, self.sign, "paragraph", ""
        if waiting:
            self.put(form, " ".join(waiting), sign=sign)

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def read_asciidoc(text: str) -> Content:
    """Blocks, links as they are written, and the title: the heading of level 1, or the first."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    state = _State()
    at = _head(lines, state)
    while at < len(lines):
        at = _step(lines, at, state)
    state.close()
    first = next((block.text for block in state.blocks if block.form == "heading"), "")
    author = plausible_author(state.author)
    return Content(blocks=state.blocks, links=list(state.names.links), title=first, author=author, counts=state.counts)


def _head(lines: list[str], state: _State) -> int:
    """The title with its author, revision and attributes; where the body begins."""
    at = 0
    while at < len(lines) and (not lines[at] or lines[at].startswith("//") or _set(lines[at], state)):
        at += 1
    if at >= len(lines) or not re.match(r"[=#][ \t]+\S", lines[at]):
        return at
    state.put("heading", lines[at][1:].strip(), 1)
    at += 1
    if at < len(lines) and _AUTHOR.match(lines[at]) and not _HEADING.match(lines[at]):
        state.author = re.sub(r"[ \t]*<[^<>]*>", "", lines[at]).replace(";", ",").strip()
        state.names.attributes["author"] = state.author
        at += 1
        if at < len(lines) and _REVISION.match(lines[at]):
            at += 1
    while at < len(lines) and (lines[at].startswith("//") or _set(lines[at], state)):
        at += 1
    return at


def _set(line: str, state: _State) -> bool:
    """True for a line that sets an attribute."""
    found = _ATTRIBUTE.match(line)
    if found:
        state.names.attributes[found[1].strip("!").lower()] = (found[2] or "").strip()
    return found is not None


def _step(lines: list[str], at: int, state: _State) -> int:  # noqa: PLR0911  # one for each form
    """Read a line, or a block that it opens; where the next begins."""
    line = lines[at]
    if not line or (line.startswith("//") and not line.startswith("////")):
        if not line:
            state.close()
        return at + 1
    if fence := _FENCE.match(line):
        return _fenced(lines, at, fence[1], state)
    if not state.waiting and _set(line, state):
        return at + 1
    if heading := _HEADING.match(line):
        state.close()
        state.put("heading", heading[2].rstrip("= ") if heading[1][0] == "=" else heading[2], len(heading[1]))
        return at + 1
    if _is_underlined(lines, at, state):
        state.put("heading", line, _UNDERLINES.index(lines[at + 1][0]) + 1)
        return at + 2
    if macro := _MACRO.match(line):
        state.close()
        if macro[1] in {"include", "stem", "latexmath"}:
            state.count("directives" if macro[1] == "include" else "formulae")
        elif macro[1] in {"ifdef", "ifndef"} and macro[2]:
            state.put("paragraph", macro[2])
        return at + 1
    _flowing(line, state)
    return at + 1


def _is_underlined(lines: list[str], at: int, state: _State) -> bool:
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if state.waiting or len(below) < 4 or below[0] not in _UNDERLINES or set(below) != {below[0]}:
        return False
    title = lines[at]
    return abs(len(below) - len(title)) <= 2 and title[0] not in " [.|/+" and any(map(str.isalnum, title))


def _fenced(lines: list[str], at: int, fence: str, state: _State) -> int:
    """A delimited block: code, a table, a comment; of the others the lines are read like all lines."""
    state.close()
    sign = fence[0]
    if sign in "=*_" or fence == "--":
        if sign == "_":
            if fence in state.quotes:
                state.quotes.remove(fence)
            else:
                state.quotes.append(fence)
        return at + 1
    close = "```" if sign == "`" else fence
    end = next((n for n in range(at + 1, len(lines)) if lines[n] == close), len(lines))
    inner = lines[at + 1 : end]
    if sign in "-.`":
        state.put("code", _CALLOUT.sub("", "\n".join(inner)).strip("\n"))
    elif sign in "|!,:":
        _table(inner, "|" if sign in "|!" else sign, _columns(lines[at - 1] if at else ""), state)
    elif sign == "+":
        state.count("directives")
    else:
        state.count("comments")
    return end + 1


def _columns(style: str) -> int:
    found = re.search(r"cols=(?:\"([^\"\n]{1,500})\"|([\w*]{1,20}))", style)
    if not found:
        return 0
    said = found[1] or found[2]
    times = re.match(r"(\d{1,3})\*", said)
    return int(times[1]) if times else said.count(",") + 1


def _table(lines: list[str], sign: str, columns: int, state: _State) -> None:
    cells: list[str] = []
    for line in lines:
        if not line:
            if not columns and cells:
                columns = len(cells)
            continue
        if sign != "|":
            state.put("table", " | ".join(cell.strip() for cell in line.split(sign)))
            continue
        first, *fresh = re.split(r"(?<!\\)(?:(?:^|(?<=\s))[\d.+*<>^aehlmsv]{1,12})?\|", line)
        if first.strip() and cells:
            cells[-1] = f"{cells[-1]} {first.strip()}"
        elif first.strip():
            fresh.insert(0, first)
        if not columns and len(fresh) > 1:
            columns = len(fresh)
        for cell in fresh:
            if columns and len(cells) == columns:
                state.put("table", " | ".join(filter(None, cells)))
                cells = []
            cells.append(cell.strip())
    state.put("table", " | ".join(filter(None, cells)))


def _flowing(line: str, state: _State) -> None:
    if not state.waiting and (_STYLE.match(line) and not line.startswith("[[[")):
        return
    if line in _NO_TEXT:
        state.close()
        return
    if not state.waiting and (title := _TITLE.match(line)):
        state.put("paragraph", title[1])
        return
    if item := _ITEM.match(line):
        state.close()
        is_number = item[1].rstrip(".").isdigit()
        state.form, state.sign = "list", f"{item[1]} " if is_number else "- "
        line = item[2]
    elif term := _TERM.match(line):
        state.close()
        state.put("paragraph", term[1])
        line = term[2] or ""
    elif not state.waiting:
        line = _ADMONITION.sub("", line, count=1)
    if line:
        state.waiting.append(line.strip().removesuffix(" +"))
