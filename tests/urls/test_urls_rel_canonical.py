"""Which page does this one name as its original? Only claims within the page's own registrable domain count."""

import pytest

from crawler.urls.rel_canonical import MAX_LENGTH, from_headers, from_links

PAGE = "https://www.example.org/a/page?print=1"


def named(*hrefs, rel="canonical", domain="example.org"):
    return from_links([(rel, "", href) for href in hrefs], domain)


@pytest.mark.parametrize(
    "href", ["https://example.org/a", "http://www.example.org/", "https://deep.er.example.org:8443/x?y=z"]
)
def test_a_page_of_the_same_registrable_domain_is_named(href):
    assert named(href) == href


@pytest.mark.parametrize(
    "href",
    [
        "https://example.net/a",
        "https://notexample.org/a",
        "https://example.org.evil.test/",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "/relative",
        "https://user:secret@example.org/",
        "https://[broken/",
        "https://example.org:port/",
        f"https://example.org/{'x' * MAX_LENGTH}",
        "",
    ],
)
def test_anything_else_is_no_claim(href):
    assert named(href) is None


def test_an_address_names_pages_of_the_same_port_only():
    assert named("http://127.0.0.1:8000/a", domain="127.0.0.1:8000") == "http://127.0.0.1:8000/a"
    assert named("http://127.0.0.1:8001/a", domain="127.0.0.1:8000") is None


def test_several_originals_are_none_and_a_repetition_is_one():
    assert named("https://example.org/a", "https://example.org/b") is None
    assert named("https://example.org/a#x", "https://example.org/a") == "https://example.org/a"


def test_the_relation_is_a_word_among_words():
    assert named("https://example.org/a", rel="alternate canonical") == "https://example.org/a"
    assert named("https://example.org/a", rel="canonicalish") is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b'</a/page>; rel="canonical"', "https://www.example.org/a/page"),
        (b"<page>;rel=canonical", "https://www.example.org/a/page"),
        (b'<https://example.org/x>; title="y"; REL="Canonical"', "https://example.org/x"),
        (b'</style.css>; rel=preload, </a>; rel="alternate canonical"', "https://www.example.org/a"),
        (b'<https://example.net/x>; rel="canonical"', None),
        (b'</a>; rel="canonical", </b>; rel="canonical"', None),
        (b'</a>; rel="next"', None),
        (b"<http://[>; rel=canonical", None),
        (b"nonsense", None),
    ],
)
def test_the_link_header_says_it_too(value, expected):
    assert from_headers([value.decode()], PAGE, "example.org") == expected


def test_a_very_long_header_is_read_in_linear_time():
    hostile = b"<" * 50_000 + b">" + b'; rel="' * 50_000
    assert from_headers([hostile.decode()], PAGE, "example.org") is None
