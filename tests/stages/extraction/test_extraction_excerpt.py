"""An excerpt of a page answers the search for dates, and any search by attributes, as the whole page does."""

from __future__ import annotations

from copy import deepcopy
from itertools import islice

import pytest
from htmldate.core import date_candidates
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from trafilatura.metadata import extract_author

from bench.quality.eval_pages import labelled
from crawler.stages.extraction.metadata import dates
from crawler.stages.extraction.metadata.excerpt import excerpt_of
from tests.support.places import SHARED_DATA

CLASSES = (
    "author,post-author,byline,Byline,byl,BBL,username,screenname,writer,channel-name,submitted-by,posted-by,bianji,"
    "journalist-name,lead,comments,sidebar,is-hidden,quote,date,entry-date,meta,posted author"
)
OTHERS = (
    'id="author",id="zuozhe",id="xiaobian",id="comments",id="footer-info-lastmod",itemprop="author",rel="author",'
    'itemprop="author name",itemprop="datePublished",data-testid="AuthorCard",data-component="Byline",xml:lang="en",'
    '@click="author",href="/author/ada"'
)
ATTRIBUTES = [*(f'class="{name}"' for name in CLASSES.split(",")), *OTHERS.split(",")]
TAGS = ("div", "p", "span", "a", "h3", "time", "footer", "small", "code", "pre", "author", "section", "figure")
TEXTS = ("Ada Lovelace", "Tove", "2021-03-04", "4 March 2021", "by", "", "Comments", "Posted on 2020-12-24 by Ada")


@st.composite
def elements(draw, depth=3):
    """Nested elements with the attributes that the searches speak of, as markup."""
    # a label is removed, too; one inside another is not: htmldate removes while it walks, and passes over the next
    tag, said = (
        draw(st.sampled_from(TAGS if depth else (*TAGS, "label"))),
        draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=2)),
    )
    inner = draw(st.lists(elements(depth - 1), max_size=3)) if depth else []
    text, tail = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(TEXTS))
    return f"<{tag} {' '.join(said)}>{text}{''.join(inner)}</{tag}>{tail}"


PAGES = st.lists(elements(), min_size=1, max_size=5).map(lambda parts: f"<html><body>{''.join(parts)}</body></html>")


def date_of_whole_page(tree):
    """What `dates.py` finds in its copy of places, found in a copy of the page."""
    readers = dates._readers()
    searched = readers.discard_unwanted(readers.clean_html(deepcopy(tree), readers.CLEANING_LIST))
    for code in list(searched.iter("pre", "code")):
        code.drop_tree()
    found = readers.examine_elements(date_candidates(searched, False), options())
    return found or readers.examine_time_elements(searched, options())


def options():
    readers = dates._readers()
    return readers.Extractor(False, readers.get_max_date("2026-11-01"), readers.get_min_date(None), True, "%Y-%m-%d")


@settings(max_examples=300, deadline=None)
@given(PAGES)
def test_dates_of_an_excerpt_are_those_of_the_page(page):
    tree = lxml_html.fromstring(page)
    assert dates._of_elements(tree, options(), dates._readers(), is_meant=lambda _: True) == date_of_whole_page(tree)


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs the shared pages")
def test_dates_of_real_pages_are_found_in_their_excerpts():
    found = 0
    for page in islice(labelled(SHARED_DATA, None), 150):
        tree = lxml_html.fromstring(page.html)
        date = date_of_whole_page(tree)
        assert dates._of_elements(tree, options(), dates._readers(), is_meant=lambda _: True) == date
        found += bool(date)
    assert found > 25


def test_an_excerpt_is_as_small_as_the_places_in_it():
    page = "<html><body>" + "<div><p>text</p></div>" * 500 + '<div id="x"><p class="byline">Ada <b>L.</b></p>tail</div>'
    tree = lxml_html.fromstring(page)
    copy = excerpt_of(tree.find_class("byline"))
    place = b'<div id="x"><p class="byline">Ada <b>L.</b></p></div>'
    assert lxml_html.tostring(copy) == b"<html><body>" + place + b"</body></html>"
    assert len(tree.find_class("byline")) == 1  # the page itself is as it was


def test_the_root_is_its_own_excerpt():
    tree = lxml_html.fromstring('<div class="author">Ada Lovelace</div>')
    assert extract_author(excerpt_of([tree])) == "Ada Lovelace"
