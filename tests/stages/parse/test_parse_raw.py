# ruff: noqa: E501 (markup as the programs write it)
"""What is no page by its type, and holds a text: HTML, JSON with HTML, RTF, mail; the texts are our own."""

from __future__ import annotations

import json
from email.message import EmailMessage

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.mail import read_mail
from crawler.stages.parse.raw import markup_in
from crawler.stages.parse.rtf import read_rtf
from crawler.stages.parse.stage import ParseStage

SENTENCE = "The river rises in the hills north of the town, and people have fished here for many centuries."
P = f"<p>{SENTENCE}</p>"
PAGE = f"<!DOCTYPE html><html><head><title>The mill</title></head><body><article>{P}{P}</article></body></html>"


def read(body: str | bytes, kind: str, extractor: str = "learned") -> Document:
    data = body.encode() if isinstance(body, str) else body
    doc = Document(url="https://example.org/x", html=data, content_type=kind, crawled_at="2025-01-01T00:00:00Z")
    assert isinstance(ParseStage()(doc), Document)
    ExtractionStage(ExtractionConfig(min_words=0, extractor=extractor))(doc)
    return doc


@pytest.mark.parametrize("extractor", ["learned", "trafilatura", "resiliparse"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (PAGE, "text/plain"),
        (PAGE, "text/markdown; charset=utf-8"),
        (P + P, "text/plain"),
        (f"<section><h2>Mills</h2>{P}</section>", "text/x-unheard-of"),
        (f"{SENTENCE}<br>{SENTENCE}<br><b>Bold</b> words.<br>", ""),
        (json.dumps({"title": {"rendered": "Tom &amp; Ada"}, "content": {"rendered": P * 2}}), "text/plain"),
        (json.dumps([{"html": P}, {"html": P}]), "text/html"),
        (json.dumps({"body": P * 2}).replace("<", "\\u003c").replace("</", "<\\/"), ""),
    ],
)
def test_html_is_read_as_html_whatever_it_is_served_as(body, kind, extractor):
    text = read(body, kind, extractor).text
    assert SENTENCE in text
    assert "<" not in text and '{"' not in text and "\\u003c" not in text


@pytest.mark.parametrize(
    "text",
    [
        "# Mills\n\n<p align=center>x</p>\n\nSome **words**.\n\n- one\n- two\n",
        "To begin a paragraph write <p>text</p>, and for bold\nwrite <b>text</b>.\nThat is all\nthere is to say.",
        '{"name": "mill", "values": [1, 2]}',
        '{"note": "a <b>bold</b> word", "text": "A long text without any markup in it, of which the note is a small part."}',
        "a < b and b > c",
        "<?php echo '<p>x</p>'; ?>\n<p>x</p>\n<p>y</p>",
        "[1] A reference </p>",
    ],
)
def test_a_text_that_speaks_of_markup_or_is_markdown_stays_a_text(text):
    assert markup_in(text) is None


def test_json_gives_the_text_of_each_of_its_items_once_under_its_title():
    items = [{"title": f"Part {n}", "content": {"rendered": f"{P}{P}"}, "excerpt": {"rendered": P}} for n in (1, 2)]
    markup = markup_in(json.dumps(items))
    assert markup is not None
    assert markup.count("<article>") == 2 and markup.count(SENTENCE) == 4 and "<h1>Part 2</h1>" in markup


RTF = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman Times;}{\f1\fswiss\fcharset204 Arial;}}"
    r"{\info{\title The mill}{\author Ada Miller}{\operator X}}{\*\generator Y;}\pard Caf\'e9 \u8212? 10{\super 6} "
    r"H{\sub 2}O, 10{\super 1.5} \ldblquote no\rdblquote\par\f1\'cf\'f0\'e8\'e2\'e5\'f2\par{\v hidden}{\deleted gone}"
    r"Next\line line \{x\}\par\trowd 1 May\cell\cell 500\cell\row 2 May\cell 120\cell\cell\row "
    r"{\field{\*\fldinst HYPERLINK x}{\fldrslt a link}} \u-10179?\u-8704?{\pict\bin3 }}}}{\par}\par End\par}"
)


def test_rtf_is_read_as_its_reader_sees_it():
    text, title, author, _ = read_rtf(RTF.encode())
    assert (title, author) == ("The mill", "Ada Miller")
    assert text.split("\n")[:6] == [
        "Café — 10⁶ H₂O, 10^(1.5) “no”", "Привет", "Next", "line {x}", "1 May | | 500", "2 May | 120 |",
    ]  # fmt: skip
    assert "a link 😀" in text and "End" in text and "hidden" not in text and "gone" not in text and "Times" not in text


def test_the_notes_of_an_rtf_stand_behind_their_paragraph():
    note = r"{\super \chftn{\footnote\pard{\super \chftn} By\par weight.}}"
    assert read_rtf(rf"{{\rtf1 Flour{note} is sold.\par More.\par}}".encode())[0] == "Flour is sold.\nBy weight.\nMore."
    assert read_rtf(rf"{{\rtf1 Flour{note}}}".encode())[0] == "Flour\nBy weight."


def test_an_rtf_says_when_it_was_begun_and_a_word_for_no_title_is_none():
    info = r"{\info{\title Untitled}{\author Ada Miller}{\creatim\yr2015\mo4\dy8\hr9}{\revtim\yr2019\mo1}}"
    doc = read(rf"{{\rtf1{info} The 1{{\super st}} of May}}", "application/rtf")
    assert (doc.title, doc.author, doc.pub_date) == (None, "Ada Miller", "2015-04-08")
    assert doc.text == "The 1st of May"


@pytest.mark.parametrize(
    "body", [b"{\\rtf", b"{\\rtf1 {{{{", b"{\\rtf1 }}}} x", b"{\\rtf1 \\u99999999? \\bin999 x", b"{\\rtf1 \\'"]
)
def test_rtf_that_is_damaged_is_read_as_far_as_it_goes(body):
    assert isinstance(read_rtf(body)[0], str)


@pytest.mark.parametrize(
    ("page", "code", "sign"),
    [("1251", "c6", "Ж"), ("10000", "8a", "ä"), ("54321", "e4", "ä"), ("99999999", "e4", "ä")],
)
def test_rtf_of_a_code_page_that_nobody_knows_is_read_as_western(page, code, sign):
    assert read_rtf(f"{{\\rtf1\\ansi\\ansicpg{page} x\\'{code}}}".encode())[0] == f"x{sign}"


def test_rtf_is_read_in_time_that_grows_with_its_length():
    body = b"{\\rtf1 " + b"{\\b " * 200_000 + b"x" + b"}" * 200_000
    assert read_rtf(body)[0] == ""  # more groups are open than any document has
    assert read_rtf(b"{\\rtf1 " + b"{\\b w}\\par " * 50_000 + b"}")[0].count("w") == 50_000


def test_a_document_in_rtf_is_a_record():
    doc = read(RTF, "application/rtf")
    assert (doc.extractor, doc.title, doc.author) == ("rtf", "The mill", "Ada Miller")
    assert "Café" in doc.text


def mail(**parts: str) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ada Miller <ada@mill.example>", "Die Mühle"
    message["Date"] = "Mon, 01 May 2023 12:00:00 +0000"
    message.set_content(parts.get("plain", ""))
    if html := parts.get("html"):
        message.add_alternative(html, subtype="html")
    message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="x.bin")
    return message.as_bytes()


@pytest.mark.parametrize("kind", ["message/rfc822", "text/plain", "", "multipart/mixed"])
def test_a_mail_is_its_text_with_subject_sender_and_date(kind):
    doc = read(mail(plain=f"Grüße vom Fluss.\n{SENTENCE}", html=P), kind)
    assert (doc.title, doc.author, doc.pub_date) == ("Die Mühle", "Ada Miller", "2023-05-01")
    assert doc.text == f"Grüße vom Fluss.\n{SENTENCE}"


def test_a_mail_of_html_alone_and_a_saved_page_are_read_as_pages():
    body = b"From: x\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n" + PAGE.encode()
    assert read(body, "message/rfc822").text == f"{SENTENCE}\n{SENTENCE}"
    saved = (
        b'From: <Saved by a browser>\nSubject: The mill\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="b"\n\n'
        b"--b\nContent-Type: text/plain\n\nnothing\n--b\nContent-Type: text/html\n\n" + PAGE.encode() + b"\n--b--\n"
    )
    assert read(saved, "multipart/related").text.startswith(SENTENCE)


def test_lines_of_a_mail_that_flow_are_joined():
    body = b"Content-Type: text/plain; format=flowed\n\nThe river rises \nin the hills.\nA line.\n-- \nAda"
    assert read_mail(body).text == "The river rises in the hills.\nA line.\n-- \nAda"


@pytest.mark.parametrize(
    "body",
    [b"", b"garbage", b"Content-Type: text/plain; charset=nonsense\n\nx", b"Date: never\nFrom: \xff\n\nx",
     b"Content-Type: multipart/mixed\n\nx", b"MIME-Version: 1.0\n" + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 3_000],
)  # fmt: skip
def test_a_mail_that_is_damaged_ends_in_an_answer(body):
    assert isinstance(read_mail(body).text, str)


def test_a_mail_of_a_text_with_a_markup_is_that_text():
    body = b"From: Ada <a@mill.example>\nSubject: How to\nContent-Type: text/asciidoc\n\nHow to turn\n===========\n\nSlowly."
    found = read_mail(body)
    assert "Slowly." in found.text and not found.is_markup and found.subject == "How to"
