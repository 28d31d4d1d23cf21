"""The duplicate index: who owns a text, in memory and in Valkey, alone and among many."""

import asyncio
import dataclasses
import json
import os
import random
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import exceptions as redis_errors

from crawler.config import from_mapping
from crawler.document import Document, DropReason
from crawler.frontier.server import EmbeddedServer
from crawler.pipelines import dedup_index
from crawler.pipelines.base import ExactDuplicateDrop, NearDuplicateDrop
from crawler.pipelines.dedup_exact import ExactDedupPipeline
from crawler.pipelines.dedup_index import MemoryIndex, SchemeMismatchError, candidate_probability, make_index
from crawler.pipelines.dedup_near import NearDedupPipeline
from crawler.pipelines.dedup_redis import RedisIndex
from crawler.stages.fingerprint import FingerprintStage

VOCABULARY = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "lmnrst"]


def prose(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(VOCABULARY, k=words))


def fingerprint(text: str, url: str, config=None) -> Document:
    doc = Document(url=url, canonical_url=url, text=text)
    return FingerprintStage(config or from_mapping({}).dedup)(doc)


def edited(text: str, every: int) -> str:
    return " ".join("changed" if i % every == every // 2 else w for i, w in enumerate(text.split()))


def with_index(kind, url, config, scenario):
    """Run an async scenario on a fresh index."""

    async def run():
        index = MemoryIndex(config) if kind == "memory" else RedisIndex(url, config, crawl_id=uuid.uuid4().hex)
        await index.open()
        try:
            return await scenario(index)
        finally:
            await index.close()

    return asyncio.run(run())


both = pytest.mark.parametrize("kind", ["memory", "valkey"])


@both
def test_the_first_to_ask_owns_a_text_and_others_learn_its_url(kind, valkey_url, dedup_config):
    doc = fingerprint(prose(200, 1), "http://a.example/")

    async def scenario(index):
        assert await index.check_exact(doc.doc_id, "http://a.example/") is None
        assert await index.check_exact(doc.doc_id, "http://b.example/") == "http://a.example/"
        assert await index.check_exact(fingerprint("another text", "x").doc_id, "http://b.example/") is None

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_redelivered_page_is_not_a_duplicate_of_itself(kind, valkey_url, dedup_config):
    doc = fingerprint(prose(200, 2), "http://a.example/")

    async def scenario(index):
        for _ in range(3):
            assert await index.check_exact(doc.doc_id, doc.url) is None
            assert await index.check_near(doc.signature, doc.shingle_count, doc.url) is None

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_lightly_edited_mirror_is_a_near_duplicate_with_its_similarity(kind, valkey_url, dedup_config):
    original = fingerprint(prose(600, 3), "http://a.example/")
    mirror = fingerprint(edited(original.text, 200), "http://b.example/")

    async def scenario(index):
        assert await index.check_near(original.signature, original.shingle_count, original.url) is None
        match = await index.check_near(mirror.signature, mirror.shingle_count, mirror.url)
        assert match.owner == original.url
        assert 0.85 <= match.similarity < 1.0

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_page_crawled_again_with_small_changes_passes(kind, valkey_url, dedup_config):
    old = fingerprint(prose(600, 4), "http://a.example/")
    new = fingerprint(edited(old.text, 200), old.url)

    async def scenario(index):
        assert await index.check_near(old.signature, old.shingle_count, old.url) is None
        assert await index.check_near(new.signature, new.shingle_count, new.url) is None
        copy = await index.check_near(new.signature, new.shingle_count, "http://b.example/")
        assert (copy.owner, copy.similarity) == (old.url, 1.0)

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_short_texts_are_never_near_duplicates(kind, valkey_url, dedup_config):
    doc = fingerprint(prose(15, 5), "http://a.example/")
    assert doc.shingle_count < dedup_config.min_shingles

    async def scenario(index):
        for url in ("http://a.example/", "http://b.example/"):
            assert await index.check_near(doc.signature, doc.shingle_count, url) is None

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_the_most_similar_owner_is_named(kind, valkey_url):
    config = from_mapping({"NEARDUP_THRESHOLD": 0.5}).dedup
    base = prose(400, 6)
    far, close, asked = (fingerprint(edited(base, every), f"http://{every}.example/") for every in (53, 380, 10_000))

    async def scenario(index):
        for doc in (far, close):
            await index.check_near(doc.signature, doc.shingle_count, doc.url)
        return await index.check_near(asked.signature, asked.shingle_count, asked.url)

    strict = dataclasses.replace(config, threshold=1.0)
    match = with_index(kind, valkey_url, config, scenario)
    assert match.owner in {far.url, close.url}
    assert with_index(kind, valkey_url, strict, scenario) is None


def test_an_index_made_with_other_parameters_is_refused_with_an_explanation(valkey_url, dedup_config):
    crawl = uuid.uuid4().hex

    async def open_with(config):
        index = RedisIndex(valkey_url, config, crawl_id=crawl)
        try:
            await index.open()
        finally:
            await index.close()

    asyncio.run(open_with(dedup_config))
    asyncio.run(open_with(dedup_config))
    with pytest.raises(SchemeMismatchError, match=r"bands: the index has 14, you ask for 20.*NEARDUP_BANDS"):
        asyncio.run(open_with(dataclasses.replace(dedup_config, bands=20)))


def test_a_server_that_is_not_there_at_the_start_is_an_error_with_the_setting(dedup_config):
    async def run():
        index = RedisIndex("redis://127.0.0.1:1", dedup_config, crawl_id="x")
        try:
            await index.open()
        finally:
            await index.close()

    with pytest.raises(dedup_index.IndexUnavailableError, match="DEDUP_REDIS_URL"):
        asyncio.run(run())


def test_a_question_waits_while_the_server_is_away_and_is_answered_when_it_is_back(tmp_path, dedup_config):
    doc = fingerprint(prose(100, 7), "http://a.example/")
    server, pauses = EmbeddedServer(tmp_path), []

    async def run():
        async def sleep(seconds):
            pauses.append(seconds)
            if len(pauses) == 3:
                await asyncio.to_thread(server.start)

        index = RedisIndex(server.start(), dedup_config, crawl_id="x", sleep=sleep)
        await index.open()
        assert await index.check_exact(doc.doc_id, doc.url) is None
        server.stop()
        assert await index.check_exact(doc.doc_id, "http://b.example/") == doc.url
        await index.close()

    try:
        asyncio.run(run())
    finally:
        server.stop()
    assert pauses == [0.05, 0.1, 0.2]


def test_a_mistake_of_ours_is_raised_instead_of_waited_for(valkey_url, dedup_config):
    crawl = uuid.uuid4().hex
    with redis.Redis.from_url(valkey_url) as client:
        for bucket in range(2**dedup_config.bucket_bits):
            client.set(f"{{dedup:crawl:{crawl}}}:e:{bucket:x}", "not a hash")

    async def run():
        index = RedisIndex(valkey_url, dedup_config, crawl_id=crawl)
        try:
            await index.check_exact("sha256:" + "0" * 64, "http://a.example/")
        finally:
            await index.close()

    with pytest.raises(redis_errors.ResponseError, match="WRONGTYPE"):
        asyncio.run(run())


def test_every_key_carries_the_hash_tag_of_its_scope(tmp_path, dedup_config):
    with EmbeddedServer(tmp_path) as url:
        everywhere = dataclasses.replace(dedup_config, scope="all")

        async def run():
            for config, crawl in (
                (dedup_config, "one"),
                (dedup_config, "two"),
                (everywhere, "one"),
                (everywhere, "two"),
            ):
                index = RedisIndex(url, config, crawl_id=crawl)
                await index.open()
                doc = fingerprint(prose(100, 8), f"http://{crawl}.{config.scope}.example/")
                verdicts.append(await index.check_exact(doc.doc_id, doc.url))
                await index.check_near(doc.signature, doc.shingle_count, doc.url)
                await index.close()

        verdicts = []
        asyncio.run(run())
        with redis.Redis.from_url(url) as client:
            tags = {key.decode().partition("}")[0] + "}" for key in client.scan_iter("{*")}
    assert tags == {"{dedup:crawl:one}", "{dedup:crawl:two}", "{dedup:all}"}
    assert verdicts == [None, None, None, "http://one.all.example/"]


def test_of_eight_processes_that_meet_the_same_thousand_texts_exactly_one_passes_each(valkey_url):
    count, crawl = 1000, uuid.uuid4().hex
    docs = [fingerprint(prose(60, seed), "") for seed in range(count)]
    texts = json.dumps([(doc.doc_id, doc.signature.hex(), doc.shingle_count) for doc in docs]).encode()
    script = [sys.executable, str(Path(__file__).with_name("insert_worker.py")), valkey_url, crawl]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}

    def run(worker):
        return subprocess.run([*script, str(worker)], input=texts, stdout=subprocess.PIPE, env=environment, check=True)

    with ThreadPoolExecutor(8) as threads:
        results = [row for process in threads.map(run, range(8)) for row in json.loads(process.stdout)]
    exact, near = [0] * count, [0] * count
    for number, exact_passed, near_passed in results:
        exact[number] += exact_passed
        near[number] += near_passed
    assert len(results) == 8 * count
    assert exact == [1] * count
    assert near == [1] * count


@settings(deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([7, 23, 61, 151, 10_000]), st.integers(0, 4)),
        min_size=1,
        max_size=25,
    ),
    st.sampled_from([0.5, 0.65, 0.8, 0.95]),
)
def test_memory_and_valkey_give_the_same_verdicts(valkey_url, pages, threshold):
    config = from_mapping({"NEARDUP_THRESHOLD": threshold}).dedup
    docs = [
        fingerprint(edited(prose(120, seed), every), f"http://{site}.example/{seed}") for seed, every, site in pages
    ]

    async def scenario(index):
        return [
            (
                await index.check_exact(doc.doc_id, doc.url),
                await index.check_near(doc.signature, doc.shingle_count, doc.url),
            )
            for doc in docs
        ]

    assert with_index("memory", None, config, scenario) == with_index("valkey", valkey_url, config, scenario)


def test_pairs_become_candidates_as_often_as_the_s_curve_says(dedup_config):
    """Sets of known similarity: |A ∩ B| / |A ∪ B| = s exactly, 150 pairs each; four standard errors are allowed."""
    pairs, size = 150, 200
    stage = FingerprintStage(dedup_config)
    scheme = dedup_index.Scheme.of(dedup_config)
    for target in (0.5, 0.7, 0.8, 0.9):
        common = round(2 * size * target / (1 + target))
        jaccard = common / (2 * size - common)
        hits = 0
        for pair in range(pairs):
            shared = [f"{target}/{pair}/{i}".encode() for i in range(common)]
            left = shared + [f"l{target}/{pair}/{i}".encode() for i in range(size - common)]
            right = shared + [f"r{target}/{pair}/{i}".encode() for i in range(size - common)]
            a, b = (dedup_index.question(stage._signature(s), scheme) for s in (left, right))
            hits += any(x == y for x, y in zip(a.bands, b.bands, strict=True))
        expected = candidate_probability(jaccard, scheme.bands, scheme.rows)
        error = max(0.01, (expected * (1 - expected) / pairs) ** 0.5)
        assert abs(hits / pairs - expected) < 4 * error, (target, hits / pairs, expected)


def test_the_default_bands_find_nine_of_ten_pairs_at_the_default_threshold(dedup_config):
    found = candidate_probability(dedup_config.threshold, dedup_config.bands, dedup_config.rows)
    assert found == pytest.approx(0.924, abs=0.001)
    assert candidate_probability(0.8, 9, 13) == pytest.approx(0.399, abs=0.001)


def test_estimated_similarity_reaches_the_threshold_exactly_where_enough_positions_agree():
    for threshold in (0.5, 0.77, 0.8, 1.0):
        needed = dedup_index.needed_agreement(threshold, 112)
        assert dedup_index.similarity(needed, 112) >= threshold - 1e-9
        assert dedup_index.similarity(needed - 1, 112) < threshold


def test_a_signature_of_another_length_is_an_error(dedup_config):
    with pytest.raises(ValueError, match="112 positions"):
        dedup_index.question(b"\0" * 4, dedup_index.Scheme.of(dedup_config))


def test_the_configuration_chooses_the_index():
    assert isinstance(make_index(from_mapping({})), MemoryIndex)
    assert isinstance(make_index(from_mapping({"REDIS_URL": "redis://127.0.0.1:1"})), RedisIndex)
    assert isinstance(make_index(from_mapping({"DEDUP_REDIS_URL": "redis://127.0.0.1:1"})), RedisIndex)


def test_the_adapters_drop_a_copy_with_its_owner_and_let_the_owner_pass():
    index = MemoryIndex(from_mapping({}).dedup)
    exact, near = ExactDedupPipeline(index, pytest.fail), NearDedupPipeline(index, pytest.fail)
    original = fingerprint(prose(600, 9), "http://a.example/")
    copy = fingerprint(original.text, "http://b.example/")
    mirror = fingerprint(edited(original.text, 200), "http://c.example/")

    async def through(doc):
        return await near.process_item(await exact.process_item(doc))

    assert asyncio.run(through(original)) is original
    with pytest.raises(ExactDuplicateDrop):
        asyncio.run(through(copy))
    with pytest.raises(NearDuplicateDrop):
        asyncio.run(through(mirror))
    assert (copy.verdict.reason, copy.dup_of, copy.dup_similarity) == (DropReason.EXACT_DUPLICATE, original.url, 1.0)
    assert (mirror.verdict.reason, mirror.dup_of) == (DropReason.NEAR_DUPLICATE, original.url)
    assert 0.8 <= mirror.dup_similarity < 1.0
    assert (original.verdict, original.dup_of) == (None, None)
