"""An id or a class that a generator made from content does not cost the page the content; a role's still does."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.roles import forget_slugs
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

LONG = "The spoon is made of one piece of wood, and nobody has found a better way to make a spoon in all these years."


def text_of(body: str) -> str:
    html = f"<html lang=en><head><title>T</title></head><body>{body}</body></html>".encode()
    doc = Document(url="https://example.org/page", html=html, content_type="text/html")
    assert isinstance(ParseStage()(doc), Document)
    ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0))(doc)
    return doc.text


def page(*sections: str) -> str:
    return f'<div role="main"><section id="spoons"><h1>Spoons</h1><p>{LONG}</p>{"".join(sections)}</section></div>'


SLUGS = ("Adding related objects", "Share a session", "Cookies and how to bake them", "Author names", "The button row")


@pytest.mark.parametrize("heading", SLUGS)
def test_a_section_named_after_its_heading_stays(heading):
    name = heading.lower().replace(" ", "-")
    text = text_of(page(f'<section id="{name}"><h2>{heading}</h2><p>{LONG} Truly.</p></section>'))
    assert f"{heading}\n{LONG} Truly." in text


def test_a_prefix_and_an_empty_target_before_the_heading_do_not_hide_it():
    section = '<div class="section" id="s-related-fields"><span id="related-fields"></span><h2>Related fields</h2>'
    assert "Truly." in text_of(page(f"{section}<p>{LONG} Truly.</p></div>"))


def ids(html: str) -> list[str]:
    tree = parse_html(f"<html><body>{html}</body></html>")
    forget_slugs(tree)
    return [element.get("id") for element in tree.iter() if element.get("id")]


def test_a_heading_that_only_repeats_a_role_proves_nothing():
    assert ids('<div id="related-posts"><h3>Related posts</h3></div><div id="comments"><h2>Comments</h2></div>') == [
        "related-posts",
        "comments",
    ]


def test_among_sections_of_the_same_kind_that_are_named_after_headings_a_role_is_none():
    section = '<section class="level2" id="{}"><h2>{}</h2></section>'
    named = section.format("wood", "Wood") + section.format("comments", "Comments") + section.format("knife", "Knife")
    assert ids(named) == []
    assert ids(named + '<div id="comments"><h2>Comments</h2></div>') == ["comments"]


def test_sections_of_docbook_have_names_and_no_roles():
    assert ids('<div class="sect2" id="FUNCTIONS-SHARE"><div class="titlepage"><h3>9.2</h3></div></div>') == []


def test_a_section_that_does_not_begin_with_its_heading_keeps_its_role():
    for body in ("Latest: <h2>Shared work</h2>", "<p>x</p><h2>Shared work</h2>", "<p>Shared work</p>"):
        assert ids(f'<div id="shared-work">{body}</div>') == ["shared-work"]


def test_a_defined_term_is_not_discarded_for_its_name():
    terms = "".join(
        f'<dt id="http.cookies.{name}">class {name}</dt><dd><p>{LONG} {name}.</p></dd>' for name in ("Jar", "Morsel")
    )
    text = text_of(page(f"<dl>{terms}</dl>"))
    assert [f"class {name}\n{LONG} {name}." in text for name in ("Jar", "Morsel")] == [True, True]


@pytest.mark.parametrize(
    "box",
    [
        '<div class="sidebar"><div class="titlepage"><div><p class="title"><strong>TOOL</strong> Knife</p></div></div>',
        '<aside class="sidebar"><p class="sidebar-title">Knife</p>',
        '<div class="admonition-sharing-a-knife admonition"><p class="admonition-title">Sharing a knife</p>',
        '<aside class="topic"><p class="topic-title">Knife</p>',
    ],
    ids=["DocBook", "docutils", "admonition", "topic"],
)
def test_boxed_notes_of_generators_are_text(box):
    tag = box[1:].split()[0]
    assert f"{LONG} In a box." in text_of(page(f"{box}<p>{LONG} In a box.</p></{tag}>", f"<p>{LONG} After.</p>"))


def test_the_sidebar_of_a_blog_is_no_text():
    widget = f'<div class="sidebar"><h3 class="widget-title">Recent</h3><p>{LONG} In a box.</p></div>'
    assert "In a box." not in text_of(page(f"<p>{LONG} It is true.</p>" * 3, widget))


def test_short_definitions_with_permalinks_stay():
    option = '<dt id="cmdoption-{0}">--{0}<a class="headerlink" href="#cmdoption-{0}">¶</a></dt><dd><p>Be {0}.</p></dd>'
    names = [f"wood{letter}" for letter in "abcdefgh"]
    text = text_of(page(f"<dl>{''.join(option.format(name) for name in names)}</dl>"))
    assert [f"--{name}\nBe {name}." in text for name in names] == [True] * len(names)
    assert "¶" not in text


def test_what_follows_a_permalink_in_its_heading_stays():
    assert "2.1 Spoons of wood" in text_of(page(f'<h2>2.1 <a href="#wood">#</a>Spoons of wood</h2><p>{LONG} A.</p>'))
