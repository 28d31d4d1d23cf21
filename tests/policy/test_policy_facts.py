"""What the facts of a run call obeyed is what decides, protocol by protocol and profile by profile."""

import pytest

from crawler.config import from_mapping
from crawler.policy.decide import decide_body, decide_files, decide_headers, decide_robots
from crawler.policy.facts import checked_facts, facts_of, obeyed_in, obeyed_under
from crawler.policy.robots.answer import Reading, RobotsRecord
from crawler.policy.robots.parse import parse
from crawler.policy.signals.base import Context
from crawler.policy.signals.registry import DETECTORS, files_of, versions

PROFILES = ("strict", "balanced", "minimal")
TOKEN, NOW = "CorpusBot", 1.8e9
CC = "https://creativecommons.org/licenses/by/4.0/"
ROBOTS = {
    "ai-bots": b"User-agent: GPTBot\nDisallow: /\n",
    "content-signal": b"User-agent: *\nContent-Signal: ai-train=no\n",
}
HEADERS = {
    "content-usage": [(b"Content-Usage", b"train-ai=n")],
    "x-robots-tag": [(b"X-Robots-Tag", b"noai")],
    "tdmrep": [(b"tdm-reservation", b"1")],
    "rsl": [(b"Link", b'<https://a.test/l.xml>; rel="license"; type="application/rsl+xml"')],
    "creative-commons": [(b"Link", f'<{CC}>; rel="license"'.encode())],
}
METAS = {
    "meta-robots": [("robots", "noai")],
    "plus-data-mining": [("plus:datamining", "DMI-PROHIBITED-AIMLTRAINING")],
    "pdf-permissions": [("pdf:copy", "forbidden")],
}
FILES = {
    "ai.txt": b"User-Agent: *\nDisallow: /\n",
    "trust.txt": b"datatrainingallowed=no\n",
    "ai-policy": b'{"training": "disallow"}',
    "llms.txt": b"Do not train.",
}


def is_refused(name, profile):
    if name in ROBOTS:
        record = RobotsRecord(
            reading=Reading.RULES, status=200, detail="", body=ROBOTS[name], fetched_at=NOW, expires_at=NOW + 9
        )
        found = decide_robots(record, parse(ROBOTS[name]), "/", product_token=TOKEN, profile=profile, now=NOW)
        return found.drop is not None
    if name in FILES:
        asked = files_of(profile, ("ai-policy.json", "llms.txt"))
        if name not in asked:
            return False
        file = asked[name]
        signals = file.signals(file.parse(FILES[name]), "/", Context(TOKEN, profile, NOW))
        assert signals, f"{name} said nothing: the statement of this test is none"
        return decide_files(signals, profile).drop is not None
    headers = decide_headers(HEADERS.get(name, []), TOKEN, profile, NOW)
    body = decide_body(METAS.get(name, []), [], product_token=TOKEN, profile=profile, now=NOW, earlier=headers.signals)
    assert [*headers.signals, *body.signals], f"{name} said nothing: the statement of this test is none"
    return headers.drop is not None or body.drop is not None


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", [detector.name for detector in DETECTORS])
def test_a_protocol_is_called_obeyed_where_its_refusal_stops_a_page(name, profile):
    assert (name in obeyed_under(profile)) == is_refused(name, profile)


def test_runs_of_older_versions_obeyed_what_their_profile_says():
    old = {"optout_profile": "minimal", "detectors": versions() | {"gone": "1"}}
    assert obeyed_in(old) == obeyed_under("minimal")
    assert obeyed_in({}) == {}


def test_facts_survive_an_archive_and_what_is_none_does_not():
    facts = facts_of(from_mapping({"CORPUS_DIR": "x", "CRAWLER_CONTACT": "https://e.org/bot"}))
    assert checked_facts(dict(facts)) == {name: value for name, value in facts.items() if value is not None}
    wrong = {
        "user_agent": 1,
        "delay_seconds": True,
        "obeyed": [1],
        "network_allow": "x",
        "unknown": 1,
        "contact": "a\nb",
    }
    assert checked_facts(wrong) == {"contact": "a b"}
    assert checked_facts([facts]) == checked_facts(None) == {}
