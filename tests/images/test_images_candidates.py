"""Which images a page names, in which words, and where they stand in the record's text."""

from __future__ import annotations

import pytest

from crawler.images.candidates import MAX_IMAGES, Candidate, images_of
from crawler.images.captions import caption_of, common, refusal_of
from crawler.images.place_in_text import Cursor, context_of
from crawler.images.srcset import parsed
from crawler.stages.parse.stage import parse_html

BASE = "https://example.org/a/page"


def found(html: str, text: str = "") -> list[Candidate]:
    tree = parse_html(html)
    assert tree is not None and not isinstance(tree, str)  # for the type
    return list(images_of(tree, BASE, text))


@pytest.mark.parametrize(
    ("srcset", "files"),
    [
        ("a.jpg", [("a.jpg", 1, "x")]),
        ("a.jpg 320w, b.jpg 640w", [("a.jpg", 320, "w"), ("b.jpg", 640, "w")]),
        ("a.jpg,  b.jpg 2x ,", [("a.jpg", 1, "x"), ("b.jpg", 2, "x")]),
        ("data:image/png;base64,AA 1x, b,c.jpg 1.5x", [("data:image/png;base64,AA", 1, "x"), ("b,c.jpg", 1.5, "x")]),
        ("a.jpg 100h (x,y), b.jpg 5w", [("b.jpg", 5, "w")]),
        ("", []),
        (" , ,", []),
    ],
)  # fmt: skip
def test_a_set_of_sources_is_read_as_the_standard_says(srcset, files):
    assert [item for item in parsed(srcset) if item[0]] == files


def test_the_widest_source_counts_and_relative_urls_stand_on_the_base_of_the_page():
    html = (
        '<html><head><base href="/img/"></head><body>'
        '<img src="s.jpg" srcset="m.jpg 800w, l.jpg 1600w, s.jpg 200w" alt="A red boat">'
        '<img data-src="lazy.jpg" alt="A blue boat">'
        '<img src="data:image/gif;base64,R0" data-original="late.jpg" alt="A grey boat">'
        '<noscript><img src="plain.jpg" alt="A green boat"></noscript>'
        '<img src="one.jpg" srcset="two.jpg 2x" alt="A white boat">'
        "</body></html>"
    )
    names = ["l.jpg", "lazy.jpg", "late.jpg", "plain.jpg", "two.jpg"]
    assert [one.name for one in found(html)] == [f"https://example.org/img/{name}" for name in names]


def test_the_caption_is_the_figures_and_the_alternative_text_where_that_is_no_caption():
    html = (
        '<body><figure><img src="a.jpg" alt="A boat at sea"><figcaption>The <b>Vega</b>\n in 1911</figcaption></figure>'
        '<figure><img src="b.jpg" alt="A boat on land"><figcaption>2</figcaption></figure>'
        '<img src="c.jpg" alt="A boat in a bottle" title="Of glass"></body>'
    )
    images = [(one.caption, one.alt, one.title, one.refusal) for one in found(html)]
    assert images == [
        ("The Vega in 1911", "A boat at sea", "", ""),
        ("A boat on land", "A boat on land", "", ""),
        ("A boat in a bottle", "A boat in a bottle", "Of glass", ""),
    ]


@pytest.mark.parametrize(
    "caption", ["A boat", "港の朝", "ท่าเรือยามเช้า", "Hafen bei Nacht", "Порт утром", "ميناء الصباح", "海 港"]
)
def test_two_words_are_a_caption_in_every_script(caption):
    assert refusal_of(caption) == ""


@pytest.mark.parametrize(
    ("caption", "outcome"),
    [
        ("", "no_caption"),
        ("Boat", "short_caption"),
        ("a b", "short_caption"),
        ("海", "short_caption"),
        ("IMG_20240101.JPG", "name_as_caption"),
        ("wp-content/uploads/boat at sea.png", "name_as_caption"),
        ("DSC 00412", "name_as_caption"),
        ("https://example.org/boat in sea", ""),
        ("https://example.org/boat.jpg", "name_as_caption"),
        ("12 / 34", "name_as_caption"),
    ],
)
def test_what_says_nothing_of_an_image_is_no_caption(caption, outcome):
    assert refusal_of(caption) == outcome


def test_of_two_texts_the_first_that_may_be_a_caption_counts_else_the_first_says_why():
    assert caption_of("1", "A red boat") == ("A red boat", "")
    assert caption_of("1", "") == ("", "name_as_caption")
    assert caption_of("", "") == ("", "no_caption")


def test_a_caption_of_more_than_ten_images_is_common_and_one_image_on_many_pages_is_one():
    many = [("share this", f"image {n}") for n in range(11)]
    one = [("the vega in 1911", "image x")] * 50
    ten = [("our harbour", f"harbour {n}") for n in range(10)]
    assert common([*many, *one, *ten]) == {"share this"}


def test_an_image_stands_behind_the_text_that_leads_up_to_it_and_its_context_is_cut_from_the_record():
    html = (
        "<body><nav>Home and other places of this site</nav><main><p>The harbour was built in 1911 by the town.</p>"
        '<img src="a.jpg" alt="A red boat"><p>Call Erika Mustermann at 030 1234567 for a visit of it.</p>'
        '<img src="b.jpg" alt="A blue boat"><p>It has been a museum ever since then.</p></main></body>'
    )
    text = (
        "The harbour was built in 1911 by the town.\nCall <PERSON> at <PHONE> for a visit of it.\n"
        "It has been a museum ever since then."
    )
    first, second = found(html, text)
    assert (first.index, second.index) == (0, 1)
    assert text[: first.offset].endswith("by the town")
    assert text[: second.offset].endswith("for a visit of it")
    context = context_of(text, second.offset, 40)
    assert context in text
    assert "Mustermann" not in context


def test_places_never_go_backwards_and_text_that_is_not_in_the_record_moves_nothing():
    cursor = Cursor("One sentence that is kept. Another sentence that is kept.")
    cursor.pass_by("Another sentence that is kept.")
    last = cursor.offset
    for piece in ("Nowhere to be found in it", "One sentence that is kept.", "short", ""):
        cursor.pass_by(piece)
        assert cursor.offset == last


def test_a_page_with_more_images_than_are_looked_at_says_so_of_each():
    images = found("<body>" + '<img src="a.jpg" alt="A red boat">' * (MAX_IMAGES + 3) + "</body>")
    assert len(images) == MAX_IMAGES + 3
    assert [one.refusal for one in images[MAX_IMAGES:]] == ["beyond"] * 3


@pytest.mark.parametrize("n", [50_000])
def test_a_deep_or_long_page_takes_no_more_than_linear_time(n):
    html = "<body>" + "<b>" * 200 + "<p>some words that stand here, again and again</p>" * n + "</body>"
    assert found(html, "other words entirely " * n) == []
