"""Hostile files end with a reason, within their time, and take no other file with them."""

from __future__ import annotations

import io
import os
import re
import signal
import time
import zipfile
import zlib

import pytest

from crawler.stages.documents.call import Nursery
from tests.stages.documents.hostile_files import MORE
from tests.stages.documents.office_maker import W, docx, epub, odt, packed
from tests.stages.documents.pdf_maker import Objects, pdf_of, shown, text_pages

GOOD = pdf_of(text_pages("The miller of the old town rose long before the sun."))
TEXT = "The miller of the old town rose long before the sun."
SECONDS = 2
"""CPU seconds of one file here."""


def bomb(content=b" " * 1_000, times=400_000):
    """A page whose content inflates to 400 MB, packed twice."""
    packer = zlib.compressobj(9)
    data = b"".join([packer.compress(content) for _ in range(times)] + [packer.flush()])
    objects = Objects()
    page, tree, root = objects.reserve(), objects.reserve(), objects.reserve()
    twice = zlib.compress(data, 9)
    stream = objects.add(
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%b\nendstream" % (len(twice), twice)
    )
    objects.put(page, f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 9 9] /Contents {stream} 0 R >>")
    objects.put(tree, f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>")
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(root)


def forms(depth=9, width=10):
    """A form that calls ten forms, each of which calls ten forms, …"""
    objects = Objects()
    root, tree, page = objects.reserve(), objects.reserve(), objects.reserve()
    last = objects.stream(b"BT (x) Tj ET", "/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    for _ in range(depth):
        entries = f"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F {last} 0 R >> >>"
        last = objects.stream(b"/F Do " * width, entries)
    content = objects.stream(b"/F Do " * width)
    inner = f"/Resources << /XObject << /F {last} 0 R >> >>"
    objects.put(page, f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 9 9] /Contents {content} 0 R {inner} >>")
    objects.put(tree, f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>")
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(root)


def trees(kids, count=1):
    """A tree of pages with these kids of its root, which is object 2."""
    objects = Objects()
    root, tree = objects.reserve(), objects.reserve()
    objects.put(tree, f"<< /Type /Pages /Kids [{kids}] /Count {count} >>")
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(root)


def deep(levels=5_000):
    objects = Objects()
    root = objects.reserve()
    first = len(objects.bodies) + 1
    for n in range(levels):
        objects.add(f"<< /Type /Pages /Kids [{first + n + 1} 0 R] /Count 1 >>")
    objects.add("<< /Type /Page /MediaBox [0 0 9 9] >>")
    objects.put(root, f"<< /Type /Catalog /Pages {first} 0 R >>")
    return objects.file(root)


def many_pages(count=20_000):
    objects = Objects()
    root, tree, page = objects.reserve(), objects.reserve(), objects.reserve()
    objects.put(page, f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 9 9] >>")
    objects.put(tree, f"<< /Type /Pages /Kids [{f'{page} 0 R ' * count}] /Count {count} >>")
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(root)


def picture():
    """A page that is one picture."""
    objects = Objects()
    root, tree, page = objects.reserve(), objects.reserve(), objects.reserve()
    image = objects.stream(
        b"\x80", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    )
    content = objects.stream(b"q 595 0 0 842 0 0 cm /I Do Q")
    inner = f"/Resources << /XObject << /I {image} 0 R >> >>"
    objects.put(page, f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R {inner} >>")
    objects.put(tree, f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>")
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(root)


def locked(permissions=-4, password=b"secret"):
    """Encrypted with RC4 of 40 bits, as pypdf does it."""
    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(GOOD))
    flags = pypdf.constants.UserAccessPermissions
    allowed = flags.all() & ~flags.EXTRACT if permissions == "no copy" else flags.all()
    user = "" if permissions == "no copy" else password.decode()
    writer.encrypt(user, "owner", permissions_flag=allowed, algorithm="RC4-40" if user else "AES-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def xml_bomb():
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "boo">{entities}]>'
    return f"{head}<w:document {W}><w:body><w:p><w:r><w:t>&e9;</w:t></w:r></w:p></w:body></w:document>"


def lying_zip():
    """A member that says it is small and is not."""
    body = bytearray(docx("<w:p/>" + " " * 70_000_000))
    size = (70_000_000).to_bytes(4, "little")[2:]
    return bytes(body.replace(size, b"\x00\x00"))


def nested(depth):
    return docx("<w:tbl><w:tr><w:tc>" * depth + "</w:tc></w:tr></w:tbl>" * depth)


def crowded():
    return pdf_of([shown((9, 9 + 2 * n, 1, "word " * 60) for n in range(4_000))], pack=True)


def half(body):
    return body[: len(body) // 2]


def unmapped():
    """A font whose codes stand for nothing: private letters alone."""
    cmap = b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
    cmap += b"1 beginbfrange <20> <7e> <E020> endbfrange endcmap end"
    objects = Objects()
    root, tree, page = objects.reserve(), objects.reserve(), objects.reserve()
    uni = objects.stream(cmap)
    font = objects.add(f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode {uni} 0 R >>")
    content = objects.stream(shown([(72, 700 - 14 * n, 11, TEXT) for n in range(5)]))
    inner = f"/Resources << /Font << /F1 {font} 0 R >> >>"
    objects.put(page, f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R {inner} >>")
    objects.put(tree, f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>")
    objects.put(root, f"<< /Type /Catalog /Pages {tree} 0 R >>")
    return objects.file(root)


PLAIN = "my very own windy quay was swept every day by envoys who loved navy view over every wavy way"
SHIFTED = re.sub("[a-z]", lambda found: chr(ord(found[0]) + 5), PLAIN)
PRIVATE_XML = b"<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
NO_XML = '<container><rootfiles><rootfile full-path="../../../etc/passwd"/></rootfiles></container>'
FILES = {
    "empty pdf": ("pdf", lambda: b"%PDF-1.7\n%%EOF", {"broken_document", "truncated"}),
    "head alone": ("pdf", lambda: b"%PDF-1.7", {"truncated"}),
    "half": ("pdf", lambda: half(pdf_of(text_pages(*["words and words"] * 50))), {"truncated"}),
    "linearised and cut": (
        "pdf",
        lambda: GOOD.replace(b"%\xe2", b"1 0 obj << /Linearized 1 /L 999999 >>\n%\xe2"),
        {"truncated"},
    ),
    "noise behind the head": (
        "pdf",
        lambda: b"%PDF-1.7\n" + bytes(range(256)) * 400 + b"\n%%EOF\n",
        {"broken_document"},
    ),
    "bomb": ("pdf", bomb, {"document_memory", "document_cpu", "no text"}),
    "forms of forms": ("pdf", forms, {"document_memory", "document_cpu", "document_crash"}),
    "many saves": (
        "pdf",
        lambda: pdf_of([b"q " * 3_000_000], pack=True),
        {"document_memory", "document_cpu", "no text"},
    ),
    "deep arrays": ("pdf", lambda: pdf_of([b"[" * 500_000 + b" TJ"], pack=True), {"no text", "document_crash"}),
    "too many characters": ("pdf", crowded, {"too_large"}),
    "pages in a circle": ("pdf", lambda: trees("2 0 R"), {"broken_document", "no text"}),
    "pages that are not there": ("pdf", lambda: trees("77 0 R", 3), {"broken_document"}),
    "a false count": ("pdf", lambda: trees("", 2_000_000_000), {"broken_document", "too_large"}),
    "a negative count": ("pdf", lambda: trees("", -7), {"broken_document"}),
    "deep tree": ("pdf", deep, {"broken_document", "no text"}),
    "20,000 pages": ("pdf", many_pages, {"too_large"}),
    "no root": ("pdf", lambda: GOOD.replace(b"/Root", b"/Rood"), {"broken_document", "no text"}),
    "wild xref": (
        "pdf",
        lambda: re.sub(rb"\d{10} 00000 n", b"9999999999 00000 n", GOOD),
        {"broken_document", "no text"},
    ),
    "a picture": ("pdf", picture, {"needs_ocr"}),
    "a password": ("pdf", locked, {"encrypted"}),
    "private letters": ("pdf", unmapped, {"garbled"}),
    "shifted letters": ("pdf", lambda: pdf_of(text_pages("\n".join([SHIFTED] * 4))), {"garbled"}),
    "metadata of entities": (
        "pdf",
        lambda: pdf_of(text_pages(TEXT), xmp="<!DOCTYPE x [<!ENTITY a '1'>" + "<!ENTITY b '&a;&a;'>" + "]><x>&b;</x>"),
        {"no text"},
    ),
    "metadata of noise": ("pdf", lambda: pdf_of(text_pages(TEXT), xmp="<" * 200_000), {"no text"}),
    "zip of nothing": ("docx", lambda: packed({"x": ""}), {"broken_document"}),
    "half a zip": ("docx", lambda: half(docx("<w:p/>" * 500)), {"truncated"}),
    "70 MB of blanks": ("docx", lambda: docx("<w:p/>" + " " * 70_000_000), {"too_large"}),
    "a lying directory": ("docx", lying_zip, {"too_large", "broken_document"}),
    "a nest of tables": ("docx", lambda: nested(20_000), {"broken_document"}),
    "tables as deep as XML may be": ("docx", lambda: nested(80), {"no text"}),
    "entities of entities": ("docx", lambda: packed({"word/document.xml": xml_bomb()}), {"broken_document", "no text"}),
    "no XML": ("docx", lambda: packed({"word/document.xml": b"\x00\xff" * 99}), {"broken_document"}),
    "too many members": ("docx", lambda: packed({f"m{n}": "" for n in range(20_001)}), {"too_large"}),
    "an odt without text": ("odt", lambda: packed({"content.xml": "<x/>"}), {"broken_document"}),
    "a million spaces": ("odt", lambda: odt('<text:p>a<text:s text:c="999999999"/>b</text:p>'), {"no text"}),
    "a file of the machine": ("odt", lambda: packed({"content.xml": PRIVATE_XML + b"<x>&f;</x>"}), {"broken_document"}),
    "an epub that points outside": ("epub", lambda: packed({"META-INF/container.xml": NO_XML}), {"broken_document"}),
    "an epub without chapters": ("epub", lambda: epub({}), {"broken_document"}),
    "an epub of one chapter many times": (
        "epub",
        lambda: epub({f"c{n}.xhtml": "<p>x</p>" for n in range(3_000)}),
        {"no text"},
    ),
    **MORE,
}
"""Name: kind, the file, and how it may end; "no text" is a reading that is right, whatever is in it."""


@pytest.fixture(scope="module")
def own():
    made = Nursery(memory=600 * 2**20)
    yield made
    made.close()


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_ends_with_a_reason_within_its_time(own, name):
    kind, make, ends = FILES[name]
    body = make()
    started = time.monotonic()
    found = own.read(kind, body, seconds=SECONDS, max_pages=5_000, max_links=100)
    assert time.monotonic() - started < 30
    assert found.cpu < SECONDS + 2
    assert (found.drop.reason.value if found.drop else "no text") in ends, found.drop
    assert own.read("pdf", GOOD, seconds=SECONDS, max_pages=9, max_links=9).content.blocks[0].text == TEXT


def test_a_file_that_forbids_to_copy_is_refused_like_an_opt_out(judged):
    doc = judged(locked("no copy"))
    assert doc.verdict.reason.value == "optout" and doc.verdict.detail == "pdf-permissions in file: copy: forbidden"
    assert doc.text == ""


def test_junk_in_front_of_a_pdf_is_passed_over(judged):
    assert judged(b"HTTP junk\r\n" * 200 + GOOD).text == TEXT


def test_a_process_that_was_killed_is_started_again(own):
    own.read("pdf", GOOD, seconds=1, max_pages=9, max_links=9)
    os.kill(own._process.pid, signal.SIGKILL)
    own._process.wait()
    assert own.read("pdf", GOOD, seconds=1, max_pages=9, max_links=9).content.blocks[0].text == TEXT


def test_a_child_can_write_no_file_and_prints_nothing_into_the_answer(own, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr("word/document.xml", f"<w:document {W}/>")
    found = own.read("docx", (tmp_path / "x.zip").read_bytes(), seconds=1, max_pages=9, max_links=9)
    assert found.drop is None and found.content.blocks == []
