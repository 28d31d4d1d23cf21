"""Compiled discard rules select what trafilatura's own XPath expressions select."""

import tarfile
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from lxml.etree import XPath
from trafilatura import main_extractor, xpaths

from crawler.stages.extraction import faster, neighbours
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
def plain():
    faster.uninstall()
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
        "//*[self::div][@id='plain']",
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
    assert [next(iter(path(tree)), None) for path in main_extractor.BODY_XPATH] == found
    assert faster.body_of(tree) is next((element for element in found if element is not None), None)


def test_the_costly_paths_to_the_body_are_compiled():
    costly = [e for e in xpaths.BODY_XPATH if "re:test" in e.path]
    assert len(costly) >= 3
    assert all(Rule(expression)._rest is not None for expression in costly)


def test_trafilatura_is_given_the_compiled_expressions_once_and_its_own_back():
    theirs = {name: list(getattr(xpaths, name)) for name in faster.LISTS}
    faster.install()
    faster.install()
    assert not any(isinstance(one, XPath) for name in faster.LISTS for one in getattr(main_extractor, name, ()))
    faster.uninstall()
    assert {name: getattr(xpaths, name) for name in faster.LISTS} == theirs


def test_a_version_with_other_expressions_is_served_as_well(monkeypatch):
    tree = html.fromstring(PAGE)
    own = [lambda _tree: [tree], XPath(".//*[self::p][@class='link']")]
    monkeypatch.setattr(xpaths, "BODY_XPATH", own)
    monkeypatch.delattr(xpaths, "TEASER_DISCARD_XPATH")
    faster.install()
    assert [path(tree)[0] for path in xpaths.BODY_XPATH] == [tree, tree.find(".//p[@class='link']")]
    faster.uninstall()


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
    neighbours.revise_paragraph_classification(ours, 150)
    neighbours.THEIRS(theirs, 150)
    assert [p.class_type for p in ours] == [p.class_type for p in theirs]
