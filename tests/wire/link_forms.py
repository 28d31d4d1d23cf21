"""How pages and sitemaps lead on: forms of refreshes, frames and sitemaps, and where Chromium went from each.

`links.jsonl` has one form a line: `name`, `kind` (`refresh`, `frame`, `sitemap`), `headers`, `body` (Latin-1, so that
every character is one byte), and `chromium`: of a page the paths that the browser asked for with scripts off; of a
sitemap the URLs of its `loc` elements as its XML parser reads them, `broken` where that parser met an error.
`differs` says why a crawler does otherwise, and `crawler` what it asks for instead.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.loopback_web import Answer, PolicyWeb

FORMS = Path(__file__).with_name("links.jsonl")
KINDS = {"refresh": "text/html; charset=utf-8", "frame": "text/html; charset=utf-8", "sitemap": "application/xml"}


@dataclass(frozen=True)
class LinkForm:
    """One line of the file; its number makes its address."""

    number: int
    said: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.said["name"])

    @property
    def kind(self) -> str:
        return str(self.said["kind"])

    @property
    def address(self) -> str:
        return f"127.42.{self.number // 250}.{self.number % 250 + 1}"

    @property
    def path(self) -> str:
        return str(self.said.get("path", "/dir/page"))

    @property
    def expected(self) -> set[str]:
        """The paths that a crawl has to ask for besides the page itself."""
        chromium = self.said["chromium"]
        return set(self.said.get("crawler", chromium["asked"]))

    def declare(self, web: PolicyWeb) -> str:
        """Have the web serve it; answers its URL."""
        headers = tuple((name, value) for name, value in self.said.get("headers", ()))
        body, kind = self.said["body"].encode("latin-1"), self.said.get("type", KINDS[self.kind])
        robots = Answer(body=b"User-agent: *\nAllow: /\n", content_type="text/plain")
        page = Answer(body=body, headers=headers, content_type=kind)
        return web.site(self.address, {"/robots.txt": robots, self.path: page}) + self.path


def forms(path: Path = FORMS) -> list[LinkForm]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [LinkForm(number, json.loads(line)) for number, line in enumerate(lines)]


def written(said: dict[str, Any]) -> str:
    """A form as a line of the file."""
    return json.dumps(said, ensure_ascii=True)
