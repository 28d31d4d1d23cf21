"""What the politeness bench reads out of a site's log."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterable

import pytest

from bench.faults import politeness
from bench.faults.permitted import permitted_gaps
from bench.faults.politeness import Setting
from bench.web.known_site import hosts_of
from bench.web.target import RESET, Visit, served

POLITE = Setting(delay=0.5, concurrency=1, pages=4, latency=0.1)


def log(host: str, times: Iterable[float], paths: Iterable[str], latency: float = 0.1) -> list[Visit]:
    return [Visit(host, path, at, end=at + latency) for at, path in zip(times, paths, strict=True)]


PATHS = ["/robots.txt", "/p/0", "/p/1", "/p/1/here", "/p/2", "/p/0"]


def test_a_site_that_is_asked_at_every_permitted_moment_is_used_in_full() -> None:
    (found,) = politeness.report(POLITE, log("h", [0, 0.5, 1.0, 1.5, 2.0, 9.0], PATHS))
    assert found.share == pytest.approx(1.0), "the retry at the end comes when there is no work left"
    assert (found.early, found.most, found.requests) == (0, 1, 6)
    assert politeness.violations(POLITE, [found]) == []


def test_requests_that_come_early_or_together_are_violations() -> None:
    (found,) = politeness.report(POLITE, log("h", [0, 0.5, 1.0, 1.06, 2.0, 2.5], PATHS))
    assert found.smallest_gap == pytest.approx(0.06)
    assert politeness.violations(POLITE, [found]) == [
        "h: 1 requests too early, the worst 440 ms",
        "h: 2 requests at a time",
    ]


def test_a_rate_that_is_not_used_is_a_violation() -> None:
    (found,) = politeness.report(POLITE, log("h", [0, 0.7, 1.4, 2.1, 2.8, 3.5], PATHS))
    assert politeness.violations(POLITE, [found]) == ["h: 71 % of the rate permitted at that time"]


def test_the_host_with_a_crawl_delay_is_held_to_it_once_its_robots_txt_is_read() -> None:
    hosts = [log(host, [0, 0.5, 1.0, 1.5, 2.0, 2.5], PATHS) for host in "abc"]
    *others, patient = politeness.report(POLITE, [visit for of_host in hosts for visit in of_host])
    assert [found.early for found in others] == [0, 0]
    assert (patient.delay, patient.early) == (0.75, 4)


def test_after_a_503_half_the_rate_is_permitted_and_every_answer_gives_a_tenth_back() -> None:
    visits = log("h", range(12), ["/robots.txt", *(f"/p/{i}" for i in range(11))])
    visits[2].status, visits[3].status = 503, RESET
    delays = permitted_gaps(visits, 1.0)
    rates = [round(1 / seconds, 3) for seconds in delays]
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0]


def test_a_site_that_asked_for_less_is_used_in_full_at_less_and_shown_apart() -> None:
    hosts = [log(host, [0, 0.5, 1.0, 1.5, 2.0, 2.5], PATHS) for host in "abcdefgh"]
    times = [0, 0.5, 1.5, 1.5 + 1 / 1.2, 1.5 + 1 / 1.2 + 1 / 1.4, 1.5 + 1 / 1.2 + 1 / 1.4 + 1 / 1.6]
    hosts[4] = log("e", times, PATHS)
    hosts[4][1].status = 503
    reports = politeness.report(POLITE, [visit for of_host in hosts for visit in of_host])
    assert [found.host for found in reports if found.troubled] == ["e", "g"]
    assert reports[4].share == pytest.approx(1.0)
    assert "100–100 % (median 100 %)" in politeness.row("ours", POLITE, reports).split("|")[-2]


def test_without_a_delay_the_share_is_that_of_the_places() -> None:
    setting = Setting(delay=0.0, concurrency=2, pages=4, latency=1.0)
    (found,) = politeness.report(setting, log("h", [0, 0, 1, 1, 2, 2], PATHS, latency=1.0))
    assert (found.most, found.share) == (2, pytest.approx(5 / 6)), "the last two places: one is for the retry"


def test_the_sites_list_their_pages_and_one_asks_for_a_longer_delay() -> None:
    hosts = hosts_of(3, 92)
    with served(hosts) as target:
        target.sites = politeness.site(Setting(0.5, 1, 12, 0.0), target)
        bodies = {}
        for path in ("/robots.txt", "/sitemap.xml"):
            with urllib.request.urlopen(target.base(hosts[2]) + path, timeout=10) as response:
                bodies[path] = response.read()
    assert b"Crawl-delay: 0.75\n" in bodies["/robots.txt"]
    assert bodies["/sitemap.xml"].count(b"<loc>") == 12
    assert {visit.status for visit in target.visits} == {200}
