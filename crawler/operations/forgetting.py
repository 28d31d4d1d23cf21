"""Frontier and duplicate index forget the pages that an operation takes out of a corpus, or take them again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from crawler.config import ConfigError
from crawler.number import number_of
from crawler.server.location import is_at_hand, is_unnamed

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.config import Config
    from crawler.operations.declared import Load
    from crawler.seeds.allowlist import AllowlistEntry
    from crawler.storage.files.place import Place


def load_with_frontier(load: Load, corpus: str) -> Config:
    """Frontier and index are on a server, or beside a corpus on a disk, or in the spool of one in a store.

    Raises: ConfigError, also where nothing says where they are.
    """
    config = load()
    if is_unnamed(config, corpus):
        raise ConfigError([
            f"{corpus} is in a store: name the frontier and the duplicate index that have to forget these "
            "pages, with -s REDIS_URL=… or, where the crawl had none, with its -s CORPUS_SPOOL_DIR=FOLDER"
        ])  # fmt: skip
    return config if config.crawl.redis_url is not None else load(CORPUS_DIR=corpus)


class Forgotten(NamedTuple):
    """URLs that waited in the frontier, and claims in the duplicate index, that went; None where there are neither.

    untold: names of the crawls whose frontier is not where it was looked for.
    """

    queued: int | None
    claims: int | None
    untold: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.queued is None:
            return f"there is no frontier here, so no queue was changed{self._others()}"
        queued, claims = (
            number_of(self.queued, "waiting URL was", "waiting URLs were"),
            number_of(self.claims or 0, "claim"),
        )
        are = "is" if self.claims == 1 else "are"
        return f"{queued} dropped, {claims} in the duplicate index {are} free again{self._others()}"

    def _others(self) -> str:
        if not self.untold:
            return ""
        names = ", ".join(map(repr, self.untold))
        return (
            f"; not updated: the frontier of {'crawl' if len(self.untold) == 1 else 'crawls'} {names}. Its workers "
            "read withdrawals.jsonl when they start, and request none of it; the same command with -s REDIS_URL=… "
            "(of a corpus in a store also -s CORPUS_SPOOL_DIR=FOLDER) drops what waits and frees claims there"
        )


def forget_elsewhere(
    config: Config,
    place: Place,
    domains: frozenset[str],
    urls: Collection[str],
    entries: list[AllowlistEntry] | None = None,
) -> Forgotten:
    """Drop what waits in the frontier and free claims in the duplicate index. Raises: FrontierError, DedupError."""
    from crawler.dedup.admin import forget
    from crawler.frontier.exclusion import block_in

    manifest = place.manifest()
    live = tuple(dict.fromkeys(run["crawl_id"] for run in manifest["runs"] if run.get("kind", "crawl") == "crawl"))
    if not is_at_hand(config, place.url):
        selected = any("selected_from" in run for run in manifest["runs"])  # its crawls are those of its source
        return Forgotten(None, None, () if selected else live)
    gone = block_in(config, manifest["crawls"], domains, entries)
    freed = sum(forget(_of_crawl(config, crawl), urls) for crawl in manifest["crawls"])
    untold = tuple(crawl for crawl in live if gone[crawl] is None)
    return Forgotten(sum(count or 0 for count in gone.values()), freed, untold)


def take_again(config: Config, place: Place, domains: frozenset[str]) -> bool:
    """Let the frontiers take URLs of these domains again; False where none is at hand. Raises: FrontierError."""
    from crawler.frontier.exclusion import unblock

    if not is_at_hand(config, place.url):
        return False
    unblock(config, place.manifest()["crawls"], domains)
    return True


def _of_crawl(config: Config, crawl_id: str) -> Config:
    return dataclasses.replace(config, crawl=dataclasses.replace(config.crawl, crawl_id=crawl_id))
