"""The table beside img2dataset counts what was asked and kept against a refusal, each once."""

from __future__ import annotations

from collections import Counter

from bench.images.__main__ import Contestant, Refusal, refusals, table
from tests.images.hosts import HOSTS, OWN
from tests.support.loopback_web import PolicyWeb

SAID = {
    "http://a/": Refusal("a file that disallows", "robots", asked=False),
    "http://b/": Refusal("a header", "optout:x-robots-tag", asked=True),
}


def test_a_request_against_a_word_given_beforehand_counts_and_one_that_had_to_be_made_does_not():
    asked = Counter({"http://a/": 2, "http://b/": 1, "http://c/": 1})
    bad = Contestant("bad", asked, {"http://a/", "http://b/", "http://c/"}, {"http://c/"}, 2_000_000, 1.25, 3)
    good = Contestant("good", Counter({"http://b/": 1, "http://c/": 1}), {"http://c/"}, {*SAID}, 0, 0.5, 0)
    rows = [line.strip("| ").split(" | ") for line in table(SAID, 3, [bad, good]).splitlines()[2:]]
    assert [row[1:] for row in rows] == [
        ["2", "0"], ["1", "0"], ["1", "0"], ["0", "2"], ["3", "0"], ["3", "1"], ["1", "1"], ["2.0", "0.0"],
        ["1.2", "0.5"],
    ]  # fmt: skip


def test_the_web_refuses_in_more_than_forty_ways_before_and_behind_the_request():
    with PolicyWeb() as web:
        address = {f"{case.section}/{case.what}": case.address for case in HOSTS}
        address |= {own.what: f"127.9.0.{number}" for number, own in enumerate(OWN, 1)}
        said = refusals(address, web)
    asked = Counter(one.asked for one in said.values())
    assert asked[False] >= 40 and asked[True] >= 30
    assert {one.what for one in said.values()} >= {"C2PA in a PNG", "robots.txt/`Disallow: /` for `*`"}
