"""A process of its own for `test_text_twice.py`: all stages over known pages, the records on standard output.

Warnings are errors (`-W error`), and nothing can be connected to.
"""

from __future__ import annotations

import socket
import sys

from demo.pages import load_web
from demo.render import Web, page_html


class NetworkUsedError(AssertionError):
    """A stage wanted to connect somewhere."""


def refuse(*_: object) -> None:
    raise NetworkUsedError("a stage opened a connection")


def pages() -> list[tuple[str, bytes]]:
    """The pages of the demo web (our own), and some that no site should have."""
    sites = load_web()
    web = Web(sites, {name: f"https://{name}.test" for name in sites})
    found = [(web.url(page.path, page.site), page_html(web, page).encode()) for page in web.pages()]
    odd = [
        b"",
        b"<p>unclosed <b>bold <i>both </b> text</i>" * 40,
        b"<table>" + b"<tr><td>cell<td>cell" * 60,
        "<p>Straße, naïve, Ελληνικά, 中文，日本語。</p>".encode() * 30,
        b"<html><body>" + b"<ul><li>item " * 100,
        b"\xff\xfe\x00bad bytes" * 50,
    ]
    return found + [(f"https://odd.test/{number}", body) for number, body in enumerate(odd)]


def main() -> None:
    from crawler.config import from_mapping
    from crawler.document import Document
    from crawler.stages.chain import Chain
    from crawler.storage.files.records import encode, record_of, rejection_of

    config = from_mapping({"WORKER_ID": "w1"})
    chain = Chain(config, clock=lambda: 0.0)
    socket.socket.connect = refuse  # type: ignore[method-assign,assignment]
    for url, body in pages():
        doc = Document(
            url=url, canonical_url=url, html=body, content_type="text/html", crawled_at="2026-01-01T00:00:00Z"
        )
        done = chain.run(doc)
        record = record_of(done) if done.verdict is None else rejection_of(done, done.verdict)
        sys.stdout.buffer.write(encode(record))


if __name__ == "__main__":
    main()
