"""AI opt-outs: each protocol by its own rules, then any refusal wins."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.document import DropReason
from crawler.policy.decide import decide_body, decide_headers, decide_robots
from crawler.policy.headers import shown_url
from crawler.policy.robots.answer import Ages, Answer, judge
from crawler.policy.robots.parse import parse
from crawler.policy.signals.ai_bots import BOTS
from crawler.policy.signals.registry import DETECTORS, versions

BOT, NOW = "CorpusBot", 1_700_000_000.0


def headers(*lines: str, profile: str = "strict"):
    pairs = [(name.encode(), value.encode()) for name, _, value in (line.partition(": ") for line in lines)]
    return decide_headers(pairs, BOT, profile, NOW)


CC = "<https://creativecommons.org/licenses/by-sa/3.0/de/>"


@pytest.mark.parametrize(
    ("line", "recorded"),
    [
        (f'{CC}; rel="license"', True),
        (f"{CC}; rel=license", True),
        (f'{CC}; title="x"; REL="nofollow License"', True),
        (f'<https://example.org/>; rel="next", {CC};rel=license', True),
        (f'{CC}; rel="related"; title="license of the photo"', False),
        (f'{CC}; anchor="/photo.jpg"; rel="license"', False),  # not of this page
        (f'{CC}; rel="licensed"', False),
        (CC, False),
    ],
)
def test_a_link_header_is_recorded_where_it_calls_the_licence_that_of_the_page(line, recorded):
    found = [signal for signal in headers(f"Link: {line}").signals if signal.protocol == "creative-commons"]
    assert [signal.value for signal in found] == ([CC[1:-1]] if recorded else [])


def metas(*pairs: tuple[str, str], profile: str = "strict", earlier=()):
    return decide_body(pairs, [], product_token=BOT, profile=profile, now=NOW, earlier=earlier)


def file(text: str, path: str = "/page", profile: str = "strict"):
    record = judge(Answer(200, text.encode()), NOW, Ages())
    return decide_robots(record, parse(text.encode()), path, product_token=BOT, profile=profile, now=NOW)


# --- X-Robots-Tag ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "value, ok",
    [
        *(
            (value, False)
            for value in ("noai", "NOAI", "noimageai", "noml", "nofollow, noai", "noai,noimageai", "*: noai", '"noai"')
        ),
        *(
            (value, False)
            for value in ("noindex", "none", "noarchive", "nocache", "CorpusBot: noindex", "corpusbot:none")
        ),
        *((value, False) for value in ("googlebot: noai", "googlebot: index, otherbot: noai", "GPTBot: noindex")),
        *(
            (value, False)
            for value in ("googlebot: noindex, corpusbot: noarchive", "max-snippet: 5, noai", "noindex nofollow")
        ),
        *(
            (value, True)
            for value in (
                "",
                "all",
                "index, follow",
                "nofollow",
                "nosnippet",
                "noaim",
                "max-snippet: 50",
                "noimageindex",
            )
        ),
        *(
            (value, True)
            for value in (
                "googlebot: noindex",
                "googlebot: nofollow, noindex",
                "corpusbots: noindex",
                "max-image-preview: none",
            )
        ),
    ],
)
def test_x_robots_tag_is_read_with_its_scopes(value, ok):
    assert headers(f"X-Robots-Tag: {value}").ok is ok


def test_several_x_robots_tag_headers_are_read_one_by_one():
    assert not headers("X-Robots-Tag: googlebot: nofollow", "x-robots-tag: noindex").ok
    assert headers("X-Robots-Tag: googlebot: nofollow, noindex", "X-Robots-Tag: bingbot: noindex").ok


@pytest.mark.parametrize(
    "date, gone",
    [
        ("25 Jun 2010 15:00:00 PST", True),
        ("Wednesday, 25-Jun-10 15:00:00 GMT", True),
        ("Fri, 25 Jun 2010 15:00:00 GMT", True),
        ("2010-06-25", True),
        ("2010-06-25T15:00:00+02:00", True),
        ("25 Jun 2099 15:00:00 GMT", False),
        ("2099-01-01", False),
        ("one day", False),
        ("", False),
    ],
)
def test_past_unavailable_after_the_page_is_gone(date, gone):
    verdict = headers(f"X-Robots-Tag: nofollow, unavailable_after: {date}")
    assert (verdict.drop is not None and verdict.drop.reason is DropReason.GONE) is gone


def test_a_date_with_a_comma_does_not_hide_what_follows_it():
    assert not headers("X-Robots-Tag: unavailable_after: Fri, 25 Jun 2099 15:00:00 GMT, noai").ok
    assert not headers("X-Robots-Tag: unavailable_after: never, noai").ok
    assert headers("X-Robots-Tag: otherbot: unavailable_after: 25 Jun 2010 15:00:00 GMT").ok


# --- metas -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name, content, ok",
    [
        ("robots", "noai", False),
        ("robots", "index, NoAI, follow", False),
        ("ROBOTS", "noimageai", False),
        ("robots", "noindex", False),
        ("robots", "index noindex", False),
        ("robots", "noai;noimageai", False),
        ("googlebot", "noai", False),
        ("anything-bot", "noml", False),
        ("gptbot", "noindex", False),
        ("corpusbot", "noarchive", False),
        ("googlebot", "noindex", True),
        ("robots", "index, follow", True),
        ("robots", "", True),
        ("keywords", "noai, art", True),
        ("description", "noindex", True),
        ("", "noai", True),
    ],
)
def test_metas_addressed_to_robots_are_read_and_others_are_not(name, content, ok):
    assert metas((name, content)).ok is ok


@pytest.mark.parametrize(
    "profile, refused", [("strict", {"noai", "noindex"}), ("balanced", {"noai"}), ("minimal", {"noai"})]
)
def test_a_profile_decides_which_directives_count_and_all_are_recorded(profile, refused):
    for directive in ("noai", "noindex"):
        for verdict in (
            metas(("robots", directive), profile=profile),
            headers(f"X-Robots-Tag: {directive}", profile=profile),
        ):
            assert verdict.ok is (directive not in refused)
            assert len(verdict.signals) == 1


# --- robots.txt ------------------------------------------------------------------------------------------------------
def test_one_refused_training_bot_is_enough_for_strict_and_a_majority_for_balanced():
    one = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: CCBot\nAllow: /\n"
    most = "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: Bytespider\nAllow: /\n"
    assert [file(one, profile=p).ok for p in ("strict", "balanced", "minimal")] == [False, True, True]
    assert [file(most, profile=p).ok for p in ("strict", "balanced", "minimal")] == [False, False, True]
    assert [s.verdict for s in file(one).signals] == ["allow", "disallow"]


def test_only_groups_that_name_a_training_bot_speak_about_training():
    assert file("User-agent: SemrushBot\nDisallow: /\n").ok
    assert file("User-agent: GPTBot\nDisallow: /private\n").ok
    assert not file("User-agent: GPTBot\nDisallow: /private\n", "/private/1").ok


@pytest.mark.parametrize("name", BOTS)
def test_every_listed_bot_is_found_by_its_name(name):
    verdict = file(f"User-agent: {name}\nDisallow: /\n")
    assert verdict.drop is not None
    assert name in verdict.drop.detail


@pytest.mark.parametrize(
    "text, ok",
    [
        ("User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n", False),
        ("User-agent: *\nContent-Signal: search=yes,ai-train=yes\nAllow: /\n", True),
        ("Content-Signal: AI-Train = No\nUser-agent: x\nDisallow: /\n", False),
        ("User-agent: *\nContent-Signal: ai-train=yes\nContent-Signal: ai-train=no\n", False),
        ("User-agent: *\nContent-Signal: ai-input=no, search=no\n", True),
        ("User-agent: *\nContent-Signal: search=yes; ai-train=no\n", False),
        ("User-agent: *\nContent-Signal: search=yes ai-train=no\n", False),
        ("User-agent: *\nContent-Signal: not-ai-train=no\n", True),
        ("User-agent: *\nContent-Signal: /page\tai-train=no\nContent-Signal: / ai-train=yes\n", False),
        ("User-agent: other\nContent-Signal: ai-train=no\nAllow: /\n", True),
        ("User-agent: *\nContent-Signal: /private ai-train=no\nAllow: /\n", True),
        ("User-agent: *\nContent-Signal: /page ai-train=no\nContent-Signal: ai-train=yes\n", False),
    ],
)
def test_content_signals_of_the_groups_that_apply_are_honoured(text, ok):
    assert file(text).ok is ok


@pytest.mark.parametrize(
    "value, ok",
    [
        ("train-ai=n", False),
        ("train-ai=y", True),
        ("search=y, train-ai=n", False),
        ("train-ai=n, train-ai=y", True),
        ("train-ai=y, train-ai=n", False),
        ("train-ai=n;exceptions=1", False),
        ("train-genai=n", False),
        ("bots=n", False),
        ("bots=n, train-ai=y", True),
        ("train-ai", True),
        ("train-ai=?0", True),
        ("TRAIN-AI=n", True),
        ("train-ai=n,,", True),
        ("train-ai=\u00ff", True),
        ("", True),
    ],
)
def test_content_usage_is_an_rfc_9651_dictionary_and_malformed_input_is_unknown(value, ok):
    assert headers(f"Content-Usage: {value}").ok is ok


def test_content_usage_in_robots_txt_goes_by_the_longest_path_and_the_most_restrictive_of_equals():
    text = "User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Usage: /open train-ai=y\n"
    assert not file(text, "/page").ok
    assert file(text, "/open/1").ok
    assert not file(text + "Content-Usage: /open train-ai=n\n", "/open/1").ok


def test_content_signal_headers_are_honoured():
    assert not headers("Content-Signal: ai-train=no").ok
    assert headers("Content-Signal: ai-train=yes, search=no").ok


# --- TDMRep ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "header, meta, ok",
    [
        ("1", None, False),
        ("0", None, True),
        (None, "1", False),
        (None, "0", True),
        ("1", "0", True),
        ("0", "1", False),
        ("1", "yes", False),
        ("true", None, True),
        ("1", "", False),
    ],
)
def test_the_page_overrules_the_header_and_absence_resets_nothing(header, meta, ok):
    first = headers(*([f"TDM-Reservation: {header}"] if header is not None else []))
    assert first.ok
    pairs = [("tdm-reservation", meta)] if meta is not None else []
    assert metas(*pairs, earlier=first.signals).ok is ok


# --- together --------------------------------------------------------------------------------------------------------
def test_any_refusal_wins_over_any_permission():
    assert not headers("Content-Signal: ai-train=yes", "X-Robots-Tag: noai").ok
    assert not headers("Content-Usage: train-ai=n", "Content-Signal: ai-train=yes").ok


def test_unknown_means_fetch_and_is_still_recorded():
    verdict = headers("X-Robots-Tag: nosnippet", "Content-Usage: search=n")
    assert verdict.ok
    assert [(s.protocol, s.verdict) for s in verdict.signals] == [
        ("content-usage", "unknown"),
        ("x-robots-tag", "unknown"),
    ]


def test_the_drop_names_protocol_carrier_and_value_and_every_signal_is_kept():
    verdict = headers("X-Robots-Tag: nofollow, noai")
    assert verdict.drop is not None
    assert verdict.drop.detail == "x-robots-tag in header: noai"
    assert [s.value for s in verdict.signals] == ["nofollow", "noai"]


@pytest.mark.parametrize(
    "url, shown",
    [
        ("http://user:pass@host/a?b=c@d", "http://…@host/a?b=c@d"),
        ("//user@host/", "//…@host/"),
        ("http://host/a@b", "http://host/a@b"),
        ("http://host/\x1b[31m\n", "http://host/\\x1b[31m\\n"),
    ],
)
def test_a_url_in_a_log_has_no_user_and_no_control_character(url, shown):
    assert shown_url(url) == shown


def test_recorded_values_are_escaped_and_bounded():
    (signal,) = metas(("robots", "\x1b[31m" + "ü" * 2_000)).signals
    assert "\x1b" not in signal.value
    assert len(signal.value.encode()) <= 512


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"X-Robots-Tag", b"Content-Usage", b"TDM-Reservation", b"Content-Signal"]),
            st.binary(max_size=80),
        )
    ),
    st.lists(st.tuples(st.sampled_from(["robots", "gptbot", "tdm-reservation", "x"]), st.text(max_size=80))),
    st.sampled_from(["strict", "balanced", "minimal"]),
)
def test_no_header_and_no_meta_makes_it_raise_and_a_narrower_profile_never_refuses_more(lines, pairs, profile):
    verdict = decide_headers(lines, BOT, profile, NOW)
    body = decide_body(pairs, [], product_token=BOT, profile=profile, now=NOW, earlier=verdict.signals)
    if not verdict.ok:
        assert not decide_headers(lines, BOT, "strict", NOW).ok
    if not body.ok:
        assert not decide_body(pairs, [], product_token=BOT, profile="strict", now=NOW, earlier=verdict.signals).ok


def test_every_detector_has_a_name_of_its_own_a_version_and_a_carrier():
    assert len(versions()) == len(DETECTORS)
    for detector in DETECTORS:
        assert detector.version
        assert any((detector.headers, detector.metas, detector.links, detector.robots, detector.file))
