"""Words that a reader sees are counted in any order, and as if in the page's."""

from __future__ import annotations

import pytest

from crawler.stages.parse.stage import parse_html
from crawler.stages.text.visible import MAX_ELEMENTS, visible_texts, visible_words, words_within

PAGES = {
    "plain": "<p>one two</p> three <p>four <b>five</b> six</p> seven",
    "head": "<head><title>not this</title></head><body>one",
    "unseen": "<p>a<script>b c</script>d<style>e</style>f<noscript>g <p>h</p></noscript>i<template><p>j</template>k",
    "shadow": "<a-b><template shadowrootmode=open><p>a b<script>c</script></p>d</template>e</a-b><template>f",
    "shadow of nothing": "<ul><template shadowrootmode=open>a</template></ul><i-j><template shadowrootmode=no>b",
    "pictures": "<svg><g><text>a b</text></g>c</svg>d <select><option>e<option selected>f</select> g<svg><svg>h</svg>",
    "marks": "<p>it's half-done, 3.5 % – naïve ’tis</p>",
    "long": f"<p>{'word ' * 3_000}</p><p>{'x' * 20_000} y</p>",
    "deep": "<div>" * 60 + "a" + "</div>b c" * 60,
    "empty": "<p></p>",
}


def tree_of(body):
    return parse_html(f"<html>{body}</html>")


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("enough", [1, 5, 150, 1_500, 10**6])
def test_a_page_has_the_words_of_its_visible_texts(page, enough):
    tree = tree_of(page)
    in_order, found = words_within(tree, enough), visible_words(tree, enough)
    assert (found >= enough) == (in_order >= enough)
    assert found == in_order or found >= enough


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("plain", 7),
        ("head", 1),
        ("unseen", 5),
        ("shadow", 4),
        ("shadow of nothing", 0),
        ("pictures", 2),
        ("deep", 121),
        ("empty", 0),
    ],
)
def test_what_is_never_shown_has_no_words(page, words):
    assert visible_words(tree_of(PAGES[page]), 1_000) == words


@pytest.mark.parametrize("elements", [MAX_ELEMENTS // 2 - 4, MAX_ELEMENTS // 2 + 1, MAX_ELEMENTS * 2])
def test_no_more_elements_are_looked_at_than_in_the_pages_order(elements):
    """The texts behind the outer element are the first that are left out."""
    tree = tree_of("<body><div>" + "<i></i>w " * elements + "</div>" + "behind " * 50)
    expected = sum(len(text.split()) for text in visible_texts(tree))
    assert visible_words(tree, 10**6) == expected
    assert (expected == elements + 50) == (elements < MAX_ELEMENTS // 2)


def test_a_request_is_counted_where_the_page_hides_it():
    [hidden] = tree_of("<noscript><div>a b c</div></noscript><p>d").iter("div")
    assert words_within(hidden, 100) == 3
