"""What `gristmill optout` says of a page that may be kept follows from what was read, and from nothing else."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from crawler.document import Signal
from crawler.observe.answers import show_explanation
from crawler.policy.explain import Answer, Explanation, because
from crawler.policy.robots.parse import parse
from crawler.policy.signals import ai_bots
from crawler.policy.signals.base import Context

PERMITTED = "User-agent: CCBot\nAllow: /\n\nUser-agent: ClaudeBot\nAllow: /\n"


def said(robots: str, *more: Signal, profile: str = "balanced") -> str:
    signals = ai_bots.from_robots(parse(robots.encode()), "/", Context("CorpusBot", profile, 0.0))
    return because(None, [*signals, *more], "", profile)[1]


def test_what_other_bots_are_allowed_is_no_permission_for_us():
    assert said(PERMITTED) == "nothing that was read refuses AI training (profile balanced)"
    tdm = Signal("tdmrep", "meta", "0", "allow")
    assert said(PERMITTED, tdm) == "and training is allowed expressly (profile balanced)"


@pytest.mark.parametrize("profile", ["balanced", "minimal"])
def test_a_refusal_that_a_profile_does_not_count_is_said_to_be_one(profile):
    told = said(f"User-agent: GPTBot\nDisallow: /\n\n{PERMITTED}", profile=profile)
    wanted = "robots.txt disallows bots that collect training data, which does not count here"
    assert told == f"{wanted} (profile {profile})"


def test_a_nofollow_is_not_said_to_decide_nothing():
    console = Console(file=io.StringIO(), width=200)
    signals = [Signal("x-robots-tag", "header", "corpusbot: nofollow"), Signal("x-robots-tag", "header", "nosnippet")]
    show_explanation(Explanation("http://a.test/", Answer.YES, [], signals=signals), console)
    first, second = (line for line in console.file.getvalue().splitlines() if "x-robots-tag" in line)
    assert "about links; counts" in first and "recorded, decides nothing" in second
