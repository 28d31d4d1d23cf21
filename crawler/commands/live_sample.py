"""`gristmill diagnose --live`: a small crawl into a folder that vanishes, with the crawl's own code and manners."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawler.config import Config
from crawler.launch import failure_of, misspelt_settings, prepare
from crawler.problems import InputError
from crawler.runtime import load
from crawler.spiders.arguments import read_arguments
from crawler.stages import chain

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.document import Document
    from crawler.observe.diagnose.sources import Sampled

OUTCOMES = (signals.item_scraped, signals.item_dropped, signals.item_error)
_ASIDE = {"ARCHIVE": False, "PROGRESS": "off", "REDIS_URL": None, "DEDUP_REDIS_URL": None, "RECRAWL": False}
"""A sample has a frontier and a duplicate index of its own: it neither joins nor disturbs a crawl that runs."""


def checked(settings: BaseSettings) -> Config:
    """The configuration, with the models and sets it names. Raises: ConfigError, InputError with every problem."""
    config = load(settings)
    problems = [*misspelt_settings(settings), *chain.problems(config)]
    if problems:
        raise InputError(problems)
    return config


def live(
    settings: BaseSettings, process: Any, given: list[str], limit: int, stack: ExitStack
) -> tuple[Sampled, Config]:
    """Crawl until `limit` documents have an outcome, and answer these; what was in flight is finished and left out.

    `stack` removes the folder.

    Raises: InputError where the crawl cannot start, or fetched nothing.
    """
    from crawler.observe.diagnose.sources import Choice, from_corpus

    folder = tempfile.mkdtemp(prefix="diagnose-")
    stack.callback(_remove, folder)
    for name, value in {**_ASIDE, "CORPUS_DIR": folder}.items():
        settings.set(name, value, priority="cmdline")
    arguments = _arguments(given)
    with ExitStack() as server:
        config = prepare(settings, arguments, read_arguments, server)
        crawler = process.create_crawler("corpus")
        first = _stop_after(crawler, limit)
        process.crawl(crawler, **arguments)
        process.start()
        failure = failure_of(crawler.stats.get_stats() if crawler.stats else {}, process.bootstrap_failed)
    if failure:
        raise InputError([failure])
    sampled = from_corpus(folder, Choice(0))
    sampled.records = [record for record in sampled.records if record["url"] in first]
    return sampled, config


def _remove(folder: str) -> None:
    """A server that is ending may still write into it: tried again for five seconds."""
    deadline = time.monotonic() + 5.0
    while Path(folder).exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)


def _arguments(given: list[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in given]
    wrong = [
        f"--live {name}: expected NAME=VALUE, such as url=https://example.org/" for name, sign, _ in pairs if not sign
    ]
    if wrong:
        raise InputError(wrong)
    return {name: value for name, _, value in pairs}


def _stop_after(crawler: Crawler, limit: int) -> set[str]:
    """Close the spider, as SIGTERM would, once so many documents have an outcome; answers their URLs, as they come."""
    first: set[str] = set()

    def count(item: Document, **_: Any) -> None:
        if len(first) == limit:
            return
        first.add(item.url)
        if len(first) == limit and crawler.engine is not None:
            task = asyncio.ensure_future(crawler.engine.close_spider_async(reason="shutdown"))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())

    for signal in OUTCOMES:
        crawler.signals.connect(count, signal, weak=False)
    return first
