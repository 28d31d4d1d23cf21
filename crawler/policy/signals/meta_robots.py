"""The detector `meta-robots`: <meta name="robots"> and metas named after a bot."""

from __future__ import annotations

import re

from crawler.document import Signal
from crawler.policy.signals.ai_bots import is_ai_bot
from crawler.policy.signals.base import Context, Detector, Metas, signal
from crawler.policy.signals.directives import Directive, parse_directives
from crawler.policy.signals.x_robots_tag import is_past, verdict_of

NAME = "meta-robots"
VERSION = "2"

_BOT_NAME = re.compile(r"(?:bot|robots?|crawler|spider)\Z")


def is_for_robots(name: str) -> bool:
    """True for the name (lower case) of a meta that is addressed to robots, or to one that is known by its name."""
    return is_ai_bot(name) or _BOT_NAME.search(name) is not None


def from_metas(metas: Metas, context: Context) -> list[Signal]:
    """One signal per directive of a meta that is addressed to robots."""
    return [
        signal(NAME, "meta", f"{name}: {directive.name}", verdict_of(directive, context))
        for name, directive in _directives(metas, context)
    ]


def unavailable_since(metas: Metas, context: Context) -> str | None:
    """As for X-Robots-Tag: the date after which the page was not to be shown, where it has passed."""
    return next((d.argument for _, d in _directives(metas, context) if is_past(d, context)), None)


def says_nofollow(metas: Metas, context: Context) -> bool:
    """True where a meta asks this crawler not to follow the page's links."""
    return any(d.name in {"nofollow", "none"} and context.is_me(d.bot) for _, d in _directives(metas, context))


def _directives(metas: Metas, context: Context) -> list[tuple[str, Directive]]:
    found = []
    for name, content in metas:
        bot = name.strip().lower()
        if not (context.is_me(bot) or is_for_robots(bot)) or not bot:
            continue
        addressee = "" if bot == "robots" else bot
        found += [(bot, Directive(d.name, d.argument, addressee)) for d in parse_directives(content)]
    return found


DETECTOR = Detector(NAME, VERSION, "a robots meta tag of the page refuses", metas=from_metas)
