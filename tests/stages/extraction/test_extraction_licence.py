"""A licence is what a page calls one, with its version; nothing is guessed."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from trafilatura.metadata import extract_license

from bench.quality.eval_pages import labelled
from crawler.stages.extraction.metadata.licence import find_licence
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode
from tests.support.places import SHARED_DATA

BY_SA = "https://creativecommons.org/licenses/by-sa/4.0/"


def licence_of(body: str) -> str | None:
    return read_metadata(
        parse_html(f"<html><body><p>Text.</p>{body}</body></html>"), "https://example.org/"
    ).license_tag


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
        (f'<footer><a href="/by/4.0">x</a></footer><a rel="license" href="{BY_SA}">y</a>', "CC-BY-SA-4.0"),
        (f'<footer><a href="/licenses/by/4.0/">x</a><a href="{BY_SA}">y</a></footer>', "CC-BY-4.0"),
    ],
)
def test_a_licence_of_the_page_is_named_by_its_spdx_identifier(body, licence):
    assert licence_of(body) == licence


@pytest.mark.parametrize(
    "body",
    [
        f'<p>The photo is under <a href="{BY_SA}">CC BY-SA 4.0</a>.</p>',  # a licence of something else
        '<a rel="license" href="/terms">All rights reserved</a>',
        '<a rel="license" href="https://creativecommons.org/licenses/by/">CC BY</a>',  # without its version
        '<footer><a href="/terms">CC BY</a></footer>',
        f"<footer><p>{BY_SA}</p></footer>",  # no link
        '<a rel="license">CC BY 4.0 International or any later</a><a rel="author" href="/by/4.0/">x</a>'.replace(
            "CC BY 4.0", "Licence 4.0"
        ),
    ],
)
def test_what_names_no_licence_of_the_page_gives_none(body):
    assert licence_of(body) is None


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs the shared pages")
def test_licences_of_real_pages_are_those_that_trafilatura_finds():
    named = 0
    for page in islice(labelled(SHARED_DATA, None), 600):
        tree = parse_html(decode(page.html, None)[0])
        theirs = re.fullmatch(r"CC (BY(?:-NC)?(?:-ND|-SA)?) ([1-9]\.[0-9])", extract_license(tree) or "", re.IGNORECASE)
        expected = f"CC-{theirs[1].upper()}-{theirs[2]}" if theirs else None
        assert find_licence(tree.iter("a")) == expected, page.url
        named += expected is not None
    assert named
