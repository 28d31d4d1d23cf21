"""A page has one name and is asked for as it was found: identity and request are two things."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.urls.canonicalize import MAX_URL_LENGTH, address, authority, canonicalize
from crawler.urls.tracking import extended_policy

HOSTS = st.sampled_from(["example.org", "EXAMPLE.org.", "a.b.co.uk:80", "bücher.example", "127.0.0.1:8000", "[::1]:81"])
TAILS = st.text(
    st.one_of(st.sampled_from("/?#&=;%+[]{}|^`'\"<>\\.~aAeE27 \t"), st.characters(codec="utf-8")), max_size=60
)
URLS = st.builds(
    lambda scheme, host, tail: f"{scheme}://{host}/{tail}", st.sampled_from(["http", "HTTPS"]), HOSTS, TAILS
)


@pytest.mark.parametrize(
    ("url", "name", "asked"),
    [
        ("http://h.example/a?b=1&a=2", "http://h.example/a?a=2&b=1", "http://h.example/a?b=1&a=2"),
        ("http://h.example/a;jsessionid=1F?x=1", "http://h.example/a?x=1", "http://h.example/a;jsessionid=1F?x=1"),
        ("http://h.example/a?PHPSESSID=9", "http://h.example/a", "http://h.example/a?PHPSESSID=9"),
        ("http://h.example/a?utm_source=b#top", "http://h.example/a", "http://h.example/a?utm_source=b"),
        ("http://h.example/%7Ebob/%e4", "http://h.example/~bob/%E4", "http://h.example/%7Ebob/%e4"),
        ("http://h.example/a?", "http://h.example/a", "http://h.example/a?"),
        ("http://h.example?", "http://h.example/", "http://h.example/?"),
        ("http://h.example/a[1]|b", "http://h.example/a%5B1%5D%7Cb", "http://h.example/a[1]|b"),
        ("HTTP://H.example.:80/A", "http://h.example/A", "http://h.example/A"),
        ("http://h.example/x/../a", "http://h.example/a", "http://h.example/a"),
    ],
)
def test_a_url_is_named_by_its_canonical_form_and_asked_for_as_it_was_found(url: str, name: str, asked: str) -> None:
    found = address(url)
    assert found is not None
    assert (found.name, found.asked) == (name, asked)
    assert found.found in ("", asked)


@given(URLS)
@example("http://127.0.0.1:8000/a?;jsessionid=")
def test_what_was_found_has_the_same_name_on_the_same_server_and_is_found_again(url: str) -> None:
    to = address(url)
    assert (None if to is None else to.name) == canonicalize(url)
    if to is not None:
        again = address(to.asked)
        assert again == to
        assert canonicalize(to.name) == to.name
        assert authority(to.asked) == authority(to.name)
        assert to.found != to.name
        assert not set(" \t\n#") & set(to.asked)


@given(URLS)
def test_a_name_with_parameters_of_this_crawls_own_keeps_them_in_the_request(url: str) -> None:
    policy = extended_policy(("example.org:a,e",))
    to = address(url, policy=policy)
    if to is not None:
        assert address(to.asked, policy=policy) == to


def test_a_spelling_that_is_too_long_is_asked_for_by_its_name() -> None:
    to = address("http://h.example/a?utm_term=" + "x" * MAX_URL_LENGTH)
    assert to == ("http://h.example/a", "")
