"""The detector `ai-bots`: robots.txt disallows a bot that collects training data (explicit groups only, no `*`).

A site that disallows GPTBot or CCBot has said what it thinks of training; that its author does not know our name is no
permission. The list holds crawlers and control tokens whose operators document training or data-set use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from crawler.document import Signal
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, signal

NAME = "ai-bots"
REVIEWED = "2026-11-22"
VERSION = f"2 ({REVIEWED})"

BOTS = (
    "AI2Bot",
    "Ai2Bot-Dolma",
    "Amazonbot",
    "anthropic-ai",
    "Applebot-Extended",
    "Bytespider",
    "CCBot",
    "Claude-Web",
    "ClaudeBot",
    "cohere-ai",
    "cohere-training-data-crawler",
    "Cotoyogi",
    "DeepSeekBot",
    "Diffbot",
    "FacebookBot",
    "Google-Extended",
    "GPTBot",
    "ICC-Crawler",
    "ImagesiftBot",
    "img2dataset",
    "laion-huggingface-processor",
    "LAIONDownloader",
    "Meta-ExternalAgent",
    "omgili",
    "omgilibot",
    "PanguBot",
    "SBIntuitionsBot",
    "Timpibot",
    "VelenPublicWebCrawler",
    "Webzio-Extended",
)
_NAMES = frozenset(name.lower() for name in BOTS)


def is_ai_bot(name: str) -> bool:
    """True for the name of a bot on the list, in any case."""
    return name.lower() in _NAMES


def from_robots(robots: RobotsFile, path: str, context: Context) -> list[Signal]:
    """One signal per listed bot that the file names, with what it says about this path.

    `strict`: each refusal counts. `balanced`: they count where they are the majority of the listed bots named.
    `minimal`: recorded only.
    """
    if not robots.may_name(_NAMES):
        return []  # most files; asked for every page
    answers = [(name, robots.decide_named(name, path)) for name in BOTS]
    named = [(name, decision) for name, decision in answers if decision]
    seen = [
        signal(
            NAME,
            "robots.txt",
            f"{name}: line {decision.line}: {decision.rule}" if decision.line else f"{name}: no rule matches",
            DISALLOW if not decision.allowed else (ALLOW if decision.line else UNKNOWN),
        )
        for name, decision in named
    ]
    return judged_under(context.profile, seen)


def judged_under(profile: str, signals: Iterable[Signal]) -> list[Signal]:
    """The same statements with the verdicts that a profile gives them; those of other protocols stay as they are.

    For a replay: what an archive says was seen may have been recorded only, under the profile of its crawl.
    """
    found = list(signals)
    named = [s for s in found if s.protocol == NAME]
    refused = sum(map(refuses, named))
    counts = profile == "strict" or (profile == "balanced" and refused * 2 > len(named))
    verdict = DISALLOW if counts else UNKNOWN
    return [replace(s, verdict=verdict) if s.protocol == NAME and refuses(s) else s for s in found]


def refuses(statement: Signal) -> bool:
    """True where this statement of a robots.txt turns a training bot away, whether or not that counts."""
    return statement.verdict == DISALLOW or ": Disallow: " in statement.value


DETECTOR = Detector(
    NAME, VERSION, "robots.txt disallows a bot that collects training data", robots=from_robots, in_minimal=False
)
