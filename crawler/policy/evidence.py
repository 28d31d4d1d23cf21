"""Beside every request: what policy has seen so far, to be copied onto the Document and into the decision record."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.document import Signal


@dataclass(slots=True)
class Evidence:
    """Kept on `request.meta["evidence"]`; the middlewares fill it in flow order.

    robots_status: "allowed", "no_rules", "stale" (allowed by a last good copy), "disallowed", "denied" (401, 403,
        …), "unreachable" or "".
    robots_sha256: hex digest of the robots.txt body that decided; None where there was none.
    robots_fetched_at: RFC 3339 UTC time at which that body was fetched.
    robots_rule: the matched line, such as "line 12: Disallow: /private"; empty where no rule matched.
    signals: every opt-out statement seen, whatever it says.
    redirects: the URLs that led here, oldest first.
    """

    robots_status: str = ""
    robots_sha256: str | None = None
    robots_fetched_at: str | None = None
    robots_rule: str = ""
    signals: list[Signal] = field(default_factory=list)
    redirects: list[str] = field(default_factory=list)
