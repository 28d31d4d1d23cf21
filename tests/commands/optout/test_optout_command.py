"""`gristmill optout`: what it says about a page, that the crawl decides the same, and that it leaves nothing behind."""

from __future__ import annotations

import json

import pytest
import zstandard
from scrapy.settings import Settings

from crawler import settings
from crawler.launch import check_identity
from crawler.policy.explain import WHERE
from crawler.policy.signals.registry import DETECTORS, refusals
from crawler.problems import InputError
from crawler.spiders.inquiry import inquiry_about

EXPECTED = {
    "open": ("yes", "", "robots.txt allows it: line 2 says “Allow: /” to every crawler"),
    "private": ("no", "robots_disallowed", "robots.txt disallows it: line 2 says “Disallow: /p” to corpusbot"),
    "gptbot": ("no", "optout", "disallows a bot that collects training data: “GPTBot: line 2: Disallow: /”"),
    "down": ("hold", "hold_robots_unreachable", "robots.txt cannot be read"),
    "locked": ("no", "robots_disallowed", "the server denies access to robots.txt (401)"),
    "tdmrep": ("no", "optout", "text and data mining is reserved (TDMRep): “1” (in a file of the host)"),
    "tdmrep-overruled": ("yes", "", "training is allowed expressly"),
    "broken-tdmrep": ("hold", "hold_control_file", "tdmrep.json is broken JSON"),
    "header": ("no", "optout", "the X-Robots-Tag header refuses: “noai” (in the response headers)"),
    "meta": ("no", "optout", "a robots meta tag of the page refuses: “robots: noai” (in the head of the page)"),
    "ai-txt": ("no", "optout", "ai.txt disallows it for AI training"),
    "trust-txt": ("no", "optout", "“datatrainingallowed=no”"),
    "rsl": ("no", "optout", "the licence (RSL) does not let us train on it freely"),
    "content-signal": ("no", "optout", "a Content Signal says no to AI training"),
    "content-usage": ("no", "optout", "a Content-Usage preference (AIPREF) says no"),
    "denied": ("no", "access_denied", "HTTP 402"),
    "gone": ("no", "gone", "HTTP 410"),
    "moved": ("yes", "", "robots.txt allows it"),
}


@pytest.fixture(scope="module")
def explained(web, scrapy):
    web.log.clear()
    done = scrapy("optout", "--json", *(web.url(name) for name in EXPECTED))
    assert done.code == 1, done.err
    return dict(zip(EXPECTED, done.json["explanations"], strict=True)), list(web.log), done


@pytest.mark.parametrize("name", EXPECTED)
def test_each_answer_names_the_rule_that_decided_in_words(explained, name):
    found = explained[0][name]
    answer, reason, words = EXPECTED[name]
    assert (found["answer"], found["reason"]) == (answer, reason)
    assert words in " / ".join(found["because"])


def test_what_was_refused_before_the_request_was_not_requested(web, explained):
    log = explained[1]
    for name in ("private", "gptbot", "down", "locked", "broken-tdmrep", "ai-txt", "trust-txt", "rsl"):
        assert [path for address, path, _ in log if address == web.host(name).partition(":")[0] and path == "/p"] == []


def test_every_file_that_was_read_is_listed_with_status_size_and_age(explained):
    files = {file["name"]: file for file in explained[0]["tdmrep"]["files"]}
    assert set(files) == {"robots.txt", "tdmrep.json", "ai.txt", "trust.txt", ".well-known/trust.txt"}
    assert files["robots.txt"]["status"] == 404 and files["robots.txt"]["says"] == "no_rules"
    assert files["tdmrep.json"]["status"] == 200 and files["tdmrep.json"]["size"] == 42
    assert len(files["tdmrep.json"]["sha256"]) == 64
    assert files["tdmrep.json"]["fetched_at"] < files["tdmrep.json"]["believed_until"]


def test_a_licence_named_by_robots_txt_is_among_the_files(web, explained):
    assert web.url("rsl", "/licence.xml") in [file["url"] for file in explained[0]["rsl"]["files"]]


def test_signals_are_shown_with_protocol_carrier_and_raw_value(explained):
    signals = explained[0]["meta"]["signals"]
    refused = {"protocol": "meta-robots", "carrier": "meta", "value": "robots: noai", "verdict": "disallow"}
    assert refused in signals and len(signals) == 2


def test_a_redirect_is_followed_and_named(web, explained):
    found = explained[0]["moved"]
    assert found["redirects"] == [web.url("moved")] and found["url"] == web.url("open")


def test_the_command_asks_under_the_name_of_the_crawl(explained):
    assert {agent for _, _, agent in explained[1]} == {explained[2].json["asked_as"]}


def test_each_control_file_is_asked_for_once(web, explained):
    paths = [path for address, path, _ in explained[1] if address == web.host("open").partition(":")[0]]
    files = ["/.well-known/tdmrep.json", "/.well-known/trust.txt", "/ai.txt", "/robots.txt", "/trust.txt"]
    assert sorted(paths) == sorted([*files, "/p", "/p"])


def test_the_crawl_decides_the_same_for_the_same_reason(web, scrapy, explained, tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\n".join(web.url(name) for name in EXPECTED))
    done = scrapy("crawl", "corpus", "-a", f"seeds={seeds}", CORPUS_DIR=tmp_path / "corpus", PROGRESS="off")
    assert done.code == 0, done.err
    records = {}
    for file in sorted((tmp_path / "corpus").glob("[rs]*/*.zst")):
        with zstandard.open(file, "rt", encoding="utf-8") as lines:
            records |= {record["url"]: record for record in map(json.loads, lines)}
    for name, found in explained[0].items():
        record = records[web.url(name)]
        if name == "moved":
            assert record["reason"] == "redirected"
        elif found["answer"] == "yes":
            assert record.get("text"), (name, record.get("reason"))
        else:
            assert record["reason"] == found["reason"]
            if found["signals"]:
                assert record["optout_signals"] == found["signals"]


def test_one_answer_is_readable_its_exit_code_says_yes_and_nothing_is_written(web, scrapy, tmp_path):
    done = scrapy("optout", web.url("open"), cwd=tmp_path)
    assert done.code == 0, done.err
    assert "YES  may be fetched and kept" in done.out and "requested as CorpusBot/" in done.out
    assert not list(tmp_path.iterdir())


def test_a_domain_is_surveyed_without_fetching_a_page(web, scrapy):
    web.log.clear()
    hosts = ",".join(web.url(name, "") for name in ("open", "gptbot", "content-signal"))
    done = scrapy("optout", "--json", "--domain", hosts)
    first, second, third = done.json["surveys"]
    assert done.code == 1
    assert not [path for _, path, _ in web.log if path in {"/", "/p"}]
    assert first["answer"] == "yes" and first["sitemaps"] == ["/s.xml"] and first["delay_seconds"] == 0.2
    assert first["group"] == "*" and len(first["files"]) == 5
    assert second["answer"] == "no" and second["reason"] == "optout"
    assert second["groups"][0] == {"agents": ["gptbot"], "rules": 1, "home": False, "training": True}
    assert third["signals"][0]["value"] == "search=yes, ai-train=no" and len(third["files"]) == 5


def test_a_host_whose_file_reserves_everything_is_no_yes_although_a_page_might_lift_it(web, scrapy):
    done = scrapy("optout", "--json", "--domain", web.url("tdmrep-overruled", ""))
    (survey,) = done.json["surveys"]
    assert (done.code, survey["answer"], survey["reason"]) == (1, "no", "optout")
    assert survey["because"][0].startswith("text and data mining is reserved (TDMRep)")


def test_a_survey_is_readable(web, scrapy):
    done = scrapy("optout", "--domain", web.url("gptbot", ""))
    assert "may not fetch /  AI training bot" in " ".join(done.out.split("\n")) and done.code == 1


def test_a_question_that_may_not_be_asked_exits_with_two_before_any_request(web, scrapy):
    web.log.clear()
    done = scrapy("optout", "https://example.org/", web.url("open"), OPTOUT_PROFILE="off")
    assert done.code == 2 and not web.log
    assert "OPTOUT_PROFILE='off'" in done.err


def test_off_loopback_a_contact_is_needed():
    with pytest.raises(InputError, match=r"CRAWLER_CONTACT is not set and example\.org is not on this machine"):
        check_identity(Settings(project()), ["https://example.org/"])
    named = Settings(project() | {"CRAWLER_CONTACT": "https://example.org/bot"})
    assert check_identity(named, ["https://example.org/"]).crawl.contact == "https://example.org/bot"


@pytest.mark.parametrize("url", ["ftp://example.org/", "example.org", "http://", "https://user@:80/"])
def test_what_is_no_http_url_is_named(url):
    with pytest.raises(InputError, match=r"expected an absolute http or https URL"):
        inquiry_about(["https://example.org/", url], None)


def test_a_domain_is_asked_by_https_unless_it_says_otherwise():
    inquiry = inquiry_about([], "Example.org, http://127.0.0.2:8080/x")
    assert inquiry.hosts == ["https://example.org", "http://127.0.0.2:8080"] and not inquiry.urls


def project() -> dict[str, object]:
    return {name: value for name, value in vars(settings).items() if name.isupper()}


def test_every_detector_and_carrier_has_words_for_people():
    recorded_only = {"creative-commons", "ai-policy", "llms.txt"}
    assert {detector.name for detector in DETECTORS} == set(refusals()) | recorded_only
    assert set(WHERE) == {"robots.txt", "header", "meta", "well-known"}
