"""`gristmill fetch URL`: a page as the crawl would get it, on standard output. Keeps nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.http import TextResponse

from crawler.commands.single_page import PageCommand
from crawler.observe.plain import write_bytes
from crawler.operations.answer import Answer, Fields

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.http.headers import Headers


class Command(PageCommand, ScrapyCommand):
    """In the place of Scrapy's own, which would start a crawl with frontier and corpus."""

    example = "fetch https://example.org/ --contact https://example.org/bot"
    fields: ClassVar[Fields] = {
        "url": ("string", "address of the answer, redirects followed"),
        "status": ("integer", "HTTP status"),
        "sent": ("list of list", "name and value of each header of the request"),
        "headers": ("list of list", "name and value of each header of the answer"),
        "bytes": ("integer", "length of the body, decompressed"),
        "text": ("string or null", "the body decoded as a browser would; null: it is not text"),
    }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --headers, and what every such command has."""
        parser.add_argument("--headers", action="store_true", help="the headers of request and response, not the body")
        super().declare(parser)

    def show(self, response: Response, opts: argparse.Namespace) -> Answer:
        """Bytes as they came, decompressed."""
        assert response.request is not None
        sent, headers = _pairs(response.request.headers), _pairs(response.headers)
        facts = {
            "url": response.url,
            "status": response.status,
            "sent": sent,
            "headers": headers,
            "bytes": len(response.body),
            "text": response.text if isinstance(response, TextResponse) else None,
        }
        if not opts.headers:
            return Answer(facts, lambda: write_bytes(response.body + b"\n"))
        rows = [f"{sign} {name}: {value}\n" for sign, part in ((">", sent), ("<", headers)) for name, value in part]
        return Answer(facts, lambda: write_bytes("".join(rows).encode("latin-1")))


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values]
