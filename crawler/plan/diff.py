"""What a changed plan would do, before it runs: what changed since the last run, and an estimate from the corpus.

The runs say what a page has brought and cost so far (`brought.py`), the frontier how many URLs wait and what was spent,
the scope of the new seeds which kept pages it no longer admits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.dataset.query import query
from crawler.frontier.budget import spent_of, spent_of_seeds
from crawler.frontier.operate import with_frontier
from crawler.frontier.overview import overview
from crawler.observe.report.costs import Prices
from crawler.plan.brought import brought_by
from crawler.plan.model import IN_ALL, RUN, SEED, Crawl, Plan
from crawler.plan.seeds import scopes_of
from crawler.plan.state import Runs
from crawler.plan.status import as_run
from crawler.recrawl.visit import Intervals
from crawler.seeds.arguments import plan_of
from crawler.seeds.scope import AdmissionReason
from crawler.server.location import is_at_hand
from crawler.storage.files.place import Place

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.config import Config
    from crawler.frontier.client import Frontier


class _Frontier(NamedTuple):
    """What the frontier knows.

    by_scope: URLs that wait, of each politeness scope in which a seed lies now (admitted). asked: scopes of which a URL
    is done. due: URLs whose next visit has come. seen: all that it has ever taken. spent: by figure. of_seeds: the same
    of each scope, None without limits of seeds. now: its time.
    """

    by_scope: Mapping[str, int]
    admitted: frozenset[str]
    asked: frozenset[str]
    due: int
    seen: int
    spent: Mapping[str, float]
    of_seeds: Mapping[str, Mapping[str, float]] | None
    now: float


def changes(plan: Plan, known: Collection[str]) -> list[dict[str, str]]:
    """Keys of the plan that differ from the plan of the latest run: key, before, after. Raises: InputError."""
    latest = _of_latest_run(plan, known)
    before, after = _flat(latest) if latest is not None else {}, _flat(plan)
    return [
        {"key": key, "before": before.get(key, ""), "after": after.get(key, "")}
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def raised_caps(plan: Plan, known: Collection[str]) -> list[str]:
    """Sentences on caps of the frontier that are higher than in the plan of the latest run. Raises: InputError."""
    latest = _of_latest_run(plan, known)
    before = {crawl.name: crawl.limits for crawl in latest.crawls} if latest is not None else {}
    found = []
    for crawl in plan.crawls:
        for reach in (SEED, IN_ALL):
            had = before.get(crawl.name, {}).get(reach, {}).get("fetched")
            has = crawl.limits.get(reach, {}).get("fetched")
            if had and (has is None or has > had):
                now = f"is {has:g} now" if has else "is gone now"
                found.append(
                    f"{crawl.name}: {reach}.fetched was {had:g} and {now}: the frontier asks for CRAWL_RULES: replace "
                    "among the settings, and links beyond the old cap were not stored, so that the next run fetches "
                    "only what is found from now on; for the whole begin with another corpus"
                )
    return found


def _of_latest_run(plan: Plan, known: Collection[str]) -> Plan | None:
    names = Runs(plan).names()
    return as_run(plan, names[-1], known) if names else None


def _flat(plan: Plan) -> dict[str, str]:
    found = {}
    for crawl in plan.crawls:
        found[f"{crawl.name}.workers"] = str(crawl.workers)
        found[f"{crawl.name}.gates"] = crawl.gates
        found |= {f"{crawl.name}.{name}": value for name, value in crawl.arguments.items()}
        found |= {f"{crawl.name}.settings.{name}": value for name, value in crawl.settings.items()}
    return found | {f"steps.{step.name}": " ".join(step.words) for step in plan.steps}


def estimate(crawl: Crawl, config: Config) -> dict[str, Any]:
    """What the next run of a crawl would bring. Numbers are None where nothing is known yet.

    fetch: pages; due: those of them that were fetched before and whose next visit has come (RECRAWL). keep, bytes,
    money: by what a page brought so far. by: the limit that ends the run, or empty: then links that nobody has found
    yet may come on top. left_out: kept pages that the seeds no longer admit, by reason; running the plan withdraws none
    of them. Raises: StorageError, FrontierError.
    """
    place = Place(crawl.corpus)
    if not is_at_hand(config, crawl.corpus) or place.load_json("manifest.json") is None:
        return {"fetch": None, "keep": None, "bytes": None, "money": None, "due": None, "by": "", "left_out": {}}

    async def look(frontier: Frontier) -> _Frontier:
        counts = await frontier.counts()
        due = await frontier.visits.due(Intervals.of(config.frontier)) if config.frontier.recrawl else 0
        limited = crawl.limits.get(SEED, {}).keys() - {"fetched"}
        admitted = scopes_of(crawl, frontier)
        scopes = (await overview(frontier)).scopes
        by_scope = {one.scope: one.queued + one.leased + one.held for one in scopes if one.scope in admitted}
        asked = frozenset(one.scope for one in scopes if one.done + one.failed)
        of_seeds = await spent_of_seeds(frontier) if limited else None
        spent = await spent_of(frontier)
        return _Frontier(by_scope, frozenset(admitted), asked, due, counts.seen, spent, of_seeds, frontier.now())

    found = with_frontier(config, look)
    spent = found.spent
    brought = brought_by(place.manifest()["runs"], len(found.asked), Prices.of(config.report))
    each = {"fetched": 1.0, "kept": brought.kept, "bytes": brought.bytes, "money": brought.money}
    new = found.admitted if found.now >= brought.until else found.admitted - found.asked
    sites = brought.site_money * len(new)
    fetch, by = float(sum(found.by_scope.values()) + found.due), ""
    if found.of_seeds is not None and (over := sum(
        _over(waiting, crawl.limits[SEED], found.of_seeds.get(scope, {}), each)
        for scope, waiting in found.by_scope.items()
    )):  # fmt: skip
        fetch, by = fetch - over, "limits of seeds"
    for reach in (IN_ALL, RUN):
        for name, bound in crawl.limits.get(reach, {}).items():
            if name not in each or not each[name] or (reach, name) == (IN_ALL, "fetched"):
                continue
            had = (spent.get(name, 0.0) if reach == IN_ALL else 0.0) + (sites if name == "money" else 0.0)
            left = max(0.0, bound - had) / each[name]
            if left < fetch:
                fetch, by = left, f"{reach}.{name}: {bound:g}"
    if not by and (most := crawl.limits.get(IN_ALL, {}).get("fetched")) and found.seen >= most:
        by = f"{IN_ALL}.fetched: {most:g}"
    return {
        "fetch": round(fetch),
        "keep": round(fetch * each["kept"]),
        "bytes": round(fetch * each["bytes"]),
        "money": round(fetch * each["money"] + (sites if fetch else 0.0), 6),
        "due": found.due,
        "by": by,
        "left_out": dict(_left_out(crawl, place)),
    }


def _over(waiting: int, bounds: Mapping[str, float], spent: Mapping[str, float], each: Mapping[str, float]) -> float:
    """How many of the pages that wait of a seed its limits leave behind."""
    left = [max(0.0, bound - spent.get(name, 0.0)) / each[name] for name, bound in bounds.items() if each.get(name)]
    return max(0.0, waiting - min(left, default=math.inf))


def _left_out(crawl: Crawl, place: Place) -> Counter[str]:
    scope, found = plan_of(crawl.arguments).scope, Counter[str]()
    with query(place, "SELECT canonical_url FROM documents") as (_, rows):
        for (url,) in rows:
            admission = scope.admits(url, via="link")
            if not admission.ok and admission.reason is not AdmissionReason.LINKS_NOT_FOLLOWED:
                found[str(admission.reason)] += 1
    return found
