"""A worker that is killed before it has recorded anything holds up nobody: not its page, not what it was to fetch."""

from __future__ import annotations

import asyncio
import time

from crawler.frontier.adopt import reclaim
from crawler.frontier.client import Frontier
from tests.support.corpus_crawl import finished, start_crawl
from tests.support.serving import Gate, Handler, LoopbackServer, article

LEASE = 3_600


class SlowFile(LoopbackServer):
    """A site of one page whose ai.txt waits at the gate."""

    def __init__(self, gate: Gate) -> None:
        class Answers(Handler):
            def respond(self) -> None:
                if self.path == "/ai.txt":
                    gate.pass_through()
                found = self.path == "/page"
                self.send(200 if found else 404, article("killed") if found else b"")

        super().__init__(Answers)


def test_the_same_command_goes_on_at_once_after_kill_9_in_front_of_the_first_page(tmp_path):
    gate = Gate(0)
    with SlowFile(gate) as web:
        url = f"http://127.0.8.1:{web.port}/page"
        killed = start_crawl(tmp_path / "corpus", [url], web.port, FRONTIER_LEASE_SECONDS=LEASE)
        gate.wait()
        killed.kill()
        killed.communicate()
        gate.open()
        began = time.monotonic()
        again = start_crawl(tmp_path / "corpus", [url], web.port, FRONTIER_LEASE_SECONDS=LEASE)
        done = finished(tmp_path / "corpus", again)
    assert done.returncode == 0, done.log[-3000:]
    assert set(done.kept) == {url}
    assert time.monotonic() - began < LEASE / 4


def test_a_flight_of_a_process_that_is_gone_is_waited_for_no_longer(valkey_url):
    async def run() -> None:
        one, two, three = (Frontier(valkey_url, "gone") for _ in range(3))
        for frontier, bearer in ((one, "aaaaaaaa"), (two, "bbbbbbbb"), (three, "cccccccc")):
            await frontier.open()
            frontier.bearer = bearer

        async def wait(name: str) -> bool:
            async with two.shared.single_flight(name) as first:
                return first

        async with one.shared.single_flight("dead"), three.shared.single_flight("alive"):
            dead, alive = asyncio.ensure_future(wait("dead")), asyncio.ensure_future(wait("alive"))
            await reclaim(two, "aaaaaaaa")
            assert await dead is False
            assert not alive.done()
        assert await alive is False
        for frontier in (one, two, three):
            await frontier.close()

    asyncio.run(run())
