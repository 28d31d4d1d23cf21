"""The rounds give every document the verdict, the owner and the similarity that the index gives, whatever the order."""

from __future__ import annotations

import asyncio
import random

import pytest

from bench.scale import documents
from bench.scale.documents import Made
from crawler.config import DedupConfig, from_mapping
from crawler.dataset.records.database import connect, fill
from crawler.dedup.index import DedupError, Questions, similarity
from crawler.dedup.memory_index import MemoryIndex
from crawler.dedup.rounds import TEXTS, bucket_keys, find_gone
from crawler.dedup.rounds_duckdb import DuckTables

pytest.importorskip("duckdb", reason="duckdb is optional")
CONFIG = from_mapping({}).dedup

Verdict = tuple[str, float, bool]


def as_the_index(made: list[Made], config: DedupConfig = CONFIG) -> dict[int, Verdict]:
    """Verdicts of the index, by place."""

    async def ask() -> dict[int, Verdict]:
        index, found = MemoryIndex(config), {}
        for place, each in enumerate(made):
            if (match := await index.check(*each)) is not None:
                found[place] = (match.owner, match.similarity, match.exact)
        return found

    return asyncio.run(ask())


def in_rounds(tmp_path, made, config=CONFIG, *, block=50, band_bits=32, memory="1GB", seen=None) -> dict[int, Verdict]:
    """Verdicts of the rounds, by place."""
    questions = Questions(config, band_bits=band_bits)

    def rows():
        for place, each in enumerate(made):
            asked = questions.about(*each[:3])
            keys = bucket_keys(asked.bands, band_bits=band_bits)
            yield 7 * place - 100, each.owner, asked.digest, asked.signature, keys, asked.needed

    with connect(tmp_path / "rounds.duckdb", tmp_path / "spill", memory=memory, threads=1) as database:
        fill(database, "texts", TEXTS, rows())
        find_gone(DuckTables(database), block=block, progress=(seen if seen is not None else []).append)
        answer = database.execute("SELECT ord, owned_by, exact, agreeing FROM gone").fetchall()
    width = questions.scheme.permutations
    (tmp_path / "rounds.duckdb").unlink()
    return {
        (number + 100) // 7: (made[(by + 100) // 7].owner, 1.0 if exact else similarity(agreeing, width), exact)
        for number, by, exact, agreeing in answer
    }


@pytest.mark.parametrize("seed", range(6))
def test_made_documents_of_every_kind_get_the_verdicts_of_the_index(tmp_path, seed):
    made = documents.mixed(3_000, seed)
    expected = as_the_index(made)
    assert in_rounds(tmp_path, made) == expected
    assert 500 < len(expected) < 2_500 and {exact for *_, exact in expected.values()} == {True, False}


@pytest.mark.parametrize("block", [1, 7, 10_000])
def test_whatever_the_order_and_the_block_the_verdicts_are_those_of_the_index(tmp_path, block):
    made = documents.mixed(400, 3)
    random.Random(block).shuffle(made)
    assert in_rounds(tmp_path, made, block=block) == as_the_index(made)


def few(seed: int) -> list[Made]:
    """Dense: six owners and four texts, each of them many times, alike, with and without the same digest."""
    rng = random.Random(seed)
    bases = documents.chain(4, seed)
    found = []
    for _ in range(rng.randint(2, 40)):
        base = rng.choice(bases)
        words = bytearray(base.signature)
        for _ in range(rng.choice([0, 0, 1, 10, 40])):
            words[4 * rng.randrange(120) + rng.randrange(4)] = rng.randrange(256)
        doc_id = f"sha256:{seed:04x}{rng.randrange(rng.choice([12, 10**9])):016x}{0:044x}"
        shingles = rng.choice([500, 500, 500, 30, 5])
        found.append(Made(doc_id, bytes(words), shingles, f"https://h{seed}.example/{rng.randrange(6)}"))
    return found


@pytest.mark.parametrize("block", [1, 300])
def test_a_few_pages_that_repeat_each_other_in_every_way_get_the_verdicts_of_the_index(tmp_path, block):
    made = [each for seed in range(250) for each in few(seed)]
    expected = as_the_index(made)
    assert in_rounds(tmp_path, made, block=block) == expected
    assert {exact for *_, exact in expected.values()} == {True, False}


def test_a_chain_in_which_each_text_is_like_the_one_before_ends_in_a_bounded_number_of_rounds(tmp_path):
    made, seen = documents.chain(2_000), list[int]()
    assert in_rounds(tmp_path, made, block=500, seen=seen) == as_the_index(made)
    assert len(seen) < 15


def test_pages_of_one_template_are_compared_with_their_first_only(tmp_path):
    made, seen = documents.template(3_000), list[int]()
    found = in_rounds(tmp_path, made, block=10, seen=seen)
    assert found == as_the_index(made) and len(found) > 2_600
    assert len(seen) < 10


def test_bands_of_64_bits_give_the_verdicts_of_32_where_no_two_values_meet_by_chance(tmp_path):
    made = documents.mixed(1_500, 11)
    assert in_rounds(tmp_path, made, band_bits=64) == in_rounds(tmp_path, made)


def test_bands_of_another_shape_are_those_of_the_index_too(tmp_path):
    other = from_mapping({"NEARDUP_BANDS": 9, "NEARDUP_ROWS": 4, "NEARDUP_THRESHOLD": 0.6}).dedup
    made = documents.mixed(1_000, 2, width=36)
    assert in_rounds(tmp_path, made, other) == as_the_index(made, other)


def test_nothing_and_texts_that_share_nothing_have_no_duplicates(tmp_path):
    alone = [documents.chain(1, seed)[0] for seed in range(5)]
    assert in_rounds(tmp_path, []) == {} == in_rounds(tmp_path, alone)


def test_an_order_that_is_there_twice_is_refused(tmp_path):
    ((doc_id, signature, shingles, owner),) = documents.chain(1)
    asked = Questions(CONFIG).about(doc_id, signature, shingles)
    row = (1, owner, asked.digest, asked.signature, bucket_keys(asked.bands), asked.needed)
    with connect(None, tmp_path) as database:
        fill(database, "texts", TEXTS, [row, row])
        with pytest.raises(DedupError, match="has an order twice"):
            find_gone(DuckTables(database))
