"""A crawl that ends at a limit somebody asked for has done what was asked; the same command goes on from there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crawler.launch import failure_of
from tests.support.changing_site import Asked, ChangingSite, Page
from tests.support.serving import Handler, article

MOST = 5
"""Pages that a limited run may ask for."""


class PoorSite(ChangingSite):
    """Some of its pages end without an answer."""

    def serve(self, request: Handler) -> None:
        if not request.path.startswith("/broken/"):
            super().serve(request)
            return
        self.log.append(Asked(request.path, 0, {}, 0))
        request.close_connection = True


@pytest.fixture
def poor_site() -> Iterator[ChangingSite]:
    """A page leads to redirects, broken answers, gone pages and pages that stay as they are; the articles are ours."""
    site = PoorSite()
    kinds = {
        "moved": lambda n: Page(status=301, headers={"Location": f"/kept/{n}"}),
        "broken": lambda _: Page(),
        "gone": lambda _: Page(status=410),
        "kept": lambda n: Page(article(f"kept {n}"), etag=f'"k{n}"'),
    }
    site.pages = {f"/{kind}/{n}": make(n) for n in range(4) for kind, make in kinds.items()}
    site.pages["/"] = Page(article("home", links=tuple(site.pages)), etag='"home"')
    yield site.start()
    site.stop()


def asked(site: ChangingSite) -> list[int]:
    """The answers to requests for pages since the last call."""
    return [each.status for requests in site.take_log().values() for each in requests]


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


def test_scrapys_page_count_bounds_the_requests_for_pages_whatever_answers_them(crawl, poor_site):
    settings = {"NETWORK_PORTS": poor_site.port, "CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
    first = crawl.run({"url": poor_site.url("/")}, **settings, CLOSESPIDER_PAGECOUNT=MOST)
    found = asked(poor_site)
    assert first.returncode == 0 and len(found) == MOST and {0, 301} & set(found), (found, first.stderr)
    assert crawl.run({"url": poor_site.url("/")}, **settings).returncode == 0
    assert len(found + asked(poor_site)) >= len(poor_site.pages)
    again = {"RECRAWL": 1, "RECRAWL_INTERVAL_SECONDS": 0, "CLOSESPIDER_PAGECOUNT": MOST}
    second = crawl.run({"url": poor_site.url("/")}, **settings, **again)
    found = asked(poor_site)
    assert second.returncode == 0 and len(found) == MOST and 304 in found, (found, second.stderr)


def test_the_control_files_of_hosts_are_no_pages_of_the_page_count(crawl, make_site):
    site = make_site(pages=3)
    done = crawl.run(arguments(site), NETWORK_PORTS=site.port, CLOSESPIDER_PAGECOUNT=3)
    assert done.returncode == 0 and len(crawl.accounted()) == 3, done.stderr
    assert any(hit.path == "/robots.txt" for hit in site.hits)


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
