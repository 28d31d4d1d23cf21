"""Trees and net in C give the whole numbers that numpy gives."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from crawler import native
from crawler.native.models import WIDTH, NativeTrees
from crawler.stages.extraction.learned.alike import groups
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.extraction.learned.numbers import features, page_numbers
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.models.trees import Trees
from crawler.stages.parse.stage import parse_html
from tests.native.native_support import PROBE, both, built, mode, mutated

pytestmark = built


def seen(text: str):
    page = walk(parse_html(text))
    rows, numbers = features(page, the_model().scores, "")
    return rows, numbers.words, groups(page)


def drawn_trees(seed: int, depth: int, outputs: int, trees: int = 40, columns: int = 9) -> Trees:
    chance = np.random.default_rng(seed)
    return Trees(
        chance.integers(0, columns, (trees, depth)).astype(np.int16),
        chance.integers(-3, 4, (trees, depth)).astype(np.float32),
        chance.integers(-(2**31), 2**31, (trees, 1 << depth, outputs)).astype(np.int32),
        chance.integers(-(2**31), 2**31, outputs).astype(np.int32),
    )


@pytest.mark.parametrize("depth", range(1, 9))
@pytest.mark.parametrize("many", [0, 1, 63, 64, 65, 300])
@pytest.mark.parametrize("outputs", [1, 7])
def test_trees_add_up_to_the_same_at_every_depth_and_with_the_largest_leaves(depth, many, outputs):
    trees = drawn_trees(depth, depth, outputs)
    rows = np.random.default_rng(many).integers(-4, 5, (many, 9)).astype(np.float32)
    rows[:1] = np.nan
    rows[1:2] = np.inf
    python, found = both(lambda: trees(rows))
    assert found.dtype == python.dtype == np.int64
    assert found.shape == (many, outputs)
    assert np.array_equal(found, python)


def test_rows_that_lie_in_memory_in_another_way_give_the_same():
    trees = drawn_trees(1, 6, 2)
    rows = np.random.default_rng(2).normal(size=(70, 9)).astype(np.float32)
    for other in (np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2], np.repeat(rows, 2, axis=1)[:, ::2]):
        assert np.array_equal(*both(lambda other=other: trees(other)))


def test_rows_with_too_few_columns_are_an_error_in_both():
    trees = drawn_trees(1, 3, 1)
    for name in ("off", "required"):
        with mode(name), pytest.raises(IndexError):
            trees(np.zeros((3, 2), np.float32))


def test_trees_that_c_does_not_know_are_left_to_python():
    rows, one = np.zeros((2, 9), np.float32), drawn_trees(1, 3, 1)
    feature, border, which = one._questions
    wide = NativeTrees(feature, border, which, one.leaves.astype(np.int64), one.bias)
    assert wide(native.library(), rows) is None
    before = NativeTrees(feature - 9, border, which, one.leaves, one.bias)
    assert before(native.library(), rows) is None


@pytest.mark.parametrize("seed", range(12))
def test_the_project_s_model_judges_pages_the_same(seed):
    model = the_model()
    rows, words, alike = seen(mutated(PROBE, seed) if seed else PROBE)
    assert np.array_equal(*both(lambda: model.blocks.net(rows, words, alike)))
    assert np.array_equal(*both(lambda: model.blocks.trees(rows)))
    assert np.array_equal(*both(lambda: model.kinds(page_numbers(rows)[None])))


@pytest.mark.parametrize("many", [1, 2, 5, 63, 64, 65, 700])
def test_the_net_gives_the_same_odds_for_any_numbers_and_any_groups(many):
    """Also for more blocks than C takes at once, and fewer than it reaches."""
    net = the_model().blocks.net
    chance = np.random.default_rng(many)
    rows = (chance.normal(size=(many, len(net.borders))) * chance.choice([0.1, 5, 1e4], len(net.borders))).astype("f4")
    rows[0, ::3], rows[0, 1::3] = np.inf, np.nan
    words = chance.integers(1, 9_000, many) / 2.0
    alike = tuple(np.unique(group, return_inverse=True)[1] for group in chance.integers(0, many, (3, many)))
    assert np.array_equal(*both(lambda: net(rows, words, alike)))


def test_the_net_s_answers_tell_pages_apart():
    """Else two that answer nothing would be equal."""
    rows, words, alike = seen(PROBE)
    assert len(set(the_model().blocks.net(rows, words, alike).tolist())) > 5


def test_a_net_of_another_width_is_left_to_python():
    net = the_model().blocks.net
    assert net.first.shape[1] == WIDTH
    half = WIDTH // 2
    narrow = dataclasses.replace(
        net, first=net.first[:, :half], first_bias=net.first_bias[:half], bias=net.bias[:, :half],
        mix=net.mix[:, : 6 * half, :half], page=net.page[:, : 2 * half, :half], out=net.out[:, :half, :half],
        last=net.last[:half],
    )  # fmt: skip
    rows, words, alike = seen(PROBE)
    assert narrow._native(native.library(), rows, np.ones(len(rows)), alike) is None
    assert np.array_equal(*both(lambda: narrow(rows, words, alike)))


def test_groups_that_name_no_group_are_left_to_python():
    net, (rows, _, alike) = the_model().blocks.net, seen(PROBE)
    weights = np.full(len(rows), 8.0)
    assert net._native(native.library(), rows, weights, alike) is not None
    for wrong in (
        (alike[0] - 1, *alike[1:]),
        alike[:2],
        (alike[0] + len(rows), *alike[1:]),
        tuple(a[1:] for a in alike),
    ):
        assert net._native(native.library(), rows, weights, wrong) is None
