"""The author is whom the page's data or its by-line name, nobody of its comments and reviews."""

from __future__ import annotations

import json
from html import escape
from itertools import islice
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import Element

from bench.quality.eval_pages import labelled
from crawler.stages.extraction.metadata import author as by_line
from crawler.stages.extraction.metadata.author import find_author, name_in
from crawler.stages.extraction.metadata.head import read_head
from crawler.stages.extraction.metadata.licence import find_licence
from crawler.stages.extraction.metadata.linked import MAX_NODES, read_linked
from crawler.stages.extraction.metadata.linked_licence import stated_licences
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.extraction.metadata.title import find_title
from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode
from crawler.stages.text.json_data import MAX_CHARS
from tests.support.places import SHARED_DATA

URL = "https://spoons.example/carving/birch.html"
META = '<meta name="author" content="Tove Ek">'
LABEL = '<meta name="twitter:label1" '
TEXT = " who showed us how a spoon is carved out of birch, and how the knife is held" * 6
BY_LINE = '<p class="byline">By Tove Ek</p>'
ADA = {"@type": "Person", "name": "Ada Lovelace"}


def author_of(head: str = "", body: str = "") -> str | None:
    page = f"<html><head>{head}</head><body><h1>Birch</h1>{body}<p>Text.</p></body></html>"
    return read_metadata(parse_html(page), URL, source=Source(page.encode())).author


def linked(*said: Any) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in said)


@pytest.mark.parametrize(
    "said",
    [
        "tove.ek@example.org",
        "Tove Ek <tove.ek@example.org>",
        "tove.ek@example.org (Tove Ek)",
        "Tove Ek, +49 170 1234567",
        "Tove Ek (0170) 123-4567",
        "https://www.social.example/tove.ek",
        "www.spoons.example",
    ],
)
def test_an_address_or_a_telephone_number_is_no_author(said):
    for head in (linked({"@type": "Article", "author": said}), f'<meta name="author" content="{escape(said)}">'):
        assert author_of(head) is None
    assert author_of(body=f'<p class="byline">By {escape(said)}</p>') is None


@pytest.mark.parametrize("said", ["Tove &amp; Jo", "Tove &#38; Jo", "Tove & Jo"])
def test_a_name_that_was_escaped_twice_is_read_as_it_is_meant(said):
    assert author_of(linked({"@type": "Article", "author": said})) == "Tove & Jo"
    assert author_of(f'<meta name="author" content="{escape(said)}">') == "Tove & Jo"


OAK = "https://spoons.example/oak.html"


@pytest.mark.parametrize(
    "said",
    [
        [{"@type": "Article", "url": OAK, "author": "Jo Doe"}, {"@type": "Article", "url": URL, "author": "Ada L"}],
        [{"@graph": [{"@type": "BlogPosting", "@id": f"{OAK}#a", "author": "Jo Doe"},
                     {"@type": "BlogPosting", "@id": f"{URL}#a", "author": "Ada L"}]}],
        [{"@type": "Article", "mainEntityOfPage": {"@id": OAK}, "author": "Jo Doe"},
         {"@type": "Article", "mainEntityOfPage": {"@id": "/carving/birch.html"}, "author": "Ada L"}],
        [{"@type": "Article", "url": "https://m.spoons.example/birch", "author": "Ada L"}],  # no other is the page's
        [{"@type": "Article", "author": "Ada L"}, {"@type": "Article", "url": URL, "author": "Jo Doe"}],
    ],
)  # fmt: skip
def test_an_author_is_that_of_the_page_and_not_of_another_one_in_its_data(said):
    assert author_of(linked(*said)) == "Ada L"


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        (META + linked({"@type": "Article", "author": ADA}), BY_LINE, "Ada Lovelace"),
        (META, '<p class="author">Ada Lovelace</p>', "Tove Ek"),
        (LABEL + 'content="Written by"><meta name="twitter:data1" content="Tove Ek">', "", "Tove Ek"),
        (LABEL + 'content="Est. time"><meta name="twitter:data1" content="Ten minutes">', "", None),
        ("", '<a href="/author/tove">Tove Ek</a><p class="byline">By Ada</p>', "Tove Ek"),
        ("", '<p>By <a rel="author" href="/t">Tove Ek</a></p>', "Tove Ek"),
        ("", BY_LINE, "Tove Ek"),
        ("", '<div itemprop="author"><span itemprop="name">tove_7</span><b>19 badges</b></div>', None),
        ("", '<div itemprop="author" class="username"><i itemprop="name">tove_7</i><b>19 badges</b></div>', "tove_7"),
        ("", '<div class="author-box"><a href="/t">Tove Ek</a> writes about wood and has three cats.</div>', "Tove Ek"),
        ("", '<div class="comments"><p class="author">Ada</p></div>', None),
        ("", '<section id="reviews"><div><p class="author">Ada</p></div></section>' + BY_LINE, "Tove Ek"),
        ("", '<p class="byline">20 March 2023 | Health</p>', None),
        ("", '<p class="author">About the author</p><p class="author-name">Tove Ek</p>', "Tove Ek"),
        ("", '<p class="authority">Certification of a long name that nobody bears</p>', None),
        ('<meta name="citation_author" content="Lovelace, Ada"><meta name="citation_author" content="Ek, Tove">', "",
         "Ada Lovelace; Tove Ek"),
        ('<meta name="author" content="Ada Lovelace; Tove Ek; Ada Lovelace">', "", "Ada Lovelace; Tove Ek"),
        ('<meta name="author" content="https://example.org/ada">', BY_LINE, "Tove Ek"),
        ('<meta itemprop="author" content="Tove Ek">', "", "Tove Ek"),
        ('<meta name=" Author" content="Tove Ek">', "", "Tove Ek"),
        ('<meta name="author" content="spoons">' + linked({"@type": "Article", "author": "Spoons"}), "", "Spoons"),
        ("", '<p class="author">Ada of the old white mill</p>', None),
        ("", '<img src="/authors/ada.png" alt="">' * 30 + BY_LINE, "Tove Ek"),
        ("", '<div><b>9 of 10</b><meta itemprop="author" content="Ada"></div>', None),  # of a review
        ('<meta name="author" content="Spoons">', BY_LINE, "Tove Ek"),  # the site itself
        ('<meta name="author" content="Spoons">', "", "Spoons"),  # who else
        ("", "", None),
    ],
)  # fmt: skip
def test_the_author_is_named_by_data_before_the_head_before_a_by_line(head, body, author):
    assert author_of(head, body) == author


@pytest.mark.parametrize(
    ("said", "author"),
    [
        ({"@type": ["NewsArticle", "Thing"], "author": "Ada Lovelace"}, "Ada Lovelace"),
        ({"@type": "Article", "author": [ADA, {"name": ["Tove Ek"]}, {"givenName": "Bo", "familyName": "Lind"}]},
         "Ada Lovelace; Tove Ek; Bo Lind"),
        ({"@graph": [{"@type": "Article", "author": {"@id": "#a"}}, {"@id": "#a", "name": "Ada"}]}, "Ada"),
        ({"@type": "QAPage", "mainEntity": {"@type": "Question", "author": ADA}}, "Ada Lovelace"),
        ({"@type": "Question", "acceptedAnswer": {"@type": "Article", "author": ADA}}, None),
        ({"@type": "Product", "review": [{"@type": "Article", "author": ADA}], "author": ADA}, None),
        ({"@type": "ItemList", "itemListElement": [{"@type": "Article", "author": ADA}]}, None),
        ({"@type": "Article", "author": {"name": None, "givenName": None}}, None),
        ({"@type": "Article", "author": [[["x"]], 7, None, {"@id": 5}]}, None),
        ({"@type": "Article", "author": {"@id": ["#a"]}}, None),
        ([[[{"@type": "Article", "author": ADA}]]], "Ada Lovelace"),
        ({"a": {"@type": "Article", "author": "Ada"}, "b": {"@type": "Article", "author": "Tove"}}, "Ada"),
        ("a string", None),
    ],
)  # fmt: skip
def test_linked_data_name_the_authors_of_the_work_itself(said, author):
    assert author_of(linked(said)) == author


def test_linked_data_with_line_breaks_in_their_strings_are_read_and_broken_ones_are_none():
    broken = '<script type="application/ld+json">{"@type": "Article", "author": "Ada"</script>'
    wrapped = '<script type=" Application/LD+JSON ">{"@type": "Article", "author": "Ada\nLovelace"}</script>'
    assert author_of(broken) is None and author_of(broken + wrapped) == "Ada Lovelace"
    assert author_of('<script type="application/ld+json">' + "[" * 100_000 + "</script>") is None


def test_what_no_file_can_hold_is_left_out_of_a_name():
    data = r'<script type="application/ld+json">{"@type": "Article", "author": "Ada\ud800 Love\u0000lace"}</script>'
    author = author_of(data)
    assert author == "Ada Lovelace" and orjson.dumps(author)


def test_a_page_full_of_names_that_are_none_costs_no_more_than_its_length(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(by_line, "name_in", lambda text: asked.append(text) or "")
    body = "<div class=author>" * 25 + "<i itemprop=name>1</i>" * 1_000 + "</div>" * 25
    assert author_of("", body) is None
    assert len(asked) <= by_line.MAX_PLACES * 5


def test_linked_data_that_are_too_large_are_not_parsed():
    for size, authors in ((MAX_CHARS - 100, ("Ada",)), (MAX_CHARS, ())):
        script = Element("script", type="application/ld+json")
        script.text = json.dumps({"@type": "Article", "author": "Ada", "text": "a" * size})
        assert read_linked([script]).authors == authors


def test_linked_data_without_end_are_read_to_their_limit():
    many = [{"@type": "Thing"}] * MAX_NODES + [{"@type": "Article", "author": "Ada"}]
    tree = parse_html(f"<html><head>{linked(many)}</head><body>x</body></html>")
    assert read_linked(tree.iter("script")).authors == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("By Ada Lovelace", "Ada Lovelace"),
        ("Written by: Ada Lovelace |", "Ada Lovelace"),
        ("This post was written by Ada", "Ada"),
        ("Posted by By Ada", "Ada"),
        ("von Ada", "Ada"),
        ("Byron", "Byron"),  # no prefix
        ("Vonnegut", "Vonnegut"),
        ("Center for Drug Evaluation and Research", "Center for Drug Evaluation and Research"),
        ("Ada Lovelace wrote the first program of all", ""),
        ("A" * 61, ""),
        ("by " * 100 + "Ada", ""),
        ("ada@example.org", ""),
        ("Admin", ""),
        ("Name *", ""),
        ("2024", ""),
        ("", ""),
    ],
)
def test_a_name_is_a_few_words_without_the_word_by(text, name):
    assert name_in(text) == name


def test_a_page_whose_bytes_speak_of_no_author_is_not_searched(monkeypatch):
    monkeypatch.setattr(by_line, "_PLACES", None)
    head, data = read_head([]), read_linked([])
    html = b"<html><head><link rel=author></head><body><p class='lead'>The author is > here. an='x' author</p></body>"
    assert find_author(None, URL, head, data, Source(html)) is None
    with pytest.raises(TypeError):
        find_author(None, URL, head, data, Source(html.replace(b"lead", b"author")))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32-le"])
@pytest.mark.parametrize(
    "place", ['<p class="byline">', "<p class = byline>", """<p @click='() => "<b>"' class='a byline'>"""]
)
def test_a_page_that_names_one_is_searched_in_whatever_bytes_it_came(encoding, place):
    page = f"<html><body><h1>Birch</h1>{place}By Tove Ek</p></body></html>"
    assert read_metadata(parse_html(page), URL, source=Source(page.encode(encoding))).author == "Tove Ek"


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(("@type", "@id", "@graph", "author", "name", "headline", "datePublished", "givenName")),
                inner | st.sampled_from(("Article", "Person", "#a", "Review")),
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_linked_data_of_any_form_are_no_error(said):
    tree = parse_html(f"<html><head>{linked(said).replace('</', '<!')}</head><body><h1>x</h1></body></html>")
    for script in tree.iter("script"):
        script.text = json.dumps(said)
    found = read_linked(tree.iter("script"))
    assert all(isinstance(text, str) for text in (found.headline, *found.authors, *found.published))
    assert all(isinstance(text, str) for texts in stated_licences(found.roots, URL) for text in texts)


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs the shared pages")
def test_no_reader_fails_on_a_real_page():
    """`read_metadata` would hide it: a reader that fails on every page says nothing of any."""
    for page in islice(labelled(SHARED_DATA, None), 400):
        tree = parse_html(decode(page.html, None)[0])
        head = read_head(tree.iter("meta"), tree.iter("title"))
        data = read_linked(tree.iter("script"))
        find_title(tree.iter("h1"), page.url or "", head, data.headline)
        find_author(tree, page.url or "", head, data)
        said = list(stated_licences(data.roots, page.url or ""))
        find_licence(tree, page.url or "", links=tree.iter("a", "link"), metas=tree.iter("meta"), linked=said)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (META + '<meta name="author" content="Liv Aas">', ""),
        ('<meta name="citation_authors" content="Ek, Tove"><meta name="citation_authors" content="Aas, Liv">', ""),
        ('<meta name="citation_author" content="Ek, Tove; Aas, Liv">', ""),
        ('<meta name="author" content="Tove Ek and Liv Aas">', ""),
        (META + '<meta name="citation_author" content="Ek, Tove"><meta name="citation_author" content="Aas, Liv">', ""),
        (linked({"@type": "Article", "author": {"@list": [{"name": "Tove Ek"}, {"name": "Liv Aas"}]}}), ""),
        (linked({"@type": "Article", "author": {"@type": "Person", "name": ["Tove Ek", "Liv Aas"]}}), ""),
        ("", '<p class="byline">By Tove Ek and Liv Aas</p>'),
        ("", '<p class="byline">By <a href="/x">Tove Ek</a> &amp; <a href="/y">Liv Aas</a></p>'),
        ("", '<p>By <a rel="author" href="/x">Tove Ek</a>, <a rel="author" href="/y">Liv Aas</a></p>'),
        ("", '<p>By <b class="author">Tove Ek</b><sup>1</sup>, <b class="author">Liv Aas</b><sup>2</sup></p>'),
        (META, '<p>By <a href="/authors/ek">Tove Ek</a><i>, </i><a href="/authors/aas">Liv Aas</a></p>'),
    ],
)
def test_all_authors_of_a_page_are_named(head, body):
    assert author_of(head, body) == "Tove Ek; Liv Aas"


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ('<meta name="author" content="Ernst &amp; Young">', "", "Ernst & Young"),
        ('<meta name="author" content="Department of Health and Human Services">', "",
         "Department of Health and Human Services"),
        ('<meta name="author" content="Tove Ek, Home Inspector">', "", "Tove Ek, Home Inspector"),
        ('<meta name="author" content="Tove Ek, Founder and Lead Reviewer">', "", "Tove Ek, Founder and Lead Reviewer"),
        ("", '<div><b class="author">Tove Ek</b></div><div><b class="author">Liv Aas</b></div>', "Tove Ek"),
        ("", '<p><b class="author">Tove Ek</b>, edited by <b class="author">Liv Aas</b></p>', "Tove Ek"),
        (META, f'<p>To <a href="/authors/ek">Tove Ek</a> and <a href="/authors/aas">Liv Aas</a>{TEXT}</p>', "Tove Ek"),
        (META, '<p>By <a rel="author" href="/x">Ida Lie</a> and <a rel="author" href="/y">Liv Aas</a></p>', "Tove Ek"),
    ],
)  # fmt: skip
def test_one_name_stays_one_and_other_people_are_no_authors(head, body, author):
    assert author_of(head, body) == author


def test_a_long_list_of_authors_is_whole():
    names = [
        f"{first} {last}"
        for first in ("Torbjørg", "Liv", "Ida", "Åse")
        for last in ("Ekström", "Aas", "Lie", "Bøe", "Moe")
    ]
    assert author_of(linked({"@type": "Article", "author": [{"name": name} for name in names]})) == "; ".join(names)
