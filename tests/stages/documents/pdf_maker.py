"""Writes small PDF files by hand: pages of lines, and whatever else a test wants of their objects."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping

WIDTH, HEIGHT = 595, 842
Line = tuple[float, float, float, str]
"""From the left, from the bottom, size, text; all in points."""
FONTS = "/Font << /F1 {font} >>"


class Objects:
    """The numbered objects of a file."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def add(self, body: bytes | str) -> int:
        self.bodies.append(body if isinstance(body, bytes) else body.encode("latin-1"))
        return len(self.bodies)

    def stream(self, data: bytes, entries: str = "", *, pack: bool = False) -> int:
        filters = " /Filter /FlateDecode" if pack else ""
        data = zlib.compress(data) if pack else data
        head = f"<< /Length {len(data)}{filters} {entries} >>\nstream\n".encode("latin-1")
        return self.add(head + data + b"\nendstream")

    def reserve(self) -> int:
        return self.add(b"null")

    def put(self, number: int, body: str) -> None:
        self.bodies[number - 1] = body.encode("latin-1")

    def file(self, root: int, trailer: str = "") -> bytes:
        out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
        for number, body in enumerate(self.bodies, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
        out += b"".join(b"%010d 00000 n \n" % place for place in places)
        entries = f"<< /Size {len(places) + 1} /Root {root} 0 R {trailer} >>"
        return bytes(out + b"trailer\n" + entries.encode("latin-1") + b"\nstartxref\n%d\n%%%%EOF\n" % start)


def shown(lines: Iterable[Line], font: str = "F1") -> bytes:
    """The content of a page that shows these lines in Helvetica; font F2: Courier."""
    said = []
    for x, y, size, text in lines:
        plain = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        said.append(f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({plain}) Tj ET")
    return "\n".join(said).encode("cp1252")


def pdf_of(
    pages: Iterable[bytes],
    *,
    info: Mapping[str, str] | None = None,
    xmp: str = "",
    catalogue: str = "",
    page: str = "",
    font: str = "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding",
    pack: bool = False,
    annotations: Mapping[int, list[str]] | None = None,
    resources: str = "",
) -> bytes:
    """A file of these pages, each given as its content stream. page: entries of each. annotations: URIs, by page."""
    objects = Objects()
    root, tree = objects.reserve(), objects.reserve()
    fonts = objects.add(f"<< /Type /Font {font} >>")
    typed = objects.add("<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>")
    kids = []
    for number, content in enumerate(pages):
        stream = objects.stream(content, pack=pack)
        links = "".join(
            f"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI ({uri}) >> >>"
            for uri in (annotations or {}).get(number, [])
        )
        own = f"/Annots [{links}]" if links else ""
        kids.append(
            objects.add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {stream} 0 R "
                f"/Resources << /Font << /F1 {fonts} 0 R /F2 {typed} 0 R >> {resources} >> {own} {page} >>"
            )
        )
    refs = " ".join(f"{kid} 0 R" for kid in kids)
    objects.put(tree, f"<< /Type /Pages /Kids [{refs}] /Count {len(kids)} >>")
    said = ""
    if xmp:
        said = f"/Metadata {objects.stream(xmp.encode(), '/Type /Metadata /Subtype /XML')} 0 R"
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R {said} {catalogue} >>")
    trailer = ""
    if info:
        entries = " ".join(f"/{name} ({value})" for name, value in info.items())
        trailer = f"/Info {objects.add(f'<< {entries} >>')} 0 R"
    return objects.file(root, trailer)


def text_pages(*texts: str, size: float = 11, left: float = 72, width: int = 80, top: float = 760) -> list[bytes]:
    """Each text as a page: its lines as they are given, at most `width` characters each."""
    return [shown((left, top - n * size * 1.2, size, line) for n, line in enumerate(t.split("\n"))) for t in texts]


def xmp_of(properties: str, spaces: str = "") -> str:
    """An XMP packet with these properties."""
    return (
        '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/" {spaces}>{properties}</rdf:Description></rdf:RDF></x:xmpmeta>'
        '<?xpacket end="w"?>'
    )
