"""What a crawler has one of."""

from __future__ import annotations

import gc

import pytest

from crawler.runtime import per_crawler


class Crawler:
    """Stands for Scrapy's, of which only the identity counts here."""


def test_all_who_ask_for_one_crawler_get_the_same_object_and_another_crawler_has_its_own() -> None:
    made = per_crawler(lambda crawler: [crawler.__class__.__name__])
    first, second = Crawler(), Crawler()
    assert made(first) is made(first)
    assert made(first) is not made(second)


def test_nothing_is_made_by_looking() -> None:
    made = per_crawler(lambda _: object())
    crawler = Crawler()
    assert made.existing(crawler) is None
    assert made(crawler) is made.existing(crawler)


def test_what_a_crawler_had_goes_with_it() -> None:
    made = per_crawler(lambda _: object())
    crawler = Crawler()
    made(crawler)
    del crawler
    gc.collect()
    assert len(made._made) == 0


def test_an_error_reaches_everyone_who_asks() -> None:
    def fail(_: object) -> None:
        raise ValueError("no")

    made, crawler = per_crawler(fail), Crawler()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            made(crawler)
