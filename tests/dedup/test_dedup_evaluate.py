"""Tuning on labelled pairs: the figures are those of the index, and what is recommended is the best that was tried."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from functools import cache

import pytest

from bench.quality.dedup_pairs import EDITS, edited
from bench.web.prose import prose
from crawler.config import DedupConfig
from crawler.dedup.evaluate import (
    THRESHOLDS,
    TRIED,
    LabelledPair,
    Outcome,
    PairsError,
    best_of,
    evaluate,
    read_pairs,
    report,
)
from crawler.dedup.memory_index import MemoryIndex
from crawler.document import Document
from crawler.stages.fingerprint import FingerprintStage


@cache
def pairs() -> tuple[LabelledPair, ...]:
    """Our own prose, edited to 0.5 (no duplicate) and 0.85 (one); a few short, a few of the same text."""
    found = []
    for n in range(24):
        words, other = (" ".join(prose(seed, words=300)).split() for seed in (n, n + 1000))
        for target, duplicate in ((0.5, False), (0.7, n % 2 == 0), (0.85, True)):
            made = edited(words, other, target, EDITS[n % 3], n, 5)
            if made:
                found.append(LabelledPair(" ".join(words), made[0], duplicate))
    same = " ".join(prose("same", words=200))
    short = " ".join(same.split()[:40])
    found += [LabelledPair(same, same.upper(), True), LabelledPair(short, short + " more", True)]
    changed = [
        *short.split()[:18],
        "other",
        *short.split()[19:],
    ]  # J = 31/41: near for a long text, not for a short one
    found.append(LabelledPair(short, " ".join(changed), False))
    return (*found, LabelledPair("only a few words", "only some few words", False))


async def dropped_by_the_index(pair: LabelledPair, config: DedupConfig) -> bool:
    index, stage = MemoryIndex(config), FingerprintStage(config)
    answers = []
    for url, text in (("http://a.test/", pair.a), ("http://b.test/", pair.b)):
        doc = Document(url, text=text)
        stage(doc)
        answers.append(await index.check(doc.doc_id, doc.signature, doc.shingle_count, url))
    return answers[1] is not None


@pytest.mark.parametrize("changes", [{}, {"bands": 9, "rows": 13, "threshold": 0.7}, {"short_threshold": 0.6}])
def test_an_evaluation_counts_what_the_index_would_drop(changes):
    config = dataclasses.replace(DedupConfig(), **changes)
    dropped = [asyncio.run(dropped_by_the_index(pair, config)) for pair in pairs()]
    labels = [pair.duplicate for pair in pairs()]
    found = evaluate(pairs(), config, [])
    assert (found.current.bands, found.current.rows, found.current.threshold) == (
        config.bands,
        config.rows,
        config.threshold,
    )
    assert found.current.found == sum(a and b for a, b in zip(dropped, labels, strict=True))
    assert found.current.false == sum(a and not b for a, b in zip(dropped, labels, strict=True))
    assert found.current.found + found.current.missed == found.duplicates == sum(labels)
    assert (found.pairs, found.exact, found.unasked) == (len(pairs()), 1, 1)


def test_a_higher_threshold_finds_less_and_errs_less():
    found = evaluate(pairs(), DedupConfig(), [])
    [outcomes] = found.outcomes.values()
    assert [outcome.threshold for outcome in outcomes] == list(THRESHOLDS)
    assert [o.found for o in outcomes] == sorted((o.found for o in outcomes), reverse=True)
    assert [o.false for o in outcomes] == sorted((o.false for o in outcomes), reverse=True)
    assert outcomes[0].false > 0 == outcomes[-1].false and outcomes[0].found > outcomes[-1].found


def test_what_is_recommended_is_the_best_of_all_that_was_tried():
    found = evaluate(pairs(), DedupConfig())
    everything = [outcome for outcomes in found.outcomes.values() for outcome in outcomes]
    assert len(everything) == len({*TRIED, (DedupConfig().bands, DedupConfig().rows)}) * len(THRESHOLDS)
    assert found.best.f1 == max(outcome.f1 for outcome in everything) >= found.current.f1
    settings = dict(part.split("=") for part in found.best.settings().split() if "=" in part)
    again = evaluate(
        pairs(),
        dataclasses.replace(
            DedupConfig(),
            bands=int(settings["NEARDUP_BANDS"]),
            rows=int(settings["NEARDUP_ROWS"]),
            threshold=float(settings["NEARDUP_THRESHOLD"]),
        ),
        [],
    )
    assert again.current == found.best


def test_of_equal_settings_the_precise_one_then_the_small_one_then_the_middle_threshold_wins():
    loose, precise = Outcome(14, 8, 0.6, 8, 2, 0), Outcome(20, 6, 0.6, 8, 2, 0)
    assert best_of([precise, loose]) == loose  # 238 bytes against 294
    assert loose.bytes_a_document == 14 * 8 + 14 * 8 + 14 < precise.bytes_a_document
    plateau = [dataclasses.replace(loose, threshold=t) for t in (0.6, 0.61, 0.62)]
    assert best_of(plateau).threshold == 0.61
    assert best_of([Outcome(14, 8, 0.6, 6, 4, 0), Outcome(14, 8, 0.7, 10, 0, 10)]).precision == 1.0


def test_the_report_says_what_the_evaluation_found_and_that_few_pairs_prove_little():
    found = evaluate(pairs(), DedupConfig())
    text = "\n".join(report(found))
    assert f"{len(pairs())} pairs, {sum(p.duplicate for p in pairs())} of them labelled as duplicates" in text
    assert (
        f"As it is set: {found.current.settings()}" in text and f"Best on these pairs: {found.best.settings()}" in text
    )
    assert f"precision {found.best.precision:.3f}, recall {found.best.recall:.3f}, F1 {found.best.f1:.3f}" in text
    assert "Fewer than 100 pairs of one kind" in text
    assert "Fewer than 100 pairs" not in "\n".join(report(evaluate(pairs() * 8, DedupConfig(), [])))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "pairs.jsonl:2: not JSON"),
        ("[1]", "pairs.jsonl:2: expected an object with the fields a, b and duplicate"),
        ('{"a": "x", "duplicate": true}', "pairs.jsonl:2: the field 'b' must be a text"),
        ('{"a": "x", "b": "y", "duplicate": 1}', "pairs.jsonl:2: the field 'duplicate' must be true or false"),
    ],
)
def test_a_line_that_is_no_pair_is_named(tmp_path, line, message):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "x", "b": "y", "duplicate": false, "who": "me"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(PairsError) as error:
        list(read_pairs(path))
    assert message in str(error.value)


def test_edited_pairs_have_the_similarity_that_was_asked_for():
    words, other = (" ".join(prose(seed, words=400)).split() for seed in ("a", "b"))
    rnd = random.Random(3)
    for edit in EDITS:
        for target in (0.5, 0.8, 0.95):
            made = edited(words, other, target, edit, rnd.randrange(100), 5)
            assert made is not None and made[1] == pytest.approx(target, abs=0.01)


def test_the_defaults_find_nearly_all_at_a_similarity_of_80_percent_and_nothing_at_55():
    made = []
    for n in range(60):
        words, other = (" ".join(prose(f"default {seed}", words=300)).split() for seed in (n, n + 1000))
        for target, duplicate in ((0.55, False), (0.8, True)):
            if copy := edited(words, other, target, EDITS[n % 3], n, 5):
                made.append(LabelledPair(" ".join(words), copy[0], duplicate))
    found = evaluate(made, DedupConfig(), []).current
    before = evaluate(made, dataclasses.replace(DedupConfig(), bands=14, rows=8, threshold=0.77), []).current
    assert found.found + found.missed >= 55 and found.false == 0
    assert found.recall >= 0.9 > before.recall
