"""The parse stage: bytes to one tree, statements and links."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trafilatura.utils import load_html

from crawler.config import ExtractionConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.parse import prescan
from crawler.stages.parse.prescan import hostile_reason
from crawler.stages.parse.stage import MAX_STATEMENTS, ParseStage, _without_early_ends, parse_html
from crawler.stages.text.charset import decode
from crawler.wire.media import media_kind

PAGE = b"""<!DOCTYPE html><html lang="de-AT"><head><title> A  title </title><base href="/docs/">
<meta name="Description" content="What it says"><meta name="ROBOTS" content="noai, NoFollow">
<link rel="canonical" href="/page"><link rel="License" type="text/html" href="https://creativecommons.org/licenses/by/4.0/">
</head><body><a href="b.html#x">B</a> <a href="b.html">B again</a> <a rel="nofollow ugc" href="c.html">C</a>
<a href="mailto:x@example.org">mail</a> <a href="javascript:void(0)">js</a> <a href="//other.example/">O</a>
<a href="ftp://example.org/">ftp</a><map><area href="d.html"></map></body></html>"""


def parse(
    html: bytes,
    content_type: str = "text/html",
    charset: str | None = None,
    url: str = "https://example.org/a/",
    domain: str = "",
):
    return ParseStage()(Document(url=url, domain=domain, html=html, content_type=content_type, charset=charset))


def page(html: bytes, **kwargs) -> Document:
    doc = parse(html, **kwargs)
    assert isinstance(doc, Document), doc
    return doc


def test_links_are_absolute_unique_without_fragment_and_in_page_order():
    assert page(PAGE).links == [
        "https://example.org/docs/b.html",
        "https://other.example/",
        "https://example.org/docs/d.html",
    ]


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/html, text/html", "html"),
        ("text/html; charset=utf-8, text/html; charset=utf-8", "html"),
        ("text/plain, text/html", "html"),
        ("text/html, */*", "html"),
        ("text/html,", "html"),
        ("application/pdf, application/pdf", None),
    ],
)
def test_a_content_type_that_a_proxy_joined_from_two_headers_is_read(content_type, kind):
    assert media_kind(content_type, b"<p>text") == kind


def test_a_charset_that_a_proxy_joined_with_another_header_is_read():
    doc = page("<p>żółw</p>".encode("iso-8859-2"), content_type="text/html", charset="iso-8859-2, text/html")
    assert doc.tree.text_content() == "żółw"


def test_statements_of_the_head_are_read_with_lower_case_names():
    doc = page(PAGE)
    assert doc.metas == [("description", "What it says"), ("robots", "noai, NoFollow")]
    assert ("license", "text/html", "https://creativecommons.org/licenses/by/4.0/") in doc.rel_links
    assert (doc.html_lang, doc.title, doc.description, doc.nofollow) == ("de-at", "A title", "What it says", True)


def test_the_canonical_link_is_read_as_a_claim_and_changes_no_identity():
    doc = page(PAGE, domain="example.org")
    assert doc.canonical_link == "https://example.org/page"
    assert doc.canonical_url == ""


def test_a_canonical_link_to_another_domain_is_not_recorded():
    assert page(PAGE, domain="example.net").canonical_link is None


def test_no_text_exists_after_parsing():
    assert page(PAGE).text == ""
    assert page(b"plain words", content_type="text/plain").text == ""


def test_statements_in_the_body_count_too():
    assert page(b"<html><body><p>x</p><meta name=robots content=noai></body></html>").metas == [("robots", "noai")]


def test_what_may_refuse_is_read_however_many_other_statements_stand_before_it():
    many = "".join(f"<meta name=og:tag content={i}><link rel=preload href=/{i}>" for i in range(2_000))
    last = "<meta name=ourcollector content=noindex><meta name=robots content=noai><link rel='License' type=t href=/l>"
    doc = page(f"<html><head>{many}{last}</head><body><p>x</p></body></html>".encode())
    assert doc.metas[:3] == [("robots", "noai"), ("ourcollector", "noindex"), ("og:tag", "0")]
    assert doc.rel_links[:2] == [("license", "t", "https://example.org/l"), ("preload", "", "https://example.org/0")]
    assert len(doc.metas) == len(doc.rel_links) == MAX_STATEMENTS


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        ("größe".encode(), None, "utf-8"),
        ("größe".encode("cp1252"), "iso-8859-1", "cp1252"),
        ("größe".encode(), "iso-8859-1", "utf-8"),
        (b"\xef\xbb\xbf" + "größe".encode(), "iso-8859-1", "utf-8"),
        ("größe".encode("utf-16"), None, "utf-16-le"),
        (b'<meta charset="windows-1251">' + "привет мир".encode("cp1251"), None, "cp1251"),
        ("日本語のテキスト".encode("shift_jis"), "Shift_JIS", "cp932"),
        (("Die Größe der Häuser überrascht. " * 9).encode("cp1252"), "utf-8", "cp1252"),
        (("Die Häuser am See sind alt, aber gut gebaut und hell. " * 9).encode("cp1252"), "utf-8", "cp1252"),
        (("Die Häuser am See sind alt, aber gut gebaut. " * 9).encode() + b"\xff", None, "utf-8"),
        (("Die Häuser am See sind alt, aber gut gebaut. " * 9).encode() + b"\xff" * 8, "utf-8", "utf-8"),
        (("The houses are old. " * 90).encode() + b"\xff", "utf-8", "utf-8"),
        ("größe".encode(), "no-such-charset", "utf-8"),
    ],
)
def test_the_character_set_is_that_of_the_bytes(body, charset, expected):
    decoded = decode(body, charset)
    assert decoded is not None
    assert decoded[1] == expected


def test_an_undeclared_legacy_encoding_is_detected():
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 20
    assert decode(text.encode("cp1251")) == (text, "cp1251")


def test_bytes_that_no_character_set_reads_are_undecodable():
    drop = parse(bytes(range(128, 256)) * 50, charset="utf-8")
    assert isinstance(drop, Drop)
    assert drop.reason is DropReason.UNDECODABLE


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"<p>x", "html"),
        ("application/xhtml+xml", b"<p>x", "html"),
        ("", b"<!doctype html><p>x", "html"),
        ("", b"just words", "text"),
        ("text/markdown", b"# x", "text"),
        ("", b"\x00\x01\x02", None),
        ("application/json", b"{}", None),
        ("text/html", b"%PDF-1.7", None),
    ],
)
def test_the_kind_of_a_body_follows_its_declared_type_then_its_first_bytes(content_type, body, kind):
    assert media_kind(content_type, body) == kind


def test_a_body_that_is_no_text_is_dropped_with_its_type():
    drop = parse(b"\x89PNG", content_type="image/png")
    assert drop == Drop("parse", DropReason.NOT_TEXT, "content type 'image/png'")


@pytest.mark.parametrize(
    "html",
    [
        b"<p " + b" ".join(b"a%d=1" % i for i in range(40_000)) + b">x</p>",
        b'<p x="' + b"y" * 270_000 + b'">x</p>',
        b"<p" + b" " * 270_000 + b">x</p>",
        b"<div>" * 5_000 + b"x",
        ("<p " + " ".join(f"a{n}=1" for n in range(40_000)) + ">x</p>").encode("utf-16"),
    ],
    ids=["attributes", "long value", "long tag", "nesting", "UTF-16"],
)
def test_hostile_html_is_refused_before_it_costs_anything(html):
    started = time.process_time()
    drop = parse(html)
    assert isinstance(drop, Drop)
    assert drop.reason is DropReason.HOSTILE_HTML
    assert time.process_time() - started < 1.0


def test_depth_is_told_from_other_limits_of_the_parser_by_what_it_left():
    assert parse_html("<div>" * 254 + "x").text_content() == "x"
    assert parse_html("<div>" * 255 + "x") == "nested deeper than 256 elements"
    assert parse_html("<span>a" * 300 + "</span>" * 300) == "nested deeper than 256 elements"
    torn = parse_html("<p>" + "x" * 11_000_000 + "</p>")  # libxml2's limit of its buffer: fatal, and another one
    assert not isinstance(torn, str)


@pytest.mark.parametrize(
    "html",
    [
        b'<p>text <img src="data:image/png;base64,' + b"A" * 200_000 + b'"> more</p>',
        b'<div data-page=\'{"props":' + b"1" * 100_000 + b"}'>text</div>",
        b"<script>var a = '<b " + b"x " * 50_000 + b"';</script><p>text</p>",
        b"<!-- <b " + b"x " * 50_000 + b" --><p>text</p>",
    ],
    ids=["inline image", "application state", "script", "comment"],
)
def test_large_payloads_of_ordinary_pages_are_not_hostile(html):
    assert "text" in page(html).tree.text_content()


def crowded(count: int) -> bytes:
    return b"<div " + b" ".join(b"a%x" % n for n in range(count)) + b">text</div>"


def test_a_tag_of_a_thousand_attributes_is_a_mistake_and_no_attack():
    assert "text" in page(crowded(1_211)).tree.text_content()
    assert "text" in page(crowded(5_322)).tree.text_content()
    assert page(crowded(10_000)).tree is not None


def test_attributes_are_bounded_for_a_tag_and_for_a_page():
    assert hostile_reason(crowded(10_001)) == "a tag with 10001 attributes (limit 10000)"
    assert hostile_reason(crowded(3_000) * 11) is None
    assert hostile_reason(crowded(3_000) * 12) == ("crowded tags with 108000000 pairs of attributes (limit 100000000)")


@pytest.mark.parametrize("piece", [b"<", b"<a '", b"<!--", b"<script>", b"<a \"'", b"</", b"<a b=", b"<title>"])
def test_the_scan_takes_linear_time_on_repeated_fragments(piece):
    started = time.process_time()
    hostile_reason(piece * (2_000_000 // len(piece)))
    assert time.process_time() - started < 3.0


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.binary(max_size=400), st.sampled_from(["text/html", "text/plain", ""]))
def test_parsing_never_raises(body, content_type):
    assert isinstance(parse(body, content_type), Document | Drop)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.text(alphabet="<>/abp ='\"!-\n\x00\x0c", max_size=300))
def test_parsing_never_raises_on_near_html(markup):
    assert isinstance(parse(b"<html><body>" + markup.encode()), Document | Drop)


def test_the_tree_is_the_one_trafilatura_would_build():
    html = (
        b"<html><!-- c --><head><title>t</title></head><body><p>a b<br>c</p><?pi x?><ul><li>1<li>2</ul></body></html>"
    )
    ours, theirs = page(html).tree, load_html(html)
    assert [(e.tag, e.text, e.tail) for e in ours.iter()] == [(e.tag, e.text, e.tail) for e in theirs.iter()]


@pytest.mark.parametrize(
    "html",
    [
        b"<html><body><p>first</p></body></html>\n<div><a href='b'>second</a></div></body></html>",
        b"<html><body><p>first </p></BODY ><div><a href='b'>second</a></div></html>",
        b"<html><body><p>first </p></body></html><!DOCTYPE html><html><head></head><body><a href='b'>second</a></body>",
        b"<html><head><title>x</title></head></html><body>first <a href='b'>second</a></body>",
    ],
)
def test_what_stands_behind_the_end_of_the_body_belongs_to_it_as_in_browsers(html):
    doc = page(html)
    assert doc.tree.find("body").text_content().split() == ["first", "second"]
    assert doc.links == ["https://example.org/a/b"]


@pytest.mark.parametrize(
    "tail",
    [b"", b"\n", b"<!-- </div> -->\n</html>", b"<script>var a = '<p>no';</script></html>\n<script src='a'></script >"],
)
def test_the_end_of_a_body_stays_where_nothing_is_shown_behind_it(tail):
    data = b"<html><body><p>first</p></body>" + tail
    assert _without_early_ends(data) is data


@pytest.mark.parametrize(
    "piece", [b"</body>", b"</body ", b"<script>", b"<!--", b"</body><script></script", b"</html>a"]
)
def test_ends_of_bodies_are_found_in_linear_time(piece):
    began = time.process_time()
    _without_early_ends(b"<html><body>a</body>" + piece * 100_000)
    assert time.process_time() - began < 2


def test_the_number_of_links_read_from_a_page_is_bounded():
    html = b"".join(b"<a href=/%d>x</a>" % n for n in range(50))
    doc = Document(url="https://example.org/", html=html, content_type="text/html")
    ParseStage(ExtractionConfig(max_links=10))(doc)
    assert doc.links == [f"https://example.org/{n}" for n in range(10)]


def test_an_empty_body_has_no_tree_and_is_left_to_the_extraction():
    assert page(b"  ").tree is None


def test_skipping_ordinary_tags_in_one_step_changes_no_judgement(monkeypatch):
    pieces = [b'<a href="x">', b"<p>", b"text", b'"', b"'", b"<", b">", b"<script>", b"</script>", b"<!--", b"-->"]
    pieces += [b"<b c='>'>", b"<div " + b"a=1 " * 10_100 + b">", b'<x y="<">', b"<Style>", b"<title>", b"</title >"]
    rnd = random.Random(1)
    bodies = [b"".join(rnd.choices(pieces, k=rnd.randint(1, 25))) for _ in range(3_000)]
    fast = [hostile_reason(body) for body in bodies]
    monkeypatch.setattr(prescan, "_behind_ordinary", lambda body, position: position)
    assert fast == [hostile_reason(body) for body in bodies]
    assert 100 < sum(reason is not None for reason in fast) < 2_900
