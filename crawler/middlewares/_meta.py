"""The middlewares share what a request is and the evidence that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.policy.evidence import Evidence
from crawler.scheduler.in_flight import SUBRESOURCE

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

__all__ = ["CONTROL_FILE", "DATA", "SUBRESOURCE", "answers_condition", "evidence_of", "header_lines", "is_control_file",
           "is_image", "is_page", "obeys_opt_outs"]  # fmt: skip

CONTROL_FILE = "control_file"
"""Key in `request.meta`: the request fetches robots.txt or another control file, so page rules do not apply to it."""
DATA = "data"
"""Key in `request.meta`, beside SUBRESOURCE: what comes back may become the text of its page, so opt-outs hold, too."""


def is_control_file(request: Request) -> bool:
    """True for robots.txt and the like, and for what a page in the browser loads: no page, and no sitemap."""
    return bool(request.meta.get(CONTROL_FILE) or request.meta.get(SUBRESOURCE))


def is_page(request: Request) -> bool:
    """True where the response is meant for the corpus: neither a control file nor a sitemap."""
    return not is_control_file(request) and getattr(request.meta.get("lease"), "kind", "page") == "page"


def is_image(request: Request) -> bool:
    """True for an image of a page: its bytes are kept, and nothing in it could lift what its host's files refuse."""
    return not is_control_file(request) and getattr(request.meta.get("lease"), "kind", "page") == "image"


def is_sitemap(request: Request) -> bool:
    """True for a list of pages, which unpacks itself."""
    return getattr(request.meta.get("lease"), "kind", "page") == "sitemap"


def obeys_opt_outs(request: Request) -> bool:
    """True where what comes back may be kept: a page, an image, or data that a page draws its text from."""
    return is_page(request) or is_image(request) or bool(request.meta.get(DATA))


def answers_condition(request: Request, response: Response) -> bool:
    """True for a 304 to a request that asked for one."""
    return response.status == 304 and ("If-None-Match" in request.headers or "If-Modified-Since" in request.headers)


def evidence_of(request: Request) -> Evidence:
    """The request's evidence; made on first use, with the redirects its lease knows."""
    evidence = request.meta.get("evidence")
    if not isinstance(evidence, Evidence):
        evidence = Evidence(redirects=list(getattr(request.meta.get("lease"), "redirects", ())))
        request.meta["evidence"] = evidence
    return evidence


def header_lines(headers: dict[bytes, list[bytes]]) -> list[tuple[bytes, bytes]]:
    """Scrapy's headers as lines, in order.

    Read as the dict they are: Scrapy's own `items` normalises every name once more.
    """
    return [(name, value) for name, values in dict.items(headers) for value in values or ()]
