"""The facts of policy in manifest and archives: under which name and by which rules a run asked and judged."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, cast, get_type_hints

from crawler.config import Config
from crawler.policy.signals.base import INDEX_DIRECTIVES
from crawler.policy.signals.registry import detectors, files_of, versions
from crawler.version import __version__

_JUDGING = ("optout_profile", "detectors", "obeyed", "pii_person")


class PolicyFacts(TypedDict, total=False):
    """What the manifest says of the rules of a run; runs of older versions lack some of it, replays what is fetching's.

    obeyed: protocols of which a refusal counts under the profile, with the version of their detector. noted_files:
    files that were asked for and only recorded. signature_agent, signature_keyid: where every request was signed, the
    directory that was named, and the thumbprint of the key.
    """

    optout_profile: str
    detectors: dict[str, str]
    obeyed: dict[str, str]
    pii_person: str
    user_agent: str
    product_token: str
    contact: str | None
    signature_agent: str
    signature_keyid: str
    noted_files: list[str]
    delay_seconds: float
    politeness_scope: str
    requests_at_a_time: int
    robots_max_age_seconds: float
    robots_error_age_seconds: float
    robots_max_delay_seconds: float
    robots_long_delay: str
    network_allow: list[str]


class Pace(NamedTuple):
    """How fast hosts are asked: seconds between two requests, to what that counts for, and requests at a time."""

    delay_seconds: float
    politeness_scope: str
    requests_at_a_time: int


class Signed(NamedTuple):
    """By whom requests are signed: the directory they name, and the thumbprint of the key (RFC 7638)."""

    agent: str
    keyid: str


def facts_of(config: Config, pace: Pace | None = None, signed: Signed | None = None) -> PolicyFacts:
    """What a lawyer asks first: identity, opt-out profile, the detectors with their versions, pace and ages.

    pace: the one in force, which is that of the crawl; None = the one that these settings ask for. signed: None where
    requests are not signed.
    """
    crawl, frontier, policy = config.crawl, config.frontier, config.policy
    pace = pace or Pace(frontier.delay_seconds, frontier.scope_by, frontier.concurrency)
    facts: PolicyFacts = {
        "optout_profile": policy.optout_profile,
        "detectors": versions(),
        "obeyed": obeyed_under(policy.optout_profile),
        "pii_person": config.pii.person,
        "user_agent": user_agent(crawl.product_token, __version__, crawl.contact),
        "product_token": crawl.product_token,
        "contact": crawl.contact or None,
        "noted_files": list(policy.noted_files),
        "delay_seconds": pace.delay_seconds,
        "politeness_scope": pace.politeness_scope,
        "requests_at_a_time": pace.requests_at_a_time,
        "robots_max_age_seconds": policy.robots_max_age_seconds,
        "robots_error_age_seconds": policy.robots_error_age_seconds,
        "robots_max_delay_seconds": policy.robots_max_delay_seconds,
        "robots_long_delay": policy.robots_long_delay,
        "network_allow": list(policy.network_allow),
    }
    if signed is not None:
        facts["signature_agent"], facts["signature_keyid"] = signed
    return facts


def judging_facts_of(config: Config) -> PolicyFacts:
    """The facts of a run that fetches nothing, a replay of archives: only what judges pages."""
    facts = facts_of(config)
    return {name: facts[name] for name in _JUDGING}  # type: ignore[return-value,literal-required]


def obeyed_under(profile: str) -> dict[str, str]:
    """The protocols of which a refusal counts under an opt-out profile, with the versions of their detectors."""
    asked = files_of(profile)
    return {
        detector.name: detector.version
        for detector in detectors()
        if detector.refusal
        and (detector.in_minimal or profile != "minimal")
        and (detector.name in asked or detector.file is None or detector.headers or detector.metas or detector.links)
    }


_INDEXING = f"the directives {', '.join(f'“{name}”' for name in sorted(INDEX_DIRECTIVES))} are recorded only"
_EXCEPTIONS = {
    "balanced": f"{_INDEXING}, and of ai-bots what most of the bots that a site names are told counts",
    "minimal": _INDEXING,
}


def exceptions_under(profile: str) -> str:
    """What of the obeyed protocols does not count under an opt-out profile, as a clause; empty where all of it does."""
    return _EXCEPTIONS.get(profile, "")


def obeyed_in(facts: PolicyFacts) -> dict[str, str]:
    """What a run obeyed. Runs of older versions list all their detectors: the profile says which of them counted."""
    if "obeyed" in facts:
        return facts["obeyed"]
    known = facts.get("detectors", {})
    return {name: known[name] for name in obeyed_under(facts.get("optout_profile", "")) if name in known}


def stands_in_page(protocol: str) -> bool:
    """True for a protocol that an archived page shows by itself, in its headers or its markup."""
    return any(d.name == protocol and (d.headers or d.metas or d.links) for d in detectors())


_MAX_TEXT, _MAX_NAMES = 300, 50


def checked_facts(values: Any) -> PolicyFacts:
    """Facts that come from outside (an archive): what is no such fact is left out, texts are cut."""
    if not isinstance(values, dict):
        return {}
    kinds = get_type_hints(PolicyFacts)
    found = {name: _checked(kind, values[name]) for name, kind in kinds.items() if name in values}
    return cast("PolicyFacts", {name: value for name, value in found.items() if value is not None})


def _checked(kind: Any, value: Any) -> Any:
    if kind == dict[str, str]:
        pairs = list(value.items())[:_MAX_NAMES] if isinstance(value, dict) else []
        return {_cut(key): _cut(text) for key, text in pairs if isinstance(text, str)} or None
    if kind == list[str]:
        return [_cut(item) for item in value[:_MAX_NAMES] if isinstance(item, str)] if isinstance(value, list) else None
    if kind in (int, float):
        return value if type(value) in (int, float) else None
    return _cut(value) if isinstance(value, str) else None


def _cut(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:_MAX_TEXT]


def user_agent(product_token: str, version: str, contact: str) -> str:
    """The User-Agent header (RFC 9110 section 10.1.5), such as `CorpusBot/0.1 (+https://example.org/bot)`."""
    where = f" (+{contact})" if contact else ""
    return f"{product_token}/{version}{where}"
