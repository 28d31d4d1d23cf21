"""The detector `x-robots-tag`: Google's specification of robots directives in HTTP headers."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.document import Signal
from crawler.policy.headers import Headers, http_date, values_of
from crawler.policy.signals.ai_bots import is_ai_bot
from crawler.policy.signals.base import AI_DIRECTIVES, UNKNOWN, Context, Detector, signal
from crawler.policy.signals.directives import Directive, parse_directives

NAME = "x-robots-tag"
VERSION = "2"


def from_headers(headers: Headers, context: Context) -> list[Signal]:
    """One signal per directive that could concern this crawler; the most restrictive wins later."""
    directives = [d for v in values_of(headers, b"x-robots-tag") for d in parse_directives(v, named_bots=True)]
    return [signal(NAME, "header", _text(d), verdict_of(d, context)) for d in directives]


def verdict_of(directive: Directive, context: Context) -> str:
    """What a directive means for this crawler.

    A refusal of AI use counts whichever bot it names; another directive counts where it is addressed to everybody, to
    this crawler or (profile `strict`) to a bot that collects training data.
    """
    if directive.name in AI_DIRECTIVES or context.is_me(directive.bot):
        return context.verdict_of(directive.name)
    if context.profile == "strict" and is_ai_bot(directive.bot):
        return context.verdict_of(directive.name)
    return UNKNOWN


def unavailable_since(headers: Headers, context: Context) -> str | None:
    """The `unavailable_after` date that has passed, as written; None where the page is still meant to be available."""
    for value in values_of(headers, b"x-robots-tag"):
        for directive in parse_directives(value, named_bots=True):
            if is_past(directive, context):
                return directive.argument
    return None


def is_past(directive: Directive, context: Context) -> bool:
    """True for an `unavailable_after` addressed to this crawler whose date has passed."""
    if directive.name != "unavailable_after" or not context.is_me(directive.bot):
        return False
    when = http_date(directive.argument)
    return when is not None and when <= context.now


def says_nofollow(signals: Iterable[Signal], context: Context) -> bool:
    """True where a header that was seen asks everybody, or this crawler by name, not to follow the page's links."""
    values = [signal.value for signal in signals if signal.protocol == NAME]
    directives = (d for value in values for d in parse_directives(value, named_bots=True))
    return any(d.name in {"nofollow", "none"} and context.is_me(d.bot) for d in directives)


def _text(directive: Directive) -> str:
    name = f"{directive.name}: {directive.argument}" if directive.argument else directive.name
    return f"{directive.bot}: {name}" if directive.bot else name


DETECTOR = Detector(NAME, VERSION, "the X-Robots-Tag header refuses", headers=from_headers)
