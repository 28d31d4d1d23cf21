"""A PPTX (ECMA-376, PresentationML) becomes blocks, slide by slide: title, text, tables, diagrams, the speaker's notes.

Hidden slides, comments, masters, and the fields at the edge of a slide (date, footer, number) are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from crawler.stages.documents.model import MAX_CHARS, Block, Content, Facts, UnreadableError, check_number
from crawler.stages.documents.numbering import BULLET, Count, Level
from crawler.stages.documents.ooxml import Target, addresses, facts_of, of_kind, targets
from crawler.stages.documents.packed import Package, check_pages, local

READER = "gristmill-pptx-2"
_MAIN = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_EDGES = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
_BODIES = frozenset({"", "body", "obj"})
"""Types of placeholders whose paragraphs have bullets unless they say no."""
_FIELDS = ("slidenum", "datetime")
_BULLETS = frozenset({"buChar", "buBlip"})
_FORMS = {"alphaLc": "letter", "alphaUc": "LETTER", "romanLc": "roman", "romanUc": "ROMAN"}
_ENDS = {"ParenBoth": "({})", "ParenR": "{})", "Plain": "{}"}


def read(body: bytes, wanted: dict[str, Any]) -> Iterator[Facts | Content]:
    """The facts, then the content. wanted: `max_pages`, `max_links`. Raises: UnreadableError."""
    package = Package(body)
    facts = facts_of(package, READER)
    slides = _slides(package)
    facts.pages = len(slides)
    yield facts
    check_number(facts, wanted, "slides")
    yield _Reader(package).content(slides, wanted["max_links"])


def _slides(package: Package) -> list[str]:
    """The members that are slides, in the order in which they are shown, each once."""
    root, relations = package.xml(_MAIN), targets(package, _MAIN)
    if root is None:
        raise UnreadableError("broken_document", f"it has no {_MAIN}")
    order = (_relation(element) for element in root.iter() if local(element) == "sldId")
    found = (relations[name].place for name in order if name in relations and relations[name].kind == "slide")
    return list(dict.fromkeys(found))


def _relation(element: Any, name: str = "id") -> str:
    """The id of a relation, in the transitional and in the strict namespace."""
    return next((str(v) for k, v in element.attrib.items() if k.endswith(f"/relationships}}{name}")), "")


class _Reader:
    """Walks the slides of one file."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._links: dict[str, None] = {}
        self._counts: Counter[str] = Counter()
        self._web: Mapping[str, str] = {}
        self._relations: Mapping[str, Target] = {}

    def content(self, slides: list[str], max_links: int) -> Content:
        blocks: list[Block] = []
        for number, place in enumerate(slides, 1):
            blocks += (block._replace(page=number) for block in self._slide(place))
            if sum(len(block.text) for block in blocks[-1_000:]) > MAX_CHARS:
                raise UnreadableError("too_large", f"more than {MAX_CHARS:,} characters before slide {number + 1}")
        check_pages(self._counts["broken_pages"], len(slides))
        counts = {name: count for name, count in self._counts.items() if count}
        title = next((block.text for block in blocks if block.form == "heading" and block.page == 1), "")
        return Content(blocks=blocks, links=list(self._links)[:max_links], title=title, counts=counts)

    def _slide(self, place: str) -> list[Block]:
        root = self._package.page(place)
        if root is None:
            self._counts["broken_pages"] += 1
            return []
        if root.get("show") in {"0", "false"}:
            self._counts["hidden_pages"] += 1
            return []
        relations = targets(self._package, place)
        found = list(self._part(root, relations))
        said = {block.text for block in found}
        for notes in of_kind(relations, "notesSlide"):
            page = self._package.page(notes)
            own = [] if page is None else list(self._part(page, targets(self._package, notes), is_notes=True))
            found += [block for block in own if block.text not in said]
        if not found:
            self._counts["empty_pages"] += 1
        return found

    def _part(self, root: Any, relations: dict[str, Target], *, is_notes: bool = False) -> Iterator[Block]:
        self._relations, self._web = relations, addresses(relations)
        for tree in (element for element in root.iter() if local(element) == "spTree"):
            blocks = [block for shape in tree for block in self._shape(shape, is_notes)]
            yield from (block for block in blocks if block.form == "heading")  # a title may lie above the rest
            yield from (block for block in blocks if block.form != "heading")
            break

    def _shape(self, shape: Any, is_notes: bool) -> Iterator[Block]:
        name = local(shape)
        if name == "grpSp":
            for inner in shape:
                yield from self._shape(inner, is_notes)
        elif name == "AlternateContent":
            yield from (block for inner in shape[:1] for one in inner for block in self._shape(one, is_notes))
        elif name == "graphicFrame":
            yield from self._graphic(shape)
        elif name in {"sp", "cxnSp"}:
            kind = _placeholder(shape)
            if _is_hidden(shape):
                self._counts["hidden_runs"] += 1
            elif kind not in _EDGES and not (is_notes and kind != "body"):
                yield from self._text(shape, kind, is_notes)

    def _text(self, shape: Any, kind: str | None, is_notes: bool) -> Iterator[Block]:
        body = next((element for element in shape if local(element) == "txBody"), ())
        texts = [(p, text) for p in body if local(p) == "p" and (text := self._paragraph(p))]
        if kind in _TITLES and texts:
            yield Block("heading", " ".join(text for _, text in texts), 2)
            return
        numbers: dict[int, Level] = {}
        count = Count(numbers)
        for paragraph, text in texts:
            mark = "" if is_notes else _mark(paragraph, kind in _BODIES and len(texts) > 1, numbers, count)
            yield Block("list", f"{mark} {text}") if mark else Block("paragraph", text)

    def _paragraph(self, paragraph: Any) -> str:
        pieces: list[str] = []
        for run in paragraph:
            name = local(run)
            if name == "br":
                pieces.append(" ")
            elif name in {"r", "fld"} and not str(run.get("type", "")).startswith(_FIELDS):
                pieces += (element.text or "" for element in run if local(element) == "t")
                for link in (element for element in run.iter() if local(element) == "hlinkClick"):
                    if url := self._web.get(_relation(link)):
                        self._links.setdefault(url)
        return " ".join("".join(pieces).split())

    def _graphic(self, frame: Any) -> Iterator[Block]:
        for element in frame.iter():
            name = local(element)
            if name == "tr":
                cells = [
                    " ".join(" ".join(self._paragraph(p) for p in cell.iter() if local(p) == "p").split())
                    for cell in element
                    if local(cell) == "tc"
                ]
                if any(cells):
                    yield Block("table", " | ".join(cells))
            elif name == "relIds" and (data := self._relations.get(_relation(element, "dm"))) is not None:
                root = self._package.page(data.place)
                texts = () if root is None else (self._paragraph(p) for p in root.iter() if local(p) == "p")
                yield from (Block("list", f"- {text}") for text in texts if text)
            elif name == "chart":
                self._counts["charts"] += 1


def _placeholder(shape: Any) -> str | None:
    """The type of a placeholder, "" where it names none; None for a shape that is none."""
    found = next((element for element in shape.iter() if local(element) == "ph"), None)
    return None if found is None else str(found.get("type", ""))


def _is_hidden(shape: Any) -> bool:
    said = next((element for element in shape.iter() if local(element) == "cNvPr"), None)
    return said is not None and said.get("hidden") in {"1", "true"}


def _mark(paragraph: Any, usual: bool, numbers: dict[int, Level], count: Count) -> str:
    """What stands before an item of a list; "" for a paragraph. usual: it has a bullet where it says nothing.

    numbers: what `count` knows of the levels; a paragraph without a number ends the lists at its level.
    """
    properties = next((element for element in paragraph if local(element) == "pPr"), None)
    children = {local(element): element for element in (() if properties is None else properties)}
    said = "" if properties is None else str(properties.get("lvl", ""))
    level = int(said) if said.isascii() and said.isdigit() and len(said) < 2 else 0
    if (numbered := children.get("buAutoNum")) is not None:
        kind, first = str(numbered.get("type", "")), str(numbered.get("startAt", ""))
        form = next((form for name, form in _FORMS.items() if kind.startswith(name)), "decimal")
        sign = next((sign for name, sign in _ENDS.items() if kind.endswith(name)), "{}.")
        start = int(first[:5]) if first.isascii() and first.isdigit() else 1
        numbers[level] = Level(form, sign.format(f"%{level + 1}"), start)
        return count.mark(level)
    for deeper in [one for one in count.numbers if one >= level]:
        del count.numbers[deeper]
    return BULLET if not _BULLETS.isdisjoint(children) or (usual and "buNone" not in children) else ""
