"""JSON that a page fetches for its own content is kept beside the page, where the allowlist names it (`js_capture`).

It is asked for under the rules of a page: robots.txt, opt-out files and headers hold for its URL.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.document import Capture, Exchange
from crawler.middlewares._meta import evidence_of, header_lines

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

MAX_CAPTURES = 50
"""Of one page."""


@dataclass(slots=True)
class Captures:
    """What is kept of one page, and how much was left out."""

    kept: list[Capture] = field(default_factory=list)
    left_out: int = 0
    _bytes: int = 0

    def add(self, capture: Capture, most: int) -> None:
        """Keep it within `most` bytes of the page; the same address is kept once."""
        if any(known.url == capture.url for known in self.kept):
            return
        if len(self.kept) >= MAX_CAPTURES or self._bytes + len(capture.body) > most:
            self.left_out += 1
            return
        self._bytes += len(capture.body)
        self.kept.append(capture)

    def facts(self) -> dict[str, int]:
        """For the record: how many, where there are any."""
        found = {"captured": len(self.kept), "captures_left_out": self.left_out}
        return {name: count for name, count in found.items() if count}


def capture_of(request: Request, response: Response) -> Capture | None:
    """The capture of an answer; None where it is no whole JSON body."""
    kind = (response.headers.get("Content-Type") or b"").split(b";")[0].strip().lower()
    if response.status != 200 or not kind.endswith(b"json") or "dataloss" in response.flags:
        return None
    evidence = evidence_of(request)
    exchange = Exchange(
        method=request.method,
        url=request.url,
        status=response.status,
        request_headers=header_lines(request.headers),
        response_headers=header_lines(response.headers),
        body=response.body,
        protocol=response.protocol or "HTTP/1.1",
        ip_address=str(response.ip_address) if response.ip_address else None,
        fetched_at=request.meta.get("fetched_at") or time.time(),
        evidence=evidence.dump(),
    )
    return Capture(request.url, response.body, list(evidence.signals), exchange)
