"""A corpus is judged again while its crawl stays: duplicate index and rules of the crawl learn what is kept now.

Everybody who changes settings of a corpus that is there calls this one function: the command, and explore.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from crawler.dataset.rejudge import Rejudged, rejudge
from crawler.dedup.admin import forget, with_index
from crawler.dedup.loading import claim_kept
from crawler.frontier.operate import with_frontier
from crawler.frontier.rules import judge_by
from crawler.server.location import is_at_hand

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.storage.files.place import Place


def judge_again(place: Place, config: Config, *, now: float, keep_old: bool = True, quiet: bool = True) -> Rejudged:
    """`rejudge`, and the crawl is told. config: with the CORPUS_DIR of the corpus, or the server of its frontier.

    Where no frontier is at hand nothing is told: it is made anew from the corpus when a crawl begins. Safe to repeat.
    Raises: StorageError, FrontierError, DedupError.
    """
    done = rejudge(place, config, now=now, keep_old=keep_old, quiet=quiet)
    if done.version is not None and is_at_hand(config, place.url):
        for crawl in place.manifest()["crawls"]:
            _tell(place, dataclasses.replace(config, crawl=dataclasses.replace(config.crawl, crawl_id=crawl)), done)
    return done


def _tell(place: Place, config: Config, done: Rejudged) -> None:
    forget(config, done.free)
    with_index(config, lambda index: claim_kept(index, config, place))
    with_frontier(config, lambda frontier: judge_by(frontier, config))
