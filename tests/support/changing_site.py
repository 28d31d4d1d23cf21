"""A site that changes between two crawls, with a server that knows conditional requests; every request is logged."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.serving import HTML, Handler
from tests.support.site import Served


@dataclass
class Page:
    """What one path answers. `etag` and `modified` are sent with every answer and decide about a 304."""

    body: bytes = b""
    status: int = 200
    kind: str = HTML
    etag: str | Callable[[], str] | None = None
    modified: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def is_fresh(self, request: dict[str, str]) -> bool:
        """RFC 9110 section 13.2.2: an entity tag decides where one was sent, else the date."""
        if "If-None-Match" in request:
            opaque = str(self.etag).removeprefix("W/")
            return isinstance(self.etag, str) and request["If-None-Match"].removeprefix("W/") == opaque
        return self.modified is not None and request.get("If-Modified-Since") == self.modified


@dataclass
class Asked:
    """One request as the server saw it, and how it answered."""

    path: str
    status: int
    conditions: dict[str, str]
    sent: int  # bytes of the body


@dataclass
class ChangingSite(Served):
    """`pages` by path; change them between two crawls."""

    pages: dict[str, Page] = field(default_factory=dict)
    log: list[Asked] = field(default_factory=list)

    def serve(self, request: Handler) -> None:
        time.sleep(self.latency)
        page = self.pages.get(request.path, Page(status=404))
        asked = {n: request.headers[n] for n in ("If-None-Match", "If-Modified-Since") if n in request.headers}
        status = 304 if page.status == 200 and page.is_fresh(asked) else page.status
        body = b"" if status == 304 else page.body
        self.log.append(Asked(request.path, status, asked, len(body)))
        if self.gate is not None:
            self.gate.pass_through()
        etag = page.etag() if callable(page.etag) else page.etag
        request.send(status, body, page.kind, {"ETag": etag, "Last-Modified": page.modified, **page.headers})

    def url(self, path: str) -> str:
        return f"{self.base}{path}"

    def take_log(self) -> dict[str, list[Asked]]:
        """The requests since the last call, by path, robots.txt and other control files left out."""
        taken, self.log = self.log, []
        found: dict[str, list[Asked]] = {}
        for asked in taken:
            if asked.path in self.pages:
                found.setdefault(asked.path, []).append(asked)
        return found
