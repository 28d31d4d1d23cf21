"""Takes the query parameters off links that have turned out to change no page of their domain (FRONTIER_LEARN_PARAMS).

What the scripts learned (`parameters.lua`) stands on the server, for all workers. A worker hears with its leases that
something has changed, and reads the domains that it needs. A parameter is *tried* before it is learned: the page is
also asked without it, because what a site leaves out on no link may still be needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from crawler.frontier.model import Lease
from crawler.frontier.packing import split_origin
from crawler.frontier.politeness import Politeness
from crawler.urls.candidate import Candidate
from crawler.urls.parameters import is_sample, named, without

MOST_SCOPES = 4_096
"""Domains whose parameters a worker remembers at a time."""
LEARNED, TRIED = "l", "t"


@dataclass(slots=True)
class Known:
    """What this worker has read: version by shard, and for each scope its parameters, learned and tried ones."""

    versions: dict[int, int] = field(default_factory=dict)
    scopes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    def hear(self, shard: int, version: int) -> None:
        """The shard's latest version; another one than before makes everything here old."""
        if self.versions.get(shard, 0) != version:
            self.versions[shard] = version
            self.scopes.clear()


class Parameters(Politeness):
    """Gives links the name that their page has without what names no page."""

    known: Known

    @property
    def names_version(self) -> int:
        """Changes when links begin to be named otherwise; never goes back."""
        return sum(self.known.versions.values()) if self.limits.learn_params else 0

    async def named(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates under their names, in their order; behind them pages to be tried without a parameter.

        Only links are named anew. What a person, a sitemap or a redirect names is asked as it is.
        """
        if not self.names_version:
            return candidates
        scopes = [self._scope_of_link(c.url) if _is_link(c) else "" for c in candidates]
        await self._read({scope for scope in scopes if scope})
        found: list[Candidate] = []
        tried: list[Candidate] = []
        for candidate, scope in zip(candidates, scopes, strict=True):
            learned, trial = self.known.scopes.get(scope, ((), ()))
            given = _without(candidate, learned)
            found.append(given)
            if names := named(given.url, trial):
                tried.append(replace(given, url=without(given.url, names)))
        return found + tried

    async def leases_named(self, leases: tuple[Lease, ...]) -> tuple[Lease, ...]:
        """The leases; each that was queued before a parameter was learned says what its page is called now."""
        if not self.names_version:
            return leases
        links = {lease.scope for lease in leases if _is_plain(lease)}
        await self._read(links)
        return tuple(
            self._lease_named(lease, self.known.scopes.get(lease.scope, ((), ()))[0]) if _is_plain(lease) else lease
            for lease in leases
        )

    def _lease_named(self, lease: Lease, learned: tuple[str, ...]) -> Lease:
        names = named(lease.url, learned)
        if not names or is_sample(lease.url, names):
            return lease
        return lease._replace(same_as=without(lease.url, names), learned=(*lease.learned, *names))

    def _scope_of_link(self, url: str) -> str:
        return self.origin_of(split_origin(url)[0]).scope if "?" in url else ""

    async def _read(self, scopes: Iterable[str]) -> None:
        missing: dict[int, list[str]] = defaultdict(list)
        for scope in sorted(set(scopes) - self.known.scopes.keys()):
            shard = self.shard_of_scope(scope)
            if self.known.versions.get(shard):
                missing[shard].append(scope)
        if len(self.known.scopes) > MOST_SCOPES:
            self.known.scopes.clear()
        redis = self.connection.redis
        for shard, names in missing.items():
            key = self.prefix(shard) + "learned"
            rows = await self.connection.patiently(lambda key=key, names=names: redis.hmget(key, names))  # type: ignore[misc]
            self.known.scopes |= {name: read_learned(row) for name, row in zip(names, rows, strict=True)}


def read_learned(row: bytes | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Learned and tried parameters of a scope, as `parameters.lua` writes them: `state name`, a line each."""
    lines = sorted((row or b"").decode().splitlines())
    return tuple(line[2:] for line in lines if line[0] == LEARNED), tuple(
        line[2:] for line in lines if line[0] == TRIED
    )


def _is_link(candidate: Candidate) -> bool:
    return candidate.mark is not None and not candidate.redirects and candidate.kind == "page"


def _is_plain(lease: Lease) -> bool:
    """A link that no redirect led to. One that was visited keeps its name (`Visits.recall`)."""
    return lease.mark is not None and not lease.redirects and "?" in lease.url


def _without(candidate: Candidate, learned: tuple[str, ...]) -> Candidate:
    names = named(candidate.url, learned)
    if not names or is_sample(candidate.url, names):
        return candidate
    return replace(candidate, url=without(candidate.url, names), learned=names)
