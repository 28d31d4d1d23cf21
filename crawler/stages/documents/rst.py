"""reStructuredText (docutils, with the directives and roles of Sphinx) becomes blocks: no markup is left in the text.

Line by line, nested as deep as `_DEEPEST`; nothing is included, run or fetched. Every pattern is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from crawler.stages.documents.model import Block, Content
from crawler.stages.documents.rst_inline import Names, inline, name_of
from crawler.stages.documents.rst_tables import grid_rows, is_grid, is_ruled, ruled_rows
from crawler.stages.documents.said import plausible_author

READER = "rst-2"
_DEEPEST = 30
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1{1,500}\s*$")
_BULLET = re.compile(r"[-*+•‣⁃](?:[ \t]+|$)")
_NUMBER = re.compile(
    r"(?:\(?(?:\d{1,6}|#|[A-Za-z]|[ivxlcdmIVXLCDM]{1,8})\)|(?:\d{1,6}|#|[A-Za-z]|[ivxlcdm]{1,8})\.)[ \t]+(?=\S)"
)
_FIELD = re.compile(r":([^:\n]{1,100}(?::[^:\s][^:\n]{0,100})*):(?:[ \t]+|$)")
_EXPLICIT = re.compile(r"\.\.(?:[ \t]+|$)")
_DIRECTIVE = re.compile(r"(?:\|([^|\n]{1,200})\|[ \t]+)?([A-Za-z][\w.:+-]{0,60}?)[ \t]?::(?:[ \t]+|$)(.*)")
_NOTE = re.compile(r"\[([^\]\n]{1,100})\][ \t]*(.*)")
_TARGET = re.compile(r"_(`[^`\n]{1,300}`|(?:\\.|[^:\\\n]){1,300}):(?:[ \t]+|$)(.*)")
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "doctest", "prompt", "ipython", "testcode"})
_OUT = frozenset(
    ("toctree", "image", "math", "raw", "include", "literalinclude", "index", "contents", "meta", "highlight", "role",
     "default-role", "csv-table", "graphviz", "uml", "plot", "module", "currentmodule", "automodule", "autoclass",
     "autofunction", "sectnum", "header", "footer", "title", "tabularcolumns", "testsetup", "testcleanup", "date")
)  # fmt: skip
"""Directives of which nothing is read; those with a text of their own are counted."""
_SILENT = _OUT - {"math", "raw", "csv-table", "include", "literalinclude"}
_TITLED = frozenset({"rubric", "admonition", "topic", "sidebar", "table", "list-table", "figure", "centered"})
_OBJECTS = frozenset({"function", "class", "method", "attribute", "data", "describe", "option", "envvar"})


@dataclass(slots=True)
class _State:
    names: Names
    levels: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    author: str = ""
    title: str = ""
    blocks: list[Block] = field(default_factory=list)

    def put(self, form: str, text: str, level: int = 0, role: str = "") -> None:
        if text := text if form == "code" else inline(text, self.names):
            self.blocks.append(Block(form, text, level, role))

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def read_rst(text: str) -> Content:
    """Blocks, links as they are written, and the title: the first heading."""
    lines = [line.expandtabs(8).rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    state = _State(Names())
    _names(lines, state.names)
    _read(lines, state, 0, "")
    first = next((block.text for block in state.blocks if block.form == "heading"), "")
    return Content(
        blocks=state.blocks,
        links=list(state.names.links),
        title=state.title or first,
        author=plausible_author(state.author),
        counts=state.counts,
    )


def _names(lines: list[str], names: Names) -> None:
    """What is defined anywhere in the text: targets of links, labels of headings, substitutions."""
    for at, line in enumerate(lines):
        if not (start := _EXPLICIT.match(line.lstrip())):
            continue
        rest = line.lstrip()[start.end() :]
        if target := _TARGET.match(rest):
            label, place = name_of(target[1].strip("`")), target[2].strip()
            if place and not place.endswith("_"):
                names.targets[label] = place
            elif not place:
                after = next((one for one in lines[at + 1 : at + 6] if one.strip() and not _LINE.match(one)
                              and not one.startswith("..")), "")  # fmt: skip
                names.labels[label] = after.strip()[:300]
        elif (made := _DIRECTIVE.match(rest)) and made[1]:
            names.said[name_of(made[1])] = made[3] if made[2] == "replace" else ""


def _read(lines: list[str], state: _State, depth: int, role: str) -> None:
    at = 0
    while at < len(lines):
        at = _step(lines, at, state, depth, role)


def _step(  # noqa: PLR0911  # one return for each form
    lines: list[str], at: int, state: _State, depth: int, role: str
) -> int:
    """Read what begins on a line; where the next begins."""
    line = lines[at]
    if not line:
        return at + 1
    if (found := _heading(lines, at, state)) is not None:
        return found
    if line.startswith(" "):
        end = _indented(lines, at)
        _inner(_dedented(lines[at:end]), state, depth, role or "quotation")
        return end
    if start := _EXPLICIT.match(line):
        end = _indented(lines, at + 1)
        _explicit(line[start.end() :], lines[at + 1 : end], state, depth, role)
        return end
    if line.startswith("__ ") or _LINE.match(line):
        return at + 1
    if is_grid(line):
        return _table(lines, at, state, grid_rows)
    if is_ruled(line):
        return _table(lines, at, state, ruled_rows)
    if line.startswith(("| ", ">>> ")) or line == "|":
        return _verse(lines, at, state, role)
    return _marked(lines, at, state, depth, role)


def _heading(lines: list[str], at: int, state: _State) -> int | None:
    """Where a heading with a line below it, or above and below it, ends; None where there is none."""
    over = _LINE.match(lines[at])
    title = at + 1 if over else at
    if title + 1 >= len(lines) or not lines[title].strip() or _LINE.match(lines[title]):
        return None
    under, text = _LINE.match(lines[title + 1]), lines[title].strip()
    if under is None or (over and over[1] != under[1]) or (not over and lines[title].startswith(" ")):
        return None
    if len(lines[title + 1].strip()) < min(len(text), 4) or (at and lines[at - 1] and not over):
        return None
    kind = under[1] + ("^" if over else "")
    if kind not in state.levels:
        state.levels.append(kind)
    state.put("heading", text, min(state.levels.index(kind) + 1, 6))
    return title + 2


def _indented(lines: list[str], at: int) -> int:
    """The end of the lines that are indented, those without anything on them included where others follow."""
    end = at
    while at < len(lines) and (not lines[at] or lines[at].startswith(" ")):
        at += 1
        end = at if lines[at - 1] else end
    return end


def _dedented(lines: list[str]) -> list[str]:
    least = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return [line[least:] for line in lines]


def _inner(lines: list[str], state: _State, depth: int, role: str) -> None:
    if depth < _DEEPEST:
        _read(lines, state, depth + 1, role)
    else:
        state.put("paragraph", " ".join(lines), role=role)


def _explicit(first: str, rest: list[str], state: _State, depth: int, role: str) -> None:
    if note := _NOTE.match(first):
        before = len(state.blocks)
        _inner([note[2], *_dedented(rest)], state, depth, "footnote")
        state.blocks[before:] = [block._replace(role="footnote") for block in state.blocks[before:]]
    elif _TARGET.match(first) or first.startswith("__ "):
        return
    elif made := _DIRECTIVE.match(first):
        if not made[1]:
            _directive(made, _dedented(rest), state, depth, role)
    else:
        state.count("comments")


def _directive(made: re.Match[str], rest: list[str], state: _State, depth: int, role: str) -> None:
    name, said = made[2].lower(), made[3]
    while rest and not rest[0]:
        rest = rest[1:]
    options = list(takewhile(lambda line: _FIELD.match(line) or line.startswith(" "), rest))
    options = options if options and _FIELD.match(options[0]) else []
    body = rest[len(options) :]
    if name in _CODE:
        state.put("code", "\n".join(_dedented(body)).strip("\n"))
    elif name in _OUT:
        if name not in _SILENT:
            state.count("formulae" if name == "math" else "directives")
    elif name in _TITLED:
        if name != "figure":
            state.put("paragraph", said, role=role)
        _inner(body, state, depth, role)
    elif ":" in name or name in _OBJECTS:
        state.put("code", said)
        _inner(body, state, depth, role)
    else:  # a note, a warning, or what an extension has added: its text is text
        _inner([said, "", *body] if not body or not body[0] or options else [said, *body], state, depth, role)


def _table(lines: list[str], at: int, state: _State, rows: object) -> int:
    end = at
    if rows is grid_rows:
        while end < len(lines) and lines[end].startswith(("+", "|")):
            end += 1
        found: Iterator[list[str]] = grid_rows(lines[at:end])
    else:
        end, rules = at + 1, 1
        while end < len(lines) and rules < 3 and (lines[end] or rules < 2 or _goes_on(lines, end)):
            rules += is_ruled(lines[end])
            end += 1
            if rules == 2 and is_ruled(lines[end - 1]) and (end >= len(lines) or not lines[end]):
                break
        found = ruled_rows(lines[at:end])
    for cells in found:
        state.put("table", " | ".join(cell for cell in cells if cell))
    return end


def _goes_on(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and bool(lines[at + 1])


def _verse(lines: list[str], at: int, state: _State, role: str) -> int:
    """Lines of a verse, or of a dialogue with Python."""
    end = at
    if lines[at].startswith(">>> "):
        while end < len(lines) and lines[end]:
            end += 1
        state.put("code", "\n".join(lines[at:end]))
        return end
    while end < len(lines) and (lines[end].startswith(("| ", "  ")) or lines[end] == "|"):
        end += 1
    verse = [text for line in lines[at:end] if (text := inline(line[2:], state.names))]
    if verse:
        state.blocks.append(Block("paragraph", "\n".join(verse), role=role))
    return end


def _marked(lines: list[str], at: int, state: _State, depth: int, role: str) -> int:
    """An item of a list, a field, a definition, or a paragraph."""
    line = lines[at]
    if item := _BULLET.match(line) or _NUMBER.match(line):
        end = _indented(lines, at + 1)
        sign = "-" if _BULLET.match(line) or "#" in item[0] else item[0].strip()
        before = len(state.blocks)
        _inner([line[item.end() :], *_dedented(lines[at + 1 : end])], state, depth, role)
        for number, block in enumerate(state.blocks[before:], before):
            if block.form == "paragraph" and number == before:
                state.blocks[number] = block._replace(form="list", text=f"{sign} {block.text}")
        return end
    if said := _FIELD.match(line):
        end = _indented(lines, at + 1)
        _field(said[1], " ".join([line[said.end() :], *(one.strip() for one in lines[at + 1 : end])]), state)
        return end
    end = at
    while end < len(lines) and lines[end] and (end == at or not lines[end].startswith(" ")):
        end += 1
    text = " ".join(lines[at:end])
    if text.endswith("::"):
        state.put("paragraph", text[:-2].rstrip() if text.endswith(" ::") or text == "::" else text[:-1], role=role)
        start, end = end, _indented(lines, end)
        state.put("code", "\n".join(_dedented(lines[start:end])).strip("\n"))
        return end
    state.put("paragraph", text, role=role)
    if end < len(lines) and lines[end].startswith(" "):  # what a term means
        start, end = end, _indented(lines, end)
        _inner(_dedented(lines[start:end]), state, depth, role)
    return end


def _field(name: str, value: str, state: _State) -> None:
    is_at_head = all(block.form == "heading" for block in state.blocks)
    if not is_at_head:
        state.put("list", f"{name.rpartition(' ')[2]}: {value}" if value.strip() else "")
    elif name.lower() in {"author", "authors"}:
        state.author = state.author or inline(value, state.names)
    elif name.lower() == "title":
        state.title = inline(value, state.names)
