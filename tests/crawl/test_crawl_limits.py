"""A crawl that ends at a limit somebody asked for has done what was asked; the same command goes on from there."""

from __future__ import annotations

import pytest

from crawler.launch import failure_of


def arguments(site):
    return {"url": site.url(0)}


def test_a_page_limit_of_the_crawl_ends_it_without_an_error(crawl, make_site):
    site = make_site(pages=20)
    done = crawl.run(arguments(site), NETWORK_PORTS=site.port, FRONTIER_MAX_PAGES=6)
    assert done.returncode == 0 and "error" not in done.stderr.lower(), done.stderr
    asked = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    assert len(asked) == len(crawl.accounted()) == 6
    more = crawl.run(arguments(site), NETWORK_PORTS=site.port, FRONTIER_MAX_PAGES=6)
    assert more.returncode == 0 and len(crawl.accounted()) == 6


def test_scrapys_page_count_is_a_limit_and_no_failure(crawl, make_site):
    site = make_site(pages=12)
    done = crawl.run(arguments(site), NETWORK_PORTS=site.port, CLOSESPIDER_PAGECOUNT=4, CONCURRENT_REQUESTS=2)
    assert done.returncode == 0 and "error" not in done.stderr.lower(), done.stderr
    assert 0 < len(crawl.accounted()) < 12
    rest = crawl.run(arguments(site), NETWORK_PORTS=site.port)
    assert rest.returncode == 0, rest.stderr
    assert crawl.accounted() == sorted(site.urls())


def test_a_wrong_address_of_the_duplicate_index_can_be_corrected(crawl, make_site):
    site = make_site(pages=1)
    wrong = crawl.run(arguments(site), NETWORK_PORTS=site.port, DEDUP_REDIS_URL="redis://127.0.0.1:1/0")
    assert wrong.returncode == 1 and "error: the duplicate index does not answer" in wrong.stderr
    assert "the stage pool broke" not in wrong.stderr
    right = crawl.run(arguments(site), NETWORK_PORTS=site.port)
    assert right.returncode == 0, right.stderr


@pytest.mark.parametrize("limit", ["pagecount", "itemcount", "timeout"])
def test_limits_that_were_asked_for_are_no_failures(limit):
    assert failure_of({"finish_reason": f"closespider_{limit}"}, bootstrap_failed=False) is None


@pytest.mark.parametrize("limit", ["errorcount", "timeout_no_item", "pagecount_no_item"])
def test_limits_that_watch_for_trouble_are(limit):
    assert "ended early" in str(failure_of({"finish_reason": f"closespider_{limit}"}, bootstrap_failed=False))


def test_a_crawl_that_could_not_begin_says_why_and_not_that_it_goes_on():
    assert failure_of({"outcome/fatal": "a ledger is broken"}, bootstrap_failed=False) == "a ledger is broken"


def test_a_crawl_that_was_stopped_before_it_had_begun_is_not_said_to_have_been_cut_off():
    assert failure_of({}, bootstrap_failed=False) == "the crawl had not begun; the same command begins it"
    assert "cut off" in str(failure_of({"start_time": 1}, bootstrap_failed=False))
