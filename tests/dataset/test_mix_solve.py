"""Every target at once: the solver against a count of all possible mixtures, and a mixture of 10⁵ documents."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crawler.dataset.mix.mixture import UnreachableError, mix
from crawler.dataset.mix.solve import Marginal, Problem, solve
from crawler.dataset.mix.spec import load
from crawler.storage.files.shards import read_lines
from tests.dataset.test_mix import LANGUAGES, MAX_BYTES, OPEN, WORDS, records_in, spec_of, tokens_by, write

pytest.importorskip("pyarrow", reason="pyarrow is optional")
pytest.importorskip("duckdb", reason="duckdb is optional")

CELLS = list(itertools.product(range(2), range(2), range(2)))  # language, tier, capped value
SMALL = st.integers(0, 2)


def problem_of(most: list[int], languages: tuple[int, int], tiers: tuple[int, int], cap: int) -> Problem:
    codes = [np.array([cell[axis] for cell in CELLS]) for axis in range(3)]
    marginals = [Marginal(codes[0], np.array(languages, float)), Marginal(codes[1], np.array(tiers, float))]
    return Problem(np.array(most, float), np.array(most, float), marginals, codes[2], float(cap))


def least_missed(most: list[int], languages: tuple[int, int], tiers: tuple[int, int], cap: int) -> int:
    """Of all mixtures of whole tokens under the cap, the least that one misses the targets by."""
    best = 10**9
    for counts in itertools.product(*(range(n + 1) for n in most)):
        if max(sum(n for n, cell in zip(counts, CELLS, strict=True) if cell[2] == d) for d in range(2)) > cap:
            continue
        sums = [
            sum(n for n, cell in zip(counts, CELLS, strict=True) if cell[axis] == value)
            for axis, value in ((0, 0), (0, 1), (1, 0), (1, 1))
        ]
        best = min(best, sum(abs(a - b) for a, b in zip(sums, (*languages, *tiers), strict=True)))
    return best


@settings(max_examples=60, deadline=None)
@given(
    st.lists(SMALL, min_size=8, max_size=8).filter(any),
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))),
    st.integers(1, 8),
)
def test_the_solver_misses_no_more_than_the_best_of_all_mixtures_and_holds_every_limit(most, wanted, cap):
    budget, first, second = wanted
    languages, tiers = (first, budget - first), (second, budget - second)
    found = solve(problem_of(most, languages, tiers, cap))
    best = least_missed(most, languages, tiers, cap)
    assert found.total_missed <= best + 1e-3  # parts of a token can be better than whole ones, never worse
    if cap >= sum(most):  # without a cap the corners of what is possible are whole numbers
        assert found.total_missed == pytest.approx(best, abs=1e-3)
    if not found.total_missed:
        assert (found.tokens <= np.array(most) + 1e-6).all() and (found.tokens >= 0).all()
        for axis, targets in ((0, languages), (1, tiers)):
            for value in range(2):
                taken = sum(found.tokens[n] for n, cell in enumerate(CELLS) if cell[axis] == value)
                assert taken == pytest.approx(targets[value], abs=1e-4 * budget)
        for value in range(2):
            assert sum(found.tokens[n] for n, cell in enumerate(CELLS) if cell[2] == value) <= cap + 1e-4 * budget


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**20),
    english=st.integers(1, 9),
    cap=st.sampled_from([None, 0.3, 0.6]),
    epochs=st.sampled_from([0.5, 1, 2.5]),
    part=st.floats(0.2, 0.9),
)
@example(seed=4912, english=3, cap=None, epochs=0.5, part=0.75)
@example(seed=0, english=3, cap=0.3, epochs=0.5, part=0.75)
def test_what_is_written_holds_to_an_account_of_its_own(tmp_path_factory, seed, english, cap, epochs, part):
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("small")
    records = [
        {
            "url": f"https://x.example/{n}",
            "domain": f"d{rng.randrange(6)}.example",
            "text": f"text {n}",
            "doc_id": f"{n}",
            "language": rng.choice(["en", "de"]),
            "token_estimate": rng.randint(1, 9),
        }
        for n in range(300)
    ]
    write(folder / "open.jsonl.gz", records)
    budget = int(part * epochs * sum(r["token_estimate"] for r in records))
    content = {"tokens": budget, "seed": seed, "epochs": epochs, "sources": OPEN, "tolerance": 0.02}
    content["targets"] = [{"by": "language", "shares": {"en": english / 10, "de": 1 - english / 10}}]
    spec = load(spec_of(folder, **content, **({"cap": {"share": cap}} if cap else {})))
    there = {name: tokens * epochs for name, tokens in tokens_by(records, "language").items()}
    limit = {name: min(tokens * epochs, (cap or 9) * budget) for name, tokens in tokens_by(records, "domain").items()}
    try:
        mix(spec, folder / "mixed", "jsonl.gz", max_bytes=MAX_BYTES)
    except UnreachableError:
        short = there["en"] < budget * english / 10 or there["de"] < budget * (1 - english / 10)
        assert short or cap or budget * min(english, 10 - english) / 10 < 500
        return
    found = records_in(folder / "mixed")
    uses = Counter(r["url"] for r in found)
    assert max(uses.values()) <= max(1, np.ceil(epochs))
    languages = tokens_by(found, "language")
    assert languages["en"] == pytest.approx(budget * english / 10, rel=0.02)
    assert languages["de"] == pytest.approx(budget * (1 - english / 10), rel=0.02)
    for name, tokens in tokens_by(found, "domain").items():
        is_capped = cap is not None and limit[name] == cap * budget
        assert tokens <= limit[name] + (0 if is_capped else 2 * 9), (
            "a document too many of each of its languages at most"
        )


def test_a_hundred_thousand_documents_in_five_languages_are_within_one_in_a_hundred_of_every_target(tmp_path):
    rng, total = random.Random(3), 0
    texts = [" ".join(rng.choices(WORDS, k=n)) for n in range(5, 60) for _ in range(4)]
    with (tmp_path / "open.jsonl").open("wb") as file:
        for number in range(100_000):
            text = f"{rng.choice(texts)} {number}"
            record = {
                "url": f"https://d.example/{number}",
                "domain": f"d{min(int(rng.paretovariate(0.3)), 50_000)}.example",
                "text": text,
                "doc_id": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
                "language": rng.choices(LANGUAGES, (60, 20, 10, 7, 3))[0],
                "license_tier": rng.choice("AB"),
                "quality_score": rng.random(),
                "token_estimate": -(-len(text) // 4),
            }
            total += record["token_estimate"]
            file.write(orjson.dumps(record) + b"\n")
    shares = {"en": 0.35, "de": 0.25, "fr": 0.2, "es": 0.12, "it": 0.08}
    bands = {"<0.2": 0.05, "0.2-0.6": 0.35, ">=0.6": 0.6}
    content = {
        "tokens": total // 4,
        "cap": {"share": 0.02},
        "sources": {"open": {"files": "open.jsonl"}},
        "targets": [
            {"by": "language", "shares": shares, "epochs": {"it": 2, "fr": 2}},
            {"by": "license_tier", "shares": {"A": 0.7, "B": 0.3}},
            {"by": "quality_score", "bands": [0.2, 0.6], "shares": bands},
        ],
    }
    spec = load(spec_of(tmp_path, **content))
    for out in ("one", "two"):
        mix(spec, tmp_path / out, "jsonl.zst", max_bytes=2**26)
    budget, sums, capped = total // 4, {name: Counter() for name in ("language", "license_tier", "band")}, Counter()
    for path in sorted((tmp_path / "one" / "data").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / "data" / path.name).read_bytes()
        for record in map(orjson.loads, read_lines(path)):
            score = record["quality_score"]
            record["band"] = "<0.2" if score < 0.2 else "0.2-0.6" if score < 0.6 else ">=0.6"
            for name, sums_of in sums.items():
                sums_of[record[name]] += record["token_estimate"]
            capped[record["domain"]] += record["token_estimate"]
    assert max(capped.values()) <= budget * 0.02 and sum(capped.values()) == pytest.approx(budget, rel=0.001)
    for name, wanted in (("language", shares), ("license_tier", {"A": 0.7, "B": 0.3}), ("band", bands)):
        for value, share in wanted.items():
            assert sums[name][value] == pytest.approx(budget * share, rel=0.01)
