"""The seed arguments `-a NAME=VALUE`: read into a plan, and each link judged by the scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crawler.problems import InputError, did_you_mean
from crawler.seeds.plan import SeedPlan, plan_seeds
from crawler.seeds.scope import Admission, AdmissionReason, Scope, Via
from crawler.urls.link import Link
from crawler.urls.tracking import DEFAULT_POLICY, QueryPolicy

BEGINNINGS = ("url", "sitemap", "seeds", "allowlist", "api", "oai")
"""Arguments that say where a crawl begins; one is needed."""
ARGUMENTS = (*BEGINNINGS, "oai_page", "discovery", "sitemap_since", "below")
KNOWN = "-a url=…, -a sitemap=…, -a seeds=FILE, -a allowlist=FILE, -a api=FILE or -a oai=…"


def plan_of(arguments: Mapping[str, str], policy: QueryPolicy = DEFAULT_POLICY) -> SeedPlan:
    """`plan_seeds` from `-a NAME=VALUE` pairs. Raises InputError, also for unknown names and for no seeds at all."""
    problems = [
        f"{name}: unknown argument{did_you_mean(name, ARGUMENTS)}" for name in arguments if name not in ARGUMENTS
    ]
    if not problems and not set(arguments) & set(BEGINNINGS):
        problems = [f"nothing to seed: give {KNOWN}"]
    if problems:
        raise InputError(problems)
    known: dict[str, Any] = dict(arguments)
    return plan_seeds(**known, policy=policy)


def judged(scope: Scope, link: Link, via: Via) -> tuple[Link, Admission]:
    """The scope's answer about a link, and the link as the frontier takes it.

    That is under its name in this crawl and, where its allowlist entry has one, with a page cap.
    """
    if link.kind == "sitemap":  # a list is no page: it counts for no cap, and its name is the site's own
        return link, scope.admits_sitemap(link.url, via=via)
    url = scope.name_of(link.url)
    admission = scope.admits(url, via=via)
    if admission.ok and scope.is_too_old(link.lastmod):
        admission = Admission(False, AdmissionReason.TOO_OLD, admission.entry)
    cap = (admission.entry.max_pages or 0) if admission.entry else 0
    if url != link.url or cap != link.cap:
        asked = link.asked if "#" in url else link.asked.partition("#")[0]
        link = replace(link, url=url, found=asked if asked != url else "", cap=cap)
    return link, admission
