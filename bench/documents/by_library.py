"""PDF files by libraries of Python, where they are installed: reportlab, fpdf2, Typst, cairo, python-docx."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.documents.by_program import HEAD, by_office

if TYPE_CHECKING:
    from bench.documents.make import Source

Maker = Callable[["Source"], "bytes | None"]
_FONT_OF = {"Japanese": "Noto Serif CJK JP", "Chinese": "Noto Serif CJK SC", "Thai": "Norasi", "Arabic": "Amiri",
            "Hebrew": "DejaVu Sans", "Greek": "DejaVu Serif", "Russian": "DejaVu Serif"}  # fmt: skip


def _of_reportlab(source: Source) -> bytes | None:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table

    if source.script != "Latin" or source.notes:
        return None
    out = io.BytesIO()

    def head(canvas: Any, page: Any) -> None:
        if source.layout == "with heads":
            canvas.drawString(72, 800, HEAD)
            canvas.drawString(290, 30, str(page.page))

    width = 451 if source.layout != "two columns" else 215
    frames = [Frame(72 + n * 236, 60, width, 720) for n in range(2 if source.layout == "two columns" else 1)]
    style = getSampleStyleSheet()["Normal"]
    style.spaceAfter = 6
    story: list[Any] = []
    for number, paragraph in enumerate(source.paragraphs):
        story.append(Paragraph(paragraph.replace("&", "&amp;").replace("<", "&lt;"), style))
        if number == 0 and source.rows:
            story.append(Table(source.rows))
    BaseDocTemplate(out, pagesize=A4, pageTemplates=[PageTemplate(frames=frames, onPage=head)]).build(story)
    return out.getvalue()


def _of_fpdf(source: Source) -> bytes | None:
    import fpdf

    if source.script != "Latin" or source.notes:
        return None

    class Own(fpdf.FPDF):
        def header(self) -> None:
            if source.layout == "with heads":
                self.cell(0, 10, HEAD, new_x="LMARGIN", new_y="NEXT")

        def footer(self) -> None:
            if source.layout == "with heads":
                self.set_y(-15)
                self.cell(0, 10, f"- {self.page_no()} -", align="C")

    pdf = Own()
    pdf.set_font("Times", size=11)
    pdf.add_page()
    if source.layout == "two columns":
        with pdf.text_columns(ncols=2, gutter=8, text_align="J") as columns:
            for paragraph in source.paragraphs:
                columns.write(paragraph + "\n\n")
        return bytes(pdf.output())
    for number, paragraph in enumerate(source.paragraphs):
        pdf.multi_cell(0, 6, paragraph, new_x="LMARGIN", new_y="NEXT")
        pdf.ln(2)
        if number == 0 and source.rows:
            with pdf.table(source.rows):
                pass
    return bytes(pdf.output())


def _of_typst(source: Source) -> bytes | None:
    import typst

    fonts = ", ".join(f'"{name}"' for name in (_FONT_OF.get(source.script, "Liberation Serif"), "DejaVu Sans"))
    head = f"#set text(font: ({fonts}), size: 11pt)\n"
    if source.layout == "two columns":
        head += "#set page(columns: 2)\n#set par(justify: true)\n"
    if source.layout == "with heads":
        head += f'#set page(header: [{HEAD}], numbering: "1")\n'
    if source.script in {"Arabic", "Hebrew"}:
        head += f'#set text(lang: "{source.script[:2].lower()}")\n'
    parts = []
    for number, paragraph in enumerate(source.paragraphs):
        note = f"#footnote[{_typst(source.notes[number])}]" if number in source.notes else ""
        parts.append(_typst(paragraph) + note)
        if number == 0 and source.rows:
            cells = ", ".join(f"[{_typst(cell)}]" for row in source.rows for cell in row)
            parts.append(f"#table(columns: 3, {cells})")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.typ"
        path.write_text(head + "\n\n".join(parts), "utf-8")
        return bytes(typst.compile(str(path)))


def _typst(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "#$*_[]@<>`~\\'\"=-+/" else sign for sign in text)


def _of_cairo(source: Source) -> bytes | None:
    import cairocffi

    if source.script not in {"Latin", "Greek", "Russian"} or source.rows or source.notes:
        return None
    out = io.BytesIO()
    surface = cairocffi.PDFSurface(out, 595, 842)
    context = cairocffi.Context(surface)
    context.select_font_face(_FONT_OF.get(source.script, "Liberation Serif"))
    context.set_font_size(11)
    columns = 2 if source.layout == "two columns" else 1
    width = 215 if columns == 2 else 451
    column, y, number = 0, 80.0, 1
    for line in _lines(context, source.paragraphs, width):
        if y > 770:
            column, y = (column + 1) % columns, 80.0
            if column == 0:
                _finish(context, source, number)
                number += 1
        context.move_to(72 + 236 * column, y)
        context.show_text(line)
        y += 14 if line else 8
    _finish(context, source, number)
    surface.finish()
    return out.getvalue()


def _finish(context: Any, source: Source, number: int) -> None:
    if source.layout == "with heads":
        for x, y, text in ((200, 40, HEAD), (290, 810, str(number))):
            context.move_to(x, y)
            context.show_text(text)
    context.show_page()


def _lines(context: Any, paragraphs: list[str], width: float) -> list[str]:
    found: list[str] = []
    for paragraph in paragraphs:
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}".strip()
            if line and context.text_extents(longer)[4] > width:
                found.append(line)
                line = word
            else:
                line = longer
        found += [line, ""]
    return found


def _of_docx(source: Source) -> bytes | None:
    import docx
    from docx.oxml.ns import qn

    if source.notes or source.script in {"Arabic", "Hebrew"}:
        return None
    file = docx.Document()
    section = file.sections[0]
    if source.layout == "two columns":
        section._sectPr.xpath("./w:cols")[0].set(qn("w:num"), "2")
    if source.layout == "with heads":
        section.header.paragraphs[0].text = HEAD
    for number, paragraph in enumerate(source.paragraphs):
        run = file.add_paragraph().add_run(paragraph)
        run.font.name = _FONT_OF.get(source.script, "Liberation Serif")
        run._element.rPr.rFonts.set(qn("w:eastAsia"), run.font.name)
        if number == 0 and source.rows:
            table = file.add_table(0, 3)
            for row in source.rows:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
    out = io.BytesIO()
    file.save(out)
    return by_office("a.docx", out.getvalue())


MAKERS: dict[str, tuple[str, Maker]] = {
    "reportlab": ("reportlab", _of_reportlab),
    "fpdf2": ("fpdf", _of_fpdf),
    "Typst": ("typst", _of_typst),
    "cairo": ("cairocffi", _of_cairo),
    "LibreOffice, DOCX": ("docx", _of_docx),
}
"""By name: the package, and what makes a file."""


def found() -> dict[str, Maker]:
    """Those whose package is installed."""
    return {name: partial(maker) for name, (package, maker) in MAKERS.items() if find_spec(package) is not None}
