"""The detector `ai.txt` (Spawning): robots.txt syntax, in which every rule is about AI training."""

from __future__ import annotations

from crawler.document import Signal
from crawler.policy.robots import parse as robots
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals.base import ALLOW, DISALLOW, Context, Detector, OptOutFile, signal

NAME = "ai.txt"
VERSION = "1"


def from_file(parsed: RobotsFile, path: str, context: Context) -> list[Signal]:
    """What the rule that matches this path says; nothing where none does (other files are called ai.txt, too)."""
    decision = parsed.decide(context.product_token, path)
    if not decision.line:
        return []
    verdict = ALLOW if decision.allowed else DISALLOW
    return [signal(NAME, "well-known", f"line {decision.line}: {decision.rule}", verdict)]


def unreadable(body: bytes) -> str:
    """Why these bytes are no ai.txt."""
    return robots.unreadable(body)


DETECTOR = Detector(
    NAME,
    VERSION,
    "ai.txt disallows it for AI training",
    file=OptOutFile("/ai.txt", unreadable, robots.parse, from_file),
)
