"""The title of a page is what it calls itself, not the site's name above it or behind it."""

from __future__ import annotations

import pytest

from crawler.stages.extraction.metadata.head import MAX_CHARS, Head, read_head
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.extraction.metadata.title import Site
from crawler.stages.parse.stage import parse_html

URL = "https://spoons.example/carving/birch.html"
SITE = '<h1><a href="../index.html">Spoons 3.2 documentation</a></h1>'
OWN = "<h1>Carving birch</h1>"


def title_of(declared: str, body: str) -> str | None:
    tree = parse_html(f"<html><head><title>{declared}</title></head><body>{body}</body></html>")
    return read_metadata(tree, URL).title


@pytest.mark.parametrize(
    ("declared", "body", "title"),
    [
        ("carving.birch — Spoons 3.2 documentation", SITE + OWN, "Carving birch"),
        ("Birch — Spoons 3.2 documentation", SITE + "<p>No other headline.</p>", "Birch"),
        ("Carving | Tools | Spoons 3.2 documentation", SITE, "Carving"),
        ("Birch — Spoons 3.2 documentation", f"<header>{SITE}</header><h2>Carving</h2>", "Birch"),
    ],
    ids=["two headlines", "only that of the site", "section", "in a header"],
)
def test_a_headline_that_leads_to_the_site_and_ends_the_declared_title_is_its_name(declared, body, title):
    assert title_of(declared, body) == title


@pytest.mark.parametrize(
    ("declared", "body", "title"),
    [
        ("Spoons | Carving birch", OWN, "Carving birch"),  # no link
        ("Spoons | Carving birch", '<h1><a href="birch.html#top">Carving birch</a></h1>', "Carving birch"),  # to itself
        ("Spoons | Carving birch", '<h1><a href="/ash">Carving</a> birch</h1>', "Carving birch"),  # a part is linked
        ("Spoons 3.2 documentation", SITE, "Spoons 3.2 documentation"),  # the front page
        ("On Spoons 3.2 documentation", SITE, "Spoons 3.2 documentation"),  # no divider before it
        ("", SITE, "Spoons 3.2 documentation"),
    ],
)
def test_any_other_headline_is_the_title(declared, body, title):
    assert title_of(declared, body) == title


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Carving birch | Tove writes</title>", "", "Carving birch"),
        (
            "<title>Tove writes | Carving birch</title><meta property=og:site_name content='Tove writes'>",
            "",
            "Carving birch",
        ),
        ("<title>Carving birch - Spoons</title>", "", "Carving birch"),  # the host says that these are spoons
        ("<title>Carving birch - Spoons Limited</title>", "", "Carving birch"),
        ("<title>All about spoons: birch - Spoons</title>", "<h1>All about spoons</h1>", "All about spoons"),
        ("<title>Carving - birch and ash</title>", "", "Carving - birch and ash"),
        ("<title>Carving birch · Page 2 of 3</title>", "", "Carving birch · Page 2 of 3"),
        ("<title>x</title><meta property=og:title content='Carving birch'>", "", "Carving birch"),
        ("<title>Spoons</title>", "<h1>Everything of wood</h1>", "Spoons"),  # the front page
        ("<title>Carving birch</title>", "<h1>Spoons</h1>", "Carving birch"),
        ("<title>Carving birch - how to</title>", "<h1>Letters</h1><h1>Carving birch</h1>", "Carving birch"),
        ("<title>Savepoints</title>", "<h1>1. Syntax</h1><h1>2. Savepoints</h1>", "Savepoints"),
        ("<title>Birch, how to carve it</title>", "<h1>Carving birch</h1>", "Carving birch"),
        ("<title>Spoons 7</title>", "<h1>How to carve<br>birch</h1>", "Spoons 7"),
        ("", "<h1>How to carve<br>birch <em>well</em></h1>", "How to carve birch well"),
        ("<title>vector&lt;int&gt; explained</title>", "<h1>vector&lt;int&gt; explained</h1>", "vector<int> explained"),
        ("<meta property=og:title content='Carving &lt;b&gt;birch&lt;/b&gt;'>", "", "Carving birch"),
        ("<title>Carving birch</title>", "<h1>" + "Carving birch. " * 30 + "</h1>", "Carving birch"),
        ("<title>Birch | Carving | Spoons</title>", "<h1>Birch | Carving</h1>", "Birch | Carving"),
        ("<title>Carving birch - Spoons</title><meta property=og:title content=Spoons>", "", "Carving birch"),
        ("<title>Carving birch - spoons.example</title>", "", "Carving birch"),
        ("<title>Woodwork — Carving birch</title>", "<h1>Carving birch</h1>", "Carving birch"),
        ("", "<svg><title>Menu</title></svg><h1>Carving birch</h1>", "Carving birch"),
        ("", "<svg><title>Menu</title></svg>", None),
        ("<title>" + "a | " * 9_000 + "</title>", "<h1>Carving birch</h1>", ("a | " * 250).strip()),
        ("<title>如何雕刻桦木_木工频道</title>", "<h1>如何雕刻桦木</h1>", "如何雕刻桦木"),
        ("", "", None),
    ],
)
def test_a_confirmed_headline_is_the_title_or_else_the_declared_one_without_the_name_of_the_site(head, body, title):
    tree = parse_html(f"<html><head>{head}</head><body>{body}<p>Text.</p></body></html>")
    assert read_metadata(tree, URL).title == read_metadata(tree, URL.replace("//", "//www.")).title == title


def test_a_headline_that_linked_data_confirm_is_the_title():
    data = '<script type="application/ld+json">{"@type": "Article", "headline": "Carving birch by hand"}</script>'
    tree = parse_html(f"<html><head><title>Blog</title>{data}</head><body><h1>Carving birch</h1></body></html>")
    assert read_metadata(tree, URL).title == "Carving birch"


@pytest.mark.parametrize("name", ["AB.cd", "ab cd", "Ab — Cd"])
def test_a_site_is_called_by_its_host(name):
    assert Site("https://www.ab.cd/x", Head("", {})).is_called(name)
    assert not Site("https://www.ab.cd/x", Head("", {})).is_called("www.ab.cd and more")


def test_no_more_of_a_declared_title_is_read_than_of_any_statement():
    tree = parse_html("<html><head><title>" + "a - " * 9_000 + "</title></head><body>x</body></html>")
    assert len(read_head([], tree.iter("title")).title) <= MAX_CHARS


def test_the_name_of_a_book_over_every_page_is_no_title_of_a_chapter():
    head = "<title>Closures - The Programming Language</title>"
    menu = "<div id='menu-bar'><h1 class='menu-title'>The Programming Language</h1></div>"
    page = f"<html><head>{head}</head><body>{menu}<main><h2>Closures</h2><p>Text.</p></main></body></html>"
    assert read_metadata(parse_html(page), "https://doc.example/book/closures.html").title == "Closures"
    own = "<main><h1>The Programming Language</h1><p>Text.</p></main>"
    page = f"<html><head>{head}</head><body>{own}</body></html>"
    assert read_metadata(parse_html(page), "https://doc.example/book/").title == "The Programming Language"


def test_a_site_that_calls_itself_by_the_title_of_the_page_takes_no_part_of_it_away():
    title = "How to carve a spoon | Birch"
    head = f'<title>{title}</title><meta property="og:title" content="{title}">'
    head += f'<meta property="og:site_name" content="{title}">'
    page = f"<html><head>{head}</head><body><h1>How to carve a spoon</h1><p>Text.</p></body></html>"
    assert read_metadata(parse_html(page), "https://birch.example/spoon").title == "How to carve a spoon"


@pytest.mark.parametrize(
    ("declared", "title"),
    [
        ("The mill at the brook | Culture | Tove writes", "The mill at the brook"),
        ("Die Mühle am Bach | Kultur | Tove schreibt", "Die Mühle am Bach"),
        ("Мельница у ручья | Культура | Новости села", "Мельница у ручья"),
        ("溪边的老磨坊又开工了_文化频道_乡村新闻网", "溪边的老磨坊又开工了"),
        ("溪邊的老磨坊又開工了｜文化｜鄉村新聞", "溪邊的老磨坊又開工了"),
        ("小川のほとりの水車が動いた｜文化｜村の新聞", "小川のほとりの水車が動いた"),
        ("시냇가의 방앗간이 다시 돌아간다 | 문화 | 마을신문", "시냇가의 방앗간이 다시 돌아간다"),
        ("الطاحونة على ضفة النهر القديم | ثقافة | أخبار القرية", "الطاحونة على ضفة النهر القديم"),
        ("The mill - a history of the brook - carving - Spoons", "The mill - a history of the brook"),
    ],
)
def test_a_title_ends_before_section_and_site_in_any_script(declared, title):
    assert title_of(declared, "") == title


@pytest.mark.parametrize(
    "title",
    [
        "The mill – a history",
        "Woodwork - Carving birch",
        "AT&T - Verizon: what they said",
        "老磨坊——溪边的历史",
        "Мельница — история ручья",
        "C - a language",
        "1914–1918",
    ],
)
def test_a_dash_that_belongs_to_the_title_cuts_nothing(title):
    assert title_of(title, "") == title


@pytest.mark.parametrize("name", ["溪谷新闻", "Долина", "Valley Post"])
def test_a_site_of_a_known_name_is_cut_behind_any_dash(name):
    head = f'</title><meta property="og:site_name" content="{name}"><title>'
    assert title_of(f"Die Mühle am Bach – {name}{head}", "") == "Die Mühle am Bach"
    assert title_of(f"{name} | Die Mühle am Bach{head}", "") == "Die Mühle am Bach"


def test_title_and_description_are_repaired_as_text_is():
    described = "<meta name=description content='It&amp;rsquo;s &amp;lt;b&amp;gt;'>"
    head = f"Tom &amp;amp; Ada&amp;#8217;s mill</title>{described}<title>"
    tree = parse_html(f"<html><head><title>{head}</title></head><body></body></html>")
    found = read_metadata(tree, URL)
    assert (found.title, found.description) == ("Tom & Ada’s mill", "It’s &lt;b&gt;")
