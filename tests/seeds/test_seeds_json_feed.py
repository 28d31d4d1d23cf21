"""A JSON Feed lists pages like a sitemap does; whoever wrote it is not trusted."""

from __future__ import annotations

import json

import pytest

from crawler.seeds.sitemaps import parse_sitemap

VERSION = "https://jsonfeed.org/version/1.1"


def feed(*items: object, version: object = VERSION) -> bytes:
    return json.dumps({"version": version, "title": "A feed", "items": items}).encode()


def test_the_pages_of_a_json_feed_are_read_with_the_moment_of_their_change() -> None:
    found = parse_sitemap(
        b"\xef\xbb\xbf"
        + feed(
            {"id": "1", "url": "https://a.org/one?utm_source=feed", "date_published": "2026-11-01T10:00:00Z"},
            {"id": "2", "url": "/two", "date_published": "2026-11-01", "date_modified": "2026-11-02T00:00:00Z"},
            {"id": "1", "url": "https://a.org/one"},
        ),
        "https://a.org/feed.json",
    )
    assert found.kind == "json"
    assert [(e.url, e.lastmod) for e in found.entries] == [
        ("https://a.org/one", 1793527200.0),
        ("https://a.org/two", 1793577600.0),
    ]
    assert found.problems == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"version": ', "broken JSON: "),
        (b'{"items": []}', "expected a JSON Feed"),
        (feed(version="https://example.org/feed"), "expected a JSON Feed"),
        (b'{"version": "https://jsonfeed.org/version/1", "items": {"a": 1}}', "expected a JSON Feed"),
        (feed({"url": 7}), "item 1: expected an http(s) URL"),
        (feed({"url": "javascript:alert(1)"}), "item 1: expected an http(s) URL"),
        (feed("https://a.org/"), "item 1: expected an http(s) URL"),
    ],
)
def test_what_is_no_json_feed_is_said_and_gives_no_page(body: bytes, problem: str) -> None:
    found = parse_sitemap(body, "https://a.org/feed.json")
    assert found.entries == []
    assert found.problems[0].startswith(problem)
