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
from crawler.dedup import index as dedup_index
from crawler.dedup.index import Match, SchemeMismatchError, candidate_probability
from crawler.dedup.make import make_index
from crawler.dedup.memory_index import MemoryIndex
from crawler.dedup.redis_index import RedisIndex
from crawler.document import Document, DropReason
from crawler.pipelines.base import DROPS
from crawler.pipelines.dedup import ExactDedupPipeline, NearDedupPipeline
from crawler.server.embedded import EmbeddedServer
from crawler.stages.fingerprint import FingerprintStage, _hashed, _runs
from tests.support.places import PROJECT
from tests.support.server import kill

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


def ask(index, doc, url=None):
    return index.check(doc.doc_id, doc.signature, doc.shingle_count, url or doc.url)


both = pytest.mark.parametrize("kind", ["memory", "valkey"])


@both
def test_the_first_to_ask_owns_a_text_and_others_learn_its_url(kind, valkey_url, dedup_config):
    doc = fingerprint(prose(200, 1), "http://a.example/")

    async def scenario(index):
        assert await ask(index, doc) is None
        assert await ask(index, doc, "http://b.example/") == Match("http://a.example/", 1.0, exact=True)
        assert await ask(index, fingerprint("another text", "http://b.example/")) is None

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_redelivered_page_is_not_a_duplicate_of_itself(kind, valkey_url, dedup_config):
    doc = fingerprint(prose(200, 2), "http://a.example/")

    async def scenario(index):
        for _ in range(3):
            assert await ask(index, doc) is None

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_lightly_edited_mirror_is_a_near_duplicate_with_its_similarity(kind, valkey_url, dedup_config):
    original = fingerprint(prose(600, 3), "http://a.example/")
    mirror = fingerprint(edited(original.text, 200), "http://b.example/")

    async def scenario(index):
        assert await ask(index, original) is None
        match = await ask(index, mirror)
        assert (match.owner, match.exact) == (original.url, False)
        assert 0.85 <= match.similarity < 1.0

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_near_duplicate_owns_nothing_so_its_copies_name_the_page_that_was_kept(kind, valkey_url, dedup_config):
    original = fingerprint(prose(600, 3), "http://a.example/")
    mirror = fingerprint(edited(original.text, 200), "http://b.example/")

    async def scenario(index):
        await ask(index, original)
        first = await ask(index, mirror)
        assert await ask(index, mirror, "http://c.example/") == first == await ask(index, mirror)

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_page_crawled_again_with_small_changes_passes(kind, valkey_url, dedup_config):
    old = fingerprint(prose(600, 4), "http://a.example/")
    new = fingerprint(edited(old.text, 200), old.url)

    async def scenario(index):
        assert await ask(index, old) is None
        assert await ask(index, new) is None
        assert await ask(index, new, "http://b.example/") == Match(old.url, 1.0, exact=True)
        assert await ask(index, old, "http://b.example/") == Match(old.url, 1.0, exact=True)

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_a_page_that_changes_only_its_figures_keeps_its_place(kind, valkey_url, dedup_config):
    """Another exact text with the same signature: the owner gets a second exact claim, nothing else."""
    old = fingerprint(f"{prose(100, 5)} in 1999", "http://a.example/")
    new = fingerprint(f"{prose(100, 5)} in 2026", old.url)

    async def scenario(index):
        assert [await ask(index, doc) for doc in (old, new, old)] == [None, None, None]
        assert await ask(index, new, "http://b.example/") == Match(old.url, 1.0, exact=True)

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_short_texts_are_compared_exactly_only(kind, valkey_url, dedup_config):
    doc = fingerprint(prose(15, 5), "http://a.example/")
    other = fingerprint(f"{doc.text} more", "http://b.example/")
    assert other.shingle_count < dedup_config.min_shingles

    async def scenario(index):
        assert await ask(index, doc) is None
        assert await ask(index, other) is None
        assert await ask(index, doc, other.url) == Match(doc.url, 1.0, exact=True)

    with_index(kind, valkey_url, dedup_config, scenario)


@both
def test_the_most_similar_owner_is_named(kind, valkey_url):
    config = from_mapping({"NEARDUP_THRESHOLD": 0.5}).dedup
    base = prose(400, 6)
    far, close, asked = (fingerprint(edited(base, every), f"http://{every}.example/") for every in (53, 380, 10_000))

    async def scenario(index):
        for doc in (far, close):
            await ask(index, doc)
        return await ask(index, asked)

    strict = dataclasses.replace(config, threshold=1.0)
    match = with_index(kind, valkey_url, config, scenario)
    assert match.owner in {far.url, close.url}
    assert with_index(kind, valkey_url, strict, scenario) is None


@both
def test_what_a_withdrawn_page_owned_is_free_again(kind, valkey_url, dedup_config):
    gone = fingerprint(prose(300, 11), "http://gone.example/")
    mirror = fingerprint(edited(gone.text, 100), "http://mirror.example/")
    stays = fingerprint(prose(300, 12), "http://stays.example/")

    async def scenario(index):
        for doc in (gone, stays, mirror):
            await ask(index, doc)
        assert await index.forget([gone.url, "http://unknown.example/", ""]) == 1
        assert await index.forget([gone.url]) == 0
        assert await ask(index, mirror) is None
        assert await ask(index, gone, "http://copy.example/") == Match(mirror.url, match.similarity, exact=False)
        assert await ask(index, stays, "http://copy.example/") == Match(stays.url, 1.0, exact=True)

    match = with_index(kind, valkey_url, dedup_config, lambda index: first_match(index, mirror, gone))
    with_index(kind, valkey_url, dedup_config, scenario)


async def first_match(index, first, second):
    await ask(index, first)
    return await ask(index, second)


@both
def test_an_index_finds_everything_again_however_it_has_grown(kind, valkey_url, dedup_config):
    """A thousand documents: the tables have been split many times."""
    random_ = random.Random(1)
    texts = [(f"sha256:{random_.randbytes(32).hex()}", random_.randbytes(480)) for _ in range(1000)]

    async def everyone(index, site):
        return await asyncio.gather(*(index.check(*text, 100, f"{site}{text[0][-8:]}") for text in texts))

    async def scenario(index):
        for _ in range(2):
            assert set(await everyone(index, "a:")) == {None}
        assert await everyone(index, "b:") == [Match(f"a:{doc_id[-8:]}", 1.0, exact=True) for doc_id, _ in texts]
        texts[:] = [(f"sha256:{random_.randbytes(32).hex()}", signature) for _, signature in texts]
        assert [match.exact for match in await everyone(index, "c:")] == [False] * len(texts)

    with_index(kind, valkey_url, dedup_config, scenario)


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
    with pytest.raises(SchemeMismatchError) as error:
        asyncio.run(open_with(dataclasses.replace(dedup_config, bands=14, rows=8)))
    said = str(error.value)
    assert "bands: index 20, settings 14; rows: index 6, settings 8" in said
    assert "continue with it by -s NEARDUP_BANDS=20 -s NEARDUP_ROWS=6, or start a new index" in said
    asyncio.run(open_with(dedup_config))  # as it says


def test_an_index_of_other_fingerprints_cannot_be_gone_on_with(dedup_config):
    scheme = dedup_index.Scheme.of(dedup_config)
    stored = dataclasses.replace(scheme, bands=14, fingerprint_version=1).to_json()
    with pytest.raises(SchemeMismatchError) as error:
        scheme.check(stored)
    assert "fingerprint_version: index 1, settings 3" in str(error.value)
    assert "continue with it" not in str(error.value) and "start a new index" in str(error.value)
    assert "gristmill dataset index CORPUS_DIR --id canonical_url" in str(error.value), "its duplicates are found again"


def test_a_server_that_is_not_there_at_the_start_is_an_error_with_the_setting(dedup_config):
    async def run():
        index = RedisIndex("redis://127.0.0.1:1", dedup_config, crawl_id="x")
        try:
            await index.open()
        finally:
            await index.close()

    with pytest.raises(dedup_index.IndexUnavailableError, match="DEDUP_REDIS_URL"):
        asyncio.run(run())


@pytest.mark.parametrize("question", ["eviction_policy", "script_once", "last"])
def test_a_server_that_dies_while_the_index_is_opened_is_that_error_at_whichever_question(
    tmp_path, dedup_config, monkeypatch, question
):
    server = EmbeddedServer(tmp_path)

    def dying(ask):
        async def asked(*args):
            kill(server)
            return await ask(*args)

        return asked

    async def run():
        index = RedisIndex(server.url, dedup_config, crawl_id="x")
        if question == "last":  # of the server's start, once the index is ours
            monkeypatch.setattr(index.client, "info", dying(index.client.info))
            monkeypatch.setattr(index, "_look_at_server", index._server.await_loaded)
        else:
            monkeypatch.setattr(index._server, question, dying(getattr(index._server, question)))
        try:
            await index.open()
        finally:
            await index.close()

    with server, pytest.raises(dedup_index.IndexUnavailableError, match="the duplicate index does not answer"):
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
        assert await ask(index, doc) is None
        server.stop()
        assert (await ask(index, doc, "http://b.example/")).owner == doc.url
        await index.close()

    try:
        asyncio.run(run())
    finally:
        server.stop()
    assert pauses == [0.05, 0.1, 0.2]


def test_a_mistake_of_ours_is_raised_instead_of_waited_for(valkey_url, dedup_config):
    crawl = uuid.uuid4().hex
    with redis.Redis.from_url(valkey_url) as client:
        client.set(f"{{dedup:crawl:{crawl}}}:e:0", "not a hash")

    async def run():
        index = RedisIndex(valkey_url, dedup_config, crawl_id=crawl)
        try:
            await index.check("sha256:" + "0" * 64, b"", 0, "http://a.example/")
        finally:
            await index.close()

    with pytest.raises(redis_errors.ResponseError, match="WRONGTYPE"):
        asyncio.run(run())


def test_every_key_carries_the_hash_tag_of_its_scope_and_other_keys_survive(tmp_path, dedup_config):
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
                verdicts.append(await ask(index, doc))
                await index.close()

        verdicts = []
        with redis.Redis.from_url(url) as client:
            client.set("somebody else's", "value")
            before = set(client.scan_iter())
            asyncio.run(run())
            tags = {key.decode().partition("}")[0] + "}" for key in set(client.scan_iter()) - before}
            assert client.get("somebody else's") == b"value"
            assert before < set(client.scan_iter())
    assert tags == {"{dedup:crawl:one}", "{dedup:crawl:two}", "{dedup:all}"}
    assert verdicts == [None, None, None, Match("http://one.all.example/", 1.0, exact=True)]


@pytest.mark.parametrize("mirrors", [1, 8], ids=["exact copies", "near copies"])
def test_of_eight_processes_that_meet_the_same_thousand_texts_exactly_one_passes_each(valkey_url, mirrors):
    """Near copies end in a word of their own: similarity 0.96."""
    count, crawl = 1000, uuid.uuid4().hex
    stage = FingerprintStage(from_mapping({}).dedup)

    def texts(mirror):
        docs = (stage(Document(url="", text=f"{prose(60, seed)} mirror{'abcdefgh'[mirror]}")) for seed in range(count))
        return json.dumps([(doc.doc_id, doc.signature.hex(), doc.shingle_count) for doc in docs]).encode()

    inputs = [texts(mirror) for mirror in range(mirrors)]
    script = [sys.executable, str(Path(__file__).with_name("insert_worker.py")), valkey_url, crawl]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}

    def run(worker):
        command, given = [*script, str(worker)], inputs[worker % mirrors]
        return subprocess.run(command, input=given, stdout=subprocess.PIPE, env=environment, check=True)

    with ThreadPoolExecutor(8) as threads:
        passed = [number for process in threads.map(run, range(8)) for number in json.loads(process.stdout)]
    assert sorted(passed) == list(range(count))


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
        verdicts = [await ask(index, doc) for doc in docs]
        forgotten = await index.forget([doc.url for doc in docs[::3]])
        again = [await ask(index, doc) for doc in reversed(docs)]
        return verdicts, forgotten, again

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
            shared = [f"{target}/{pair}/{i}" for i in range(common)]
            left = shared + [f"l{target}/{pair}/{i}" for i in range(size - common)]
            right = shared + [f"r{target}/{pair}/{i}" for i in range(size - common)]
            a, b = (dedup_index.band_hashes(stage.signature(_runs(_hashed(s), 1)), scheme) for s in (left, right))
            hits += any(x == y for x, y in zip(a, b, strict=True))
        expected = candidate_probability(jaccard, scheme.bands, scheme.rows)
        error = max(0.01, (expected * (1 - expected) / pairs) ** 0.5)
        assert abs(hits / pairs - expected) < 4 * error, (target, hits / pairs, expected)


def test_the_default_bands_compare_nearly_every_pair_of_a_similarity_of_80_percent(dedup_config):
    assert candidate_probability(0.8, dedup_config.bands, dedup_config.rows) == pytest.approx(0.998, abs=0.001)
    assert candidate_probability(0.8, 14, 8) == pytest.approx(0.924, abs=0.001)
    assert candidate_probability(0.8, 9, 13) == pytest.approx(0.399, abs=0.001)


@both
def test_a_short_text_is_a_near_duplicate_only_where_nearly_nothing_differs(kind, valkey_url, dedup_config):
    """40 words: a scrap at the end is 0.97 similar, another word three before the end 0.85."""
    words = prose(40, 21).split()
    texts = [words, [*words, "scrap"], [*words[:37], "other", *words[38:]]]
    docs = [fingerprint(" ".join(text), f"http://{n}.example/") for n, text in enumerate(texts)]

    async def scenario(index):
        return [await ask(index, doc) is None for doc in docs]

    lenient = dataclasses.replace(dedup_config, short_shingles=0)
    assert with_index(kind, valkey_url, dedup_config, scenario) == [True, False, True]
    assert with_index(kind, valkey_url, lenient, scenario) == [True, False, False]


def test_estimated_similarity_reaches_the_threshold_exactly_where_enough_positions_agree():
    for threshold in (0.5, 0.73, 0.8, 1.0):
        needed = dedup_index.needed_agreement(threshold, 120)
        assert dedup_index.similarity(needed, 120) >= threshold - 1e-9
        assert dedup_index.similarity(needed - 1, 120) < threshold


@pytest.mark.parametrize("doc_id", ["", "sha256:12", "sha256:nonsense"])
def test_a_text_without_its_fingerprint_is_an_error(doc_id, dedup_config):
    with pytest.raises(ValueError):
        dedup_index.Questions(dedup_config).about(doc_id, b"", 0)


def test_a_signature_of_another_length_is_an_error(dedup_config):
    with pytest.raises(ValueError, match="120 positions"):
        dedup_index.band_hashes(b"\0" * 4, dedup_index.Scheme.of(dedup_config))


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
    with pytest.raises(DROPS["exact"]):
        asyncio.run(through(copy))
    with pytest.raises(DROPS["near"]):
        asyncio.run(through(mirror))
    assert (copy.verdict.reason, copy.dup_of, copy.dup_similarity) == (DropReason.EXACT_DUPLICATE, original.url, 1.0)
    assert (mirror.verdict.reason, mirror.dup_of) == (DropReason.NEAR_DUPLICATE, original.url)
    assert 0.8 <= mirror.dup_similarity < 1.0
    assert (original.verdict, original.dup_of) == (None, None)


def test_the_near_step_alone_asks_both_questions():
    index = MemoryIndex(from_mapping({}).dedup)
    near = NearDedupPipeline(index, pytest.fail)
    original = fingerprint(prose(600, 9), "http://a.example/")
    asyncio.run(near.process_item(original))
    for error, text in ((DROPS["exact"], original.text), (DROPS["near"], edited(original.text, 200))):
        with pytest.raises(error):
            asyncio.run(near.process_item(fingerprint(text, "http://b.example/")))


def test_a_server_that_throws_keys_away_is_refused(tmp_path, dedup_config):
    async def run(url):
        index = RedisIndex(url, dedup_config, crawl_id="x")
        await index.client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            await index.open()
        finally:
            await index.close()

    with (
        EmbeddedServer(tmp_path) as url,
        pytest.raises(dedup_index.IndexUnavailableError, match="maxmemory-policy allkeys-lru"),
    ):
        asyncio.run(run(url))
