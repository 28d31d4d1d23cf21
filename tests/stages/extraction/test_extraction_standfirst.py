"""A standfirst stands before the body's first paragraph, once; what only looks like one stays out."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.prepare import place_text
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

LEAD = "A council decided on Monday that every spoon of the town shall be carved by hand from now on."
BODY = "".join(
    f"<p>The {nth} carver of the town said that the decision was a good one for wood and knives alike, and went on.</p>"
    for nth in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
)


def lines_of(header: str, *, body: str = BODY, head: str = "") -> list[str]:
    article = f'<article><header><h1>Spoons</h1>{header}</header><div class="article-body">{body}</div></article>'
    html = f"<html lang=en><head><title>T</title>{head}</head><body>{article}</body></html>".encode()
    doc = Document(url="https://example.org/page", html=html, content_type="text/html")
    assert isinstance(ParseStage()(doc), Document)
    ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0))(doc)
    return doc.text.split("\n")


@pytest.mark.parametrize(
    "header",
    [
        f'<p class="lead">{LEAD}</p>',
        f'<div class="articleTeaser">{LEAD}</div>',
        f'<h2 class="c-head__subhead">{LEAD}</h2>',
        f'<div class="entry-excerpt"><p>{LEAD}</p></div>',
        f'<p class="byline">By A. B.</p><div class="box"><p id="deck">{LEAD}</p></div>',
        f'<p class="chapo">{LEAD}</p>',
    ],
    ids=["lead", "teaser", "subhead", "excerpt", "after the by-line", "chapo"],
)
def test_a_standfirst_is_the_first_line_of_the_text(header):
    lines = lines_of(header)
    assert next(line for line in lines if line != "Spoons") == LEAD
    assert lines.count(LEAD) == 1


def test_a_text_that_repeats_the_description_of_the_page_is_one_whatever_it_is_called():
    head = f'<meta property="og:description" content="{LEAD}">'
    assert LEAD in lines_of(f'<p class="css-1x2y">{LEAD}</p>', head=head)
    assert LEAD not in lines_of(f'<p class="css-1x2y">{LEAD}</p>')


@pytest.mark.parametrize(
    "header",
    [
        f'<div class="author-card"><p class="lead">{LEAD}</p></div>',
        '<p class="lead">Too short.</p>',
        f'<p class="lead"><a href="/other">{LEAD}</a></p>',
        f'<div class="leaderboard">{LEAD}</div>',
        f'<div class="lead-form"><form><p>{LEAD}</p></form><p>x</p></div>',
        '<p class="intro-prompt">Here is a summary of the story in a few simple words:</p>',
    ],
    ids=["author", "short", "link", "advertisement", "form", "announcement"],
)
def test_what_only_looks_like_a_standfirst_stays_out(header):
    assert lines_of(header) == lines_of("")


def test_a_standfirst_that_the_body_repeats_stands_there_once():
    assert lines_of(f'<p class="lead">{LEAD}</p>', body=f"<p>{LEAD}</p>{BODY}").count(LEAD) == 1


@pytest.mark.parametrize("moved", [False, True])
def test_a_page_with_hardly_a_body_is_left_as_it_is(moved):
    body = BODY if moved else BODY[: BODY.index("</p>") + 4]
    header = f'<header><h1>Spoons</h1><p class="lead">{LEAD}</p></header>'
    tree = parse_html(f'<body><article>{header}<div class="article-body">{body}</div></article></body>')
    place_text(tree)
    assert (tree.find(".//header/p") is None) is moved
