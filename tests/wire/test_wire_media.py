"""Media types and content codings: one answer for the middleware, the stages, the archive and control files."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.documents.begin import declared_type
from crawler.wire.codings import MAX_CODINGS, CodingError, content_codings
from crawler.wire.media import content_type, is_binary, may_be_read, media_kind, media_type

HTML = b"<!doctype html><p>text</p>"


@pytest.mark.parametrize(
    ("declared", "essence", "charset"),
    [
        ("text/html; charset=utf-8", "text/html", "utf-8"),
        ("TEXT/HTML;Charset='Latin1'", "text/html", "Latin1"),
        ("text/html charset=utf-8", "text/html", None),
        ('text/html; a="x,y"; charset="utf-8', "text/html", "utf-8"),
        ("text/plain, text/html", "text/html", None),
        ("text/html; charset=koi8-r, text/html", "text/html", "koi8-r"),
        ("text/html; charset=koi8-r, text/plain", "text/plain", None),
        ("text/html, */*", "text/html", None),
        ("*/*, none, text/html; charset=utf-8", "text/html", "utf-8"),
        ("html", "", None),
        ("undefined", "", None),
        ("", "", None),
    ],
)
def test_a_declared_type_is_read_as_the_fetch_standard_reads_it(declared, essence, charset):
    assert media_type(declared) == (essence, charset)


def test_all_lines_of_a_type_count_and_reach_a_record_without_what_acts_in_a_terminal():
    lines = [(b"Content-Type", b"text/plain"), (b"X", b"y"), (b"content-type", b"text/html;  charset=\x1b[1m")]
    assert content_type(lines) == "text/plain, text/html; charset=\x1b[1m"
    assert declared_type(lines) == "text/plain, text/html; charset=\\x1b[1m"


@given(st.text(max_size=60), st.binary(max_size=80))
@example("text/html", b"")
@example('text/html; a="', HTML)
def test_what_is_refused_by_its_type_alone_is_refused_whatever_its_bytes_say(declared, body):
    kind = media_kind(declared, body)
    assert kind in {"html", "text", "rtf", "mail", None}
    assert may_be_read(declared) or kind is None


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("", b"\xef\xbb\xbf" + HTML, "html"),
        ("", HTML.decode().encode("utf-16"), "html"),
        ("*/*", b"plain words", "text"),
        ("text/x-unheard-of", b"plain words", "text"),
        ("text/x-unheard-of", HTML, "html"),
        ("application/octet-stream", HTML, None),
        ("text/xml", b"<?xml version='1.0'?><!-- - -- - --><!DOCTYPE html [<!ENTITY a '>'>]>\n<html>", "html"),
        ("text/xml", b"<?xml version='1.0'?><!--" + b"x" * 5_000 + b"--><html>", "html"),
        ("text/xml", b"<rss>", None),
        ("", b"<?xml version='1.0'?><rss>", None),
        ("", b" \n ", None),
        ("", b"words and \x02", None),
        ("application/rtf", b"{\\rtf1 words}", "rtf"),
        ("text/plain", b"\n{\\rtf1\\ansi words}", "rtf"),
        ("text/rtf", b"words", "text"),
        ("text/html", b"{\\rtf1 words}", "html"),
        ("message/rfc822", b"Subject: x\n\nwords", "mail"),
        ("text/plain", b"MIME-Version: 1.0\nSubject: x\nContent-Type: text/plain\n\nwords", "mail"),
        ("", b"From ada Mon May  1 12:00:00 2023\nFrom: ada\nDate: x\nSubject: y\n\nwords", "mail"),
        ("text/plain", b"Date: x\nFrom: ada\nSubject: y\nAbstract: long\n words\n\nwords", "mail"),
        ("text/plain", b"Name: Ada\nDate: May\nFrom: Lamar\n\nA form that was filled in.", "text"),
        ("text/plain", b"Message-ID is a field.\nFrom: is another\nDate: too\n\nwords", "text"),
        ("multipart/byteranges", b"words", None),
    ],
)
def test_bytes_decide_where_the_type_does_not(declared, body, kind):
    assert media_kind(declared, body) == kind


@given(st.lists(st.text(max_size=20), max_size=4))
def test_codings_are_a_list_of_those_that_are_known_or_nothing(values):
    try:
        found = content_codings(values)
    except CodingError:
        return
    assert len(found) <= MAX_CODINGS
    assert set(found) <= {"gzip", "x-gzip", "deflate", "br", "zstd"}


def test_every_reader_takes_linear_time():
    long = 400_000
    begin = time.process_time()
    for piece in (",", '"', ";", "a,", 'a",', "; charset=", "text/html,", "(", " "):
        media_type(piece * (long // len(piece)))
        content_codings_or_error(piece * (long // len(piece)))
    for head in (b"<!--", b"<!doctype ", b"<!doctype [", b"<?", b"<", b" ", b"-", b"<!-- -"):
        media_kind("text/xml", head * (long // len(head)))
    assert not is_binary(b"x" * long)
    assert time.process_time() - begin < 10


def content_codings_or_error(value):
    try:
        content_codings([value])
    except CodingError:
        return
