"""A setting belongs to the crawl or to the worker: of each one that decides no verdict, here is whose it is, and why.

Settings that decide a verdict or a text are marked where they are declared (`Config.deciding`) and belong to the crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from crawler.config import Config


def _fewest(one: int, two: int) -> int:
    """Of two limits, of which 0 means none."""
    return min(one, two) if one and two else max(one, two)


def _slowest(one: Mapping[str, float], two: Mapping[str, float]) -> dict[str, float]:
    """Of delays by network, for each network the longer one."""
    return {name: max(one.get(name, 0.0), two.get(name, 0.0)) for name in {**one, **two}}


def _index_place(config: Config) -> str:
    """Where the duplicate index is, without user name and password: whoever has the frontier can read the rules."""
    own = config.dedup.redis_url
    if own is None or own == config.crawl.redis_url:
        return "the server of the frontier"
    parts = urlsplit(own)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}"


STRICTEST: Mapping[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "DOWNLOAD_DELAY": ("delay", max),
    "CONCURRENT_REQUESTS_PER_DOMAIN": ("concurrency", min),
    "ADDRESS_DELAY": ("address_delay", max),
    "ADDRESS_DELAYS_FILE": ("address_delays", _slowest),
    "FRONTIER_LATENCY_FACTOR": ("latency_factor", max),
    "FRONTIER_BREAKER_FAILURES": ("breaker_failures", _fewest),
    "FRONTIER_BREAKER_SECONDS": ("breaker_pause", max),
    "FRONTIER_BREAKER_MAX_SECONDS": ("breaker_longest", max),
    "FRONTIER_SLOWDOWN_MAX_SECONDS": ("slowdown", max),
}
"""What a site feels: the field of `Limits`, and which of two values is the stricter one."""
LAYOUT: Mapping[str, str] = {"POLITENESS_SCOPE": "scope_by", "FRONTIER_SHARDS": "shards"}
"""How the frontier is laid out; another value would not find what is there."""
LATEST: Mapping[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "FRONTIER_MAX_PAGES": ("total_pages", lambda stored, mine: mine or stored),
}
"""What a later run may raise and the crawl then goes by; a worker that was given none keeps to the crawl's."""
CAPS: Mapping[str, str] = {
    "FRONTIER_MAX_PAGES_PER_DOMAIN": "max_pages",
    "DEPTH_LIMIT": "depth",
    "FRONTIER_MAX_QUEUED_PER_DOMAIN": "max_queued",
    "FRONTIER_MAX_BYTES_PER_DOMAIN": "max_bytes",
}
"""What the frontier takes, and in which order: the field of `Limits`. One worker without a cap would undo it."""
ORDER: Mapping[str, str] = {
    "FRONTIER_BARREN_PAGES": "barren",
    "FRONTIER_EXPLORE": "explore",
    "FRONTIER_QUALITY_WEIGHT": "quality_weight",
}
"""By what the frontier orders its links: the field of `Limits`."""
FILES: Mapping[str, Callable[[Config], Any]] = {
    "ARCHIVE": lambda config: config.storage.archive,
    "ARCHIVE_COMPRESSION": lambda config: config.storage.archive_compression,
    "SHARD_FORMAT": lambda config: config.storage.shard_format,
    "REJECTED_TEXT": lambda config: config.storage.rejected_text,
    "RECRAWL_REMEMBER": lambda config: config.frontier.recrawl_remember,
    "DEDUP_REDIS_URL": _index_place,
}
"""What is kept of a page, and where: a crawl that keeps it of some pages only can be neither replayed nor compared."""

BY_CONTENT = frozenset(
    {
        "CLASSIFIERS",
        "EVAL_SETS",
        "QUALITY_PROFILES_FILE",
        "DECONTAMINATION_NGRAM",
        "DECONTAMINATION_MIN_OVERLAP",
        "DECONTAMINATION_MAX_EXAMPLES",
    }
)
"""Part of the digest by what is in the files and how they are compared, and only where there are files."""

_ROWS = resources.files("crawler").joinpath("frontier", "worker_own.tsv").read_text("utf-8").splitlines()[1:]
WORKER_OWN: Mapping[str, str] = dict(line.split("\t") for line in _ROWS)
"""What each worker may have for itself, and why that does no harm."""
