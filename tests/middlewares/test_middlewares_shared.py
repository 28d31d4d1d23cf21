"""robots.txt shared by workers through the real frontier on a real Valkey."""

from __future__ import annotations

import asyncio

from scrapy.http import Response

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.middlewares.control_files import ControlFiles, FileKind
from crawler.policy.robots import answer as robots_fetch
from crawler.policy.robots import parse as robots
from crawler.policy.robots.answer import Ages, Reading
from crawler.server.embedded import EmbeddedServer
from tests.support.frontier_shorthand import reserve

ROBOTS = FileKind("robots", robots_fetch.read_robots, robots.parse)


class Worker:
    """One worker's scheduler as the robots files see it."""

    def __init__(self, url: str) -> None:
        self.frontier = Frontier(url, "shared", Limits(delay=0.0))
        self.shared = self.frontier.shared
        self.turns: list[str] = []

    async def wait_turn(self, url: str) -> None:
        self.turns.append(url)
        await reserve(self.frontier, url)


def test_workers_share_one_fetch_and_one_record_through_the_frontier(tmp_path):
    asked: list[str] = []

    async def download(request):
        asked.append(request.url)
        await asyncio.sleep(0.2)  # long enough for the other workers to arrive and wait
        return Response(request.url, status=200, body=b"User-agent: *\nDisallow: /x\n")

    async def scenario(url: str):
        workers = [Worker(url) for _ in range(3)]
        for worker in workers:
            await worker.frontier.open()
        files = [ControlFiles(ROBOTS, lambda w=worker: w, download, Ages()) for worker in workers]
        found = await asyncio.gather(*(f.get("https://a.example/robots.txt") for f in files))
        late = await ControlFiles(ROBOTS, lambda: workers[0], download, Ages()).get("https://a.example/robots.txt")
        for worker in workers:
            await worker.frontier.close()
        return [*found, late], sum(len(worker.turns) for worker in workers)

    with EmbeddedServer(tmp_path) as url:
        found, turns = asyncio.run(scenario(url))
    assert asked == ["https://a.example/robots.txt"]
    assert turns == 1
    assert {record.reading for record, _ in found} == {Reading.RULES}
    assert len({record.dump() for record, _ in found}) == 1
    assert not any(parsed.decide("CorpusBot", "/x").allowed for _, parsed in found)
