"""A licence is what a page calls one, with its version; nothing is guessed."""

from __future__ import annotations

import json
import re
import time
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trafilatura.metadata import extract_license

from bench.quality.eval_pages import labelled
from crawler.stages.extraction.metadata.creative_commons import SPDX, licence_at, licence_called
from crawler.stages.extraction.metadata.licence import find_licence
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode
from tests.support.places import SHARED_DATA

BY_SA = "https://creativecommons.org/licenses/by-sa/4.0/"


URL = "https://example.org/birch/"
BY = "https://creativecommons.org/licenses/by/4.0/"
CAPTION = f'<a rel="license" href="{BY}">CC BY 4.0</a>'


def licence_of(body: str = "", head: str = "") -> str | None:
    page = f"<html><head>{head}</head><body><p>Text.</p>{body}</body></html>"
    return read_metadata(parse_html(page), URL, source=Source(page.encode())).license_tag


def linked(*said: Any) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in said)


def article(**said: Any) -> dict[str, Any]:
    return {"@type": "Article", **said}


@pytest.mark.parametrize(
    ("body", "licence"),
    [
        (f'<a rel="license" href="{BY_SA}">these terms</a>', "CC-BY-SA-4.0"),
        (f'<a rel="nofollow License" href="{BY_SA}">these terms</a>', "CC-BY-SA-4.0"),
        ('<a rel="license" href="/terms">Creative Commons BY-NC-ND 3.0</a>', "CC-BY-NC-ND-3.0"),
        ('<a rel=license href="https://creativecommons.org/publicdomain/zero/1.0/">x</a>', "CC0-1.0"),
        (f'<footer><p><a href="{BY_SA}">x</a></p></footer>', "CC-BY-SA-4.0"),
        (f'<div class="page-footer"><a href="{BY_SA}">x</a></div>', "CC-BY-SA-4.0"),
        ('<footer><a href="/terms">CC BY 4.0</a></footer>', "CC-BY-4.0"),
        (f'<footer><a href="{BY}">x</a></footer><a rel="license" href="{BY_SA}">y</a>', "CC-BY-SA-4.0"),
        (f'<a rel="license" href="{BY}"><img src="by.png"></a><a rel="license" href="{BY}deed.de">y</a>', "CC-BY-4.0"),
        (f'<footer><figure><a href="{BY}"><img src="by.png"></a></figure></footer>', "CC-BY-4.0"),  # the badge
        (f'<p>Text and images are under <a rel="license" href="{BY}">CC BY</a>.</p>', "CC-BY-4.0"),
        (f'<p>Content is under <a rel="license" href="{BY}">CC BY</a>, code under MIT.</p>', "CC-BY-4.0"),
        (f'<div itemscope itemtype="https://schema.org/Article"><a itemprop="license" href="{BY}">x</a></div>',
         "CC-BY-4.0"),
        ('<div itemscope itemtype="https://schema.org/WebPage"><b itemprop="license">CC BY 4.0</b></div>', "CC-BY-4.0"),
        (f'<div typeof="schema:Article" about=""><span property="dct:license" resource="{BY}">x</span></div>',
         "CC-BY-4.0"),
        (f'<div about="{URL}"><a rel="cc:license" href="{BY}">x</a></div>', "CC-BY-4.0"),
        (f'<article><h1>Birch</h1><a rel="license" href="{BY}">x</a></article><article>Oak</article>', "CC-BY-4.0"),
        (f'<a rel="license" href="/ai.xml" type="application/rsl+xml">x</a><a rel="license" href="{BY}">y</a>',
         "CC-BY-4.0"),
    ],
)  # fmt: skip
def test_a_licence_of_the_page_is_named_by_its_spdx_identifier(body, licence):
    assert licence_of(body) == licence


@pytest.mark.parametrize(
    "head",
    [
        f'<link rel="license" href="{BY}">',
        f'<meta name="dcterms.license" content="{BY}">',
        f'<meta name="DC.rights" content="{BY}">',
        '<meta name="DC.Rights" content="Creative Commons Attribution 4.0 International License">',
        '<meta name="copyright" content="CC BY 4.0">',
        f'<meta name="copyright" content="© Tove Ek"><link rel="license" href="{BY}">',
        linked(article(license=BY)),
        linked(article(license="CC-BY-4.0")),
        linked(article(license="https://spdx.org/licenses/CC-BY-4.0.html")),
        linked(article(license={"@type": "CreativeWork", "name": "CC BY 4.0", "url": BY})),
        linked(article(license=[BY, {"@id": BY}])),
        linked({"@graph": [article(license={"@id": "#terms"}), {"@id": "#terms", "url": BY}]}),
        linked([article(url="/birch", license=BY), article(url="/oak", license=BY_SA)]),
        linked({"@type": ["WebPage", "FAQPage"], "@id": f"{URL}#page", "license": BY}),
        linked({"@type": "WebPage", "url": URL, "mainEntity": article(license=BY)}),
        linked(article(mainEntityOfPage={"@id": "http://www.example.org/birch"}, license=BY)),
        '<link rel="canonical" href="https://example.org/b">' + linked(article(url="/b", license=BY)),
    ],
)  # fmt: skip
def test_the_head_of_a_page_and_its_data_name_the_licence_of_the_page(head):
    assert licence_of(head=head) == "CC-BY-4.0"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("", f'<p>The photo is under <a href="{BY_SA}">CC BY-SA 4.0</a>.</p>'),
        ("", f"<figure><img src='a.jpg'><figcaption>Ann, {CAPTION}</figcaption></figure>"),
        ("", f'<figure><img src="a.jpg"><p>{CAPTION}</p></figure>'),
        ("", f"<figure><table><tr><td>1</td></tr></table>{CAPTION}</figure>"),
        ("", f'<div class="wp-caption"><img src="a.jpg"><p>Ann, {CAPTION}</p></div>'),
        ("", f"<p>Photo by Ann, {CAPTION}</p>"),
        ("", f"<p>{CAPTION} applies to the photo by Ann.</p>"),
        ("", f"<p>Source: Wikipedia, {CAPTION}</p>"),
        ("", f"<blockquote>A poem. {CAPTION}</blockquote>"),
        ("", f"<ol class='comments'><li>Ann: {CAPTION}</li></ol>"),
        ("", f"<article><h2>Oak</h2>{CAPTION}</article><article><h2>Ash</h2></article>"),
        ("", f"<article><h1>Birch</h1><article>Ann: {CAPTION}</article></article>"),
        ("", f'<div about="photo.jpg">{CAPTION}</div>'),
        ("", f'<div typeof="schema:ImageObject">{CAPTION}</div>'),
        ("", f'<div itemscope itemtype="https://schema.org/ImageObject"><a itemprop="license" href="{BY}">x</a></div>'),
        ("", f'<div itemscope itemtype="https://schema.org/Product"><meta itemprop="license" content="{BY}"></div>'),
        ("", f'<div itemscope itemtype="https://schema.org/Article"><div itemprop="citation" itemscope '
             f'itemtype="https://schema.org/Article"><a itemprop="license" href="{BY}">x</a></div></div>'),
        ("", f'<p><i href="http://purl.org/dc/dcmitype/StillImage" rel="dct:type">Oak</i> by Ann: {CAPTION}</p>'),
        ("", f'<footer>Theme by Ann, <a href="{BY}">CC BY 4.0</a></footer>'),
        ("", f'<footer>Ann, <a href="{BY}?ref=openverse">CC BY 4.0</a></footer>'),
        (linked({"@type": "ImageObject", "license": BY}), ""),
        (linked({"@type": "Dataset", "license": BY}), ""),
        (linked({"@type": "SoftwareSourceCode", "license": BY}), ""),
        (linked(article(image={"@type": "ImageObject", "license": BY})), ""),
        (linked(article(isPartOf={"@type": "CreativeWork", "license": BY})), ""),
        (linked(article(url="/oak", license=BY)), ""),
        (linked([article(license=BY), article(headline="Oak")]), ""),
        (linked(article(sdLicense=BY, usageInfo=BY, acquireLicensePage=BY)), ""),
        ('<meta name="DC.rights" content="Photos: CC BY 4.0, text: all rights reserved">', ""),
        (f'<meta name="DC.rights" content="Figures are under {BY}">', ""),
    ],
)  # fmt: skip
def test_a_licence_of_something_else_is_not_that_of_the_page(head, body):
    assert licence_of(body, head) is None


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("", f'<a rel="license" href="{BY}">x</a><a rel="license" href="{BY_SA}">y</a>'),
        ("", f'<footer><a href="{BY}">x</a> <a href="{BY_SA}">y</a></footer>'),
        ("", f'<a rel="license" href="{BY}">CC BY-NC 4.0</a>'),
        (linked(article(license=BY_SA)), f'<a rel="license" href="{BY}">x</a>'),
        (linked(article(license=[BY, BY_SA])), ""),
        (linked(article(license="https://example.org/terms")), f'<footer><a href="{BY}">x</a></footer>'),
        ('<link rel="license" href="https://gnu.example/fdl.html">', f'<a rel="license" href="{BY}">x</a>'),
        (f'<meta name="dcterms.license" content="{BY_SA}">', f'<a rel="license" href="{BY}">x</a>'),
    ],
)  # fmt: skip
def test_statements_that_contradict_each_other_name_no_licence(head, body):
    assert licence_of(body, head) is None


@pytest.mark.parametrize(
    "body",
    [
        '<a rel="license" href="/terms">All rights reserved</a>',
        '<a rel="license" href="https://creativecommons.org/licenses/by/">CC BY</a>',  # without its version
        '<a rel="license" href="https://creativecommons.org/licenses/by/9.9/">x</a>',  # no such version
        '<a rel="license" href="https://other.example/licenses/by/4.0/">x</a>',
        '<a rel="license" href="https://other.example/?https://creativecommons.org/licenses/by/4.0/">x</a>',
        '<a rel="license" href="https://creativecommons.org/publicdomain/mark/1.0/">x</a>',  # a label, not a licence
        '<footer><a href="/downloads/by/4.0/">x</a></footer>',
        '<footer><a href="/terms">CC BY</a></footer>',
        '<footer><a href="/terms">not CC BY 4.0</a></footer>',
        f"<footer><p>{BY_SA}</p></footer>",  # no link
        '<a rel="license">Licence 4.0 International or any later</a><a rel="author" href="/by/4.0/">x</a>',
    ],
)
def test_what_names_no_licence_of_the_page_gives_none(body):
    assert licence_of(body) is None


@pytest.mark.parametrize(
    ("address", "licence"),
    [
        ("by-sa/3.0/de/", "CC-BY-SA-3.0-DE"),
        ("by-sa/3.0/de/deed.en", "CC-BY-SA-3.0-DE"),
        ("by-sa/3.0/deed.de", "CC-BY-SA-3.0"),  # a translation of the deed is no port
        ("by/3.0/igo/legalcode", "CC-BY-3.0-IGO"),
        ("by-nc-sa/2.0/uk/", "CC-BY-NC-SA-2.0-UK"),
        ("by-sa/2.1/jp/", "CC-BY-SA-2.1-JP"),
        ("by-sa/3.0/nl/", "LicenseRef-CC-BY-SA-3.0-NL"),  # SPDX lists that of CC BY only
        ("by/2.5/scotland/", "LicenseRef-CC-BY-2.5-SCOTLAND"),
        ("by/3.0/en/", None),  # no country
        ("by/4.0/de/", None),  # there is no port of 4.0
        ("by/2.1/", None),  # there are only ports of 2.1
    ],
)
def test_a_licence_that_was_ported_to_a_country_keeps_its_country(address, licence):
    link = f'<a rel="license" href="https://creativecommons.org/licenses/{address}">x</a>'
    assert licence_of(link) == licence


def test_a_port_is_called_as_its_version_is_in_the_text_of_its_link():
    port = "https://creativecommons.org/licenses/by-sa/3.0/de/"
    assert licence_of(f'<a rel="license" href="{port}">CC BY-SA 3.0</a>') == "CC-BY-SA-3.0-DE"
    assert licence_of(f'<a rel="license" href="{port}">CC BY-SA 3.0 AT</a>') is None


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("CC BY 4.0", "CC-BY-4.0"),
        ("cc-by-sa-3.0-de", "CC-BY-SA-3.0-DE"),
        ("CC0 1.0 Universal", "CC0-1.0"),
        ("a Creative Commons Attribution-ShareAlike 4.0 International License.", "CC-BY-SA-4.0"),
        ("Creative Commons Attribution 4.0 International (CC BY 4.0)", "CC-BY-4.0"),
        ("Creative Commons Attribution-NonCommercial-NoDerivatives 4.0", "CC-BY-NC-ND-4.0"),
        ("CC BY 3.0 Germany", None),  # which port that is the name does not say
        ("CC BY 4.0 (images only)", None),
        ("Attribution 4.0", None),
        ("CC BY", None),
    ],
)
def test_a_name_is_that_of_a_licence_where_it_says_nothing_else(name, licence):
    assert licence_called(name) == licence


@settings(max_examples=200)
@given(st.text(alphabet="CcBbYy -SAND0123456789./():htpsreaivomng?#", max_size=200))
def test_any_text_is_a_licence_on_the_list_or_none(text):
    found = {licence_at(text), licence_called(text)} - {None}
    assert all(one in SPDX or one.startswith("LicenseRef-CC-") for one in found)


def test_a_page_of_ten_thousand_licences_is_read_in_a_moment():
    links = f'<li class="x">x <a rel="license" href="{BY}">x</a></li>' * 10_000
    tree = parse_html(f"<html><body><div><ul>{links}</ul></div></body></html>")
    started = time.process_time()
    assert find_licence(tree, URL, links=tree.iter("a")) == "CC-BY-4.0"
    assert time.process_time() - started < 5.0


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs the shared pages")
def test_licences_of_real_pages_are_those_that_trafilatura_finds_but_more():
    """trafilatura reads links of the body only, and takes the badge of a licence in a figure for that of the page."""
    named, more = 0, 0
    for page in islice(labelled(SHARED_DATA, None), 600):
        tree = parse_html(decode(page.html, None)[0])
        theirs = re.fullmatch(r"CC (BY(?:-NC)?(?:-ND|-SA)?) ([1-9]\.[0-9])", extract_license(tree) or "", re.IGNORECASE)
        found = read_metadata(tree, page.url).license_tag
        if theirs:
            assert found == f"CC-{theirs[1].upper()}-{theirs[2]}", page.url
        named, more = named + bool(theirs), more + bool(found and not theirs)
    assert named and not more
