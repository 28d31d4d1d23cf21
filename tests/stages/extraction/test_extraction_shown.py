"""A text reads as its reader sees it, while the model reads what it was trained on."""

from __future__ import annotations

import pytest

from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.walk import Walked, walk
from crawler.stages.parse.stage import parse_html


def walked(body: str) -> Walked:
    return walk(parse_html(f"<body>{body}</body>"))


def text_of(body: str) -> str:
    page = walked(body)
    return write(page, [True] * len(page.texts)).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<a href=/a>oldspanner</a><span>Member</span><time>May 2</time>", "oldspanner Member May 2"),
        ("<span>Price</span><span>12 €</span>", "Price 12 €"),
        ("<span>39,90</span><span>VAT included</span>", "39,90 VAT included"),
        ("<span><b>In stock!</b></span><span><i>Order</i></span>", "In stock! Order"),
        ("<label>Show<input>Ankle</label>", "Show Ankle"),
        ("Windproof<svg><text>x</text></svg>6/6", "Windproof 6/6"),
        ("<span>On-Ear\u200b</span><span>Connection</span>", "On-Ear\u200b Connection"),
        ("<span>40mm</span><span>\ufeffWeight</span>", "40mm \ufeffWeight"),
    ],
)
def test_elements_that_touch_are_not_one_word(body, text):
    assert text_of(f"<div>{body}</div>") == text


@pytest.mark.parametrize(
    "body",
    [
        "<b>M</b>athematics",
        "<span>child</span><span>ren</span>",
        "<span>3</span><span>rd</span>",
        "<i>x</i><sub>1</sub>",
        "<code><span>use</span><span>State</span></code>",
        "<span>get</span><wbr><span>Element</span>",
        "<b>Mac</b>Book",
    ],
)
def test_a_word_of_which_a_part_is_marked_stays_one(body):
    assert " " not in text_of(f"<p>{body}</p>")


def test_code_in_lines_is_not_parted():
    assert text_of("<pre><span>use</span><span>State</span></pre>") == "useState"


def test_a_line_break_of_the_source_parts_no_chinese_or_japanese_sentence():
    assert (
        text_of("<p>水位が三メートルに\n  達した。\nThe end\nof it</p>") == "水位が三メートルに達した。 The end of it"
    )
    assert text_of("<p>한국어\n문장</p>") == "한국어 문장"


def test_the_model_reads_the_blocks_as_it_was_trained_on_them():
    page = walked("<div><span>Price</span><span>12 €</span></div><p>三\n達</p><p>plain</p>")
    assert page.texts == ["Price12 €", "三 達", "plain"]
    assert page.shown == {0: "Price 12 €", 1: "三達"}


def test_an_element_that_html_does_not_know_is_part_of_its_sentence():
    assert text_of("<p>Posted <relative-time>two days ago</relative-time> by Ann</p>") == "Posted two days ago by Ann"
    assert text_of("<p>He lived in <st1:city>London</st1:city> then.</p>") == "He lived in London then."
    assert text_of("<x-card><x-name>One</x-name><x-name>Two</x-name></x-card>") == "One\nTwo"
    assert text_of("<h1>Overview<x-actions>Save this page</x-actions></h1>") == "Overview\nSave this page"


def test_neighbours_in_small_letters_are_apart_where_the_page_knows_both_as_words():
    page = "<p>The amount is an integer. Nothing of it is nullable.</p>"
    assert text_of(page + "<div><span>amount</span><span>integer</span></div>").endswith("\namount integer")
    assert text_of(page + "<div><a>amount</a><em>nullable</em></div>").endswith("\namount nullable")
    assert walked(page + "<div><span>amount</span><span>integer</span></div>").texts[-1] == "amountinteger"


@pytest.mark.parametrize(
    "body",
    [
        "<span>am</span><span>ount</span>",  # of which the page has neither
        "<span>i</span><span>t</span>",
        "<b>amount</b>integer",  # no neighbours: a part is marked
        "<span>amount</span><sub>integer</sub>",
    ],
)
def test_neighbours_in_small_letters_are_one_word_otherwise(body):
    text = text_of(f"<p>The amount t i is an integer of it.</p><p>{body}</p>")
    assert " " not in text.split("\n")[-1]


def test_a_heading_that_a_bar_says_again_stands_once_and_other_lines_stay_as_often_as_they_are():
    bar = "<table><tr><th>5. Indexes</th></tr></table>"
    assert text_of(f"{bar}<h2>5. Indexes</h2><p>Text.</p>") == "5. Indexes\nText."
    assert text_of("<p>Roll me home<br>Roll me home</p>") == "Roll me home\nRoll me home"
