"""The net of blocks: the same bits in any order of addition, for blocks that stand beside and are built like others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bench.extraction.fit_net import is_exact
from crawler.stages.extraction.learned.alike import GROUPINGS, groups
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.extraction.learned.numbers import features
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.models import net as module
from crawler.stages.models.net import STEP, UNIT, Binning, Net
from crawler.stages.parse.stage import parse_html

FEATURES, WIDTH, LAYERS = 5, 8, 3


def drawn(chance, *shape, scale=1.0):
    return np.rint(chance.normal(size=shape) * scale * UNIT).astype(np.int32)


def net(seed: int = 1) -> Net:
    chance = np.random.default_rng(seed)
    return Net(
        borders=np.sort(chance.normal(size=(FEATURES, 6)).astype(np.float32), axis=1),
        first=drawn(chance, FEATURES, WIDTH),
        first_bias=drawn(chance, WIDTH),
        reach=np.array([1, 2, 1], np.int32),
        mix=drawn(chance, LAYERS, 6 * WIDTH, WIDTH, scale=0.3),
        page=drawn(chance, LAYERS, 2 * WIDTH, WIDTH, scale=0.3),
        bias=drawn(chance, LAYERS, WIDTH, scale=0.3),
        out=drawn(chance, LAYERS, WIDTH, WIDTH, scale=0.3),
        last=drawn(chance, WIDTH),
        last_bias=drawn(chance, 1),
        skip=drawn(chance, FEATURES),
    )


def blocks(many: int, seed: int = 2):
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(many, FEATURES)).astype(np.float32)
    return rows, chance.integers(1, 400, many) / 2.0, tuple(chance.integers(0, 4, (GROUPINGS, many)))


def numbered(some):
    return tuple(np.unique(group, return_inverse=True)[1] for group in some)


@pytest.mark.parametrize("many", [1, 2, 7, 300, 2_000])
def test_the_odds_are_the_same_in_whatever_order_they_are_added_and_in_wider_numbers(many):
    rows, words, alike = blocks(many)
    one, alike = net(), numbered(alike)
    odds = one(rows, words, alike)
    order = np.random.default_rng(3).permutation(FEATURES)
    turned = dataclasses.replace(one, borders=one.borders[order], first=one.first[order], skip=one.skip[order])
    assert (turned(rows[:, order], words, alike) == odds).all()
    wide = net()
    wide.__dict__["weights"] = {name: value.astype(np.float64) for name, value in one.weights.items()}
    assert (wide(rows, words, alike) == odds).all()
    assert is_exact(one) and len(set(odds.tolist())) > min(many, 20) / 2


def test_weights_that_float32_would_round_are_told():
    one = net()
    assert not is_exact(dataclasses.replace(one, mix=one.mix * 400))
    assert not is_exact(dataclasses.replace(one, skip=one.skip * 400))


def test_the_models_own_net_needs_no_rounding_and_fits_its_features():
    model = the_model()
    assert is_exact(model.blocks.net)
    assert len(model.blocks.net.borders) == len(features(a_page(), model.scores)[0][0]) == len(model.blocks.net.first)


def test_a_page_without_blocks_has_no_odds():
    assert net()(np.zeros((0, FEATURES), np.float32), np.zeros(0), tuple(np.zeros((GROUPINGS, 0), np.int64))).size == 0


def test_between_layers_there_are_only_multiples_of_a_step(monkeypatch):
    seen = []

    def noted(name, kept):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *values: kept(values, original(*values)))

    def both(given, answer):
        seen.extend([*given, answer])
        return answer

    def answers(given, answer):
        seen.append(answer.copy())
        return answer

    noted("_normed", both)  # what a layer has left, and what the next one reads
    noted("_rectified", answers)
    means = module._Means.__call__
    monkeypatch.setattr(module._Means, "__call__", lambda one, values: (seen.extend(r := means(one, values)), r)[1])
    rows, words, alike = blocks(40)
    net()(rows, words, numbered(alike))
    assert len(seen) == 2 * (LAYERS + 1) + (LAYERS + 1) + 2 * LAYERS
    assert all((values * STEP == np.rint(values * STEP)).all() for values in seen)


def test_a_block_is_told_of_those_before_and_behind_it_and_of_the_page():
    rows, words, _ = blocks(60)
    apart = numbered(np.tile(np.arange(60), (GROUPINGS, 1)))
    changed = rows.copy()
    changed[30] += 3.0

    def told(one):
        return set(np.flatnonzero(one(rows, words, apart) != one(changed, words, apart)).tolist())

    page, half = np.zeros((LAYERS, 2 * WIDTH, WIDTH), np.int32), net().page.copy()
    assert {29, 30, 31} <= told(dataclasses.replace(net(), page=page)) <= set(range(26, 35))
    half[:, WIDTH:] = 0  # the page's mean alone
    assert told(dataclasses.replace(net(), page=half)) > set(range(26, 35))


def test_what_a_block_is_told_depends_on_the_ones_beside_it_and_on_those_that_are_built_like_it():
    rows, words, _ = blocks(60)
    apart = numbered(np.tile(np.arange(60), (GROUPINGS, 1)))
    alike = tuple(group.copy() for group in apart)
    alike[0][59] = alike[0][0]  # the last block is built like the first
    alike = numbered(alike)
    changed = rows.copy()
    changed[0] += 3.0
    still = dataclasses.replace(net(), page=np.zeros((LAYERS, 2 * WIDTH, WIDTH), np.int32))
    told = [
        set(np.flatnonzero(still(rows, words, some) != still(changed, words, some)).tolist()) for some in (apart, alike)
    ]
    near, far = set(range(5)), set(range(55, 60))  # the reach of three layers is 1 + 2 + 1
    assert {0, 1} <= told[0] <= near
    assert {0, 1, 59} <= told[1] <= near | far


def test_features_are_their_place_between_borders():
    borders = np.array([[0.5, np.inf, np.inf], [1.0, 2.0, 3.0], [np.inf] * 3], np.float32)
    rows = np.array([[0, 0, 7], [1, 1, 7], [1, 1.5, 7], [9, 9, 7]], np.float32)
    third = round(2 / 3 * STEP) / STEP - 1
    assert Binning(borders)(rows).tolist() == [
        [-1, -1, 0],
        [1, -1, 0],
        [1, pytest.approx(third, abs=1 / STEP), 0],
        [1, 1, 0],
    ]


def test_cards_of_one_grid_are_built_alike_and_a_menu_is_not():
    cards = "".join(f"<div class=card><h3>Card {n}</h3><p class=price>{n}</p></div>" for n in range(3))
    page = walk(
        parse_html(f"<body><nav><a href=/>Home</a></nav><div class=grid>{cards}</div><p class=price>4</p></body>")
    )
    assert page.texts == ["Home", "Card 0", "0", "Card 1", "1", "Card 2", "2", "4"]
    narrow, wide, holder = (group.tolist() for group in groups(page))
    assert narrow[1] == narrow[3] == narrow[5] and narrow[2] == narrow[4] == narrow[6]
    assert len({narrow[0], narrow[1], narrow[2], narrow[7]}) == 4 and wide[2] == wide[4] != wide[7]
    assert [holder[1] == holder[n] for n in range(2, 7)] == [True, False, False, False, False]


def a_page():
    prose = "A sentence of some words, which says, at length, what the reader came for."
    html = "".join(
        f"<section class=s{n % 3}><h2>Part {n}</h2><p>{prose} {n}</p><a href=/{n}>more</a></section>" for n in range(70)
    )
    return walk(parse_html(f"<html><body><nav><a href=/>Home</a></nav>{html}</body></html>"))


def test_the_answer_on_a_page_is_that_of_the_net_in_wider_numbers():
    page, model = a_page(), the_model()
    rows, numbers = features(page, model.scores)
    one = model.blocks.net
    odds = one(rows, numbers.words, groups(page))
    wide = dataclasses.replace(one)
    wide.__dict__["weights"] = {name: value.astype(np.float64) for name, value in one.weights.items()}
    assert (wide(rows, numbers.words, groups(page)) == odds).all()
    assert len(set(odds.tolist())) > 100


def test_net_and_trees_have_one_voice_each():
    page, model = a_page(), the_model()
    rows, numbers = features(page, model.scores)
    net, trees = model.blocks.net(rows, numbers.words, groups(page)), model.blocks.trees(rows)[:, 0]
    both = model.blocks(rows, numbers.words, groups(page))
    assert (2 * both <= net + trees).all() and (net + trees <= 2 * both + 1).all()
    assert not (net == trees).all()
