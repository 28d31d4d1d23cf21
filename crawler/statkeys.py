"""Names of the counters that people see: one module, so that progress, manifest and report agree.

A name is `area/noun[/reason]`. Scrapy's own counters keep Scrapy's names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEPT = "outcome/kept"
REJECTED = "outcome/rejected"  # followed by /stage/reason
RESPONSES = "downloader/response_count"
RESPONSE_BYTES = "downloader/response_bytes"
REQUESTS = "downloader/request_count"
UNREAD_SITEMAPS = "sitemap/unread"  # URLs and why, of those given by -a sitemap=
REPLAY = "replay/"  # followed by records, bytes_read, bytes_total, broken_records, robots_unknown, skipped/…, …
RECRAWL = "recrawl/"  # followed by due, new, changed, unchanged, gone, moved, decayed, failed, not_sent_bytes,
#                       not_parsed, waiting, next_at
STAGES_CPU_MS = "stage/cpu_ms"  # CPU of all stages, milliseconds
STAGES_DOCUMENTS = "stage/parse/documents"
QUARANTINED = (
    "yield/quarantined"  # followed by /domain: mean yield of its latest pages in ten-thousandths, 0 = released
)
LEFT_OUT = {"frontier/trapped": "trap", "frontier/capped": "cap", "scope/excluded": "outside"}
"""Links that were counted only, by what stopped them; each name is followed by /kind."""


def left_out(counters: Mapping[str, Any]) -> dict[str, int]:
    """Links that were not taken, by "trap: calendar", "cap: depth", "outside: off_scope", most first."""
    found: dict[str, int] = {}
    for name, count in counters.items():
        area, _, kind = name.rpartition("/")
        if area in LEFT_OUT and count:
            found[f"{LEFT_OUT[area]}: {kind}"] = int(count)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def rejected_by(stats: Mapping[str, Any]) -> dict[str, int]:
    """Rejected documents by "stage/reason", from the counters of a crawl."""
    start = REJECTED + "/"
    return {name.removeprefix(start): int(count) for name, count in stats.items() if name.startswith(start)}
