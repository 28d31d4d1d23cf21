"""Training the learned extractor: labels by place, tables by site, a file that is the same each time."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from bench.extraction import fit_net
from bench.extraction import train as training
from bench.extraction.data import Example, example
from bench.extraction.evaluate import chain_text, fold_of, interval, measure, table
from bench.extraction.odds import MIN_SITES, Odds, name_hashes
from bench.extraction.train import (
    STATED,
    Wordless,
    fit_trees,
    forest_of,
    seen,
    statements,
    train,
    write_model,
)
from bench.quality.eval_pages import Page, score
from crawler.stages.extraction.learned.alike import GROUPINGS
from crawler.stages.extraction.learned.coverage import coverage
from crawler.stages.extraction.learned.model import KINDS, Model, read_model, the_model
from crawler.stages.extraction.learned.numbers import features
from crawler.stages.extraction.learned.tables import Scores
from crawler.stages.models.net import STEP, Binning, Net, block_weights
from crawler.stages.models.odds import SCALE

LONG = "this sentence has more than five words and stands once"


def test_a_long_block_is_labelled_by_its_runs_of_words():
    assert coverage([LONG, "another sentence that nobody expects to find in here"], LONG) == [1.0, 0.0]


def test_a_short_block_counts_once_and_only_near_its_place():
    assert sum(coverage(["Reply", LONG, "Reply", "Reply"], f"{LONG}\nReply")) == 2.0
    far = " ".join(["Reply", *(f"w{n}" for n in range(200)), LONG])
    assert coverage([LONG, "Reply"], far) == [1.0, 0.0]


def test_an_empty_expectation_labels_nothing():
    assert coverage([LONG, "Reply"], "") == [0.0, 0.0]


def site_page(site: str, kept: str) -> Example:
    html = f"<body><p class=good>{kept}</p><p class=bad>never expected words that are long enough {site}</p></body>"
    found = example(Page(site, "labelled", "article", "", html.encode(), kept), site)
    assert found is not None
    return found


def test_the_table_takes_sites_as_voices_and_leaves_out_the_own_one():
    pages = [site_page(f"s{n}.test", f"{LONG} on the site number {n}") for n in range(MIN_SITES)]
    odds = Odds(pages)
    good, bad = (min(set(name_hashes(name, "p", "a")) & set(name_hashes(name, "i", "i"))) for name in ("good", "bad"))
    assert odds.table[good] > 0 > odds.table[bad]
    assert odds.without("s0.test")(good) == 0  # too few sites are left
    assert odds.without("elsewhere.test")(good) == odds.table[good]


def test_a_site_is_in_one_fold():
    assert {fold_of("example.org", 3) for _ in range(5)} == {fold_of("example.org", 3)}
    assert {fold_of(f"s{n}.test", 3) for n in range(40)} == {0, 1, 2}


def test_a_page_is_measured_beside_the_chain_whose_text_is_the_second_opinion(capsys):
    strange = " ".join(word[::-1] for word in LONG.split())  # so that the second opinion is asked
    body = "".join(f"<p>{strange}, sa hpargarap {n} fo siht elcitra syas, dna seog no.</p>" for n in range(9))
    body += f"<div class=box><ul>{''.join(f'<li><a href=/{n}>yrots redlo {n} fo eht keew</a></li>' for n in range(12))}"
    html = f"<html><body><nav><a href=/>Home</a></nav><article><h1>A long day</h1>{body}</ul></div></article>"
    one = example(Page("x", "labelled", "article", "http://x.test/", html.encode(), f"A long day {LONG}"), "x.test")
    assert one is not None
    model = the_model()
    rows, numbers = features(one.walked, model.scores, one.title)
    chain = chain_text(one.page)
    found = measure(one, rows, numbers, model, chain)
    assert found.found.is_second and "hpargarap 8" in found.found.text
    assert found.chain == score(one.page.expected, chain)[0] > 0
    table([found])
    line = capsys.readouterr().out.splitlines()[-1].split()
    assert line[:4] == ["labelled", "article", "1", f"{found.value:.4f}"] and f"{found.chain:.4f}" in line


def test_the_interval_holds_the_mean_and_narrows_with_more_pages():
    few, many = [0.1, -0.05, 0.2, 0.0], [0.1, -0.05, 0.2, 0.0] * 50
    assert interval(few)[0] < 0.0625 < interval(few)[1] and interval(few) == interval(few)
    assert interval(many)[1] - interval(many)[0] < (interval(few)[1] - interval(few)[0]) / 4


def test_a_model_is_written_byte_for_byte_the_same_and_read_back(tmp_path):
    model = the_model()
    for name in ("a.npz", "b.npz"):
        write_model(model, tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("a.npz", "b.npz"))
    assert hashlib.sha256(one).digest() == hashlib.sha256(two).digest()
    back = read_model(str(tmp_path / "a.npz"))
    assert back.table == model.table and (back.kinds.leaves == model.kinds.leaves).all()
    for one, other in ((back.blocks.net, model.blocks.net), (back.blocks.trees, model.blocks.trees)):
        assert all((getattr(one, part.name) == getattr(other, part.name)).all() for part in fields(one))


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """What JAX is loaded for, in a process that ends with it: its threads would stay, and forbid every later fork."""
    for library in ("catboost", "jax", "optax"):
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed: it trains the model and is not needed to run it")
    compiled = {
        "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    }  # in half the time
    with patch.dict(os.environ, compiled), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def train_in_two_epochs(path: Path) -> None:
    pages = [
        dataclasses.replace(one, page=dataclasses.replace(one.page, kind=KINDS[n % len(KINDS)]))
        for n in range(14)
        for one in [site_page(f"s{n}.test", f"{LONG} on the site number {n}")]
    ]
    with patch.object(training, "fit_net", partial(fit_net.fit_net, epochs=2)):
        write_model(train(pages), path)


def test_two_trainings_on_the_same_pages_write_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        apart(train_in_two_epochs, tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    model = read_model(str(tmp_path / "a.npz"))
    assert model.blocks.net.borders.shape[0] == the_model().blocks.net.borders.shape[0]
    assert fit_net.is_exact(model.blocks.net)


def lesson(many: int, seed: int, weight: float = 1.0) -> fit_net.Lesson:
    """A page whose text is what stands beside a block of another kind."""
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(many, 4)).astype(np.float32)
    labels = np.roll(rows[:, 0] > 0.5, 1).astype(np.float32)
    labels[0] = 0.0
    groups = np.unique(chance.integers(0, 3, many), return_inverse=True)[1]
    return fit_net.Lesson(rows, rows * 0, np.ones(many) * 9, (groups,) * GROUPINGS, labels, weight)


def answers_of_net_and_library(unseen: fit_net.Lesson) -> tuple[Any, Any]:
    import jax

    learned, rounded = {}, fit_net.rounded
    with patch.object(fit_net, "rounded", lambda found, borders: learned.update(found) or rounded(found, borders)):
        net = fit_net.fit_net([lesson(40, seed) for seed in range(200)], seed=1, epochs=30)
    weight, groups = block_weights(unseen.words)[None], np.stack(unseen.groups, -1)[None]
    theirs = fit_net.odds(learned, jax.numpy.asarray(Binning(net.borders)(unseen.rows)[None]), weight, groups)
    return net(unseen.rows, unseen.words, unseen.groups) / SCALE, np.asarray(theirs)[0]


def test_the_net_learns_what_stands_before_a_block_and_answers_as_the_library_that_trained_it():
    unseen = lesson(40, 1_000)
    ours, theirs = apart(answers_of_net_and_library, unseen)
    assert ((ours > 0) == (unseen.labels > 0)).mean() >= 0.9
    assert np.abs(ours - theirs).max() < 0.35


def test_every_second_time_a_page_is_read_without_its_words_and_a_page_of_less_weight_is_seen_less():
    lessons = [lesson(20, 1), lesson(20, 2, weight=0.25)]
    inputs = [[np.full((20, 4), place, np.int8) for place in (n, n + 10)] for n in (1, 2)]
    seen = Counter()
    chance = np.random.default_rng(1)
    for _ in range(400):
        for x, *_ in fit_net._batches(lessons, inputs, chance):
            seen.update(round(float(page[0, 0]) * STEP) for page in x if page.any())
    assert 160 < seen[1] < 240 and seen[1] + seen[11] == 400
    assert 60 < seen[2] + seen[12] < 140 and seen[2] and seen[12]


def test_a_long_page_is_seen_in_parts_that_together_are_all_of_it():
    one = lesson(fit_net.MOST_BLOCKS + 100, 1)
    rows = np.arange(len(one.words))[:, None] // 8 * np.ones((1, 4), np.int64)
    inputs, chance = [[rows.astype(np.int8)] * 2], np.random.default_rng(1)
    seen = {int(v) for _ in range(40) for x, *_ in fit_net._batches([one], inputs, chance) for v in np.unique(x * STEP)}
    assert seen == set(range(len(one.words) // 8 + (len(one.words) % 8 > 0)))


def test_weights_that_the_crawl_would_have_to_round_are_refused():
    learned = [part.name for part in fields(Net) if part.name not in {"borders", "reach"}]
    zeros = {name: getattr(the_model().blocks.net, name) * 0.0 for name in learned}
    borders = the_model().blocks.net.borders
    assert fit_net.is_exact(fit_net.rounded(zeros, borders))
    with pytest.raises(ValueError, match="too large"):
        fit_net.rounded({**zeros, "skip": zeros["skip"] + 500.0}, borders)


def test_a_part_of_the_training_pages_is_read_without_their_words(monkeypatch):
    pytest.importorskip("catboost", reason="trains the model; not needed to run it")
    pages = [site_page(f"s{n}.test", f"{LONG} on the site number {n}") for n in range(20)]
    odds, read = Odds(pages), []
    monkeypatch.setattr(training, "seen", lambda one, odds, kind: read.append(kind) or seen(one, odds, kind))
    fit_trees(pages, [seen(one, odds)[0] for one in pages], odds)
    assert set(read) == {Wordless} and 5 <= len(read) <= 15
    knows = [seen(pages[0], odds, kind)[1].known for kind in (Scores, Wordless)]
    assert knows[0] > knows[1] == 0.0


def test_the_forest_answers_as_the_library_that_grew_it():
    catboost = pytest.importorskip("catboost", reason="trains the model; not needed to run it")
    chance = np.random.default_rng(3)
    x = chance.normal(size=(400, 5)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
    model = catboost.CatBoostClassifier(iterations=20, depth=4, random_seed=1, verbose=0, allow_writing_files=False)
    model.fit(x, y)
    ours = forest_of(model, 1)(x)[:, 0] / 4096
    assert np.abs(ours - model.predict(x, prediction_type="RawFormulaVal")).max() < 20 / 4096
    assert isinstance(the_model(), Model)


def test_the_page_type_depends_on_what_enough_sites_state():
    states = [site_page(f"s{n}.test", f"{LONG} on the site number {n}") for n in range(STATED)]
    rare, common = 5, 3
    pages = [
        dataclasses.replace(one, said=frozenset({common} | ({rare} if n else set()))) for n, one in enumerate(states)
    ]
    assert list(statements([*pages, *pages])) == [common]
    others = [
        dataclasses.replace(one, page=dataclasses.replace(one.page, kind="forum"), said=frozenset()) for one in pages
    ]
    others = [dataclasses.replace(one, site=f"other{one.site}") for one in others]
    (scores,) = statements([*pages, *others]).values()
    assert scores[KINDS.index("article")] > 0 > scores[KINDS.index("forum")]
