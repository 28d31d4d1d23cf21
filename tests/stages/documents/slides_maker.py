"""Writes small PPTX, XLSX, ODP and ODS files by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from tests.stages.documents.office_maker import ODF, packed

P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
ODS = (
    f"{ODF} "
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
)
TYPES = {
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
}


def rels(targets: Mapping[str, tuple[str, str]]) -> str:
    """The relations of a part: kind and place, by id; an address is one outside of the file."""
    said = ""
    for name, (kind, place) in targets.items():
        mode = ' TargetMode="External"' if "://" in place else ""
        said += f'<Relationship Id="{name}" Type="{REL}/{kind}" Target="{escape(place)}"{mode}/>'
    return f"<Relationships>{said}</Relationships>"


def shape(*paragraphs: str, kind: str | None = None) -> str:
    """A shape with these paragraphs (text, or XML of runs). kind: of its placeholder."""
    texts = "".join(
        f"<a:p>{one if one.startswith('<') else f'<a:r><a:t>{one}</a:t></a:r>'}</a:p>" for one in paragraphs
    )
    place = "" if kind is None else "<p:ph/>" if not kind else f'<p:ph type="{kind}"/>'
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr>{place}</p:nvPr></p:nvSpPr>'
        f"<p:txBody>{texts}</p:txBody></p:sp>"
    )


def pptx(
    slides: Sequence[str],
    notes: Mapping[int, str] | None = None,
    links: Mapping[str, str] | None = None,
    order: Sequence[int] | None = None,
    show: Mapping[int, str] | None = None,
    **members: str,
) -> bytes:
    """A PPTX of these slides, each given as its shapes. order: of their numbers; show: of the attribute, by number."""
    space = f'{P} {A} xmlns:r="{REL}"'
    shown = "".join(f'<p:sldId id="{n + 256}" r:id="r{n}"/>' for n in (order or range(len(slides))))
    parts = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f"<p:presentation {space}><p:sldIdLst>{shown}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": rels({f"r{n}": ("slide", f"slides/s{n}.xml") for n in range(len(slides))}),
    }
    for n, shapes in enumerate(slides):
        said = (show or {}).get(n, "")
        parts[f"ppt/slides/s{n}.xml"] = f"<p:sld {space} {said}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        own = {name: ("hyperlink", url) for name, url in (links or {}).items()}
        if n in (notes or {}):
            own["n"] = ("notesSlide", f"../notes/n{n}.xml")
            parts[f"ppt/notes/n{n}.xml"] = (
                f"<p:notes {space}><p:cSld><p:spTree>{notes[n]}</p:spTree></p:cSld></p:notes>"
            )
        parts[f"ppt/slides/_rels/s{n}.xml.rels"] = rels(own)
    return packed(parts | {name.replace("__", "/") + ".xml": data for name, data in members.items()})


def xlsx(sheets: Mapping[str, str], strings: Sequence[str] = (), states: Mapping[str, str] | None = None) -> bytes:
    """An XLSX; sheets: rows as XML, by name. states: as "hidden", by name."""
    named = "".join(
        f'<sheet name="{name}" sheetId="{n + 1}" r:id="r{n}" state="{(states or {}).get(name, "visible")}"/>'
        for n, name in enumerate(sheets)
    )
    parts = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook {S} xmlns:r="{REL}"><sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": rels(
            {f"r{n}": ("worksheet", f"worksheets/s{n}.xml") for n in range(len(sheets))}
            | {"s": ("sharedStrings", "sharedStrings.xml")}
        ),
        "xl/sharedStrings.xml": f"<sst {S}>{''.join(f'<si><t>{text}</t></si>' for text in strings)}</sst>",
    }
    for n, rows in enumerate(sheets.values()):
        parts[f"xl/worksheets/s{n}.xml"] = f"<worksheet {S}>{rows}</worksheet>"
    return packed(parts)


def cell(value: object, reference: str = "", kind: str = "") -> str:
    """A cell: a text as it is, anything else as a number. kind: its type, where it is another."""
    if isinstance(value, str) and not kind:
        return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}" t="{kind or "n"}"><v>{value}</v></c>'


def row(*values: object) -> str:
    """A row of such cells, from the first column on."""
    return f"<row>{''.join(cell(value, f'{chr(65 + n)}1') for n, value in enumerate(values))}</row>"


def odf(kind: str, body: str, styles: str = "") -> bytes:
    """An ODP ("presentation") or ODS ("spreadsheet")."""
    content = (
        f"<office:document-content {ODS}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    mimetype = TYPES["odp" if kind == "presentation" else "ods"]
    return packed({"content.xml": content, "META-INF/manifest.xml": "<manifest/>"}, mimetype)
