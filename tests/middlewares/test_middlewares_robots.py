"""robots.txt on the wire: every way in which a host can answer, and what becomes of its pages."""

from __future__ import annotations

import gzip
import hashlib
import json
import time

import pytest

ANSWERS_THAT_OPEN = [404, 410, 400]
ANSWERS_THAT_CLOSE = [401, 402, 403, 429, 451]
ANSWERS_THAT_HOLD = [500, 502, 503, 408]


def _sites(web, statuses, first=10):
    bases = {}
    for offset, status in enumerate(statuses):
        routes = {"/robots.txt": web.reply(status, b""), "/page": web.reply()}
        bases[status] = web.site(f"127.0.0.{first + offset}", routes)
    return bases


def test_every_status_of_robots_txt_means_what_the_table_says(web, crawl):
    bases = _sites(web, ANSWERS_THAT_OPEN + ANSWERS_THAT_CLOSE + ANSWERS_THAT_HOLD)
    report = crawl([f"{base}/page" for base in bases.values()])
    found = {status: report["outcomes"][f"{base}/page"] for status, base in bases.items()}
    for status in ANSWERS_THAT_OPEN:
        assert (found[status]["outcome"], found[status]["robots_status"]) == ("page", "no_rules"), status
    for status in ANSWERS_THAT_CLOSE:
        assert (found[status]["outcome"], found[status]["reason"]) == ("Denied", "robots_disallowed"), status
        assert str(status) in found[status]["detail"]
        assert web.asked(bases[status]) == ["/robots.txt"]
    for status in ANSWERS_THAT_HOLD:
        assert (found[status]["outcome"], found[status]["reason"]) == ("Held", "hold_robots_unreachable"), status
        assert found[status]["until"] > time.time()
        assert found[status]["authority"] == bases[status]
        assert web.asked(bases[status]) == ["/robots.txt"]


def test_a_robots_txt_that_cannot_be_read_holds_the_host(web, crawl):
    partial = web.reply(200, b"User-agent: *\n", [("Content-Length", "5000")])
    bases = {
        "reset": web.site("127.0.0.2", {"/robots.txt": web.reset, "/page": web.reply()}),
        "hang": web.site("127.0.0.3", {"/robots.txt": web.hang, "/page": web.reply()}),
        "loop": web.site("127.0.0.4", {"/robots.txt": _to(web, "/robots.txt"), "/page": web.reply()}),
        "nowhere": web.site("127.0.0.5", {"/robots.txt": web.reply(302, b""), "/page": web.reply()}),
        "binary": web.site("127.0.0.6", {"/robots.txt": web.reply(200, gzip.compress(b"x")), "/page": web.reply()}),
        "cut off": web.site("127.0.0.7", {"/robots.txt": partial, "/page": web.reply()}),
        "broken coding": web.site(
            "127.0.0.8",
            {"/robots.txt": web.reply(200, b"no gzip", [("Content-Encoding", "gzip")]), "/page": web.reply()},
        ),
    }
    report = crawl([f"{base}/page" for base in bases.values()], DOWNLOAD_TIMEOUT=2)
    for name, base in bases.items():
        outcome = report["outcomes"][f"{base}/page"]
        assert (outcome["outcome"], outcome.get("reason")) == ("Held", "hold_robots_unreachable"), (name, outcome)
        assert "/page" not in web.asked(base), name


def test_rules_are_obeyed_and_recorded_with_hash_line_and_status(web, crawl):
    body = b"User-agent: *\nDisallow: /private\n"
    base = web.site("127.0.0.2", {"/robots.txt": web.reply(200, body), "/private": web.reply(), "/open": web.reply()})
    found = crawl([f"{base}/private", f"{base}/open", f"{base}/robots.txt"])["outcomes"]
    assert found[f"{base}/private"]["reason"] == "robots_disallowed"
    assert found[f"{base}/private"]["robots_rule"] == "line 2: Disallow: /private"
    assert found[f"{base}/open"]["robots_status"] == "allowed"
    assert found[f"{base}/open"]["robots_sha256"] == hashlib.sha256(body).hexdigest()
    assert "/private" not in web.asked(base)


def test_robots_txt_is_fetched_once_for_many_pages(web, crawl):
    base = web.site("127.0.0.2", {"/robots.txt": web.reply(200, b""), **{f"/{n}": web.reply() for n in range(20)}})
    report = crawl([f"{base}/{n}" for n in range(20)])
    assert {o["outcome"] for o in report["outcomes"].values()} == {"page"}
    assert web.asked(base).count("/robots.txt") == 1
    assert report["turns"].count(f"{base}/robots.txt") == 1


def test_redirects_of_robots_txt_are_followed_and_apply_to_the_first_authority(web, crawl):
    target = web.site("127.0.0.3", {"/elsewhere": web.reply(200, b"User-agent: *\nDisallow: /page\n")})
    base = web.site("127.0.0.2", {"/robots.txt": _to(web, f"{target}/elsewhere"), "/page": web.reply()})
    report = crawl([f"{base}/page"])
    assert report["outcomes"][f"{base}/page"]["reason"] == "robots_disallowed"
    assert report["turns"] == [f"{base}/robots.txt", f"{target}/elsewhere"]


def test_five_redirects_of_robots_txt_are_followed_and_six_are_not(web, crawl):
    bases = []
    for address, hops in (("127.0.0.2", 5), ("127.0.0.3", 6)):
        routes = {f"/hop{n}": _to(web, f"/hop{n + 1}") for n in range(1, hops)}
        routes |= {"/robots.txt": _to(web, "/hop1"), f"/hop{hops}": web.reply(200, b""), "/page": web.reply()}
        bases.append(web.site(address, routes))
    found = crawl([f"{base}/page" for base in bases])["outcomes"]
    assert found[f"{bases[0]}/page"]["outcome"] == "page"
    assert found[f"{bases[1]}/page"]["reason"] == "hold_robots_unreachable"


def test_a_redirect_of_robots_txt_to_a_forbidden_address_holds_the_host(web, crawl):
    base = web.site("127.0.0.2", {"/robots.txt": _to(web, "http://169.254.169.254/latest"), "/page": web.reply()})
    outcome = crawl([f"{base}/page"])["outcomes"][f"{base}/page"]
    assert outcome["reason"] == "hold_robots_unreachable"
    assert "NETWORK_PORTS" in outcome["detail"] or "globally routable" in outcome["detail"]


def test_only_the_first_512000_bytes_count_and_a_html_page_holds_no_rules(web, crawl):
    padding = b"# " + b"x" * 98 + b"\n"
    large = b"User-agent: *\nDisallow: /early\n" + padding * 200_000 + b"Disallow: /late\n"
    one = web.site("127.0.0.2", {"/robots.txt": web.reply(200, large), "/late": web.reply(), "/early": web.reply()})
    two = web.site("127.0.0.3", {"/robots.txt": web.reply(200, b"<!doctype html><p>Disallow: /</p>"), "/": web.reply()})
    found = crawl([f"{one}/early", f"{one}/late", f"{two}/"])["outcomes"]
    assert found[f"{one}/early"]["reason"] == "robots_disallowed"
    assert found[f"{one}/late"]["outcome"] == "page"
    assert found[f"{two}/"]["outcome"] == "page"


def test_a_decompression_bomb_in_robots_txt_holds_the_host(web, crawl):
    bomb = web.reply(200, gzip.compress(b"#" * 40 * 2**20), [("Content-Encoding", "gzip")])
    base = web.site("127.0.0.2", {"/robots.txt": bomb, "/page": web.reply()})
    assert crawl([f"{base}/page"])["outcomes"][f"{base}/page"]["reason"] == "hold_robots_unreachable"


def test_half_a_compressed_robots_txt_holds_the_host_and_a_whole_one_counts(web, crawl):
    packed = gzip.compress(b"User-agent: *\nDisallow: /page\n" + b"# more\n" * 5_000)
    coding = [("Content-Encoding", "gzip")]
    torn = web.site("127.0.0.2", {"/robots.txt": web.reply(200, packed[:-20], coding), "/page": web.reply()})
    whole = web.site("127.0.0.3", {"/robots.txt": web.reply(200, packed, coding), "/page": web.reply()})
    outcomes = crawl([f"{torn}/page", f"{whole}/page"])["outcomes"]
    assert outcomes[f"{torn}/page"]["reason"] == "hold_robots_unreachable"
    assert outcomes[f"{whole}/page"]["reason"] == "robots_disallowed"


def test_crawl_delay_goes_to_the_frontier_up_to_the_cap_and_sitemaps_to_the_spider(web, crawl):
    body = b"User-agent: *\nCrawl-delay: 5\nSitemap: /map.xml\nSitemap: https://other.example/map.xml\n"
    one = web.site("127.0.0.2", {"/robots.txt": web.reply(200, body), "/a": web.reply(), "/b": web.reply()})
    two = web.site("127.0.0.3", {"/robots.txt": web.reply(200, b"User-agent: *\nCrawl-delay: 999"), "/a": web.reply()})
    report = crawl([f"{one}/a", f"{one}/b", f"{two}/a"], ROBOTS_MAX_DELAY_SECONDS=60)
    assert sorted(report["delays"]) == [[f"127.0.0.2:{web.port}", 5.0], [f"127.0.0.3:{web.port}", 60.0]]
    assert [scope for scope, _ in report["rests"]] == [scope for scope, _ in report["delays"]]
    assert report["sitemaps"] == [[one, [f"{one}/map.xml", "https://other.example/map.xml"]]]


def test_a_crawl_delay_below_the_delay_of_this_worker_is_told_all_the_same(web, crawl):
    """The crawl may go by a shorter delay than this worker was given (CRAWL_RULES=replace)."""
    base = web.site("127.0.0.2", {"/robots.txt": web.reply(200, b"User-agent: *\nCrawl-delay: 3"), "/a": web.reply()})
    report = crawl([f"{base}/a"], DOWNLOAD_DELAY=5)
    assert report["delays"] == [[base.removeprefix("http://"), 3.0]]
    assert "rests" not in report


def test_a_robots_txt_that_asks_for_no_delay_takes_back_what_it_asked_for_before(web, crawl):
    silent = web.site("127.0.0.2", {"/robots.txt": web.reply(200, b"User-agent: *\nAllow: /"), "/a": web.reply()})
    absent = web.site("127.0.0.3", {"/robots.txt": web.reply(404, b""), "/a": web.reply()})
    report = crawl([f"{silent}/a", f"{absent}/a"])
    expected = [[base.removeprefix("http://"), f"robots:{base}"] for base in (silent, absent)]
    assert (sorted(report["released"]), report["delays"]) == (expected, [])


def test_a_crawl_delay_beyond_the_cap_skips_the_host_where_the_setting_says_so(web, crawl):
    robots = web.reply(200, b"User-agent: *\nCrawl-delay: 999")
    one = web.site("127.0.0.2", {"/robots.txt": robots, "/a": web.reply()})
    two = web.site("127.0.0.3", {"/robots.txt": web.reply(200, b"User-agent: *\nCrawl-delay: 3"), "/a": web.reply()})
    outcomes = crawl([f"{one}/a", f"{two}/a"], ROBOTS_MAX_DELAY_SECONDS=60, ROBOTS_LONG_DELAY="skip")["outcomes"]
    assert outcomes[f"{one}/a"]["reason"] == "robots_disallowed"
    assert "999 s is above ROBOTS_MAX_DELAY_SECONDS (60)" in outcomes[f"{one}/a"]["detail"]
    assert outcomes[f"{two}/a"]["outcome"] == "page"
    assert "/a" not in web.asked(one)


@pytest.mark.parametrize("age, outcome", [(86_400, "page"), (31 * 86_400, "Held")])
def test_a_last_good_copy_serves_for_thirty_days(web, crawl, age, outcome):
    from crawler.policy.robots.answer import Ages, Answer, judge

    base = web.site("127.0.0.2", {"/robots.txt": web.reply(503, b""), "/open": web.reply(), "/shut": web.reply()})
    old = judge(Answer(200, b"User-agent: *\nDisallow: /shut"), time.time() - age, Ages(good=60.0))
    found = crawl([f"{base}/open", f"{base}/shut"], blobs={f"robots:{base}/robots.txt": old.dump().decode()})[
        "outcomes"
    ]
    assert found[f"{base}/open"]["outcome"] == outcome
    assert found[f"{base}/open"]["robots_status"] == ("stale" if outcome == "page" else "unreachable")
    assert found[f"{base}/shut"]["outcome"] == ("Denied" if outcome == "page" else "Held")


def test_a_copy_stored_by_another_worker_is_used_and_a_damaged_one_is_not(web, crawl):
    from crawler.policy.robots.answer import Ages, Answer, judge

    routes = {"/robots.txt": web.reply(200, b""), "/shut": web.reply()}
    one, two = web.site("127.0.0.2", routes), web.site("127.0.0.3", routes)
    fresh = judge(Answer(200, b"User-agent: *\nDisallow: /shut"), time.time(), Ages())
    blobs = {f"robots:{one}/robots.txt": fresh.dump().decode(), f"robots:{two}/robots.txt": json.dumps({"body": 7})}
    found = crawl([f"{one}/shut", f"{two}/shut"], blobs=blobs)["outcomes"]
    assert found[f"{one}/shut"]["reason"] == "robots_disallowed"
    assert found[f"{two}/shut"]["outcome"] == "page"
    assert web.asked(one) == []


def test_ai_opt_outs_in_robots_txt_stop_the_page_before_it_is_asked_for(web, crawl):
    bodies = {
        "ai-bots": b"User-agent: GPTBot\nDisallow: /\n",
        "content-signal": b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n",
        "content-usage": b"User-agent: *\nContent-Usage: train-ai=n\nAllow: /\n",
    }
    routes = {"/page": web.reply()}
    bases = {
        name: web.site(f"127.0.0.{n}", {"/robots.txt": web.reply(200, body), **routes})
        for n, (name, body) in enumerate(bodies.items(), start=2)
    }
    found = crawl([f"{base}/page" for base in bases.values()])["outcomes"]
    for name, base in bases.items():
        outcome = found[f"{base}/page"]
        assert (outcome["outcome"], outcome["reason"]) == ("Denied", "optout")
        assert outcome["detail"].startswith(name)
        assert [name, "robots.txt", "disallow"] in [[p, c, v] for p, c, _, v in outcome["signals"]]
        assert web.asked(base) == ["/robots.txt"]


def _to(web, target):
    return web.reply(302, b"", [("Location", target)])
