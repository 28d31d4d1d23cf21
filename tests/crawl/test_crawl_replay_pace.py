"""A replay keeps its stage processes busy, within bounds, and ends when its last document is recorded."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import aclosing
from types import SimpleNamespace

import pytest

from crawler.spiders.replay import WINDOW, WINDOW_BYTES, ReplaySpider, Step
from crawler.storage.corpus.bookmarks import Bookmark
from tests.support.foreign import Writer, page
from tests.support.places import PROJECT

ENVIRONMENT_PATH = os.pathsep.join([str(PROJECT), *sys.path])
WITHOUT_HEARTBEAT = """
from scrapy.core.engine import ExecutionEngine
ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 3600.0
from scrapy.cmdline import execute
execute()
"""


def test_a_replay_ends_without_waiting_for_scrapys_heartbeat(tmp_path):
    writer = Writer()
    for number in range(3):
        writer.add(f"http://a.test/{number}", page(number))
    writer.save(tmp_path / "three.warc.gz")
    place, corpus = f"archive={tmp_path / 'three.warc.gz'}", f"CORPUS_DIR={tmp_path / 'corpus'}"
    settings = [part for pair in (corpus, "STAGE_WORKERS=0", "PII_PERSON=off") for part in ("-s", pair)]
    command = [sys.executable, "-c", WITHOUT_HEARTBEAT, "crawl", "replay", "-a", place, *settings]
    done = subprocess.run(
        command,
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": ENVIRONMENT_PATH, "SCRAPY_SETTINGS_MODULE": "crawler.settings"},
        timeout=300,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "corpus" / "manifest.json").exists()


def ahead_of_the_first(size: int, workers: int, steps: int) -> int:
    """How many documents are handed to the pool before the first one's turn comes."""
    read = []

    async def planned():
        for number in range(steps):
            read.append(number)
            yield Step(None, "a.warc", Bookmark(number), size)

    async def first_turn():
        spider = ReplaySpider()
        spider.pool = SimpleNamespace(workers=workers)
        spider._steps = planned
        async with aclosing(spider._in_order()) as found:
            await anext(found)

    asyncio.run(first_turn())
    return len(read)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_while_the_first_page_takes_its_time_hundreds_behind_it_are_in_work(workers):
    assert ahead_of_the_first(1_000, workers, 10_000) == WINDOW * workers


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_large_pages_are_fewer_so_that_their_bodies_have_room(workers):
    size = WINDOW_BYTES // 8
    assert ahead_of_the_first(size, workers, 10_000) == 8 * workers + 1


def test_every_document_has_its_turn_in_order():
    async def planned():
        for number in range(WINDOW + 10):
            yield Step(None, "a.warc", Bookmark(number), 1)

    async def all_turns():
        spider = ReplaySpider()
        spider.pool = SimpleNamespace(workers=1)
        spider._steps = planned
        return [step.mark.offset async for step in spider._in_order()]

    assert asyncio.run(all_turns()) == list(range(WINDOW + 10))


WATCHED = """
import pathlib, sys
from crawler.pipelines.sink import Sink
from scrapy.statscollectors import StatsCollector
set_value, verdicts = StatsCollector.set_value, []
def noting(self, key, value, *more):
    set_value(self, key, value, *more)
    if key == "replay/bytes_judged":
        print(value, len(verdicts), file=out)
def taking(method):
    def taken(self, *given):
        verdicts.append(given)
        return method(self, *given)
    return taken
out = pathlib.Path(sys.argv.pop()).open("w", buffering=1)
StatsCollector.set_value, Sink.keep, Sink.reject = noting, taking(Sink.keep), taking(Sink.reject)
from scrapy.cmdline import execute
execute()
"""


def test_bytes_count_as_judged_with_their_verdicts_and_not_while_they_are_read_ahead(tmp_path):
    writer = Writer()
    for number in range(40):
        writer.add(f"http://a.test/{number}", page(number))
    archive, noted = tmp_path / "forty.warc.gz", tmp_path / "judged.txt"
    writer.save(archive)
    pairs = (f"CORPUS_DIR={tmp_path / 'corpus'}", "STAGE_WORKERS=0", "PII_PERSON=off")
    settings = [part for pair in pairs for part in ("-s", pair)]
    subprocess.run(
        [sys.executable, "-c", WATCHED, "crawl", "replay", "-a", f"archive={archive}", *settings, str(noted)],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": ENVIRONMENT_PATH, "SCRAPY_SETTINGS_MODULE": "crawler.settings"},
        timeout=300,
        check=True,
        capture_output=True,
    )
    moments = [tuple(map(int, line.split())) for line in noted.read_text().splitlines()]
    size = archive.stat().st_size
    assert moments == sorted(moments) and moments[0] == (0, 0) and moments[-1] == (size, 40)
    assert all(judged < size * (verdicts + 2) / 40 for judged, verdicts in moments[:-2]), moments
