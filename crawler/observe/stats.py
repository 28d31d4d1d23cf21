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
RECRAWL = "recrawl/"  # followed by due, new, changed, unchanged, gone, failed, not_sent_bytes, waiting, next_at


def rejected_by(stats: Mapping[str, Any]) -> dict[str, int]:
    """Rejected documents by "stage/reason", from the counters of a crawl."""
    start = REJECTED + "/"
    return {name.removeprefix(start): int(count) for name, count in stats.items() if name.startswith(start)}
