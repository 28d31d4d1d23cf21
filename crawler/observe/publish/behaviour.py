"""Says in sentences how a corpus was collected: each from the facts of the runs and archives behind it.

What every crawl of this software does (no logins, no proxies, …) the add-on holds by refusing to start without it
(`crawler/middlewares/defaults.py`); all else is a fact of the corpus, or "not recorded".
"""

from __future__ import annotations

from collections.abc import Iterator

from crawler.number import number_of
from crawler.observe.publish.provenance import NO_TIER, Provenance
from crawler.observe.publish.sources import Dataset
from crawler.policy.facts import PolicyFacts, exceptions_under, obeyed_in, stands_in_page
from crawler.policy.status import DENIALS

NOT_RECORDED = "not recorded"
NOT_IN_SUBSET = f"{NOT_RECORDED} in a subset"
MOST_NAMED = 5
"""Files and domains of a data set that its sentence names."""


def how_crawled(found: Provenance) -> str:
    """Whether something was fetched for this corpus, by whom, and how much of it that is."""
    sources = found.sources
    if not sources.has_crawled:
        return "no: every page comes from archives that others made" if sources.datasets else "no: nothing collected"
    if sources.crawled.documents == found.count and not sources.replayed:
        return "yes"
    parts = [f"{sources.crawled.documents:,} of {number_of(found.count, 'document')} crawled"]
    if sources.replayed:
        parts.append(f"{sources.replayed:,} of them read from the archives of a crawl, whose facts these are")
    return f"yes: {'; '.join(parts)}"


def behaviour(found: Provenance) -> str:
    """How the crawler behaved, under the rules of all runs."""
    if not found.sources.rules or not any(found.sources.rules):
        return NOT_RECORDED
    one_at_a_time = found.facts("requests_at_a_time") in ([], [1])
    parts = [
        _identity(found),
        *_signed(found),
        "robots.txt by RFC 9309, and no request while it cannot be read",
        _pace(found) + ("" if one_at_a_time else f", up to {_numbers(found.facts('requests_at_a_time'))} at a time"),
        f"HTTP {denials()} are final",
        "no logins, no CAPTCHAs solved, no paywalls passed, no proxies, no change of identity",
        "cookies are not kept",
    ]
    return "; ".join(parts)


def measures(found: Provenance) -> Iterator[str]:
    """What was done about reservations of rights: each sentence once, of crawls and of replays."""
    said = [_while_crawling(rules) for rules in found.sources.rules]
    said += [_while_replaying(found, rules) for rules in found.sources.judged]
    yield from dict.fromkeys(said or [NOT_RECORDED])  # rules that differ in what is not said here are one sentence


def dataset_sentence(dataset: Dataset) -> str:
    """What is known of archives of others: their own words, their names, and what was kept of them."""
    origin, part = dataset.origin, dataset.part
    said = {
        "is part of": origin.get("is_part_of"),
        "operator": origin.get("operator"),
        "publisher": origin.get("publisher"),
        "software": origin.get("software"),
        "crawled as": origin.get("user_agent"),
        "robots": origin.get("robots"),
    }
    words = "; ".join(f"{name}: {value}" for name, value in said.items() if value) or "nothing of their origin"
    return (
        f"{words}. Files: {_named(sorted(part.archives))}. Kept: {number_of(part.documents, 'document')} "
        f"{_when(dataset)}from {number_of(len(part.domains), 'domain')}: {_named(list(part.ranked()))}"
    )


def _when(dataset: Dataset) -> str:
    part = dataset.part
    return f"fetched {part.first[:10]} to {part.last[:10]} " if part.first else ""


def denials() -> str:
    """The answers that are never worked around, such as 401, 403."""
    return ", ".join(map(str, sorted(DENIALS)))


def _identity(found: Provenance) -> str:
    """Robots.txt names a crawler by its product token: how many this corpus was fetched under."""
    tokens, agents = found.facts("product_token"), found.facts("user_agent")
    if not tokens or not agents:
        return f"product token and User-Agent {NOT_RECORDED}"
    if len(tokens) == len(agents) == 1:
        return "one product token and one User-Agent"
    return f"one product token and one User-Agent in a run, in all {len(tokens):,} and {len(agents):,}"


def _signed(found: Provenance) -> Iterator[str]:
    """By whom requests were signed; nothing where they were not."""
    if agents := found.facts("signature_agent"):
        every = all("signature_agent" in rules for rules in found.sources.rules)
        keys = ", ".join(sorted(found.facts("signature_keyid")))
        whose = "every request" if every else "the requests of some runs, not of all,"
        yield f"{whose} signed (Web Bot Auth, RFC 9421) in the name of {', '.join(sorted(agents))} with the key {keys}"


def _pace(found: Provenance) -> str:
    scope = " or ".join(sorted(found.facts("politeness_scope"))) or "domain"
    delay = f"at least {_numbers(found.facts('delay_seconds'))} s between requests to one {scope} over all workers"
    if any(tier != NO_TIER for tier in found.kept.tiers):
        delay += ", longer where the allowlist asks for it"
    longest = found.facts("robots_max_delay_seconds")
    limit = f" (up to {_numbers(longest)} s)" if longest else ""
    return f"{delay}, longer where Crawl-delay asks for it{limit}"


def _while_crawling(rules: PolicyFacts) -> str:
    if not rules:
        return f"a crawl whose rules are {NOT_RECORDED}"
    recorded = rules.get("noted_files", [])
    noted = f". Fetched and recorded, never obeyed: {', '.join(recorded)}" if recorded else ""
    return (
        f"before and during collection, profile {rules.get('optout_profile', NOT_RECORDED)}: robots.txt, and each "
        f"refusal by these protocols: {_protocols(rules)}{_exceptions(rules)}. Any refusal that counts wins, whatever "
        f"another protocol allows; a control file that cannot be read stops its host. What was seen is kept with each "
        f"record{noted}"
    )


def _while_replaying(found: Provenance, rules: PolicyFacts) -> str:
    unknown = sum(dataset.part.robots_unknown for dataset in found.sources.datasets)
    as_text = sum(dataset.part.as_text for dataset in found.sources.datasets)
    said = f"archives were judged again, profile {rules.get('optout_profile', NOT_RECORDED)}"
    protocols = _protocols(rules, in_pages=True)
    parts = [f"{said}: headers and markup by the refusals of these protocols: {protocols}{_exceptions(rules)}"]
    if found.sources.replayed:
        known = number_of(found.sources.replayed, "kept document")
        parts.append(f"of {known} the archives say what robots.txt and opt-out files said, and it counts")
    if unknown:
        parts.append(
            f"of {number_of(unknown, 'kept document')} the archives do not say what robots.txt and opt-out files said"
        )
    if as_text:
        parts.append(f"{as_text:,} of them as text only, so that no statement of the page was visible")
    return "; ".join(parts)


def _protocols(rules: PolicyFacts, *, in_pages: bool = False) -> str:
    known = {name: version for name, version in obeyed_in(rules).items() if not in_pages or stands_in_page(name)}
    return ", ".join(f"{name} version {version}" for name, version in sorted(known.items())) or "none recorded"


def _exceptions(rules: PolicyFacts) -> str:
    exceptions = exceptions_under(rules.get("optout_profile", ""))
    return f" ({exceptions})" if exceptions else ""


def _numbers(values: list[float]) -> str:
    return " or ".join(f"{value:g}" for value in sorted(values)) or "an unrecorded number of"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
