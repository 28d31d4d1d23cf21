"""A corpus is judged again while its crawl stays: duplicate index and rules of the crawl learn what is kept now.

Everybody who changes settings of a corpus that is there calls this one function: the command, and explore.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from crawler.dataset.pages import page_name
from crawler.dataset.rejudge import BY, Rejudged, rejudge
from crawler.dataset.rewrite import records_in
from crawler.dedup.admin import forget, with_index
from crawler.dedup.loading import claim_kept
from crawler.frontier.operate import with_frontier
from crawler.frontier.rules import judge_by
from crawler.server.location import is_at_hand
from crawler.storage.files.place import PAGES
from crawler.storage.files.records import is_held

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.storage.files.place import Place


def judge_again(place: Place, config: Config, *, now: float, keep_old: bool = True, quiet: bool = True) -> Rejudged:
    """`rejudge`, and the crawl is told. config: with the CORPUS_DIR of the corpus, or the server of its frontier.

    Where no frontier is at hand nothing is told: it is made anew from the corpus when a crawl begins. Safe to repeat:
    where nothing had to be judged, but the newest version is of a rejudging, the crawl is told of that one, whose maker
    may have died before. Raises: StorageError, FrontierError, DedupError.
    """
    done = rejudge(place, config, now=now, keep_old=keep_old, quiet=quiet)
    if done.version is None and _is_judged_again(place):
        done.free |= _owning_nothing(place)
    elif done.version is None:
        return done
    if is_at_hand(config, place.url):
        for crawl in place.manifest()["crawls"]:
            _tell(place, dataclasses.replace(config, crawl=dataclasses.replace(config.crawl, crawl_id=crawl)), done)
    return done


def _is_judged_again(place: Place) -> bool:
    lineage = place.manifest().get("lineage", [])
    return bool(lineage) and lineage[-1]["operation"] == BY


def _owning_nothing(place: Place) -> set[str]:
    """The rejected pages of which no text is kept or held: what the index still says of them is from before."""
    found, owners = set[str](), set[str]()
    for record in records_in(place, PAGES):
        (found if "reason" in record and not is_held(record) else owners).add(page_name(record))
    return found - owners


def _tell(place: Place, config: Config, done: Rejudged) -> None:
    forget(config, done.free)
    with_index(config, lambda index: claim_kept(index, config, place))
    with_frontier(config, lambda frontier: judge_by(frontier, config))
