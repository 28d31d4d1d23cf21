"""Markdown (CommonMark, with tables and front matter) becomes blocks: no markup is left in the text.

Line by line, without recursion; every pattern is bounded, so that no line takes longer than it is long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape

from crawler.stages.documents.kept import Kept
from crawler.stages.documents.model import Block, Content

READER = "markdown-2"
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_CLOSING = re.compile(r"[ \t]+#{1,20}[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,200}|(?:-[ \t]*){3,200}|(?:_[ \t]*){3,200})$")
_FENCE = re.compile(r" {0,3}(`{3,40}|~{3,40})")
_ITEM = re.compile(r"[ \t]{0,40}(?:([-*+])|(\d{1,9}[.)]))[ \t]{1,4}(?=\S)")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_DELIMITER = re.compile(r" {0,3}\|?[ \t]*:?-{1,200}:?[ \t]*(?:\|[ \t]*:?-{1,200}:?[ \t]*){0,200}\|?[ \t]*$")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)([^\]\n]{1,200})\]:[ \t]*<?([^\s>]{1,2000})>?")
_ATTRIBUTE = r"(?:[#.][\w:.-]{1,80}|[\w-]{1,40}=(?:\"[^\"\n]{0,300}\"|[^\s\"{}]{1,200}))"
_ATTRIBUTES = re.compile(
    rf"[ \t]{{0,4}}\{{:?[ \t]{{0,4}}{_ATTRIBUTE}(?:[ \t]{{1,4}}{_ATTRIBUTE}){{0,20}}[ \t]{{0,4}}\}}"
)
"""Of a heading, a link or a paragraph, as pandoc and kramdown write them."""
_NOTE = re.compile(r" {0,3}\[\^[^\]\s]{1,100}\]:[ \t]+")
_NOTE_SIGN = re.compile(r"\[\^[^\]\s]{1,100}\]")
_COMMENT = re.compile(r" {0,3}<!--")
_IMAGE = re.compile(r"!\[([^\]\n]{0,500})\](?:\([^()\n]{0,2000}\)|\[[^\]\n]{0,200}\])")
_LINK = re.compile(r"\[([^\[\]\n]{0,1000})\]\(<?([^\s()<>]{0,2000})>?(?:[ \t]+[\"'][^\"'\n]{0,500}[\"'])?\)")
_REFERENCE = re.compile(r"\[([^\[\]\n]{1,500})\](?:\[([^\[\]\n]{0,200})\])?")
_AUTOMATIC = re.compile(r"<((?:https?|ftp)://[^\s<>]{1,2000})>")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]{0,30}(?:[ \t\n][^<>]{0,1000})?/?>|<!--[^<>]{0,5000}-->")
_CODE = re.compile(r"(`{1,3})([^`\n]{1,2000})\1")
_STRONG = re.compile(r"(?<![\\\w])(\*\*\*|\*\*|\*|___|__|_|~~)(?=\S)([^*_~\n]{1,2000})(?<=\S)\1(?!\w)")
_INNER = re.compile(r"(?<!\\)(\*\*)(?=\S)([^*\n]{1,2000})(?<=\S)\1")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_FRONT = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*[\"']?([^\n]{1,500}?)[\"']?[ \t]*$", re.MULTILINE)


@dataclass(slots=True)
class _State:
    blocks: list[Block] = field(default_factory=list)
    links: dict[str, None] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    form: str = "paragraph"
    sign: str = ""
    role: str = ""
    columns: list[int] = field(default_factory=list)
    """Where the text of each item begins in which the line stands, from the outermost."""

    def close(self) -> None:
        """What has been read so far is a block."""
        text = inline(" ".join(self.waiting), self)
        if text:
            self.blocks.append(Block(self.form, f"{self.sign}{text}", role=self.role))
        self.waiting, self.form, self.sign, self.role = [], "paragraph", "", ""

    def heading(self, text: str, level: int) -> None:
        """A heading, after what stood before it."""
        self.close()
        if found := inline(text, self):
            self.blocks.append(Block("heading", found, level))


def read_markdown(text: str) -> Content:
    """Blocks, links as they are written, and the title: of the front matter, else the first heading of level 1."""
    title = ""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if front := _FRONT.match(text):
        named = _TITLE.search(front[1])
        title, text = named[1] if named else "", text[front.end() :]
    lines = text.split("\n")
    state = _State(targets={_name(m[1]): m[2] for line in lines if (m := _DEFINITION.match(line))})
    _read(lines, state)
    state.close()
    first = next((block.text for block in state.blocks if block.form == "heading" and block.level == 1), "")
    return Content(blocks=state.blocks, links=list(state.links), title=title or first)


def _read(lines: list[str], state: _State) -> None:
    fence, indent = "", 0
    code: list[str] = []
    in_comment = False
    for number, raw in enumerate(lines):
        line = raw if fence or code else _within(raw, state)
        if in_comment or (not fence and not code and _COMMENT.match(line)):
            in_comment, behind = _after_comment(line)
            if behind.strip():
                _line(behind, state)
        elif fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                _listing(code, state)
                fence, code = "", []
            else:
                inner = _dedented(line, state)
                code.append(inner[min(indent, len(inner) - len(inner.lstrip(" "))) :])
        elif found := None if code else _FENCE.match(line):
            state.close()
            fence, indent = found[1], len(line) - len(line.lstrip(" "))
        elif code or (line.startswith("    ") and not state.waiting):
            inner = _dedented(line, state) if code else line
            code.append(inner[4:])
            after = lines[number + 1].expandtabs(4) if number + 1 < len(lines) else ""
            if not after.startswith(" " * (4 + (state.columns[-1] if state.columns else 0))):
                _listing(code, state)
                code = []
        else:
            _line(line, state)
    _listing(code, state)


def _within(raw: str, state: _State) -> str:
    """The line as it stands within the items of lists that it belongs to, whose columns the state has."""
    blanks = len(raw) - len(raw.lstrip(" \t"))
    line = raw[:blanks].expandtabs(4) + raw[blanks:]
    indent = len(line) - len(line.lstrip(" "))
    if line.strip() and (not state.waiting or indent or _ITEM.match(line)):
        while state.columns and indent < state.columns[-1]:
            state.columns.pop()
    return line[min(indent, state.columns[-1]) :] if state.columns else line


def _dedented(raw: str, state: _State) -> str:
    """A line of code without the columns of the item that it belongs to."""
    line = raw.expandtabs(4) if raw.startswith((" ", "\t")) else raw
    column = min(len(line) - len(line.lstrip(" ")), state.columns[-1] if state.columns else 0)
    return line[column:]


def _after_comment(line: str) -> tuple[bool, str]:
    """Whether a comment of HTML goes on in the next line, and what stands behind its end."""
    _, end, behind = line.partition("-->")
    return not end, behind


def _listing(code: list[str], state: _State) -> None:
    if any(line.strip() for line in code):
        state.blocks.append(Block("code", "\n".join(code).strip("\n")))


def _line(line: str, state: _State) -> None:
    if not line.strip() or _DEFINITION.match(line):
        state.close()
        return
    if note := _NOTE.match(line):
        state.close()
        state.role, line = "footnote", line[note.end() :]
        state.waiting.append(line.strip())
        return
    if heading := _HEADING.match(line):
        state.heading(_CLOSING.sub("", line[heading.end() :]), len(heading[1]))
        return
    if _UNDERLINE.match(line) and state.waiting and state.form == "paragraph":
        above, state.waiting = " ".join(state.waiting), []
        state.heading(above, 1 if line.strip()[0] == "=" else 2)
        return
    if _RULE.match(line) or _DELIMITER.match(line):
        state.close()
        return
    _flowing(line, state)


def _flowing(line: str, state: _State) -> None:
    quoted = _QUOTE.match(line)
    if quoted:
        line = line[quoted.end() :]
        if not line.strip() or (state.waiting and state.role != "quotation"):
            state.close()
    item = _ITEM.match(line)
    if item or line.count("|") >= 2:
        state.close()
    if item:
        state.columns.append((state.columns[-1] if state.columns else 0) + item.end())
        state.form, state.sign, line = "list", f"{item[2] or '-'} ", line[item.end() :]
    state.role = "quotation" if quoted else state.role
    if not item and line.count("|") >= 2:
        state.form = "table"
        cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
        state.waiting.append(" | ".join(cells))
        state.close()
    elif line.strip():
        state.waiting.append(line.strip().rstrip("\\"))


def inline(text: str, state: _State) -> str:
    """The words of a line: of links their text, of images nothing, of code what stands in it."""
    kept = Kept()

    def link(found: re.Match[str]) -> str:
        state.links.setdefault(found[2])
        return found[1]

    def reference(found: re.Match[str]) -> str:
        target = state.targets.get(_name(kept.whole(found[2] or found[1])))
        if target is None:
            return found[0]
        state.links.setdefault(target)
        return found[1]

    text = _CODE.sub(lambda found: kept.keep(found[2]), text.replace("\ue000", "").replace("\ue001", ""))
    text = _LINK.sub(link, _IMAGE.sub("", _NOTE_SIGN.sub("", text)))
    text = _ATTRIBUTES.sub("", _REFERENCE.sub(reference, text))
    text = _AUTOMATIC.sub(lambda found: state.links.setdefault(found[1]) or found[1], text)
    text = _TAG.sub("", text)
    for pattern in (_INNER, _STRONG, _STRONG):
        text = pattern.sub(r"\2", text)
    text = _ESCAPED.sub(r"\1", unescape(text))
    return " ".join(kept.whole(text).split())


def _name(label: str) -> str:
    return " ".join(label.replace("`", "").split()).casefold()
