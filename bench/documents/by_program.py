"""PDF files by programs: browsers, typesetters, office and book programs, distillers."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.documents.make import Source

HEAD = "The Book of Mills and Rivers"
"""What stands on top of each page of a file `with heads`."""
_TOP = "@top-center{content:'" + HEAD + "'}@bottom-center{content:counter(page)}"
Maker = Callable[["Source"], "bytes | None"]
_FONTS = "DejaVu Serif, Noto Serif CJK JP, Amiri, Norasi, serif"
_FONT_OF = {"Japanese": "Noto Serif CJK JP", "Chinese": "Noto Serif CJK SC", "Thai": "Norasi", "Arabic": "Amiri",
            "Hebrew": "DejaVu Sans", "Greek": "DejaVu Serif", "Russian": "DejaVu Serif"}  # fmt: skip


SECONDS = 120


def run(command: list[str], folder: str, seconds: int = SECONDS, **more: str) -> bool:
    """True where the program ended well."""
    done = subprocess.run(  # a program of the machine
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        timeout=seconds, check=False, env={**os.environ, "HOME": folder, **more},
    )  # fmt: skip
    return done.returncode == 0


def made(command: list[str], out: str, files: dict[str, str], **more: str) -> bytes | None:
    """What a program writes in a folder with these files; None where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, "utf-8")
        run(command, folder, SECONDS, **more)
        path = Path(folder) / out
        return path.read_bytes() if path.exists() and path.stat().st_size else None


def page(source: Source, style: str = "") -> str:
    """A page of HTML."""
    parts = []
    for number, paragraph in enumerate(source.paragraphs):
        parts.append(f"<p>{html.escape(paragraph)}</p>")
        if number == 0 and source.rows:
            rows = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in source.rows)
            parts.append(f"<table border=1>{rows}</table>")
    side = "rtl" if source.script in {"Arabic", "Hebrew"} else "ltr"
    font = _FONT_OF.get(source.script, "Liberation Serif")
    style = f"body{{font-family:'{font}',{_FONTS};direction:{side}}}{style}"
    return (
        f"<html><head><meta charset=utf-8><style>{style}</style></head><body><div>{''.join(parts)}</div></body></html>"
    )


def _of_chromium(source: Source) -> bytes | None:
    style = {"two columns": "div{columns:2;column-gap:2em}p{text-align:justify}",
             "with heads": "@page{margin:3cm;" + _TOP + "}"}  # fmt: skip
    if source.notes:
        return None
    program = _which("chromium-headless-shell", "chromium", "google-chrome")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--user-data-dir=own"]
    command = [program, *options, "--print-to-pdf=out.pdf", "page.html"]
    return made(command, "out.pdf", {"page.html": page(source, style.get(source.layout, ""))})


def _of_weasyprint(source: Source) -> bytes | None:
    style = {"two columns": "div{columns:2;column-gap:2em}",
             "with heads": "@page{" + _TOP + "}"}  # fmt: skip
    if source.notes:
        return None
    return made(
        ["weasyprint", "page.html", "out.pdf"], "out.pdf", {"page.html": page(source, style.get(source.layout, ""))}
    )


def _of_wkhtmltopdf(source: Source) -> bytes | None:
    if source.notes or source.layout == "two columns":
        return None
    heads = ["--header-center", HEAD, "--footer-center", "[page]"] if source.layout == "with heads" else []
    command = ["wkhtmltopdf", "-q", *heads, "page.html", "out.pdf"]
    return made(command, "out.pdf", {"page.html": page(source)}, QT_QPA_PLATFORM="offscreen")


def _of_calibre(source: Source) -> bytes | None:
    if source.notes or source.layout == "two columns":
        return None
    heads = ["--pdf-page-numbers"] if source.layout == "with heads" else []
    command = ["ebook-convert", "page.html", "out.pdf", *heads]
    flags = {
        "QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox",
        "QT_QPA_PLATFORM": "offscreen",
        "QTWEBENGINE_DISABLE_SANDBOX": "1",
    }
    return made(command, "out.pdf", {"page.html": page(source)}, **flags)


def _of_libreoffice(source: Source) -> bytes | None:
    if source.layout in {"two columns", "with heads"} or source.notes:
        return None  # those are made of a DOCX: `LibreOffice, DOCX`
    return _by_office("page.html", page(source).encode())


def _by_office(name: str, body: bytes) -> bytes | None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(body)
        own = [f"-env:UserInstallation=file://{folder}/own"]
        filter_of = ["--infilter=HTML (StarWriter)"] if name.endswith("html") else []
        run(["soffice", "--headless", *own, *filter_of, "--convert-to", "pdf:writer_pdf_Export", name], folder)
        path = (Path(folder) / name).with_suffix(".pdf")
        return path.read_bytes() if path.exists() else None


def by_office(name: str, body: bytes) -> bytes | None:
    """What LibreOffice exports of an office file; None where it is not installed."""
    return _by_office(name, body) if shutil.which("soffice") else None


def _ms(source: Source) -> str:
    head = {"two columns": ".2C\n", "with heads": f".ds CH {HEAD}\n.ds CF - % -\n"}.get(source.layout, ".ds CH\n")
    parts = []
    for number, paragraph in enumerate(source.paragraphs):
        note = f"\\**\n.FS\n{source.notes[number]}\n.FE" if number in source.notes else ""
        parts.append(f".PP\n{paragraph}{note}")
        if number == 0 and source.rows:
            parts.append(".TS\nallbox;\nl l r.\n" + "\n".join("\t".join(row) for row in source.rows) + "\n.TE")
    return head + "\n".join(parts) + "\n"


def _of_groff(source: Source) -> bytes | None:
    if source.script not in {"Latin"}:
        return None
    return made(["sh", "-c", "groff -k -t -ms -Tpdf a.ms > out.pdf"], "out.pdf", {"a.ms": _ms(source)})


def _of_ghostscript(source: Source) -> bytes | None:
    if source.script not in {"Latin"}:
        return None
    return made(
        ["sh", "-c", "groff -k -t -ms -Tps a.ms > a.ps && ps2pdf a.ps out.pdf"], "out.pdf", {"a.ms": _ms(source)}
    )


def _turned_by_groff(source: Source) -> bytes | None:
    """The pages lie on their side, and say so (`/Rotate`)."""
    if source.layout not in {"one column", "two columns"}:
        return None
    script = "groff -k -t -ms -Tps -P-l -dpaper=a4l a.ms > a.ps; gs -q -dBATCH -dNOPAUSE -dAutoRotatePages=/All"
    return made(["sh", "-c", f"{script} -sDEVICE=pdfwrite -sOutputFile=out.pdf a.ps"], "out.pdf", {"a.ms": _ms(source)})


def _latex(source: Source, fonts: str) -> str:
    options = "a4paper,11pt" + (",twocolumn" if source.layout == "two columns" else "")
    style = "\\pagestyle{empty}"
    if source.layout == "with heads":
        style = f"\\pagestyle{{myheadings}}\\markright{{{HEAD}}}"
    parts = []
    for number, paragraph in enumerate(source.paragraphs):
        note = f"\\footnote{{{_escaped(source.notes[number])}}}" if number in source.notes else ""
        parts.append(f"{_escaped(paragraph)}{note}\n\n")
        if number == 0 and source.rows:
            rows = "\\\\\n".join(" & ".join(map(_escaped, row)) for row in source.rows)
            parts.append(f"\\noindent\\begin{{tabular}}{{|l|l|r|}}\n{rows}\\\\\n\\end{{tabular}}\n\n")
    return (
        f"\\documentclass[{options}]{{article}}\n{fonts}\\begin{{document}}{style}\n{''.join(parts)}\\end{{document}}\n"
    )


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "&%$#_{}" else sign for sign in text)


def _of_latex(program: str) -> Maker:
    def make(source: Source) -> bytes | None:
        if program == "pdflatex":
            if source.script != "Latin":
                return None
            return made([program, "-interaction=batchmode", "a.tex"], "a.pdf", {"a.tex": _latex(source, "")})
        if source.script in {"Arabic", "Hebrew", "Thai"} or (program == "lualatex" and source.script != "Latin"):
            return None
        fonts = f"\\usepackage{{fontspec}}\\setmainfont{{{_FONT_OF.get(source.script, 'Liberation Serif')}}}\n"
        if source.script in {"Japanese", "Chinese"}:
            fonts += '\\XeTeXlinebreaklocale "ja"\\XeTeXlinebreakskip=0pt plus 1pt\n'
        more = {"TEXMFVAR": str(Path(tempfile.gettempdir()) / "bench-texmf")}
        return made([program, "-interaction=batchmode", "a.tex"], "a.pdf", {"a.tex": _latex(source, fonts)}, **more)

    return make


def _which(*names: str) -> str:
    return next(filter(None, map(shutil.which, names)), "")


MAKERS: dict[str, tuple[tuple[str, ...], Maker]] = {
    "Chromium": (("chromium-headless-shell", "chromium", "google-chrome"), _of_chromium),
    "groff": (("groff",), _of_groff),
    "Ghostscript": (("ps2pdf",), _of_ghostscript),
    "Ghostscript, turned": (("ps2pdf",), _turned_by_groff),
    "pdfLaTeX": (("pdflatex",), _of_latex("pdflatex")),
    "XeLaTeX": (("xelatex",), _of_latex("xelatex")),
    "LuaLaTeX": (("lualatex",), _of_latex("lualatex")),
    "LibreOffice": (("soffice",), _of_libreoffice),
    "WeasyPrint": (("weasyprint",), _of_weasyprint),
    "wkhtmltopdf": (("wkhtmltopdf",), _of_wkhtmltopdf),
    "Calibre": (("ebook-convert",), _of_calibre),
}
"""By name: the programs, one of which it needs, and what makes a file, None where it cannot make that layout."""


def found() -> dict[str, Maker]:
    """Those whose program is installed."""
    return {name: maker for name, (programs, maker) in MAKERS.items() if _which(*programs)}
