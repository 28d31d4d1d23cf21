"""The shape of a URL: pure, bounded, the same for pages of one kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.canonicalize import canonicalize
from crawler.urls.shape import shape_id, shape_id_of, shape_of

KINDS = [
    ("https://shop.example/shoes/red-runner?size=9&sort=up", "shop.example/shoes/*?size&sort"),
    ("https://blog.example/2024/05/how-to-bake-bread/", "blog.example/#/#/*/"),
    ("https://blog.example/tag/bread/", "blog.example/tag/*/"),
    ("https://blog.example/page/12", "blog.example/page/#"),
    ("https://list.example/page-12.html", "list.example/page-#.html"),
    ("https://docs.example/en/v2/guide/install.html", "docs.example/en/v#/guide/*.html"),
    ("https://docs.example/en/v2/guide/index.html", "docs.example/en/v#/guide/index.html"),
    ("https://wiki.example/wiki/Some_Page?action=history", "wiki.example/wiki/*?action"),
    ("https://forum.example/t/123e4567-e89b-12d3-a456-426614174000", "forum.example/t/*"),
    ("https://news.example/a-long-slug-of-words/comments/3", "news.example/*/comments/#"),
    ("https://news.example/", "news.example/"),
    ("https://news.example/about", "news.example/*"),
    ("https://news.example/?p=17&p=18", "news.example/?p"),
    ("http://localhost:8080/a1", "localhost:8080/a#"),
]


@pytest.mark.parametrize(("url", "shape"), KINDS)
def test_the_shape_names_the_kind_of_page(url, shape):
    assert shape_of(url) == shape


def test_pages_of_a_pager_have_one_shape_and_other_kinds_another():
    pager = {shape_of(f"https://a.example/list?page={n}") for n in range(500)}
    assert pager == {"a.example/list?page".replace("list", "*")}
    assert shape_of("https://a.example/list?page=1&sort=up") not in pager


def test_a_session_id_is_no_new_shape():
    assert len({shape_of(f"https://a.example/t/{n}?sid={n * 7919:x}") for n in range(100)}) == 1


def test_the_identity_is_stable_across_versions():
    assert shape_id("shop.example/shoes/*?size&sort") == "6qW"


urls = st.text(alphabet="ab1-_./?&=%é ~", max_size=300).map(lambda tail: canonicalize(f"https://a.example/{tail}"))


@given(urls.filter(bool))
def test_a_shape_is_bounded_deterministic_and_free_of_what_queue_members_are_split_by(url):
    shape = shape_of(url)
    assert shape == shape_of(url)
    assert len(shape) <= 600
    assert not set(" \t\n") & set(shape)
    identity = shape_id_of(url)
    assert len(identity) == 3
    assert identity.replace("-", "").replace("_", "").isalnum() or set(identity) <= {"-", "_"}


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_never_tell_shapes_apart(one, two):
    first, second = (shape_of(f"https://a.example/{n}/page-{n}?q={n}") for n in (one, two))
    assert first == second


@given(urls.filter(bool))
def test_the_shape_stays_on_its_host(url):
    assert shape_of(url).split("/")[0].split("?")[0] == "a.example"
