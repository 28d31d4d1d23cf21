"""More hostile files: what the table of `test_documents_hostile.py` adds to its own."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from tests.stages.documents.office_maker import TYPES as OFFICE
from tests.stages.documents.office_maker import W, docx, epub, odt, packed
from tests.stages.documents.pdf_maker import Objects, pdf_of, text_pages
from tests.stages.documents.slides_maker import cell, odf, pptx, rels, row, shape, xlsx

TEXT = "The miller of the old town rose long before the sun."
OUTSIDE = "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
BILLION = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 10))
LAUGHS = f"<!DOCTYPE x [<!ENTITY e0 'boo'>{BILLION}]>"
"""Entities of entities: 3 GB."""


def one_page(content: bytes = b"", resources: str = "", page: str = "", objects: Objects | None = None) -> bytes:
    """A PDF of one page with this content."""
    objects = objects or Objects()
    root, tree, leaf = objects.reserve(), objects.reserve(), objects.reserve()
    stream = objects.stream(content)
    objects.put(
        leaf,
        f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 595 842] /Contents {stream} 0 R "
        f"/Resources << {resources} >> {page} >>",
    )
    objects.put(tree, f"<< /Type /Pages /Kids [{leaf} 0 R] /Count 1 >>")
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(root)


def form_in_itself() -> bytes:
    """A form that calls itself."""
    objects = Objects()
    form = objects.stream(
        b"/F Do", "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 1 0 R >> >>"
    )
    return one_page(b"/F Do", f"/XObject << /F {form} 0 R >>", objects=objects)


def font(entries: str, data: bytes = b"", entry: str = "") -> bytes:
    """A page in a font with these entries. data: of a stream that `entry` names."""
    objects = Objects()
    said = f"/{entry} {objects.stream(data)} 0 R" if entry else ""
    made = objects.add(f"<< /Type /Font {entries} {said} >>")
    content = b"BT /F1 11 Tf 72 700 Td (" + TEXT.encode() + b") Tj ET"
    return one_page(content, f"/Font << /F1 {made} 0 R >>", objects=objects)


def wide_map(last: bytes = b"<ffffffff>") -> bytes:
    """A map of letters with a range of 2^32."""
    cmap = b"begincmap 1 begincodespacerange <00000000> %b endcodespacerange 1 beginbfrange <00000000> %b <0041> " % (
        last,
        last,
    )
    return font("/Subtype /Type1 /BaseFont /Helvetica", cmap + b"endbfrange endcmap", "ToUnicode")


def objects_in_a_circle() -> bytes:
    """A stream of objects that lies within itself, named by a stream of references."""
    inner = zlib.compress(b"1 0 << /Type /Catalog /Pages 2 0 R >>")
    body = b"%PDF-1.7\n5 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Extends 5 0 R /Filter /FlateDecode /Length "
    body += b"%d >>\nstream\n%b\nendstream\nendobj\n" % (len(inner), inner)
    table = zlib.compress(
        b"".join(
            struct.pack(">BHB", *one) for one in [(0, 0, 0), (2, 5, 0), (2, 5, 1), (2, 5, 2), (2, 5, 3), (2, 5, 0)]
        )
    )
    place = len(body)
    body += (
        b"6 0 obj\n<< /Type /XRef /Size 6 /W [1 2 1] /Root 1 0 R /Prev %d /Filter /FlateDecode /Length %d >>\nstream\n"
        % (place, len(table))
    )
    return body + table + b"\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n" % place


def tables_in_a_circle() -> bytes:
    """Tables of references that name each other as the one before."""
    body = pdf_of(text_pages(TEXT))
    at = body.rindex(b"xref\n", 0, body.rindex(b"startxref"))
    return body.replace(b"trailer\n<<", b"trailer\n<< /Prev %d" % at)


def with_script() -> bytes:
    """A file that runs a script when it is opened."""
    script = "/OpenAction << /S /JavaScript /JS (while\\(true\\){}) >>"
    return pdf_of(text_pages(TEXT), catalogue=script)


def many_names(count: int = 200_000) -> bytes:
    return pdf_of(text_pages(TEXT), catalogue="/Names << " + "".join(f"/N{n} {n} " for n in range(count)) + ">>")


def overlapping(count: int = 3_000) -> bytes:
    """A ZIP whose members are one and the same bytes: a bomb that grows with the square of its size."""
    inner = docx("<w:p/>" + " " * 1_000_000)
    with zipfile.ZipFile(io.BytesIO(inner)) as file:
        member = file.getinfo("word/document.xml")
        start = inner.index(b"PK\x01\x02")
    entry = inner[inner.index(b"PK\x01\x02", start + 1) :]
    entry = entry[: 46 + len(member.filename)]
    directory = entry * count
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0)
    return inner[:start] + directory + end


def slides(entry: str) -> bytes:
    """A PPTX whose list of slides is this."""
    body = pptx([shape(TEXT)])
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    whole = parts["ppt/presentation.xml"].decode()
    head, _, _ = whole.partition("<p:sldIdLst>")
    parts["ppt/presentation.xml"] = f"{head}<p:sldIdLst>{entry}</p:sldIdLst></p:presentation>".encode()
    return packed(parts)


def paths() -> bytes:
    """A PPTX whose relations lead out of the file."""
    outside = rels({"r0": ("slide", "../../../../etc/passwd"), "r1": ("slide", "file:///etc/passwd")})
    with zipfile.ZipFile(io.BytesIO(pptx([shape(TEXT), shape(TEXT)]))) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    return packed(parts | {"ppt/_rels/presentation.xml.rels": outside})


def chapter(body: str) -> bytes:
    return epub({"a.xhtml": body})


def spine_outside() -> bytes:
    """An EPUB whose chapters lie outside of it."""
    return epub({"../../../../etc/passwd": "<p>x</p>"}).replace(
        b"OEBPS/../../../../etc/passwd", b"OEBPS/x/x/x/x/x/x/x/x/xxxxxx"
    )


MORE = {
    "a form in itself": ("pdf", form_in_itself, {"no text", "broken_document", "document_crash", "document_memory"}),
    "a map of all letters": ("pdf", wide_map, {"no text", "document_memory", "document_cpu"}),
    "a font of noise": ("pdf", lambda: font("/Subtype /Type1 /BaseFont /X", b"\xff" * 99_999, "FontFile"), {"no text"}),
    "a font without a kind": ("pdf", lambda: font("/Subtype /None"), {"no text", "garbled"}),
    "objects in a circle": ("pdf", objects_in_a_circle, {"broken_document", "no text", "truncated"}),
    "tables in a circle": ("pdf", tables_in_a_circle, {"broken_document", "no text"}),
    "a script": ("pdf", with_script, {"no text"}),
    "200,000 names": ("pdf", many_names, {"no text", "document_cpu"}),
    "a page of nothing": ("pdf", lambda: one_page(page="/Rotate 45"), {"no text"}),
    "a page as large as a town": (
        "pdf",
        lambda: pdf_of(text_pages(TEXT), page="/UserUnit 1e30 /CropBox [-1e30 -1e30 1e30 1e30]"),
        {"no text"},
    ),
    "links without end": (
        "pdf",
        lambda: pdf_of(text_pages(TEXT), annotations={0: [f"http://a.test/{n}" for n in range(20_000)]}),
        {"no text"},
    ),
    "filters on filters": (
        "pdf",
        lambda: one_page(b"x", page=f"/Group << /F [{'/FlateDecode ' * 50_000}] >>"),
        {"no text"},
    ),
    "members over one another": ("docx", overlapping, {"no text", "broken_document"}),
    "an entity from outside": (
        "docx",
        lambda: packed({"word/document.xml": f"{OUTSIDE}<w:document {W}><w:body><w:p>&f;</w:p></w:body></w:document>"}),
        {"broken_document", "no text"},
    ),
    "styles of entities": (
        "docx",
        lambda: docx("<w:p/>", word__styles=f"{LAUGHS}<x>&e9;</x>"),
        {"broken_document", "no text"},
    ),
    "footnotes that are no XML": ("docx", lambda: docx("<w:p/>", word__footnotes="\x00"), {"broken_document"}),
    "slides of entities": ("pptx", lambda: pptx([f"{LAUGHS}"]), {"broken_document", "no text"}),
    "slides that are one": ("pptx", lambda: slides('<p:sldId id="1" r:id="r0"/>' * 20_000), {"no text"}),
    "slides outside of the file": ("pptx", paths, {"broken_document"}),
    "a nest of groups": ("pptx", lambda: pptx(["<p:grpSp>" * 20_000 + "</p:grpSp>" * 20_000]), {"broken_document"}),
    "groups as deep as XML may be": ("pptx", lambda: pptx(["<p:grpSp>" * 200 + "</p:grpSp>" * 200]), {"no text"}),
    "a diagram of itself": (
        "pptx",
        lambda: pptx(['<p:graphicFrame><d:relIds xmlns:d="d" r:dm="r0"/></p:graphicFrame>']),
        {"no text"},
    ),
    "6,000 slides": ("pptx", lambda: pptx([""] * 6_000), {"too_large"}),
    "shared strings of entities": (
        "xlsx",
        lambda: packed({"xl/workbook.xml": f"{LAUGHS}<x>&e9;</x>"}),
        {"broken_document", "no_text"},
    ),
    "a string that is not there": (
        "xlsx",
        lambda: xlsx({"a": f"<row>{cell(999_999_999_999, 'A1', 's')}</row>"}),
        {"no_text"},
    ),
    "a column without end": (
        "xlsx",
        lambda: xlsx({"a": '<cols><col min="1" max="999999999" hidden="1"/></cols>' + row(TEXT)}),
        {"no_text"},
    ),
    "a million cells": (
        "xlsx",
        lambda: xlsx({"a": row(*[1] * 20) * 50_000}),
        {"no_text", "document_memory", "document_cpu"},
    ),
    "one text a million times": (
        "xlsx",
        lambda: xlsx({"a": f"<row>{cell(0, 'A1', 's') * 100}</row>" * 5_000}, [TEXT * 40]),
        {"too_large", "document_memory", "document_cpu"},
    ),
    "70 MB of a sheet": ("xlsx", lambda: xlsx({"a": " " * 70_000_000}), {"too_large"}),
    "rows repeated for ever": (
        "ods",
        lambda: odf(
            "spreadsheet",
            "<table:table><table:table-row table:number-rows-repeated='9999999999999999999'><table:table-cell "
            f"table:number-columns-repeated='99999999999999999999'><text:p>{TEXT}</text:p></table:table-cell>"
            "</table:table-row></table:table>",
        ),
        {"no text"},
    ),
    "an ods with a password": (
        "ods",
        lambda: packed({"META-INF/manifest.xml": "<m><encryption-data/></m>"}, OFFICE["odt"]),
        {"encrypted"},
    ),
    "an odp of a text": ("odp", lambda: odt("<text:p>x</text:p>"), {"broken_document"}),
    "an odp of nests": (
        "odp",
        lambda: odf("presentation", "<draw:g>" * 9_000 + "</draw:g>" * 9_000),
        {"broken_document"},
    ),
    "a chapter of entities": (
        "epub",
        lambda: packed({"META-INF/container.xml": f"{LAUGHS}<x>&e9;</x>"}),
        {"broken_document"},
    ),
    "a chapter of nests": ("epub", lambda: chapter("<div>" * 50_000), {"no text", "broken_document", "document_crash"}),
    "chapters outside of the book": ("epub", spine_outside, {"broken_document"}),
    "a chapter that runs": ("epub", lambda: chapter(f"<script>while(1);</script><p>{TEXT}</p>"), {"no text"}),
}
"""As `FILES` of the test has them."""
