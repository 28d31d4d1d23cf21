"""Names of the counters that people see: one module, so that progress, manifest and report agree.

A name is `area/noun[/reason]`. Scrapy's own counters keep Scrapy's names. A test holds that no other module of the
project spells one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What became of URLs.
KEPT = "outcome/kept"
REJECTED = "outcome/rejected"  # followed by /stage/reason; pages held for a person, too
UNREACHED = "outcome/unreached"  # of the rejected: the host gave nothing to judge
UNREACHED_EXAMPLES = "outcome/unreached_examples"  # a few of them, as sentences
DEADLY = "outcome/deadly"  # of the rejected: the page killed every worker that tried it alone
DEADLY_EXAMPLES = "outcome/deadly_examples"  # a few of them, as sentences
FAILED_BEFORE = "outcome/failed_before"  # the sentence of an earlier run, where this one found nothing to do
FATAL = "outcome/fatal"  # the sentence a crawl died of

# The wire, counted by Scrapy.
REQUESTS = "downloader/request_count"
PAGE_REQUESTS = "downloader/page_request_count"  # of them: for pages and sitemaps, whatever answered; ours
RESPONSES = "downloader/response_count"
RESPONSE_BYTES = "downloader/response_bytes"
RESPONSE_STATUS = "downloader/response_status_count"  # followed by /status
DOWNLOAD_ERRORS = "downloader/exception_type_count"  # followed by /class
LOG_LINES = "log_count"  # followed by /level

# The way out, where EGRESS_PROXIES names one.
EGRESS = "egress"  # followed by /proxy (host:port)/requests, tunnels, failures, unreached or broken_off

# The frontier, as this worker saw it.
SEEDS = "frontier/seeds"
SEEDS_KNOWN = "frontier/seeds_known"  # of those in scope: queued or judged before this run
SEEDS_REFUSED = "frontier/seeds_refused"  # followed by /reason
WAITING = "frontier/waiting"  # URLs that wait when a run was stopped or drained, those under way included
PARKED = "frontier/parked"  # followed by /shape: links that were parked at the end of the run, of the kinds with most
RETRIED = "frontier/retried"  # URLs that an outage had stopped and that this run tried again
GIVEN_UP = "frontier/given_up"  # URLs without a try left at the end of the run
STOPPED_BY_ORDER = "frontier/stopped_by_order"  # 1: at the end of a run the crawl was to pause or to drain
LEFT_ON_HOLD = "frontier/left_on_hold"  # URLs that this run has told to be on hold at its end, for all workers
LIMITED = "frontier/limited"  # the limit of FRONTIER_BUDGET that ended the run, such as kept:500
STANDSTILL = "frontier/standstill"  # a sentence: the crawl is paused or draining
PUT = "frontier/put"  # followed by /status, see `frontier.model.PutStatus`
TRAPPED = "frontier/trapped"  # followed by /kind of trap
CAPPED = "frontier/capped"  # followed by /depth, /pages or /bytes
OUTSIDE = "scope/excluded"  # followed by /reason, see `seeds.scope.AdmissionReason`
LEASED = "frontier/leased"
RESPELLED = "frontier/respelled"  # URLs asked again, as their server spells them or robots.txt allows
LOST = "frontier/lost"  # leases that had expired before their outcome
STALE = "frontier/stale"  # outcomes of leases that were somebody else's by then
ORPHANED = "frontier/orphaned"  # leases that nobody in this worker worked on any more
PUT_AGAIN = "frontier/put_again"  # links put a second time because the server was restarted
SITEMAPS = "sitemap/files"
SITEMAPS_UNCHANGED = "sitemap/unchanged"
UNREAD_SITEMAPS = "sitemap/unread"  # URLs and why, of those that fail the crawl: see `spiders.unread`
MISSED_SITEMAPS = "sitemap/missed"  # those that the summary only tells of
MISSED_SITEMAPS_EXAMPLES = "sitemap/missed_examples"  # a few of them, as sentences
KEYS_REPEATED = "sitemap/keys_repeated"  # answers of a source of JSON that had the key in them
LEFT_OUT = {TRAPPED: "trap", CAPPED: "cap", OUTSIDE: "outside"}
"""Links that were counted only, by what stopped them; each name is followed by /kind."""

# Permission: `policy.counts` says which verdict counts where.
DENIED = "policy/denied"  # followed by /protocol
HELD = "policy/held"  # followed by /reason
BLOCKED = "policy/blocked"  # also followed by /domain

NO_CONTACT_REFUSED = "policy/no_contact"  # requests off this machine that were not made: CRAWLER_CONTACT is not set
NO_CONTACT_HOSTS = "policy/no_contact_hosts"  # some of the hosts

# Second runs and replays.
RECRAWL = "recrawl/"  # followed by due, new, changed, unchanged, gone, moved, decayed, opted_out, refused, withdrawn,
#                       failed, not_sent_bytes, not_parsed, waiting, next_at
RECRAWL_DUE = f"{RECRAWL}due"
RECRAWL_WAITING = f"{RECRAWL}waiting"
RECRAWL_NEXT_AT = f"{RECRAWL}next_at"
REPLAY = "replay/"  # followed by archives, bytes_judged, bytes_total, broken_records, robots_unknown, skipped/…, …
RECORDED_BEFORE = f"{REPLAY}recorded_before"  # captures that the corpus has a record of
UNREAD_ARCHIVES = f"{REPLAY}archives_unread"  # those that could not be read, or not to their end
UNREAD_ARCHIVES_SAID = f"{REPLAY}archives_unread_said"  # a few of them, as sentences
PASSED_OVER = f"{REPLAY}skipped/files"  # of the place: no archives by their names
PASSED_OVER_NAMES = f"{REPLAY}skipped_names"  # a few of them
REPLACING = (
    *(f"{RECRAWL}{noun}" for noun in ("changed", "gone", "moved", "decayed", "opted_out", "refused", "withdrawn")),
    f"{REPLAY}later_versions",
)
"""Runs with one of these may have replaced records of the corpus."""

# Pages that need a browser.
BROWSER_SHELLS = "browser/shells"  # pages that looked like one
BROWSER_USED = "browser/drawn"  # pages that a browser has drawn; followed by /domain: also those where it failed
BROWSER_FAILED = "browser/failed"
BROWSER_MS = "browser/ms"  # milliseconds for which pages were in a browser; two at a time count twice
BROWSER_WAITED = "browser/waited"  # leases given back because too many pages waited for the browser
BROWSER_MISSED = "browser/missed"  # pages that would have been drawn, had there been a browser

# The stages.
STAGES_CPU_MS = "stage/cpu_ms"  # CPU of all stages, milliseconds
STAGES_DOCUMENTS = "stage/parse/documents"
QUARANTINED = "yield/quarantined"  # followed by /domain: yield of its latest pages in ten-thousandths, 0 = over
QUARANTINED_AT = "yield/quarantined_at"  # followed by /domain: when that was said last, ms since the epoch


def egress_of(counters: Mapping[str, Any], what: str) -> dict[str, int]:
    """One figure of every proxy (requests, tunnels, failures, unreached, broken_off) by its host:port, most first."""
    start, end = f"{EGRESS}/", f"/{what}"
    found = {
        name[len(start) : -len(end)]: int(count)
        for name, count in counters.items()
        if name.startswith(start) and name.endswith(end)
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def stage_seconds(stage: str) -> str:
    """CPU seconds of one stage."""
    return f"stage/{stage}/cpu_seconds"


def stage_documents(stage: str) -> str:
    """Documents that one stage has seen."""
    return f"stage/{stage}/documents"


def stages_cpu_ms(counters: Mapping[str, Any]) -> int:
    """CPU of all stages, milliseconds, from the counters of a crawl that still runs."""
    start, end = stage_seconds("\0").split("\0")
    found = (float(seconds) for name, seconds in counters.items() if name.startswith(start) and name.endswith(end))
    return round(1000 * sum(found))


def judged(counters: Mapping[str, Any]) -> int:
    """How many URLs got a verdict, kept or rejected."""
    return int(counters.get(KEPT, 0)) + sum(rejected_by(counters).values())


def left_out(counters: Mapping[str, Any]) -> dict[str, int]:
    """Links that were not taken, by "trap: calendar", "cap: depth", "outside: off_scope", most first."""
    found: dict[str, int] = {}
    for name, count in counters.items():
        area, _, kind = name.rpartition("/")
        if area in LEFT_OUT and count:
            found[f"{LEFT_OUT[area]}: {kind}"] = int(count)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def parked_of(counters: Mapping[str, Any]) -> dict[str, int]:
    """Links that were parked at the end of a run, by shape."""
    start = PARKED + "/"
    return {name.removeprefix(start): int(count) for name, count in counters.items() if name.startswith(start)}


def rejected_by(stats: Mapping[str, Any]) -> dict[str, int]:
    """Rejected documents by "stage/reason", from the counters of a crawl."""
    start = REJECTED + "/"
    return {name.removeprefix(start): int(count) for name, count in stats.items() if name.startswith(start)}
