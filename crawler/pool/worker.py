"""What runs inside a worker process of the stage pool: the chain of stages and the sitemap parser.

This module and all it imports stay free of Scrapy, so that a worker holds the stages' models and nothing else.
"""

from __future__ import annotations

import gc

from crawler.config import Config
from crawler.document import Document
from crawler.seeds.sitemaps import ListReader, Sitemap, parse_sitemap
from crawler.stages.chain import Chain
from crawler.urls.canonicalize import MAX_URL_LENGTH, address

GC_THRESHOLDS = (50_000, 20, 100)
"""Pages make many short-lived objects and few cycles: looking for these every 700 objects costs 5 % of the time."""

_chain: Chain | None = None
_problem = ""


def check() -> str:
    """Why this worker cannot work; empty where it can."""
    return _problem


def start(config: Config) -> None:
    """Build the chain once per process. Models are frozen out of the garbage collector's sight.

    Never raises: a pool whose initialiser fails only says that its workers are gone. `check` tells what was wrong.
    """
    global _chain, _problem  # noqa: PLW0603  # one chain per process is the point of a worker
    try:
        _chain = Chain(config)
    except Exception as error:
        _problem = f"{type(error).__name__}: {error}"
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def run_stages(doc: Document, names: tuple[str, ...]) -> Document:
    """Run the named stages and bring the page's links into canonical form, unique and in page order.

    Of several spellings of one name the name itself counts, then the first.
    """
    assert _chain is not None, "start() runs before the first task"
    doc = _chain.run(doc, names)
    found = [(link, address(link, routes=True)) for link in doc.links]  # no other fragment is left in them
    doc.links_too_long += sum(to is None and len(link) > MAX_URL_LENGTH for link, to in found)
    links: dict[str, int] = {}
    spelled: dict[str, str] = {}
    for (_, to), mark in zip(found, doc.link_marks or bytes(len(found)), strict=True):
        if to is not None:
            links[to.name] = min(mark, links.get(to.name, mark))
            spelled[to.name] = to.found and spelled.get(to.name, to.found)
    doc.links, doc.link_marks = list(links), bytes(links.values())
    doc.link_spellings = {name: url for name, url in spelled.items() if url}
    return doc


def run_sitemap(
    body: bytes, url: str, nesting: int, reader: ListReader | None = None, content_type: str = ""
) -> Sitemap:
    """Parse one sitemap file (`crawler.seeds.sitemaps`), or the list that another reader reads."""
    return (reader.read if reader else parse_sitemap)(body, url, nesting, content_type)
