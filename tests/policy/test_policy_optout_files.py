"""Opt-out files: tdmrep.json, ai.txt, trust.txt and RSL licences, and how their answers are read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.document import Signal
from crawler.policy.decide import decide_body, decide_files
from crawler.policy.opt_out_files import read_optional, read_required
from crawler.policy.robots import parse as robots
from crawler.policy.robots.answer import Ages, Answer, Reading, judge
from crawler.policy.signals import ai_txt, rsl, tdmrep, trust_txt
from crawler.policy.signals.base import Context
from crawler.policy.signals.registry import files_of

CONTEXT = Context("CorpusBot", "strict", 0.0)


def says(detector, body: bytes | str, path: str = "/page") -> list[str]:
    raw = body if isinstance(body, bytes) else body.encode()
    assert detector.DETECTOR.file.unreadable(raw) == ""
    return [s.verdict for s in detector.DETECTOR.file.signals(detector.DETECTOR.file.parse(raw), path, CONTEXT)]


# --- how answers are read --------------------------------------------------------------------------------------------
HTML = ((b"Content-Type", b"text/html; charset=utf-8"),)


@pytest.mark.parametrize(
    "answer, optional, required",
    [
        (Answer(200, b"datatrainingallowed=no"), Reading.RULES, Reading.RULES),
        (Answer(200, b"<p>x", HTML), Reading.NO_RULES, Reading.RULES),
        (Answer(200, b"datatrainingallowed=no", HTML), Reading.RULES, Reading.RULES),  # of a server without its type
        (Answer(200, b'[{"location": "/"}]', HTML), Reading.RULES, Reading.RULES),
        (Answer(200, b"\n <!DOCTYPE html><p>"), Reading.NO_RULES, Reading.RULES),
        *((Answer(status), Reading.NO_RULES, Reading.HOLD) for status in (400, 401, 403, 404, 410)),
        *((Answer(status), Reading.HOLD, Reading.HOLD) for status in (None, 302, 408, 429, 500, 503)),
        (Answer(500, b"x", HTML), Reading.HOLD, Reading.HOLD),
        (Answer(200, b"broken"), Reading.HOLD, Reading.HOLD),
    ],
)
def test_absence_says_nothing_and_doubt_holds(answer, optional, required):
    def unreadable(body: bytes) -> str:
        return "broken" if body == b"broken" else ""

    assert read_optional(unreadable)(answer)[0] is optional
    assert read_required(unreadable)(answer)[0] is required


def test_the_minimal_profile_asks_for_the_tdm_file_only():
    assert set(files_of("minimal")) == {"tdmrep"}
    assert set(files_of("strict")) == set(files_of("balanced")) == {"tdmrep", "ai.txt", "trust.txt"}


# --- tdmrep.json -----------------------------------------------------------------------------------------------------
RULES = json.dumps(
    [
        {"location": "/open/*.html", "tdm-reservation": 0},
        {"location": "/strange", "tdm-reservation": "maybe"},
        {"location": "/", "tdm-reservation": 1, "tdm-policy": "https://a.example/policy"},
    ]
)


@pytest.mark.parametrize("path, verdict", [("/open/a.html", "allow"), ("/strange", "unknown"), ("/x", "disallow")])
def test_the_first_location_that_matches_decides(path, verdict):
    assert says(tdmrep, RULES, path) == [verdict]


@pytest.mark.parametrize("body", ["", "no json", "[]", "{}", '[{"location": 7}]', "[1, null]", '{"a": 1}'])
def test_a_tdm_file_without_rules_says_nothing(body):
    assert says(tdmrep, body) == []


def test_a_broken_tdm_file_is_unreadable():
    assert tdmrep.unreadable(b'[{"location": "/"')
    assert tdmrep.unreadable(b"[" * 100_000)


@pytest.mark.parametrize("location", ["/page", "page", "https://a.example/page", "http://A.example", "*", ""])
def test_a_location_counts_however_it_is_written(location):
    assert says(tdmrep, json.dumps([{"location": location, "tdm-reservation": 1}])) == ["disallow"]
    assert says(tdmrep, json.dumps([{"location": f"{location}/x", "tdm-reservation": 1}]), "/other") == []


@pytest.mark.parametrize("value", ["1", '"1"', "1.0", "true"])
def test_a_reservation_counts_however_json_writes_it_and_for_each_of_several_locations(value):
    file = f'[{{"location": ["/a", "/page"], "tdm-reservation": {value}}}]'
    assert says(tdmrep, file) == says(tdmrep, file, "/a") == ["disallow"]
    assert says(tdmrep, file, "/b") == []


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_tdm_file_is_read_in_every_encoding_of_json(encoding):
    assert says(tdmrep, RULES.encode(encoding), "/x") == ["disallow"]


def test_a_file_of_which_not_all_is_kept_is_read_as_far_as_it_is_kept():
    filler = [{"location": f"/{n}/{'x' * 90}", "tdm-reservation": 0} for n in range(5_000)]
    reserved = json.dumps([*filler, {"location": "/", "tdm-reservation": 1}]).encode()
    record = judge(Answer(200, reserved), 0.0, Ages(), None, read_optional(tdmrep.unreadable))
    assert record.reading is Reading.HOLD, "what is stored has lost its reservation"
    assert record.detail == "/.well-known/tdmrep.json is broken JSON, as far as it is read (512,000 bytes)"
    trust = b"datatrainingallowed=no\n" + b"# filler\n" * 60_000
    record = judge(Answer(200, trust), 0.0, Ages(), None, read_optional(trust_txt.DETECTOR.file.unreadable))
    assert (record.reading, trust_txt.parse(record.body)) == (Reading.RULES, ["no"])


@pytest.mark.parametrize(
    "value, verdict",
    [
        ("1", "disallow"),
        ("0, 1", "disallow"),
        ("1; policy=x", "disallow"),
        ("0,0", "allow"),
        ("0, x", "unknown"),
        ("", "unknown"),
    ],
)
def test_header_lines_that_a_proxy_has_joined_are_read_one_by_one(value, verdict):
    assert [s.verdict for s in tdmrep.from_headers([(b"TDM-Reservation", value.encode())], CONTEXT)] == [verdict]


def test_page_and_header_overrule_the_tdm_file():
    (reserved,) = tdmrep.from_file(tdmrep.parse(RULES.encode()), "/x", CONTEXT)
    assert decide_files([reserved], "strict").ok
    header = Signal("tdmrep", "header", "0", "allow")

    def verdict(*earlier):
        return decide_body([], [], product_token="CorpusBot", profile="strict", now=0.0, earlier=earlier)

    assert not verdict(reserved).ok
    assert verdict(reserved, header).ok


# --- ai.txt and trust.txt --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "body, verdicts",
    [
        ("User-Agent: *\nDisallow: /\n", ["disallow"]),
        ("User-Agent: *\nAllow: /\n", ["allow"]),
        ("User-Agent: *\nDisallow: *.txt\n", []),
        ("User-Agent: *\nDisallow: *.txt\nDisallow: /\nAllow: /page\n", ["allow"]),
        ("# About us\nWe make shoes.\n", []),
        ("", []),
    ],
)
def test_ai_txt_is_robots_syntax_about_training(body, verdicts):
    assert says(ai_txt, body) == verdicts
    assert decide_files(ai_txt.from_file(ai_txt.DETECTOR.file.parse(body.encode()), "/page", CONTEXT), "strict").ok is (
        "disallow" not in verdicts
    )


@pytest.mark.parametrize(
    "body, verdicts",
    [
        ("member=https://a.example\r\ndatatrainingallowed=no\r\n", ["disallow"]),
        ("DataTrainingAllowed = NO", ["disallow"]),
        ("datatrainingallowed=yes\rdatatrainingallowed=no", ["allow", "disallow"]),
        ("#datatrainingallowed=no", []),
        ("datatrainingallowed: no", ["disallow"]),
        ('datatrainingallowed="no"', ["disallow"]),
        ("datatrainingallowed=nobody", []),
        ("", []),
        ("datatrainingallowed=no\n".encode("utf-16"), ["disallow"]),
    ],
)
def test_trust_txt_answers_for_the_whole_host(body, verdicts):
    assert says(trust_txt, body) == verdicts


# --- RSL -------------------------------------------------------------------------------------------------------------
def licence(*contents: str) -> bytes:
    return f'<?xml version="1.0"?><rsl xmlns="https://rslstandard.org/rsl">{"".join(contents)}</rsl>'.encode()


def content(inner: str, url: str = "/", extra: str = "") -> str:
    return f'<content url="{url}" {extra}><license>{inner}</license></content>'


PROHIBITS = content('<prohibits type="usage">ai-train</prohibits>')
FREE = '<permits type="usage">ai-train search</permits><payment type="free"/>'


@pytest.mark.parametrize(
    "body, verdict",
    [
        (licence(PROHIBITS), "disallow"),
        (licence(content('<prohibits type="usage">search, ai-all</prohibits>')), "disallow"),
        (licence(content('<prohibits type="geo">US</prohibits>')), "unknown"),
        (licence(content('<permits type="usage">search</permits>')), "disallow"),
        (licence(content('<permits type="usage">all</permits>')), "allow"),
        (licence(content(FREE)), "allow"),
        (licence(content(FREE), PROHIBITS), "disallow"),
        (licence(content('<permits type="usage">ai-train</permits><payment type="subscription"/>')), "disallow"),
        (licence(content('<payment type="attribution"/>')), "disallow"),
        (licence(content(FREE, extra='server="https://licences.example"')), "disallow"),
        (licence(content('<permits type="user">education</permits>')), "unknown"),
        (licence(content(FREE), content('<payment type="crawl"/>', url="/page*")), "disallow"),
        (licence(content('<payment type="crawl"/>', url="/other/")), "unknown"),
        (licence(content('<payment type="crawl"/>', url="https://a.example/page")), "disallow"),
        (licence(), "unknown"),
    ],
)
def test_a_licence_lets_train_only_where_it_permits_it_for_free(body, verdict):
    assert rsl.unreadable(body) == ""
    assert rsl.verdict_of(rsl.parse(body), "/page") == verdict


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html/>",
        b"<rsl",
        b"{}",
        b'<!DOCTYPE rsl [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><html>&b;</html>',
    ],
)
def test_what_is_no_licence_is_unreadable(body):
    assert rsl.unreadable(body)


def test_entities_of_a_licence_are_never_expanded():
    body = b'<!DOCTYPE rsl [<!ENTITY a SYSTEM "file:///etc/hostname">]><rsl><content url="/"><license>' + (
        b'<permits type="usage">&a;</permits></license></content></rsl>'
    )
    assert not rsl.unreadable(body)
    assert rsl.verdict_of(rsl.parse(body), "/page") == "disallow"


def test_a_licence_that_only_the_page_names_counts_as_a_refusal_until_it_has_been_read():
    links = [("license", "application/rsl+xml", "/licence.xml")]
    read = Signal("rsl", "robots.txt", "https://a.example/licence.xml", "allow")

    def verdict(profile="strict", earlier=(), rel_links=links):
        return decide_body(
            [], rel_links, product_token="B", profile=profile, now=0.0, earlier=earlier, url="https://a.example/page"
        )

    assert not verdict().ok
    assert verdict(earlier=[read]).ok
    assert verdict(profile="minimal").ok
    assert verdict(rel_links=[("license", "text/html", "https://creativecommons.org/licenses/by/4.0/")]).ok


@pytest.mark.parametrize("line", ["License:", "License: ", "license:\t# https://a.example/l.xml", "License:\u200b"])
def test_a_licence_line_without_a_value_names_no_licence(line):
    file = robots.parse(f"{line}\nUser-agent: *\nDisallow: /x\n".encode())
    assert file.records_for("CorpusBot", "license") == []
    named = robots.parse(f"{line}\nLicense: /l.xml\n".encode())
    assert [record.value for record in named.records_for("CorpusBot", "license")] == ["/l.xml"]


def test_a_link_without_an_address_names_no_licence():
    assert rsl.from_links([("license", "application/rsl+xml", " ")], CONTEXT) == []


@pytest.mark.parametrize(
    "value, found",
    [
        ('<https://a.example/l.xml>; rel="license"; type="application/rsl+xml"', ["https://a.example/l.xml"]),
        ("<https://a.example/cc>; rel=license", []),
        ('</a>; rel="next", </l.xml>; type="application/rsl+xml"; rel=license', ["/l.xml"]),
        ("<<<<>", []),
    ],
)
def test_a_link_header_names_a_licence(value, found):
    signals = rsl.from_headers([(b"Link", value.encode())], CONTEXT)
    assert [s.value for s in signals] == found


@settings(deadline=None, derandomize=True)
@given(st.binary(max_size=300), st.text(max_size=40))
def test_no_bytes_make_a_reader_raise(body, path):
    for name, file in files_of("strict").items():
        if not file.unreadable(body):
            assert isinstance(file.signals(file.parse(body), "/" + path, CONTEXT), list), name
    if not rsl.unreadable(body):
        rsl.verdict_of(rsl.parse(body), "/" + path)
