"""The step `yields` between the archive and the duplicate index: what was archived first is asked about first."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from crawler.document import Document, Drop, DropReason
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


@pytest.mark.parametrize("already", [None, Drop("pii", DropReason.HELD_PII, "words on pay")])
def test_a_page_that_waits_for_another_reason_is_not_released_with_its_domain(already):
    async def main() -> Document:
        rule = YieldRule(pages=3, window=2)
        stats = MemoryStatsCollector(SimpleNamespace(settings=Settings()))  # type: ignore[arg-type]
        pipeline = YieldPipeline(SimpleNamespace(stats=stats), rule)  # type: ignore[arg-type]
        pipeline._history = MemoryYields(rule)
        texts = [chr(97 + n) * 900 for n in range(6)] + ["please accept what we do with you"] * 4
        for n, text in enumerate(texts):
            doc = Document(url=f"http://a.test/p/{'word' * (n + 1)}", domain="a.test", text=text, char_count=len(text))
            doc.extractor, doc.done, doc.extraction_yield, doc.hold = "learned", ["extraction"], 0.4, already
            await pipeline.process_item(doc)
        return doc

    assert asyncio.run(main()).hold.reason == (already.reason if already else DropReason.HELD_YIELD)
