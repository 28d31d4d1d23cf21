"""The facts of policy in the manifest: under which name and by which rules a run asked."""

from __future__ import annotations

from typing import TypedDict

from crawler import __version__
from crawler.config import Config
from crawler.policy.signals.registry import versions


class PolicyFacts(TypedDict, total=False):
    """What the manifest says of the rules of a run; runs of older versions lack some of it, replays of others' all."""

    user_agent: str
    product_token: str
    contact: str | None
    optout_profile: str
    detectors: dict[str, str]
    delay_seconds: float
    requests_at_a_time: int
    robots_max_age_seconds: float
    robots_error_age_seconds: float
    network_allow: list[str]
    pii_person: str


def facts_of(config: Config) -> PolicyFacts:
    """What a lawyer asks first: identity, opt-out profile, the detectors with their versions, pace and ages."""
    crawl, frontier, policy = config.crawl, config.frontier, config.policy
    return {
        "user_agent": user_agent(crawl.product_token, __version__, crawl.contact),
        "product_token": crawl.product_token,
        "contact": crawl.contact or None,
        "optout_profile": policy.optout_profile,
        "detectors": versions(),
        "delay_seconds": frontier.delay_seconds,
        "requests_at_a_time": frontier.concurrency,
        "robots_max_age_seconds": policy.robots_max_age_seconds,
        "robots_error_age_seconds": policy.robots_error_age_seconds,
        "network_allow": list(policy.network_allow),
        "pii_person": config.pii.person,
    }


def user_agent(product_token: str, version: str, contact: str) -> str:
    """The User-Agent header (RFC 9110 section 10.1.5), such as `CorpusBot/0.1 (+https://example.org/bot)`."""
    where = f" (+{contact})" if contact else ""
    return f"{product_token}/{version}{where}"
