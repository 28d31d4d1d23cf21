"""Files of every kind, good ones and junk, made by real tools or taken from Debian's documentation packages.

`python -m bench.quality.kind_files FOLDER PACKAGES` makes them; PACKAGES: a folder into which `dpkg -x` has unpacked
debmake-doc, installation-guide-amd64, python3.11-doc, git-doc, docutils-doc, nodejs-doc, r-doc-pdf, gnuplot-doc,
texlive-humanities-doc, wamerican and wngerman. It needs pandoc, groff, LibreOffice (writer, calc, impress) and
tesseract; what is not installed is named. Good texts are the main content of real pages (`../shared/data`:
readability-pages) and the sources of manuals, written into each kind, and files as the packages have them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import html
import io
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from email.message import EmailMessage
from pathlib import Path

import zstandard

from bench.places import SHARED_DATA

TYPES = {
    "html": "text/html",
    "text": "text/plain",
    "mail": "message/rfc822",
    "markdown": "text/markdown",
    "rst": "text/x-rst",
    "asciidoc": "text/asciidoc",
    "rtf": "application/rtf",
    "jats": "application/xml",
    "tei": "application/xml",
    "pdf": "application/pdf",
    "epub": "application/epub+zip",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "odt": "application/vnd.oasis.opendocument.text",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
}
"""Kind → the Content-Type that it is served with."""
_PANDOC = {
    "html": ("html", "-s"), "text": ("plain",), "markdown": ("commonmark_x",), "rst": ("rst",),
    "asciidoc": ("asciidoctor",), "rtf": ("rtf", "-s"), "jats": ("jats", "-s"), "tei": ("tei", "-s"),
    "epub": ("epub",), "docx": ("docx",), "odt": ("odt",), "pptx": ("pptx",),
}  # fmt: skip
_SECONDS = 120
_PAGES, _MANUALS, _OFFICE = 40, 16, 12
"""Pages and manuals that are written into each kind; of these, that LibreOffice writes."""


@dataclass(frozen=True, slots=True)
class Made:
    """A file. source: the text it was made of, the same in each kind; what: of what sort it is; good: or junk."""

    file: str
    kind: str
    what: str
    source: str
    good: bool


class Folder:
    """Where the files lie, with `index.jsonl`."""

    def __init__(self, root: Path) -> None:
        self.root, self.made = root, [*kept(root)]
        self._known = {(one.kind, one.what, one.source) for one in self.made}

    def add(self, kind: str, what: str, source: str, body: bytes | None, *, good: bool) -> None:
        """Keep a file; None: it could not be made."""
        if body is None or (kind, what, source) in self._known:
            return
        self._known.add((kind, what, source))
        one = Made(f"{len(self.made):05}.{kind}", kind, what, source, good)
        (self.root / one.file).write_bytes(body)
        self.made.append(one)
        with (self.root / "index.jsonl").open("a", encoding="utf-8") as index:
            index.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")

    def has(self, kind: str, what: str, source: str) -> bool:
        """True for one that need not be made again."""
        return (kind, what, source) in self._known


def kept(root: Path) -> Iterator[Made]:
    """The files of a folder; none where nothing was made."""
    index = root / "index.jsonl"
    for line in index.read_text("utf-8").splitlines() if index.exists() else ():
        yield Made(**json.loads(line))


def _run(command: list[str], said: bytes = b"", folder: str | None = None) -> bytes | None:
    try:
        done = subprocess.run(command, input=said, capture_output=True, timeout=_SECONDS, cwd=folder, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def written(body: bytes, form: str, kind: str, title: str) -> bytes | None:
    """A text of a form that pandoc reads, as a file of a kind."""
    if kind == "mail":
        return _mail(title, written(body, form, "text", title))
    if kind == "pdf":
        typed = _run(["pandoc", "-f", form, "-t", "ms", "-s", "-M", f"title={title}"], body)
        return None if typed is None else _run(["groff", "-ms", "-k", "-t", "-Tpdf"], typed)
    to, *more = _PANDOC[kind]
    return _run(["pandoc", "-f", form, "-t", to, *more, "-M", f"title={title}", "-o", "-"], body)


def _mail(title: str, text: bytes | None) -> bytes | None:
    if text is None:
        return None
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@mill.example", "b@mill.example", title.replace("\n", " ")[:200]
    mail["Date"] = "Sat, 28 Nov 2026 10:00:00 +0000"
    mail.set_content(text.decode("utf-8", "replace"))
    return mail.as_bytes()


def by_office(name: str, body: bytes, to: str) -> bytes | None:
    """A file of another kind, by LibreOffice."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(body)
        more = ["--infilter=CSV:44,34,76,1"] if name.endswith(".csv") else []
        _run([program, f"-env:UserInstallation=file://{tempfile.gettempdir()}/office", "--headless", *more,
              "--convert-to", to, name], folder=folder)  # fmt: skip
        found = Path(folder) / f"{Path(name).stem}.{to}"
        return found.read_bytes() if found.exists() else None


def _csv(rows: list[list[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


# --- good -------------------------------------------------------------------------------------------------------------
def pages() -> Iterator[tuple[str, str, bytes]]:
    """Name, title and HTML of the main content of real pages of 150 words and more."""
    with (SHARED_DATA / "readability-pages.jsonl.zst").open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        read = [json.loads(line) for line in io.TextIOWrapper(reader, "utf-8")]
    for number, page in enumerate(read):
        content = str(page["expected_html"])
        if len(re.sub(r"<[^>]*>", " ", content).split()) >= 150 and "lorem ipsum" not in content.lower():
            content = re.sub(r"<(img|svg|iframe|video)\b[^>]*>", "", content)
            yield f"page {number}", str(page["metadata"].get("title") or "A page"), content.encode()


def manuals(packages: Path) -> Iterator[tuple[str, str, bytes]]:
    """Name, title and reStructuredText of the tutorials, how-tos and FAQs of Python."""
    root = packages / "usr/share/doc/python3.11/html/_sources"
    for path in sorted(p for part in ("tutorial", "howto", "faq") for p in (root / part).glob("*.rst.txt")):
        text = path.read_text("utf-8")
        if len(text.split()) >= 400:
            yield f"python/{path.parent.name}/{path.name}", text.lstrip("\n*# =").split("\n", 1)[0], text.encode()


def make_good(out: Folder, packages: Path) -> None:
    """Each text in each kind, then the files of the packages."""
    texts = [(*one, "html") for one in [*pages()][:_PAGES]] + [(*one, "rst") for one in [*manuals(packages)][:_MANUALS]]
    for number, (name, title, body, form) in enumerate(texts):
        for kind in (*_PANDOC, "mail", "pdf"):
            if not out.has(kind, "written", name):
                out.add(kind, "written", name, written(body, form, kind, title), good=True)
        if number % 3 == 0 and number // 3 < _OFFICE:
            _sheet(out, name, body, form)
    for name, title, body, form in texts:
        if not out.has("pptx", "deck", name) and (deck := _deck(title, body, form)):
            out.add("pptx", "deck", name, written(deck, "markdown", "pptx", title), good=True)
    for one in [*out.made]:
        if one.kind == "pptx" and one.good and sum(m.kind == "odp" for m in out.made) < _OFFICE:
            out.add(
                "odp", "written", one.source, by_office("s.pptx", (out.root / one.file).read_bytes(), "odp"), good=True
            )
    for kind, path, what in _of_packages(packages):
        out.add(kind, what, str(path.relative_to(packages)), _plain(path), good=True)


def _sheet(out: Folder, name: str, body: bytes, form: str) -> None:
    """A text as a sheet of questions with their answers has it: a number, a heading, a paragraph."""
    plain = (_run(["pandoc", "-f", form, "-t", "plain", "--wrap=none"], body) or b"").decode()
    long = [" ".join(part.split()) for part in plain.split("\n\n") if len(part.split()) > 12]
    rows = [[str(n), " ".join(part.split()[:4]), part] for n, part in enumerate(long, 1)]
    for kind in ("xlsx", "ods") if len(rows) > 4 else ():
        if not out.has(kind, "written", name):
            out.add(kind, "written", name, by_office("t.csv", _csv([["No", "Topic", "Text"], *rows]), kind), good=True)


def _deck(title: str, body: bytes, form: str) -> bytes | None:
    """A text as a speaker has it on slides: of each paragraph what its first clause says, five to a slide, no stops."""
    plain = (_run(["pandoc", "-f", form, "-t", "plain", "--wrap=none"], body) or b"").decode()
    parts = [" ".join(part.split()) for part in plain.split("\n\n") if len(part.split()) > 12]
    said = [" ".join(re.split(r"[.;:?!](?:\s|$)", part)[0].split()[:14]) for part in parts]
    points = [point.strip("-•* ,") for point in said if len(point.split()) >= 4]
    slides = [points[at : at + 5] for at in range(0, len(points), 5)]
    if len(points) < 12:
        return None
    text = "".join(f"\n# {' '.join(some[0].split()[:4])}\n\n" + "".join(f"- {p}\n" for p in some) for some in slides)
    return f"% {title}\n{text}".encode()


_FODDER = re.compile(r"examples?|samples?")
"""In the path of a file that shows what a package can draw: made-up or repeated words, whoever judges them."""


def _of_packages(packages: Path) -> Iterator[tuple[str, Path, str]]:
    doc = packages / "usr/share/doc"
    for suffix, kind in (("pdf", "pdf"), ("epub", "epub"), ("pdf.gz", "pdf")):
        for path in sorted(doc.rglob(f"*.{suffix}")):
            if path.stat().st_size < 3 * 2**20 and not _FODDER.search(str(path)):
                yield kind, path, "package"
    rnd = random.Random(7)
    found = {
        "rst": [*(doc / "python3.11/html/_sources/library").glob("*.rst.txt"),
                *(doc / "docutils-doc/docs").rglob("*.txt")],
        "asciidoc": [*(doc / "git-doc/technical").glob("*.txt"), *(doc / "git-doc/howto").glob("*.txt"),
                     *(doc / "git-doc").glob("git*.txt")],
        "markdown": [*doc.rglob("*.md")],
    }  # fmt: skip
    for kind, paths in found.items():
        some = sorted(p for p in paths if len(p.read_bytes().split()) >= 200)
        for path in rnd.sample(some, min(40, len(some))):
            yield kind, path, "package"


def _plain(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


# --- junk -------------------------------------------------------------------------------------------------------------
_DOCS = ("text", "markdown", "rst", "asciidoc", "docx", "odt", "epub", "pdf", "rtf", "jats", "tei", "mail", "pptx")
_EACH = 5


def make_junk(out: Folder, packages: Path) -> None:
    """What people have in files that is no text: lists, tables, logs, forms, indexes, what a scanner misread."""
    rnd = random.Random(11)
    for what, source, form, body in _junk_texts(packages, rnd):
        for kind in _DOCS:
            if not out.has(kind, what, source):
                out.add(kind, what, source, written(body, form, kind, what), good=False)
    for what, source, body in _sheets(packages, rnd):
        for kind in ("xlsx", "ods"):
            if not out.has(kind, what, source):
                out.add(kind, what, source, by_office("t.csv", body, kind), good=False)
    for one in [*out.made]:
        if one.kind == "pdf" and one.good and sum(m.what == "misread" for m in out.made) < 12:
            for number, scan in enumerate(_misread((out.root / one.file).read_bytes(), rnd)):
                out.add("pdf", "misread", f"{one.source} {number}", scan, good=False)


def _lines(items: list[str]) -> bytes:
    """Lines that stay lines, as HTML."""
    return f"<p>{'<br>'.join(html.escape(item) for item in items)}</p>".encode()


def _junk_texts(packages: Path, rnd: random.Random) -> Iterator[tuple[str, str, str, bytes]]:
    for number in range(_EACH):
        name = ("american-english", "ngerman")[number % 2]
        words = (packages / "usr/share/dict" / name).read_text("utf-8").splitlines()
        at = rnd.randrange(len(words) - 900)
        yield "word list", f"{name} {number}", "html", _lines(words[at : at + 900])
    logs = sorted(Path("/usr/share/doc").glob("*/changelog*.gz"))
    long = [path for path in logs if 4_000 < len(_plain(path)) < 60_000]
    for path in rnd.sample(long, _EACH):
        text = _plain(path).decode("utf-8", "replace")[:20_000]
        yield "changelog", path.parent.name, "html", f"<pre>{html.escape(text)}</pre>".encode()
    index = packages / "usr/share/doc/python3.11/html"
    for letter in "BDMPS":
        page = index / f"genindex-{letter}.html"
        if page.exists():
            found = re.findall(r"<li>.*?</li>|<td>.*?</td>", page.read_text("utf-8"), re.DOTALL)
            items = [" ".join(re.sub(r"<[^>]+>", " ", each).split()) for each in found]
            yield "index", page.name, "html", _lines([html.unescape(item) for item in items if item][:400])
    for number in range(_EACH):
        labels = rnd.sample(_LABELS, 14)
        fields = [
            f"{label}: {rnd.choice(('____________', '................', '☐ yes ☐ no', '[          ]'))}"
            for label in labels
        ]
        yield (
            "form",
            f"form {number}",
            "html",
            f"<h1>{rnd.choice(_FORMS)}</h1>".encode() + _lines([*fields, *fields[:6]]),
        )
    for number, (name, _, body) in enumerate([*manuals(packages)][_MANUALS:][: 3 * _EACH] or [*manuals(packages)]):
        heads = re.findall(r"(?m)^(.{4,70})\n[=\-~^*]{4,}$", body.decode())
        if len(heads) >= 8 and number < 2 * _EACH:
            yield "headings", name, "html", "".join(f"<h2>{html.escape(head)}</h2>" for head in heads).encode()
    packaged = (
        _run(["dpkg-query", "-W", "-f", "${Package} ${Version} ${Installed-Size} ${Section}\n"]) or b""
    ).decode()
    rows = [line.split() for line in packaged.splitlines()]
    for number in range(_EACH):
        some = rnd.sample(rows, min(120, len(rows)))
        cells = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in some)
        yield "table", f"packages {number}", "html", f"<table>{cells}</table>".encode()
    listed = (
        sorted(str(path) for path in Path("/usr/lib/python3").rglob("*") if path.is_file()) or packaged.splitlines()
    )
    for number in range(_EACH):
        at = rnd.randrange(max(1, len(listed) - 200))
        yield (
            "listing",
            f"files {number}",
            "html",
            _lines([f"-rw-r--r-- root {4_096 + n} {p}" for n, p in enumerate(listed[at : at + 200])]),
        )


_FORMS = (
    "Application for leave",
    "Delivery note",
    "Order form",
    "Registration",
    "Travel expenses",
    "Handover protocol",
)
_LABELS = ("Name", "First name", "Date of birth", "Street", "Town", "Postcode", "Telephone", "E-mail", "Department",
           "Number", "Quantity", "Item", "Price", "Total", "Date", "Place", "Signature", "Approved", "Remarks",
           "Account", "Bank", "Customer number", "Reason", "From", "Until", "Days", "Manager", "Received", "Returned",
           "Initials")  # fmt: skip
"""Our own: what stands on empty forms."""


def _sheets(packages: Path, rnd: random.Random) -> Iterator[tuple[str, str, bytes]]:
    """Tables of numbers with names, of packages where they have some; schedules and stocks, drawn."""
    data = sorted((packages / "usr/share/doc").rglob("*.dat"))
    for path in data[:16]:
        rows = [line.split() for line in path.read_text("utf-8", "replace").splitlines() if line.strip()][:300]
        yield "numbers", path.name, _csv([["station", "x", "y", "error"], *rows])
    for number in range(8):
        goods = rnd.sample(_LABELS, 12)
        rows = [[rnd.choice(goods), str(rnd.randrange(1, 900)), f"{rnd.random() * 90:.2f}", rnd.choice(("in", "out"))]
                for _ in range(200)]  # fmt: skip
        yield "stock", f"stock {number}", _csv([["item", "number", "price", "moved"], *rows])
    words = (packages / "usr/share/dict/american-english").read_text("utf-8").splitlines()
    for number in range(8):
        rows = [[str(n), *rnd.sample(words, 7)] for n in range(150)]
        yield "words", f"words {number}", _csv(rows)


def _misread(body: bytes, rnd: random.Random) -> Iterator[bytes | None]:
    """A page as tesseract reads it from a scan that is far too coarse."""
    import pypdfium2

    document = pypdfium2.PdfDocument(body)
    scales = [rnd.uniform(0.5, 0.62) for _ in range(min(2, len(document)))]
    images = [document[number].render(scale=scale, grayscale=True).to_pil() for number, scale in enumerate(scales)]
    document.close()
    for image in images:
        with tempfile.TemporaryDirectory() as folder:
            image.rotate(rnd.uniform(-2, 2), fillcolor=255).save(f"{folder}/p.png", dpi=(100, 100))
            _run(["tesseract", "p.png", "p", "--dpi", "100", "pdf"], folder=folder)
            found = Path(folder) / "p.pdf"
            yield found.read_bytes() if found.exists() else None


def main() -> int:
    """Make what is not there yet; 1 where a tool or the packages are not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("packages", type=Path, metavar="PACKAGES")
    options = parser.parse_args()
    missing = [name for name in ("pandoc", "groff", "soffice", "tesseract") if shutil.which(name) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    if lacking := not (options.packages / "usr/share/doc").is_dir():
        print(f"{options.packages}/usr/share/doc: not there; unpack the packages into {options.packages} with dpkg -x",
              file=sys.stderr)  # fmt: skip
    if missing or lacking:
        return 1
    options.folder.mkdir(parents=True, exist_ok=True)
    out = Folder(options.folder)
    make_good(out, options.packages)
    make_junk(out, options.packages)
    print(f"{sum(one.good for one in out.made):,} good files, {sum(not one.good for one in out.made):,} of junk")
    return 0


if __name__ == "__main__":
    sys.exit(main())
