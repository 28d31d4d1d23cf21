"""The index's server loses the last second of its file under living workers: no text is kept twice all the same."""

import asyncio
import contextlib
import time
from types import SimpleNamespace

import pytest
import redis

from crawler.dedup.index import Match
from crawler.dedup.redis_index import RedisIndex
from crawler.document import Document, DropReason
from crawler.pipelines.base import DROPS
from crawler.pipelines.dedup import ConfirmPipeline
from tests.support.server import lose_power, size_of

DEADLINE = 60.0  # seconds for what must happen sooner or later
TEXT = ("sha256:" + "5" * 64, bytes(range(256)) + bytes(224), 100)
NEARLY = ("sha256:" + "6" * 64, bytes(range(256)) + bytes(223) + b"\1", 100)


def with_workers(server, config, scenario, workers=2, grace=0.0):
    async def run():
        made = [RedisIndex(server.url, config, crawl_id="torn", grace=grace) for _ in range(workers)]
        try:
            for index in made:
                await index.open()
            async with asyncio.timeout(DEADLINE):
                await scenario(*made)
        finally:
            for index in made:
                await index.close()

    asyncio.run(run())


def test_a_forgotten_claim_is_made_again_before_anything_else_is_asked(server, dedup_config):
    async def scenario(one, two):
        before = size_of(server)
        assert await one.check(*TEXT, "http://a.example/") is None
        lose_power(server, before)
        other = ("sha256:" + "7" * 64, bytes(480), 100)
        assert await one.check(*other, "http://a.example/other") is None
        assert (await two.check(*TEXT, "http://mirror.example/")).owner == "http://a.example/"
        assert (await two.check(*NEARLY, "http://near.example/")).owner == "http://a.example/"

    with_workers(server, dedup_config, scenario)


def test_a_worker_that_asks_nothing_makes_its_claims_again_by_itself(server, dedup_config):
    async def scenario(one, two):
        before = size_of(server)
        assert await one.check(*TEXT, "http://a.example/") is None
        lose_power(server, before)
        with contextlib.closing(redis.Redis.from_url(server.url)) as client:
            while not client.exists("{dedup:crawl:torn}:count"):
                await asyncio.sleep(0.01)  # polled: the other side is a task that nobody awaits
        assert (await two.check(*TEXT, "http://mirror.example/")).owner == "http://a.example/"

    with_workers(server, dedup_config, scenario)


def wait_for_the_others(index, documents):
    """Instead of the quiet hour that was asked for: until the index knows so many documents again."""

    async def quiet():
        while index._claims._quiet_until > time.monotonic():
            if int(await index.client.get("{dedup:crawl:torn}:count") or 0) >= documents:
                index._claims.be_quiet(0.0)
            await asyncio.sleep(0.01)  # polled: the other side is a task that nobody awaits

    index._claims._stay_quiet = quiet


def test_nobody_asks_anything_new_before_the_others_had_time_to_repeat_their_claims(server, dedup_config):
    async def scenario(one, two):
        assert await two.check("sha256:" + "8" * 64, b"", 0, "http://two.example/early") is None
        before = size_of(server)
        assert await one.check(*TEXT, "http://a.example/") is None
        wait_for_the_others(two, 2)
        lose_power(server, before)
        # the second worker is the first to notice; the one whose claim is lost finds out by looking
        assert (await two.check(*TEXT, "http://mirror.example/")).owner == "http://a.example/"

    with_workers(server, dedup_config, scenario, grace=3600.0)


def test_a_worker_that_arrives_after_the_restart_leaves_the_others_that_time_too(server, dedup_config):
    async def scenario(one):
        assert await one.check("sha256:" + "8" * 64, b"", 0, "http://a.example/early") is None
        before = size_of(server)
        assert await one.check(*TEXT, "http://a.example/") is None
        lose_power(server, before)
        newcomer = RedisIndex(server.url, dedup_config, crawl_id="torn", grace=3600.0)
        try:
            await newcomer.open()
            wait_for_the_others(newcomer, 2)
            assert (await newcomer.check(*TEXT, "http://mirror.example/")).owner == "http://a.example/"
        finally:
            await newcomer.close()

    with_workers(server, dedup_config, scenario, workers=1)


def test_a_document_whose_claim_went_to_another_is_dropped_before_it_is_committed(server, dedup_config):
    doc = Document(url="http://a.example/", canonical_url="http://a.example/")

    async def scenario(one, two):
        before = size_of(server)
        assert await one.check(*TEXT, "http://a.example/") is None
        lose_power(server, before)
        # one that knows nothing of the restart, as if the first had been cut off from the server for long
        assert await two.check(*TEXT, "http://mirror.example/") is None
        await one.check("sha256:" + "9" * 64, b"", 0, "http://a.example/next")
        with pytest.raises(DROPS["exact"]) as caught:
            await ConfirmPipeline(one).process_item(doc)
        assert caught.value.verdict.reason is DropReason.EXACT_DUPLICATE
        assert doc.dup_of == "http://mirror.example/"
        assert await one.confirm("http://a.example/next") is None

    async def run():
        one, two = (RedisIndex(server.url, dedup_config, crawl_id="torn", grace=0.0) for _ in range(2))
        one._claims._look = lambda: asyncio.sleep(0)  # it does not notice by itself
        try:
            await one.open()
            await two.open()
            await scenario(one, two)
        finally:
            await one.close()
            await two.close()

    asyncio.run(run())


def test_a_claim_that_stands_costs_no_question(server, dedup_config):
    async def scenario(one):
        assert await one.check(*TEXT, "http://a.example/") is None
        with contextlib.closing(redis.Redis.from_url(server.url)) as client:
            before = client.info("commandstats")["cmdstat_evalsha"]["calls"]
            assert await one.confirm("http://a.example/") is None
            assert client.info("commandstats")["cmdstat_evalsha"]["calls"] == before

    with_workers(server, dedup_config, scenario, workers=1)


def test_old_claims_are_forgotten_and_nobody_looks_for_ever(server, dedup_config, monkeypatch):
    from crawler.dedup import claims

    monkeypatch.setattr(claims, "KEPT_SECONDS", 0.0)

    async def scenario(one):
        assert await one.check(*TEXT, "http://a.example/") is None
        while one._claims._looking is not None:
            await asyncio.sleep(0.01)
        assert not one._claims._claims
        assert await one.check(*TEXT, "http://b.example/") == Match("http://a.example/", 1.0, exact=True)

    with_workers(server, dedup_config, scenario, workers=1)


def test_a_restart_that_forgot_nothing_changes_nothing(server, dedup_config):
    async def scenario(one, two):
        assert await one.check(*TEXT, "http://a.example/") is None
        lose_power(server, size_of(server))
        assert await one.check(*TEXT, "http://a.example/") is None
        assert (await two.check(*TEXT, "http://b.example/")).exact
        assert await one.confirm("http://a.example/") is None

    with_workers(server, dedup_config, scenario)


def test_the_step_passes_documents_that_no_index_was_asked_about(dedup_config):
    async def confirm(owner):
        return None

    doc = Document(url="http://a.example/")
    index = SimpleNamespace(confirm=confirm)
    assert asyncio.run(ConfirmPipeline(index).process_item(doc)) is doc
