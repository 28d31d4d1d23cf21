"""A setting belongs to the crawl or to the worker: of each one that decides no verdict, here is whose it is, and why.

Settings that decide a verdict or a text are marked where they are declared (`Config.deciding`) and belong to the crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from crawler.config import Config


def _fewest(one: int, two: int) -> int:
    """Of two limits, of which 0 means none."""
    return min(one, two) if one and two else max(one, two)


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
        "EVAL_SETS",
        "QUALITY_PROFILES_FILE",
        "DECONTAMINATION_NGRAM",
        "DECONTAMINATION_MIN_OVERLAP",
        "DECONTAMINATION_MAX_EXAMPLES",
    }
)
"""Part of the digest by what is in the files and how they are compared, and only where there are files."""

_SIZE = "each worker writes files of its own, and every reader takes files of any size"
_PLACE = "a place on this worker's machine; the same folder may have another path on another one"
_EXPIRE = "read by `gristmill dataset expire`, by no worker"
_REPORT = "read by `gristmill report` and when a run ends, of what lies in the corpus by then"
_RETURN = "each run says how soon it comes back; the politeness of the crawl holds for a second visit, too"
_SIGNED = "while a key is changed some workers sign with the old one; the manifest names that of each run"
WORKER_OWN: Mapping[str, str] = {
    "RETRY_TIMES": "what one worker gives up early, a later run tries again",
    "CORPUS_DIR": _PLACE,
    "CORPUS_SPOOL_DIR": _PLACE,
    "CRAWL_ID": "says which crawl's rules are looked up",
    "WORKER_ID": "the worker's name",
    "REDIS_URL": "the way to the frontier, where the rules are; a server may have several names",
    "STAGE_WORKERS": "machines have different numbers of cores",
    "CONCURRENT_REQUESTS": "what one machine can do at a time; a site feels only the crawl's limits for each domain",
    "PROGRESS": "how one terminal looks",
    "PROGRESS_FD": "how `gristmill work` follows this worker",
    "METRICS_PORT": "where this worker's counters are served",
    "METRICS_HOST": "where this worker's counters are served",
    "LOG_JSON": "how the log of this worker reads",
    "CRAWL_RULES": "says what to do where the others differ",
    "FRONTIER_LEASE_SECONDS": "a lease carries its own end, and its worker renews it in time",
    "FRONTIER_IDLE_SECONDS": "when this worker ends; the others go on, and nothing is lost",
    "FRONTIER_PATIENCE_SECONDS": "when this worker ends although a host is blocked; its URLs stay queued for others",
    "FRONTIER_RETRY_BACKOFF_SECONDS": "a second try waits for the turn of its domain like any request",
    "BOT_SIGNATURE_KEY_FILE": _SIGNED,
    "BOT_SIGNATURE_AGENT": _SIGNED,
    "BOT_SIGNATURE_SECONDS": "how long a signature of this worker is good",
    "RECRAWL": "whether a run asks again for what is due; a worker without it takes the rest",
    "RECRAWL_INTERVAL_SECONDS": _RETURN,
    "RECRAWL_MIN_SECONDS": _RETURN,
    "RECRAWL_MAX_SECONDS": _RETURN,
    "BROWSER_PATH": _PLACE,
    "BROWSER_SANDBOX": "what this worker's machine or container allows; a page is the same inside and outside",
    "BROWSER_CONCURRENCY": "what one machine can do at a time; a site feels only the crawl's limits for each domain",
    "BROWSER_RECYCLE_PAGES": "how much memory one browser may gather",
    "BROWSER_IDLE_SECONDS": "how long a browser without work keeps its memory",
    "BROWSER_DIRECT_AFTER": "how soon a domain skips the fast fetch; its text is the browser's either way",
    "BROWSER_PROBE_SECONDS": "how soon a domain is tried without the browser again",
    "SHARD_MAX_BYTES": _SIZE,
    "SHARD_MAX_DOCUMENTS": _SIZE,
    "SHARD_MAX_AGE_SECONDS": _SIZE,
    "ARCHIVE_MAX_BYTES": _SIZE,
    "INDEX_AT_SEAL": "when an index is written; it is the same one, and a query makes what is missing",
    "ACK_AFTER": "how much of its spool this worker can lose; either way no page is lost that was not acknowledged",
    "ARCHIVE_TTL_DAYS": _EXPIRE,
    "DOCUMENT_TTL_DAYS": _EXPIRE,
    "COMMIT_SECONDS": "how long one disk gathers records; every record is on it before its URL is acknowledged",
    "COST_REQUEST": _REPORT,
    "COST_BROWSER_MINUTE": _REPORT,
    "COST_GB": _REPORT,
    "COST_CPU_HOUR": _REPORT,
    "COST_CURRENCY": _REPORT,
    "AUDIT_SAMPLE": _REPORT,
    "AUDIT_SEED": _REPORT,
    "CONCENTRATION_WARN": _REPORT,
    "TARGET_LANGUAGES": _REPORT,
}
"""What each worker may have for itself, and why that does no harm."""
