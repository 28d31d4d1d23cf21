"""The blocks of a file as a text: each a line of its own, or Markdown where TEXT_FORMAT asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from crawler.document import Span
from crawler.stages.documents.model import Block
from crawler.stages.extraction.written import Written

_TOGETHER = frozenset({"list", "table"})
"""Forms whose blocks stand without an empty line between them, in Markdown too."""


def of_blocks(blocks: Iterable[Block], text_format: str) -> Written:
    """The text with its parts. text_format: as TEXT_FORMAT."""
    is_markdown = text_format == "markdown"
    shown = [(block, text) for block in blocks if (text := _text(block, is_markdown)).strip()]
    texts: list[str] = []
    parts: list[Span] = []
    at = 0
    gaps = (*(_gap(a[0], b[0], is_markdown) for a, b in pairwise(shown)), "")
    for (block, text), gap in zip(shown, gaps, strict=False):
        parts += _spans(block, at, at + len(text))
        texts += [text, gap]
        at += len(text) + len(gap)
    return Written("".join(texts), tuple(parts))


def _spans(block: Block, start: int, end: int) -> Iterator[Span]:
    if block.role:
        yield start, end, block.role
    yield start, end, block.form


def _gap(block: Block, after: Block, is_markdown: bool) -> str:
    is_one = block.form == after.form and block.form in _TOGETHER
    return "\n\n" if is_markdown and not is_one else "\n"


def _text(block: Block, is_markdown: bool) -> str:
    if not is_markdown:
        return block.text
    if block.form == "heading":
        return f"{'#' * min(max(block.level, 1), 6)} {block.text}"
    if block.form == "code":
        return f"```\n{block.text}\n```"
    return block.text
