"""The walk in C gives every list of the walked page as Python gives it, or leaves the page to Python."""

from __future__ import annotations

import dataclasses
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from lxml.html import document_fromstring

from crawler import native
from crawler.native.walk import CASES, walked
from crawler.stages.extraction.common import correct
from crawler.stages.extraction.learned import walk as module
from crawler.stages.extraction.learned.walk import Walked, walk
from crawler.stages.extraction.shadow import open_shadows
from crawler.stages.parse.stage import parse_html
from tests.native.native_support import PROBE, both, built, mutated

pytestmark = built


def lists(page: Walked):
    return {field.name: getattr(page, field.name) for field in dataclasses.fields(page) if field.compare}


def tree_of(text: str):
    tree = parse_html(text)
    open_shadows(tree)
    correct(tree, text.encode("utf-8", "replace"))
    return tree


def is_walked_in_c(tree) -> bool:
    body = tree.find(".//body")
    xml = etree.tostring(body if body is not None else tree, encoding="utf-8", with_tail=False, xml_declaration=False)
    with walked(native.library(), module._rules(), xml) as page:
        return page is not None


def same(tree) -> Walked:
    python, c = both(lambda: lists(walk(tree)))
    assert c == python
    return Walked(**c)


@pytest.mark.parametrize("seed", range(60))
def test_pages_in_pieces_are_walked_alike(seed):
    same(tree_of(mutated(PROBE, seed, 4 * (seed % 9)) if seed else PROBE))


def test_a_page_with_something_of_everything_is_walked_in_c():
    tree = tree_of(PROBE)
    assert is_walked_in_c(tree)
    page = same(tree)
    assert len(page.texts) > 20
    assert page.shown or page.spans or page.numbers


CASES_OF_PAGES = {
    "nothing": "<body></body>",
    "text alone": "<body>one</body>",
    "white space of every kind": "<p> a\u00a0b\u2003c\u3000d\u2028e\x1cf\x85g\t\n h </p>",
    "no width": "<p><b>a\u200b</b><i>\u200bB</i><b>\u200b</b><i>9</i></p>",
    "entities": "<p title='&quot;&#10;'>&lt;&amp;&gt;&quot;&#x1F517;&#13;&#xFFFD;&nbsp;</p>",
    "seams of letters beyond ASCII": "<p><b>ö</b><i>Ö</i><b>ж</b><i>Ж</i><b>٣</b><i>x</i><b>x</b><i>٣</i></p>",
    "seams of signs": "<p><b>!</b><i>A</i><b>)</b><i>B</i><b>x</b><i>9</i><b>9</b><i>X</i></p>",
    "neighbours that are words": "<p><b>young</b><i>people</i></p><p>young people</p>",
    "neighbours of which one is hidden": "<p><b>young</b><i>people</i> and <span hidden>old</span></p><p>young people",
    "a line break between Chinese signs": "<p>中\n文</p><p>a\nb</p><p>é\nb</p><p>中\n\u3000文</p>",
    "breaks": "<p>a<br>b<hr>c</p><h2>a<br>b</h2><pre>a<br>b</pre>",
    "code": "<pre>\r\n  \n\n  a \r b\n\n\tc  \n\n</pre><pre> \n </pre><pre><a href=x>ab </a></pre>",
    "code in a line": "<p><b>a</b><code>B</code><i>c</i></p>",
    "hidden in a line": "<p>a <span style='DISPLAY : none'>b</span> <a style='display:none-x' href=y>c</a>"
    "<span aria-hidden=true>a</span> <span role=tooltip>t</span> <a role=tooltip>u</a> <a hidden role=tooltip>v</a>",
    "hidden until it is found": "<p hidden=until-found>a</p><p hidden=UNTIL-found>b</p><p hidden>c</p><p hidden=''>d",
    "hidden across blocks": "<span hidden>a<p>b</p>c</span>d",
    "a style with letters beyond ASCII": "<p style='font-family:宋体;visibility:collapse'>a</p>",
    "links": "<p><a href=x> a b </a><a>c</a><a href=''>d</a><a href=#x>e</a><a href=y><b>f</b>g</a></p>",
    "anchors of headings": "<h2>A<a href=#a> \n¶ </a>b</h2><h2>B<a href=#b><b>#</b></a></h2><h2>C<a href=#c>c</a></h2>"
    "<h2>D<a href=#d></a>d</h2><h2>E<a href=#e><img></a></h2><h2>F<a href=#f>[link]<b>x</b></a></h2>",
    "an anchor with much white space": f"<h2>A<a href=#a>{' ' * 600}#</a></h2>",
    "elements within a sentence": "<p>a <x-y>b</x-y> c</p><h2>a <x-y>b</x-y></h2><p>a <o:p>b</o:p></p>",
    "names of odd signs": "<p a\"b=1 ='x' =\"=3>a</p><div<p>b</div<p><q\"r='s'>c</q\"r>",
    "names that say much": f"<div class='{'x ' * 300}' id=é role=main itemprop=p itemtype=q><p class=''>a</p></div>",
    "roles and marks": "<div role=navigation><p class=comment>a</p></div><div role=' main'>b</div><div class=RELATED>c",
    "cells": "<table><tr><td colspan=3>a</td><td rowspan=٣>b</td><th colspan=0 rowspan=999>c</th><td colspan=x>d",
    "numbered items": "<ol start=3><li>a</li><li value=9>b</li><ol type=a><li>c</li></ol></ol><ul><li>d</li></ul>",
    "what holds no text": "<p>a<script>if(a<b&&c>d){}</script>b<style>x>y</style><svg><text>c</text></svg>d<img>e</p>",
    "joints": "<p>a<wbr>B x<sub>2</sub>Y <b>a</b><wbr><i>B</i></p>",
    "an object of JSON": '<div>{"a": "' + "x" * 300 + '"}</div><p>b</p>',
    "nearly an object of JSON": '<div>{"a" ' + "x" * 300 + "</div><p>b</p>",
    "a short object of JSON": '<div>{"a": 1}</div>',
    "letters of four bytes": "<p>\U0001f517<b>\U0001d41a</b><i>\U0001d400</i>\U0001e943\U0001e921</p>",
    "control characters": "<p>a\x01b\x1fc&#1;d</p>",
    "a button and others": "<button>a</button><select><option>b</select><textarea>c</textarea><dialog>d</dialog>",
}


@pytest.mark.parametrize("text", CASES_OF_PAGES.values(), ids=CASES_OF_PAGES)
def test_each_of_these_is_walked_alike(text):
    same(tree_of(text))


def test_only_data_and_what_xml_cannot_say_are_left_to_python():
    left = {name for name, text in CASES_OF_PAGES.items() if not is_walked_in_c(tree_of(text))}
    data = {"an object of JSON", "nearly an object of JSON"}
    assert left == {*data, "an anchor with much white space", "control characters"}
    assert not is_walked_in_c(tree_of("<p style='display:noneé'>a</p>"))


def test_comments_and_instructions_are_passed_as_lxml_passes_them():
    text = "<body>a<!-- <b> > -->b<p>c<?x y?>d<b>e<!-- -->f</b>g</p><a href=#x><!-- z -->¶</a></body>"
    tree = document_fromstring(text)
    assert is_walked_in_c(tree)
    assert same(tree).texts == ["a", "ceg"]


def test_a_tree_without_a_body_and_a_body_alone_are_walked_alike():
    fragment = etree.fromstring("<div><p>one</p><p>two</p></div>")
    assert same(fragment).texts == ["one", "two"]
    body = document_fromstring("<body><p>one</p></body>").find(".//body")
    body.tail = "behind"
    assert same(body).texts == ["one"]


def test_sections_of_cdata_and_entities_that_nobody_declared_are_left_to_python():
    body = etree.fromstring("<body><p>a<![CDATA[<b>]]></p></body>", etree.XMLParser(strip_cdata=False))
    assert b"CDATA" in etree.tostring(body)
    assert same(body).texts == ["a<b>"]
    assert not is_walked_in_c(body)
    text = '<!DOCTYPE body [<!ENTITY x "y">]><body><p>a&x;b</p></body>'
    named = etree.fromstring(text, etree.XMLParser(resolve_entities=False))
    assert b"&x;" in etree.tostring(named)
    assert not is_walked_in_c(named)


@pytest.mark.parametrize("many", [19_999, 20_000, 20_001])
def test_no_more_blocks_are_read_than_a_page_may_have(many):
    page = same(tree_of("<body>" + "<p>a<b>b</b><i>C</i></p>" * many))
    assert len(page.texts) == min(many, 20_000)


def test_deep_pages_are_walked_alike():
    element = etree.Element("body")
    inner = element
    for number in range(20_000):
        inner = etree.SubElement(inner, ("div", "b", "a", "pre")[number % 4])
        inner.text = "x"
    same(element)


def test_no_character_behind_the_table_has_a_case_or_is_a_digit():
    assert not [c for c in map(chr, range(CASES, sys.maxunicode)) if c.islower() or c.isupper() or c.isdecimal()]


def test_every_kind_of_white_space_is_known():
    """str.split and str.strip ask the same of a character as str.isspace."""
    spaces = [c for c in map(chr, range(sys.maxunicode)) if c.isspace() and c.isprintable() | (ord(c) >= 0x1C)]
    for space in [*spaces, "\t", "\n", "\r"]:
        body = etree.Element("body")
        try:
            body.text = f"a{space}b{space}"
        except ValueError:  # what XML cannot hold stands in no tree
            continue
        assert same(body).texts == ["a b"]


TEXT = st.text(st.sampled_from("aZ9 \n\u3000\u200b中é!)¶#&<>\"'"), max_size=6)
TAG = st.sampled_from(
    ["p", "b", "span", "a", "pre", "code", "li", "td", "br", "wbr", "script", "x-y", "h2", "q", "div"]
)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["class", "id", "role", "hidden", "style", "aria-hidden", "href", "colspan", "rend", "itemprop"]),
    st.sampled_from(["", "x", "#", "#3.", "true", "until-found", "display: none", "tooltip", "main", "3", "comment é"]),
    max_size=3,
)


@st.composite
def elements(draw):
    """Trees of any shape, not only such that an HTML parser makes."""
    root = etree.Element("body")
    around = [root]
    for _ in range(draw(st.integers(0, 25))):
        inner = etree.SubElement(draw(st.sampled_from(around)), draw(TAG), draw(ATTRIBUTES))
        inner.text, inner.tail = draw(TEXT), draw(TEXT)
        around.append(inner)
    return root


@settings(max_examples=200, deadline=None)
@given(elements())
def test_any_tree_is_walked_alike(tree):
    same(tree)
