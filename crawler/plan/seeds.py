"""How far each seed of a crawl is, from its frontier: complete, or stopped by which limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.frontier.budget import limited_seeds, spent_before_run, spent_of, spent_of_seeds
from crawler.frontier.operate import with_frontier
from crawler.frontier.overview import Overview, overview
from crawler.observe.standing import standing
from crawler.plan.model import IN_ALL, RUN, SEED, Crawl
from crawler.plan.spent import spent_before
from crawler.seeds.arguments import plan_of
from crawler.server.location import is_at_hand
from crawler.storage.corpus.manifest import merged_now
from crawler.storage.files.place import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.config import Config
    from crawler.frontier.client import Frontier
    from crawler.frontier.shards import Shards

COMPLETE = "complete"
_LACKING = " What it spent in its last minute or two is not counted."


def seeds_of(crawl: Crawl, config: Config, run: str) -> dict[str, Any]:
    """`spent`, by figure; `limit` of all runs, or of `run`, that is reached, or empty; `cut_off`: a sentence where the
    latest run was killed; `seeds`: seed, state, done, waiting of each, and spent, by figure, where a limit of seeds is
    counted.

    A seed is what one politeness budget covers, by default a registrable domain. Empty before the crawl has begun.
    Raises: FrontierError, StorageError.
    """
    if not is_at_hand(config, crawl.corpus):
        return {"spent": {}, "limit": "", "cut_off": "", "seeds": []}
    place = Place(crawl.corpus)

    async def look(frontier: Frontier) -> dict[str, Any]:
        view, spent = await overview(frontier), await spent_of(frontier)
        limit = _reached(crawl, view, spent, await spent_before_run(frontier, run))
        seeds = _seeds(frontier, crawl, view, limit, await limited_seeds(frontier))
        told = await spent_of_seeds(frontier)
        return {
            "spent": spent,
            "limit": limit,
            "cut_off": _cut_off(place, view),
            "seeds": [one | {"spent": told.get(one["seed"], {})} for one in seeds],
        }

    found = with_frontier(config, look)
    if not found["spent"]:  # no limit that is counted on the server
        told, _ = spent_before(config)
        found["spent"] = {"fetched": told.fetched, "kept": told.kept, "bytes": told.received, "money": told.money}
        found["cut_off"] += _LACKING * bool(found["cut_off"])
    return found


def _cut_off(place: Place, view: Overview) -> str:
    manifest = merged_now(place)
    found = standing(place, manifest, view) if manifest is not None else None
    return found.sentence if found is not None and found.state == "cut_off" else ""


def scopes_of(crawl: Crawl, frontier: Shards) -> set[str]:
    """The politeness scopes in which the seeds of the crawl lie. Raises: InputError."""
    scope = plan_of(crawl.arguments).scope
    hosts = {*scope.link_hosts, *scope.listed_hosts, *(entry.domain for entry in scope.entries)}
    return {frontier.scope_of(f"https://{host}/") for host in hosts}


def _reached(crawl: Crawl, view: Overview, spent: dict[str, float], before: dict[str, float]) -> str:
    for name, bound in crawl.limits.get(IN_ALL, {}).items():
        if (view.counts.seen if name == "fetched" else spent.get(name, 0.0)) >= bound:
            return f"{IN_ALL}.{name}: {bound:g}"
    for name, bound in crawl.limits.get(RUN, {}).items():
        if name in before and spent.get(name, 0.0) - before[name] >= bound:
            return f"{RUN}.{name}: {bound:g}"
    return ""


def _seeds(
    frontier: Frontier, crawl: Crawl, view: Overview, limit: str, limited: Mapping[str, str]
) -> list[dict[str, Any]]:
    names = sorted(scopes_of(crawl, frontier))
    views, cap = {one.scope: one for one in view.scopes}, crawl.limits.get(SEED, {}).get("fetched")
    found = []
    for name in names:
        one = views.get(name)
        done = one.done + one.failed if one else 0
        waiting = one.queued + one.leased + one.held if one else 0
        if name in limited:
            state = f"stopped by {SEED}.{limited[name]}"
        elif cap and done + waiting >= cap and not waiting:
            state = f"stopped by {SEED}.fetched: {cap:g}"
        elif limit and (waiting or limit.startswith(f"{IN_ALL}.fetched")):
            state = f"stopped by {limit}"
        else:
            state = "not begun" if one is None else "not finished" if waiting else COMPLETE
        found.append({"seed": name, "state": state, "done": done, "waiting": waiting})
    return found
