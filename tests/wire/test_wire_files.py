"""Which kind of file is a body? Its first bytes and members say so; the declared type says whether it may be one."""

from __future__ import annotations

import pytest

from crawler.wire.files import begins_as_file, declared_kind, file_kind, from_head, may_be_file
from crawler.wire.media import media_kind

PDF = b"%PDF-1.7\n"


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("application/pdf", PDF, "pdf"),
        ("application/pdf; name=x", PDF, "pdf"),
        ("APPLICATION/X-PDF", PDF, "pdf"),
        ("text/html", PDF, "pdf"),
        ("", PDF, "pdf"),
        ("binary/octet-stream", PDF, "pdf"),
        ("image/png", PDF, None),
        ("application/json", PDF, None),
        ("application/pdf", b"<html>", None),
        ("application/pdf", b"junk" * 400 + PDF, "pdf"),
        ("text/plain", b"junk" + PDF, None),
        ("application/pdf", b"x" * 9_000 + PDF, None),
        ("application/zip", b"PK\x03\x04" + b"\x00" * 99, None),
        ("application/octet-stream", b"words", None),
    ],
)
def test_a_body_is_what_its_bytes_say_where_its_type_lets_it(declared, body, kind):
    assert file_kind(declared, body) == kind
    if kind is not None and body.startswith(PDF):
        assert media_kind(declared, body) is None  # no two readers of one body


def test_a_type_names_a_kind_or_leaves_it_open():
    assert declared_kind("application/pdf") == "pdf" and may_be_file("application/pdf")
    assert declared_kind("application/octet-stream") is None and may_be_file("application/octet-stream")
    assert not may_be_file("text/html") and not may_be_file("video/mp4")


def test_what_begins_as_a_file_is_read_on():
    assert begins_as_file(b"PK\x03\x04") and begins_as_file(b"\n\n" + PDF)
    assert not begins_as_file(b"\x7fELF" + b"\x00" * 99)


def test_a_pdf_begins_at_its_head():
    assert from_head(b"junk" + PDF + b"x") == PDF + b"x"
    assert from_head(b"none") == b"none"
