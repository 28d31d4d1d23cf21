"""An ODP (ODF 1.3, presentations) becomes blocks, slide by slide: title, text, tables, the speaker's notes.

Hidden slides and the fields at the edge of a slide (date, footer, number) are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from crawler.stages.documents.model import Block, Content, Facts, check_number
from crawler.stages.documents.odt import TextReader, parts_of
from crawler.stages.documents.odt_styles import styles_in
from crawler.stages.documents.packed import local

READER = "gristmill-odp-2"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_SHOW = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_EDGES = frozenset({"header", "footer", "date-time", "page-number", "page", "handout"})


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_pages`, `max_links`. Raises: UnreadableError."""
    facts, slides, hidden = parts_of(body, READER, "presentation", "page")
    yield facts
    check_number(facts, wanted, "slides")
    styles = styles_in(slides[0].getroottree().getroot()) if slides else None
    reader, counts = TextReader(styles), Counter[str]()
    blocks: list[Block] = []
    for number, slide in enumerate(slides, 1):
        if slide.get(f"{_DRAW}style-name") in hidden:
            counts["hidden_pages"] += 1
            continue
        found = list(_slide(reader, slide))
        counts["empty_pages"] += not found
        blocks += (block._replace(page=number) for block in found)
    title = next((block.text for block in blocks if block.form == "heading" and block.page == 1), "")
    kept = {name: count for name, count in counts.items() if count}
    yield Content(blocks=blocks, links=list(reader.links)[: wanted["max_links"]], title=title, counts=kept)


def _slide(reader: TextReader, slide: Any) -> Iterator[Block]:
    titles: list[Block] = []
    rest: list[Block] = []
    notes: list[Block] = []
    for shape in slide:
        if local(shape) == "notes":
            notes += (b for frame in shape if frame.get(f"{_SHOW}class") == "notes" for b in reader.blocks([frame]))
        elif (kind := str(shape.get(f"{_SHOW}class", ""))) == "title":
            text = " ".join(" ".join(block.text.split()) for block in reader.blocks([shape]))
            titles += [Block("heading", text, 2)] if text else []
        elif kind not in _EDGES:
            rest += reader.blocks([shape])
    said = {block.text for block in rest}
    yield from [*titles, *rest, *(block for block in notes if block.text not in said)]
