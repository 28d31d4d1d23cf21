"""A publication date comes from where pages state one, never from running text or code."""

from __future__ import annotations

import json

import pytest

from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.parse.stage import parse_html

URL = "https://example.org/page"


def date_of(head: str = "", body: str = "", url: str = URL, max_date: str = "2026-01-01") -> str | None:
    tree = parse_html(f"<html><head>{head}</head><body><main><h1>T</h1>{body}<p>Words.</p></main></body></html>")
    return read_metadata(tree, url, max_date).pub_date


@pytest.mark.parametrize(
    ("head", "body", "url"),
    [
        ('<meta property="article:published_time" content="2024-03-05T10:00:00Z">', "", URL),
        ('<meta name="date" content="2024-03-05">', "", URL),
        ('<script type="application/ld+json">{"@type":"Article","datePublished":"2024-03-05"}</script>', "", URL),
        ("", "", "https://example.org/2024/03/05/title"),
        ("", '<p class="byline">By A. B., <span class="published">5 March 2024</span></p>', URL),
        ("", '<time datetime="2024-03-05">yesterday</time>', URL),
        ("", '<div id="footer-text">Last updated 2024-03-05 UTC</div>', URL),
    ],
    ids=["meta", "meta name", "json-ld", "url", "by-line", "time", "footer of asciidoc"],
)
def test_a_date_is_read_where_pages_state_one(head, body, url):
    assert date_of(head, body, url) == "2024-03-05"


@pytest.mark.parametrize(
    "body",
    [
        "<pre>&gt;&gt;&gt; date(2020, 10, 31)\n2020-10-31 12:00</pre>",
        '<pre><span class="date">2018-01-05</span></pre>',
        "<p>It was released on 2016-01-07 and is much used since.</p>",
        "<p>Changed in version 3.2 (2021-04-02 12:30:00).</p>",
        "<p>-rw-r--r-- 1 root root 0 2022-07-27 08:00 crontab</p>",
    ],
    ids=["code", "marked code", "sentence", "change note", "listing"],
)
def test_dates_of_examples_and_sentences_are_not_the_pages_own(body):
    assert date_of("", body) is None


def data_of(*said) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in said)


@pytest.mark.parametrize(
    "said",
    [
        {"@type": "Article", "image": {"@type": "ImageObject", "uploadDate": "2019-01-01"}},
        {"@type": "Article", "isPartOf": {"@type": "Periodical", "datePublished": "1998-01-01"}},
        {"@type": "WebSite", "dateCreated": "2001-01-01"},
        {"@type": "Product", "review": {"@type": "Review", "datePublished": "2020-09-09"}},
        {"@type": "Article", "comment": [{"@type": "Comment", "datePublished": "2020-09-09"}]},
    ],
)
def test_the_date_of_a_picture_a_journal_a_site_or_a_review_is_not_that_of_the_page(said):
    assert date_of(data_of(said)) is None
    own = {"@type": "Article", "datePublished": "2024-03-05"}
    assert date_of(data_of(said, own)) == "2024-03-05"


def test_the_date_of_another_page_in_the_data_is_not_that_of_this_one():
    other = {"@type": "Article", "url": "https://example.org/oak", "datePublished": "2020-01-01", "headline": "Oak"}
    own = {"@type": "Article", "url": URL, "datePublished": "2024-03-05"}
    assert date_of(data_of(other, own)) == "2024-03-05"
    assert date_of(data_of({"@graph": [other, own]})) == "2024-03-05"
    assert date_of(data_of(other)) == "2020-01-01"  # some pages name themselves by an address that they have not


def test_a_date_in_data_that_are_no_json_is_found_all_the_same():
    broken = '{"@type": "Article", "datePublished": "2024-03-05", }'
    assert date_of(f'<script type="application/ld+json">{broken}</script>') == "2024-03-05"


def test_a_version_number_in_the_title_is_no_date():
    assert date_of("<title>Part 2 — Django 3.2.25 documentation</title>") is None


def test_a_date_after_the_fetch_is_a_mistake():
    assert date_of('<meta name="date" content="2024-03-05">', max_date="2023-01-01") is None


PUBLISHED = '<meta property="article:published_time" content="2024-03-06T10:00:00Z">'


def linked(things: object = None, **said: object) -> str:
    said = things or said
    return f'<script type="application/ld+json">{json.dumps(said)}</script>'


@pytest.mark.parametrize(
    ("head", "body", "url", "day"),
    [
        (PUBLISHED, "", "https://example.org/2024/03/05/title", "2024-03-05"),  # the address knows the local day
        (PUBLISHED + linked(datePublished="2024-03-05"), "", URL, "2024-03-05"),
        (PUBLISHED, '<time datetime="2024-03-05">', URL, "2024-03-06"),
        (
            "",
            '<time datetime="2024-03-06"></time><time itemprop="datePublished" datetime="2024-03-05">',
            URL,
            "2024-03-05",
        ),
        (linked(dateCreated="2024-03-06", uploadDate="2024-03-05"), "", URL, "2024-03-05"),
        (linked(datePublished="1970-01-01") + PUBLISHED, "", URL, "2024-03-06"),  # nobody said when
        (linked(datePublished="2031-01-01") + PUBLISHED, "", URL, "2024-03-06"),  # after the fetch
        (linked(datePublished="soon") + PUBLISHED, "", URL, "2024-03-06"),
        ('<meta name="citation_date" content="2024/03/05">', "", URL, "2024-03-05"),
        ("", "", "https://example.org/2024/13/05/title", None),
        ("", "", "https://example.org/2024/02/31/title", None),
        (linked(datePublished="2024-02-30") + PUBLISHED, "", URL, "2024-03-06"),
        (
            "",
            '<time datetime="2024-03-06"></time><meta itemprop="datePublished" content="2024-03-05">',
            URL,
            "2024-03-05",
        ),
        (
            linked([{"@type": "Review", "datePublished": "2024-03-06"}, {"datePublished": "2024-03-05"}]),
            "",
            URL,
            "2024-03-05",
        ),
    ],
)
def test_of_several_dates_the_one_that_is_meant_best_counts(head, body, url, day):
    assert date_of(head, body, url) == day


def stated(day: str) -> str:
    return f'<script type="application/ld+json">{{"@type":"Article","datePublished":"{day}"}}</script>'


@pytest.mark.parametrize(
    "day", ["20240305", "20240305T101500Z", "2024-3-5", "2024/3/5 10:15", "2024.03.05", "2024年3月5日"]
)
def test_a_day_that_begins_with_its_year_is_read_as_it_is_written(day):
    assert date_of(stated(day)) == date_of(body=f'<time datetime="{day}">x</time>') == "2024-03-05"


@pytest.mark.parametrize("day", ["2024-03-051", "202403051", "2024-13-05", "2024-02-30", "5/3/2024", "2024"])
def test_what_may_be_another_day_or_none_is_not_read(day):
    assert date_of(stated(day)) is None


def test_a_page_of_the_next_day_in_the_east_is_no_mistake():
    assert date_of(stated("2026-01-02T08:00:00+09:00")) == "2026-01-02"
    for later in ("2026-01-02T10:00:00+09:00", "2026-01-02T00:30:00", "2026-01-02", "2026-01-02T00:30:00Z"):
        assert date_of(stated(later)) is None
