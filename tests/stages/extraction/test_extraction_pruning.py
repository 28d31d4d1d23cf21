"""Compiled discard rules select what trafilatura's own XPath expressions select."""

import tarfile
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from justext import core as justext_core
from lxml import etree, html
from lxml.etree import XPath
from trafilatura import main_extractor, xpaths
from trafilatura.settings import DEFAULT_CONFIG, Extractor

from crawler.stages.extraction import faster, faster_density, faster_justext
from crawler.stages.extraction.selectors import Rule
from crawler.stages.extraction.stage import trafilatura_text
from crawler.stages.parse.stage import parse_html
from demo.pages import load_web
from demo.render import Web, page_html
from tests.support.places import SHARED_DATA

REGEX = {"re": "http://exslt.org/regular-expressions"}
LISTS = ("OVERALL_DISCARD_XPATH", "TEASER_DISCARD_XPATH", "DISCARD_IMAGE_ELEMENTS", "PRECISION_DISCARD_XPATH")

PAGE = """<html><body>
<div id="shareBox" class="x">a</div><div class="x shareBox">b</div><p class="y" id="teaserOne">c</p>
<section role="Navigation">d</section><span style="display:none">e</span><p aria-hidden="true">f</p>
<div class="top" id="consent">g</div><div id="plain" class="article-caption">h</div><div>i</div>
<div data-lp-replacement-content="1">j</div><p class="a bottom">k</p><p class="padding-bottom-lg">l</p>
<p class="link">m</p>
</body></html>"""


@pytest.fixture(autouse=True)
def restore():
    yield
    faster.install()


@pytest.mark.parametrize("name", LISTS)
def test_a_compiled_rule_selects_the_same_elements_in_the_same_order(name):
    tree = html.fromstring(PAGE)
    for expression in getattr(xpaths, name):
        assert Rule(expression).select(tree) == expression(tree)


def test_the_costly_expressions_of_the_installed_trafilatura_are_compiled():
    costly = [*xpaths.OVERALL_DISCARD_XPATH, *xpaths.TEASER_DISCARD_XPATH, *xpaths.DISCARD_IMAGE_ELEMENTS]
    assert all(Rule(expression).compiled for expression in costly)


@pytest.mark.parametrize(
    "source",
    [
        ".//*[self::div][contains(@class, 'a') and @id]",
        ".//*[self::div][not(@id)]",
        ".//*[self::div][contains(., 'text')]",
        ".//*[self::div][@id='a'][1]",
        "(.//div)[1]",
        ".//header",
        ".//*[re:test(@id, '^$')]",
    ],
)
def test_an_expression_of_another_form_is_left_to_the_engine(source):
    rule = Rule(XPath(source, namespaces=REGEX))
    assert not rule.compiled
    tree = html.fromstring(PAGE)
    assert rule.select(tree) == XPath(source, namespaces=REGEX)(tree)


@pytest.mark.parametrize(
    "source",
    [
        ".//*[self::div or self::p][re:test(@id|@class, 'share', 'i') or starts-with(@class, 'to')]",
        ".//*[contains(translate(@role, 'N', 'n'), 'nav') or @class='link' or @data-lp-replacement-content]",
        './/*[contains(@class, "bottom")]',
    ],
)
def test_a_union_means_the_attribute_that_stands_first(source):
    expression = XPath(source, namespaces=REGEX)
    rule = Rule(expression)
    assert rule.compiled
    tree = html.fromstring(PAGE)
    assert rule.select(tree) == expression(tree) != []


CONDITIONAL = (
    ".//*[self::div or self::p][@id='plain' or contains(@class, 'bottom')][not(.//h1)]",
    ".//*[self::div][@id='nowhere'][not(.//h1)]",
    "(.//*[self::div or self::p][contains(@class, 'x') or @class='link'])[1]",
    "(.//*[self::p][@id='nowhere'])[1]",
    ".//*[self::div or self::section][@id or @role][1]",
)


@pytest.mark.parametrize("source", CONDITIONAL)
def test_what_stands_behind_the_disjunction_counts(source):
    expression = XPath(source)
    rule, tree = Rule(expression), html.fromstring(PAGE)
    assert rule.select(tree) == expression(tree)
    assert rule.first(tree) is next(iter(expression(tree)), None)


TITLES = """<html class="entry-title" id="title"><body><h2 class="post-title">a</h2><h1 id="headline-1">b</h1>
<h3 class="subtitle">c</h3><p class="post-title">d</p><h1 itemprop="headline">e</h1><h2>f</h2></body></html>"""


@pytest.mark.parametrize("expression", xpaths.TITLE_XPATHS, ids=lambda e: " ".join(e.path.split())[:40])
def test_a_path_from_the_root_is_searched_for_in_the_whole_document(expression):
    tree = html.fromstring(TITLES)
    assert Rule(expression).select(tree) == expression(tree) != []
    assert Rule(expression).select(tree.find(".//p")) == expression(tree)


def test_the_engine_is_not_asked_where_no_element_passes_the_disjunction(monkeypatch):
    rule = Rule(XPath(".//*[self::div][@id='nowhere'][not(.//h1)]"))
    monkeypatch.setattr(rule, "_expression", None)
    assert rule.select(html.fromstring(PAGE)) == []


BODIES = (
    '<div class="x"><div id="story">a</div></div><div class="post">b</div>',
    '<section><div class="content">a</div><article>b</article></section>',
    '<div><p>x</p><div class="Main-Content">a</div></div><main>b</main>',
    '<div itemprop="articleBody">a<div class="entry-content">b</div></div>',
    '<section id="main">a</section><main>b</main>',
    "<p>nothing of the kind</p>",
)


@pytest.mark.parametrize("body", BODIES)
def test_the_paths_to_the_body_lead_where_trafilaturas_lead(body):
    tree = html.fromstring(f"<html><body>{body}</body></html>")
    found = [next(iter(expression(tree)), None) for expression in xpaths.BODY_XPATH]
    faster.install()
    assert main_extractor.BODY_XPATH is not xpaths.BODY_XPATH
    assert [next(iter(path(tree)), None) for path in main_extractor.BODY_XPATH] == found
    assert faster.body_of(tree) is next((element for element in found if element is not None), None)


def test_the_costly_paths_to_the_body_are_compiled():
    costly = [e for e in xpaths.BODY_XPATH if "re:test" in e.path]
    assert len(costly) >= 3
    assert all(Rule(expression)._rest is not None for expression in costly)


def texts(pages):
    found = []
    for url, tree in pages:
        found += [trafilatura_text(tree, url, fast=fast) for fast in (True, False)]
    return found


def same_both_ways(pages):
    faster.uninstall()
    expected = texts(pages)
    faster.install()
    assert texts(pages) == expected


def test_the_texts_of_the_demo_web_are_the_same_both_ways():
    sites = load_web()
    web = Web(sites, dict.fromkeys(sites, "http://localhost"))
    pages = [(page.path, parse_html(page_html(web, page))) for page in web.pages()]
    assert len(pages) > 80
    same_both_ways(pages)


@pytest.mark.skipif(not (SHARED_DATA / "extraction").is_dir(), reason="needs ../shared/data/extraction")
def test_the_texts_of_real_pages_are_the_same_both_ways():
    with tarfile.open(SHARED_DATA / "extraction" / "pages.tar.gz") as tar:
        files = [(m.name, tar.extractfile(m)) for m in tar.getmembers() if m.isfile()]
        read = [(name, parse_html(file.read().decode("utf-8", "replace"))) for name, file in files if file]
    same_both_ways([(name, tree) for name, tree in read if tree is not None and not isinstance(tree, str)])


CLASSES = st.lists(st.sampled_from(["short", "neargood", "good", "bad"]), max_size=40)


@given(CLASSES, st.booleans())
def test_justexts_paragraphs_are_classed_the_same_both_ways(classes, with_headings):
    def paragraphs():
        return [
            SimpleNamespace(cf_class=c, class_type="", heading=with_headings and n % 3 == 0, text="x" * 60)
            for n, c in enumerate(classes)
        ]

    ours, theirs = paragraphs(), paragraphs()
    faster_justext.revise_paragraph_classification(ours, 150)
    justext_core.revise_paragraph_classification(theirs, 150)
    assert [p.class_type for p in ours] == [p.class_type for p in theirs]


@st.composite
def converted(draw, depth=4):
    """Markup as trafilatura's conversion leaves it: divisions, lists, paragraphs and tables with links in them."""
    if not depth:
        return draw(st.sampled_from(["<ref>link</ref>", "<ref>a link of many words</ref>", "text ", "long text " * 15]))
    tag = draw(st.sampled_from(["div", "div", "list", "item", "p", "table", "row", "ref", "span", "quote"]))
    inner = draw(st.lists(converted(depth - 1), max_size=4))
    teaser = draw(st.sampled_from(["", "", "", ' class="teaser"', ' class="share"', ' role="navigation"']))
    return f"<{tag}{teaser}>{''.join(inner)}</{tag}>{draw(st.sampled_from(['', 'tail ']))}"


SECOND_ROUND = f"<div><ref>{'seventy ' * 9}</ref><p><ref>{'forty ' * 7}</ref></p></div><p>end</p>"
"""Without its dense paragraph, which goes last in the first round, the division is dense, too."""


@example([SECOND_ROUND], "balanced", True, False)
@given(
    st.lists(converted(), min_size=1, max_size=5),
    st.sampled_from(["balanced", "recall", "precision"]),
    st.booleans(),
    st.booleans(),
)
def test_sections_are_pruned_by_their_links_as_trafilatura_prunes_them(parts, focus, with_divisions, keeps_teasers):
    markup = f"<body>{''.join(parts)}</body>"
    options = Extractor(
        config=DEFAULT_CONFIG, precision=focus == "precision", recall=focus == "recall", output_format="txt"
    )
    tags = {"table", "p", "list"} | ({"div"} if with_divisions else set())
    pruned = [
        etree.tostring(prune(etree.fromstring(markup, parser=html.xhtml_parser), set(tags), options, keeps_teasers))
        for prune in (faster_density._theirs, faster_density.prune_unwanted_sections)
    ]
    assert pruned[0] == pruned[1]
