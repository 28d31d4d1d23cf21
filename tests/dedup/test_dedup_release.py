"""A page that changed, moved or went lets go of its text: alone, with duplicates, and in an index that has grown."""

from __future__ import annotations

import asyncio
import random
import uuid

import pytest

from crawler.dedup.memory_index import MemoryIndex
from crawler.dedup.redis_index import RedisIndex
from crawler.document import Document
from crawler.recrawl.visit import text_digest
from crawler.stages.fingerprint import FingerprintStage

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]
A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


def text(seed: int, words: int = 200) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


@pytest.fixture(params=["memory", "valkey"])
def in_index(request, valkey_url, dedup_config):
    """Runs a scenario on a fresh index of either kind; `ask(text, owner)` answers the owner it was turned away for."""

    def run(scenario):
        async def main():
            index = MemoryIndex(dedup_config)
            if request.param == "valkey":
                index = RedisIndex(valkey_url, dedup_config, crawl_id=uuid.uuid4().hex)
            await index.open()

            async def ask(words: str, owner: str):
                doc = FingerprintStage(dedup_config)(Document(url=owner, canonical_url=owner, text=words))
                match = await index.check(doc.doc_id, doc.signature, doc.shingle_count, owner)
                return doc.doc_id, match.owner if match else None

            try:
                await scenario(index, ask)
            finally:
                await index.close()

        asyncio.run(main())

    return run


def test_a_released_text_belongs_to_whoever_asks_next(in_index):
    async def scenario(index, ask):
        doc_id, _ = await ask(text(1), A)
        assert await index.release(text_digest(doc_id), A) == 0
        assert (await ask(text(1), B))[1] is None
        assert (await ask(text(1), A))[1] == B

    in_index(scenario)


def test_release_says_how_many_pages_were_turned_away_for_the_text(in_index):
    async def scenario(index, ask):
        doc_id, _ = await ask(text(1), A)
        await ask(text(1), B)
        await ask(text(1), C)
        assert await index.release(text_digest(doc_id), A) == 2

    in_index(scenario)


def test_only_the_owner_can_let_go_and_only_once(in_index):
    async def scenario(index, ask):
        doc_id, _ = await ask(text(1), A)
        assert await index.release(text_digest(doc_id), B) is None
        assert (await ask(text(1), C))[1] == A
        assert await index.release(text_digest(doc_id), A) == 1
        assert await index.release(text_digest(doc_id), A) is None
        assert await index.release(b"0123456789", A) is None

    in_index(scenario)


def test_after_a_small_change_the_page_still_owns_what_is_nearly_its_new_text(in_index):
    async def scenario(index, ask):
        old = text(3, 600)
        new = old + " " + text(4, 12)
        doc_id, _ = await ask(old, A)
        await index.release(text_digest(doc_id), A)
        assert (await ask(new, A))[1] is None
        assert (await ask(old, B))[1] == A  # by the new text, of which it is a near duplicate

    in_index(scenario)


def test_releases_find_their_texts_in_an_index_that_has_grown(in_index):
    async def scenario(index, ask):
        ids = [(await ask(text(n, 60), f"http://x.example/{n}"))[0] for n in range(260)]
        for n in range(0, 260, 2):
            assert await index.release(text_digest(ids[n]), f"http://x.example/{n}") == 0
        for n in range(260):
            owner = (await ask(text(n, 60), A))[1]
            assert owner == (None if n % 2 == 0 else f"http://x.example/{n}")

    in_index(scenario)
