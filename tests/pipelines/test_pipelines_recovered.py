"""What a dead worker had recorded is not asked for again, unless the server may have lost what came of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from crawler.config import from_mapping
from crawler.pipelines.recovered import settle_recovered
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.times import rfc3339
from crawler.urls.link import Link
from tests.support.corpus_folder import Folder, document


@pytest.mark.parametrize(("after_start", "waiting"), [(10.0, 1), (-3600.0 * 24, 2)])
def test_a_page_recorded_since_the_server_started_waits_no_more(tmp_path, frontier_run, after_start, waiting):
    async def scenario(frontier):
        await frontier.put([Link(f"https://example.org/{number}") for number in (1, 2)])
        folder = Folder(tmp_path / "corpus")
        made = folder.opened()
        made.keep(record_of(document(1, crawled_at=rfc3339(frontier.now() + after_start))))
        made.close()
        paths = [entry["path"] for entry in folder.manifest()["files"] if entry["kind"] == "shards"]
        corpus = SimpleNamespace(ended=[], place=Place(str(folder.path)))
        config = from_mapping({"CRAWL_ID": "crawl"})
        await settle_recovered(frontier, config, corpus, [SimpleNamespace(path=path) for path in paths])
        counts = await frontier.counts()
        assert (counts.queued, counts.done) == (waiting, 2 - waiting)

    frontier_run(scenario, delay=0.0)
