"""A reference becomes a URL as in a browser, whoever reads it: a redirect, a link, a control file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.resolve import MAX_REFERENCE, header_text, resolve

BASE = "https://example.org/a/page?q=1"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("///other.example/real", "https://other.example/real"),
        (r"\\other.example\real", "https://other.example/real"),
        (r"/\other.example/real", "https://other.example/real"),
        ("https:/other.example/real", "https://example.org/other.example/real"),
        ("http:other.example", "http://other.example/"),
        (" \t/b\n/c ", "https://example.org/b/c"),
        ("", "https://example.org/a/page?q=1"),
        ("?x", "https://example.org/a/page?x"),
        ("http://[", None),
        ("mailto:somebody@example.org", "mailto:somebody@example.org"),
        ("\udc80", None),
    ],
)
def test_a_reference_is_read_as_browsers_read_it(reference, expected):
    assert resolve(BASE, reference) == expected


def test_without_a_base_the_reference_stands_alone():
    assert resolve("", "HTTPS://Example.ORG") == "https://example.org/"
    assert resolve("", "page") is None
    assert resolve("page", "/a") is None


def test_what_is_too_long_names_nothing():
    assert resolve(BASE, "/" + "a" * MAX_REFERENCE) is None


@given(st.text(max_size=60))
def test_a_resolved_url_resolves_to_itself_whatever_the_base(reference):
    url = resolve(BASE, reference)
    assert url is None or resolve("http://elsewhere.example/", url) == url


@pytest.mark.parametrize(
    ("value", "text"), [("/ü".encode(), "/ü"), (b"/\xfc", "/%FC"), (b"/a b", "/a b"), (b"/\xff\xc3\xbc", "/%FF%C3%BC")]
)
def test_bytes_of_no_utf_8_stand_for_themselves(value, text):
    assert header_text(value) == text
