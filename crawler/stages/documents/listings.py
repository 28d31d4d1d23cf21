"""The lines of paragraphs: those of verse and addresses stay, and paragraphs of code become one listing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crawler.stages.documents.model import Block


def lines(text: str) -> str:
    """The text line by line, without white space around the lines; none that is empty."""
    return "\n".join(flat for line in text.split("\n") if (flat := " ".join(line.split())))


def with_listings(blocks: Iterable[Block]) -> Iterator[Block]:
    """Paragraphs of code that follow each other are one listing."""
    waiting: list[Block] = []
    for block in blocks:
        if waiting and block.form != "code":
            yield _joined(waiting)
            waiting = []
        if block.form == "code":
            waiting.append(block)
        else:
            yield block
    if waiting:
        yield _joined(waiting)


def _joined(some: list[Block]) -> Block:
    return some[0]._replace(text="\n".join(block.text for block in some))
