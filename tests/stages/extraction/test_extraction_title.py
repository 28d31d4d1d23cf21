"""The title of a page is its own headline, not the site's name above it."""

from __future__ import annotations

import pytest

from crawler.stages.extraction.metadata import read_metadata
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
        ("Carving | Tools | Spoons 3.2 documentation", SITE, "Carving | Tools"),
        ("Birch — Spoons 3.2 documentation", f"<header>{SITE}</header><h2>Carving</h2>", "Birch"),
    ],
    ids=["two headlines", "only that of the site", "parts", "in a header"],
)
def test_a_headline_that_leads_to_the_site_and_ends_the_declared_title_is_its_name(declared, body, title):
    assert title_of(declared, body) == title


@pytest.mark.parametrize(
    ("declared", "body", "title"),
    [
        ("Spoons | Carving birch", OWN, "Carving birch"),  # no link
        ("Spoons | Carving birch", '<h1><a href="birch.html#top">Carving birch</a></h1>', "Carving birch"),  # to itself
        ("Spoons | Carving birch", '<h1><a href="/ash">Carving</a> birch</h1>', "Carving birch"),  # a part is linked
        ("Carving birch", '<h1><a href="/">Spoons</a></h1>', "Spoons"),  # not said twice
        ("Spoons 3.2 documentation", SITE, "Spoons 3.2 documentation"),  # the front page
        ("On Spoons 3.2 documentation", SITE, "Spoons 3.2 documentation"),  # no divider before it
        ("", SITE, "Spoons 3.2 documentation"),
    ],
)
def test_any_other_headline_is_the_title(declared, body, title):
    assert title_of(declared, body) == title
