"""Lines that a page breaks itself are verse; what holds whole parts of the page is no stanza, and is not read."""

from __future__ import annotations

from lxml.html import document_fromstring

from crawler.stages.extraction.verse import LONGEST_PIECE, MOST_NODES, verse_chars

STANZA = "The kettle sings upon the stove<br>the rain is on the pane<br>and all the boats are home<br>again, again"


def test_a_paragraph_of_broken_lines_is_verse_with_emphasis_in_it_too():
    lines = [line.strip() for line in STANZA.split("<br>")]
    assert verse_chars(document_fromstring(f"<main><p>{STANZA}</p></main>")) == sum(map(len, lines))
    assert verse_chars(document_fromstring(f"<main><p>{STANZA.replace('rain', '<em>rain</em>')}</p></main>")) > 0


def test_links_and_cells_are_no_verse():
    for tag in ("a", "pre", "td"):
        body = f"<table><tr><{tag}>{STANZA}</{tag}></table>" if tag == "td" else f"<p><{tag}>{STANZA}</{tag}></p>"
        assert verse_chars(document_fromstring(f"<main>{body}</main>")) == 0
    assert verse_chars(document_fromstring(f"<main><p>{STANZA}<a href=/x>more</a></p></main>")) == 0


def test_an_element_that_holds_a_part_of_the_page_is_no_stanza_whatever_its_lines_are_like():
    many = "<p>a short line of some words</p>" * (MOST_NODES + 1)
    assert verse_chars(document_fromstring(f"<main><div>{STANZA}<section>{many}</section></div></main>")) == 0
    long = "words " * LONGEST_PIECE  # its lines are short in the mean, for there are many
    assert verse_chars(document_fromstring(f"<main><div>{(STANZA + '<br>') * 200}<b>{long}</b></div></main>")) == 0
    few = "<i>a short line of some words</i>"
    assert verse_chars(document_fromstring(f"<main><div>{STANZA}<b>{few}</b></div></main>")) > 0
