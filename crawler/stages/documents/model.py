"""What is known of a file once it was read, in a form that crosses from one process to another as JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crawler.document import Drop

MAX_PAGE_CHARS = 1_000_000
"""Characters of one page; a page of more is no page for people."""
MAX_CHARS = 20_000_000
"""Characters of one file."""
MAX_LINE = 1_000
"""Characters of title, author and other statements."""


class UnreadableError(Exception):
    """The file cannot be read, and the reason is known. reason: a name of `DropReason`, in lower case."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Block(NamedTuple):
    """One paragraph, heading, item of a list, row of a table.

    form: of `FORMS` in `crawler.document`; level: of a heading from 1, else 0; role: "footnote", "quotation" or "".
    page: from 1 on which it begins, a slide or a sheet likewise; 0 where the kind has none.
    """

    form: str
    text: str
    level: int = 0
    role: str = ""
    page: int = 0


@dataclass(slots=True)
class Facts:
    """What a file says about itself: read before any of its text, so that policy decides first.

    metas: (name in lower case, value), as those of a page; rel_links: (rel, type, href), likewise. date: ISO 8601 day.
    pages: 0 where the kind has none. reader: library and version, for `extractor`. version, modified: of what is
    revised in its place, as an HTTP server says them (ETag, Last-Modified).
    """

    title: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    metas: list[tuple[str, str]] = field(default_factory=list)
    rel_links: list[tuple[str, str, str]] = field(default_factory=list)
    pages: int = 0
    reader: str = ""
    version: str = ""
    modified: str = ""


def check_number(facts: Facts, wanted: dict[str, Any], what: str) -> None:
    """Raises: UnreadableError where a file has more than `max_pages` pages, slides or sheets."""
    if facts.pages > (most := wanted["max_pages"]):
        raise UnreadableError("too_large", f"{facts.pages:,} {what}; DOCUMENT_MAX_PAGES={most}")


@dataclass(slots=True)
class Content:
    """What stands in a file: blocks in reading order, or HTML for the extractor of pages; where it leads; counts.

    counts: what was left out, by name, for `quality_signals`.
    """

    blocks: list[Block] = field(default_factory=list)
    html: str = ""
    links: list[str] = field(default_factory=list)
    title: str = ""
    author: str = ""
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class FileText:
    """What the parse stage hands to the extraction stage in `Document.tree`: the text, or why there is none."""

    blocks: list[Block] = field(default_factory=list)
    drop: Drop | None = None


def packed(value: Facts | Content) -> dict[str, Any]:
    """As JSON has it."""
    return dataclasses.asdict(value)


def facts_of(data: dict[str, Any]) -> Facts:
    """Back from JSON."""
    return Facts(**data | {"metas": [(str(n), str(v)) for n, v in data["metas"]],
                           "rel_links": [(str(r), str(t), str(h)) for r, t, h in data["rel_links"]]})  # fmt: skip


def content_of(data: dict[str, Any]) -> Content:
    """Back from JSON."""
    return Content(**data | {"blocks": [Block(*block) for block in data["blocks"]]})
