"""The step `yields` between the archive and the duplicate index: what was archived first is asked about first."""

from __future__ import annotations

import asyncio

import pytest

from crawler.document import Document
from crawler.pipelines.yields import YieldPipeline
from crawler.quarantine.history import MemoryYields
from crawler.quarantine.rule import Judgement, YieldRule


class Held:
    """A history on a server that answers when it is told to."""

    def __init__(self, rule: YieldRule) -> None:
        self._memory, self.may_answer, self.asked = MemoryYields(rule), asyncio.Event(), asyncio.Event()

    async def see(self, domain: str, url: str, share: float, text: str) -> Judgement:
        """See `YieldHistory`."""
        self.asked.set()
        await self.may_answer.wait()
        return await self._memory.see(domain, url, share, text)


@pytest.mark.parametrize("later", ["plain", "wet", ""])
def test_a_page_that_does_not_count_never_overtakes_one_that_does(later):
    passed: list[str] = []

    async def send(pipeline: YieldPipeline, doc: Document) -> None:
        passed.append((await pipeline.process_item(doc)).url)

    async def main() -> None:
        rule = YieldRule()
        pipeline = YieldPipeline(None, rule)  # type: ignore[arg-type]  # nothing falls, so nothing is reported
        pipeline._history = held = Held(rule)
        first = Document(url="http://a.test/page", domain="a.test", extractor="trafilatura", done=["extraction"])
        second = Document(url="http://a.test/text", domain="a.test", extractor=later, done=["extraction"] * bool(later))
        tasks = [asyncio.create_task(send(pipeline, first))]
        await held.asked.wait()
        tasks.append(asyncio.create_task(send(pipeline, second)))
        for _ in range(10):
            await asyncio.sleep(0)
        assert passed == []
        held.may_answer.set()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert passed == ["http://a.test/page", "http://a.test/text"]
