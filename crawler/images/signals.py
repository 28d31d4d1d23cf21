"""What refuses an image beyond what refuses a page: `noimageindex`, and statements inside of the file.

A page and an image are asked by the same detectors (`crawler/policy`); here is what only images have.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from crawler.config import Config
from crawler.document import Signal
from crawler.images.statements import Statements
from crawler.policy.decide import decide_body, decide_unread, protocol_of
from crawler.policy.signals import meta_robots, x_robots_tag
from crawler.policy.signals.base import DISALLOW, Context
from crawler.policy.signals.directives import parse_directives

NO_INDEX = "noimageindex"
"""A robots directive about images alone (Google): it counts in every profile, on the page and at the image."""
C2PA = "c2pa"


def noimageindex(signals: Iterable[Signal], config: Config) -> bool:
    """True where a header or meta that is for everybody, or for this crawler, says `noimageindex`."""
    context = Context(config.crawl.product_token, config.policy.optout_profile, time.time())
    values = [s.value for s in signals if s.protocol in (x_robots_tag.NAME, meta_robots.NAME)]
    directives = (one for value in values for one in parse_directives(value, named_bots=True))
    return any(one.name == NO_INDEX and context.is_me(one.bot) for one in directives)


def page_refusal(signals: list[Signal], config: Config) -> str:
    """The outcome of all images of a page by what its visit found; empty where none is refused."""
    return f"optout:{NO_INDEX}" if noimageindex(signals, config) else ""


def file_refusal(inside: Statements, earlier: list[Signal], config: Config, url: str) -> tuple[str, str, list[Signal]]:
    """Outcome ("" = none) and its detail by everything that was said up to the file's end, and the file's own signals.

    earlier: of robots.txt, files and headers. A protocol that waits for a body is decided on the file.
    """
    profile = config.policy.optout_profile
    verdict = decide_body(
        inside.metas, inside.rel_links, product_token=config.crawl.product_token, profile=profile,
        earlier=earlier, url=url,
    )  # fmt: skip
    said = [Signal(C2PA, "file", value[:512], DISALLOW) for value in inside.c2pa]
    signals = [*verdict.signals, *said]
    if verdict.drop is not None:
        return f"optout:{protocol_of(verdict.drop)}", verdict.drop.detail, signals
    if said:
        return f"optout:{C2PA}", said[0].value, signals
    if noimageindex([*earlier, *signals], config):
        return f"optout:{NO_INDEX}", NO_INDEX, signals
    drop = decide_unread([*earlier, *signals], profile, url)
    return (f"optout:{protocol_of(drop)}", drop.detail, signals) if drop else ("", "", signals)
