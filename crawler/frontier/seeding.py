"""Seed arguments are put into the frontier: `gristmill seed`, and a worker that joins the scope of a crawl."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.document import DropReason
from crawler.frontier.model import PutStatus
from crawler.frontier.politeness import ALLOWLIST
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.arguments import judged
from crawler.seeds.plan import MAX_PROBLEMS, SeedPlan, root_url
from crawler.seeds.scope import Scope
from crawler.storage.files.place import Place
from crawler.times import Clock

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.dataset.refused import Refusals
    from crawler.frontier.client import Frontier

_Number = Callable[[AllowlistEntry], float | None]
_BLOCKED = (
    "blocked, since its domain was purged, which is for good, or withdrawn from a corpus of this crawl "
    "(`gristmill dataset exclude --undo ENTRY --reason … CORPUS_DIR` takes that back)"
)
REREAD_SECONDS = 60.0  # how long a worker may go by rules that were changed elsewhere


@dataclass(slots=True)
class SeedResult:
    """What became of the links of one plan."""

    added: int = 0
    seen: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by reason
    examples: list[str] = field(default_factory=list)  # "URL: reason", at most MAX_PROBLEMS

    def refuse(self, url: str, reason: str) -> None:
        """Count one link that the frontier does not take."""
        self.refused[reason] += 1
        if len(self.examples) < MAX_PROBLEMS:
            self.examples.append(f"{url}: {_BLOCKED if reason == PutStatus.BLOCKED else reason}")

    def __str__(self) -> str:
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(self.refused.items()))
        return f"{self.added} added, {self.seen} known before, {self.refused.total()} refused" + (why and f" ({why})")


class SharedScope:
    """The scope as all workers have it, for a worker that runs for days while `gristmill seed` adds rules elsewhere."""

    def __init__(self, frontier: Frontier, scope: Scope, monotonic: Clock = time.monotonic) -> None:
        self._frontier = frontier
        self._monotonic = monotonic
        self._read_at = monotonic()
        self._text = scope.to_json()
        self.scope = scope

    async def covering(self, url: str) -> Scope:
        """The scope to judge this leased page and its links by.

        Read again where the one at hand has no rule for the page, and once a minute: a licence may have been renewed or
        withdrawn meanwhile.
        """
        if not self.scope.knows(url) or self._monotonic() - self._read_at >= REREAD_SECONDS:
            await self._read()
        return self.scope

    async def _read(self) -> None:
        self._read_at = self._monotonic()
        stored = await self._frontier.shared.scope_get()
        if stored is not None and stored != self._text:
            self.scope = Scope.from_json(stored, clock=self.scope.clock, policy=self.scope.policy)
            self._text = stored


async def join_scope(frontier: Frontier, added: Scope) -> Scope:
    """Add rules to the stored scope of the crawl, and return what now holds for all workers. Raises ScopeError.

    One at a time, so that two workers which start together do not overwrite each other's rules. Delays and
    priorities of the allowlist become those of the frontier. Licences end, and hours begin, by the frontier's clock.
    """
    added = replace(added, clock=frontier.now)
    while True:
        async with frontier.shared.single_flight("scope") as first:
            if not first:
                continue
            stored = await frontier.shared.scope_get()
            known = Scope.from_json(stored, clock=added.clock, policy=added.policy) if stored else None
            scope = known.merge(added) if known else added
            if scope.to_json() != stored:
                await frontier.shared.scope_set(scope.to_json())
            for name, seconds in _changed(frontier, known, scope, lambda entry: entry.delay).items():
                await frontier.politeness.set_delay(name, seconds, ALLOWLIST)
            for name, priority in _changed(frontier, known, scope, lambda entry: entry.priority or None).items():
                await frontier.politeness.set_priority(name, int(priority))
            return scope


async def seed_frontier(frontier: Frontier, plan: SeedPlan, refused: Refusals | None = None) -> SeedResult:
    """Put a plan into an open frontier: its rules first, so that no worker meets a page without them.

    refused: what the corpus has withdrawn; a seed of it is not put.
    """
    scope = await join_scope(frontier, plan.scope)
    result = SeedResult()
    for batch in plan.batches():
        wanted = []
        for given in batch:
            link, admission = judged(scope, given, "seed")  # a stored allowlist may be stricter than the arguments
            if refused is not None and refused.refusal(link.url):
                result.refuse(link.url, DropReason.WITHDRAWN)
            elif admission.ok:
                wanted.append(link)
            else:
                result.refuse(link.url, admission.reason)
        for link, status in zip(wanted, await frontier.put(wanted), strict=True):
            if status is PutStatus.QUEUED:
                result.added += 1
            elif status is PutStatus.SEEN:
                result.seen += 1
            else:
                result.refuse(link.url, status)
    return result


def seed_server(config: Config, plan: SeedPlan) -> SeedResult:
    """Put a plan into the frontier at REDIS_URL, else into the embedded one of CORPUS_DIR.

    What a corpus in a store refuses its workers read for themselves: whoever seeds may have no access to it.

    Raises: ScopeError, FrontierError; StorageError where the list of withdrawals in CORPUS_DIR cannot be read.
    """
    from crawler.dataset.registry.behind import refusals_of  # late: no worker needs them
    from crawler.frontier.operate import with_frontier

    folder = config.crawl.corpus_dir
    refused = None if "://" in folder else refusals_of([Place(folder)])
    return with_frontier(config, lambda frontier: seed_frontier(frontier, plan, refused), begins=True)


def _changed(frontier: Frontier, known: Scope | None, scope: Scope, of: _Number) -> dict[str, float]:
    """A number by politeness scope, 0 where no entry has it any more."""
    gone = dict.fromkeys(_numbers(frontier, known, of), 0.0) if known else {}
    return gone | _numbers(frontier, scope, of)


def _numbers(frontier: Frontier, scope: Scope, of: _Number) -> dict[str, float]:
    """A number by politeness scope; the largest wins where several entries share one."""
    found: dict[str, float] = {}
    for entry in scope.entries:
        if (number := of(entry)) is not None:
            name = frontier.scope_of(root_url(entry.domain) + "/")
            found[name] = max(number, found.get(name, 0.0))
    return found
