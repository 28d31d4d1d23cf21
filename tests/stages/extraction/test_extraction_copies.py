"""A page that shows a paragraph twice gives it once; what only looks like a copy stays."""

from __future__ import annotations

import dataclasses

import numpy as np

from crawler.stages.extraction.learned import tables
from crawler.stages.extraction.learned.choice import IMPOSSIBLE, choose
from crawler.stages.extraction.learned.copies import SHORTEST, copies, without_copies
from crawler.stages.extraction.learned.extract import extract, judge, page_types
from crawler.stages.extraction.learned.model import KINDS, the_model
from crawler.stages.extraction.learned.numbers import features
from crawler.stages.extraction.learned.walk import Walked, walk
from crawler.stages.models.odds import SCALE
from crawler.stages.parse.stage import parse_html
from tests.stages.extraction.test_extraction_learned import PROSE, page

LINE = "A sentence that is long enough to be taken for a copy of another one."


def walked(body: str) -> Walked:
    return walk(parse_html(f"<html><body>{body}</body></html>"))


def test_of_copies_the_likeliest_stays_and_of_equals_the_first():
    found = walked(f"<div><p>{LINE}</p></div><section><p>{LINE}</p></section><aside><p>{LINE}</p></aside>")
    assert sorted(copies(found, [1, 5, 2])) == [(0, 1), (2, 1)]
    assert sorted(copies(found, [3, 3, 3])) == [(1, 0), (2, 0)]


def test_a_heading_stays_however_likely_its_copies_are_and_takes_their_odds():
    crumbs = "<nav><ul><li><a href=/>Home</a></li><li>Spoons of wood</li></ul></nav>"
    found = walked(f"{crumbs}<main><h1>Spoons of wood</h1><p>{PROSE}</p></main><div><p>Spoons of wood</p></div>")
    assert found.texts[:3] == ["Home", "Spoons of wood", "Spoons of wood"]
    assert copies(found, [0, 9, 1, 5, 9]) == [(1, 2)]  # a short paragraph may say it again
    assert without_copies(found, np.array([0, 9, 1, 5, 9])).tolist() == [0, IMPOSSIBLE, 9, 5, 9]
    title = "The spoons of wood that our village makes"
    parts = "".join(f"<p>Part {n}. {PROSE}</p>" for n in range(4))
    body = f"<ul class=trail><li><a href=/>Home</a></li><li>{title}</li></ul><article><h1>{title}</h1>{parts}</article>"
    assert extract(parse_html(page(body))).text.split("\n")[:2] == [title, f"Part 0. {PROSE}"]


def test_siblings_code_cells_and_short_lines_are_no_copies():
    assert copies(walked(f"<div><p>{LINE}</p><p>{LINE}</p></div>"), [1, 1]) == []
    assert copies(walked(f"<div><pre>{LINE}</pre></div><section><pre>{LINE}</pre></section>"), [1, 1]) == []
    assert copies(walked(f"<table><tr><td>{LINE}<tr><td>{LINE}</table>"), [1, 1]) == []
    short = "x" * (SHORTEST - 1)
    assert copies(walked(f"<div><p>{short}</p></div><section><p>{short}</p></section>"), [1, 1]) == []


def test_what_is_impossible_is_not_chosen():
    sums = np.array([9_000, IMPOSSIBLE, 9_000], np.int64)
    kept, expected = choose(sums, np.array([5.0, 500.0, 5.0]))
    assert kept.tolist() == [True, False, True] and 0.8 < expected <= 1.0


def test_a_page_that_is_drawn_for_two_screens_gives_its_text_once():
    parts = "".join(f"<p>Part {n}. {PROSE}</p>" for n in range(4))
    body = f"<h1>The title</h1><div class=desktop>{parts}</div><div class=mobile>{parts}</div>"
    text = extract(parse_html(page(body))).text
    assert [text.count(f"Part {n}.") for n in range(4)] == [1, 1, 1, 1]


def test_documentation_may_say_the_same_of_two_things():
    found = walked(f"<div><p>{LINE}</p></div><section><p>{LINE}</p></section>")
    model = the_model()
    rows, numbers = features(found, model.scores)
    texts = [
        judge(model, found, rows, numbers, page_types(model, rows, frozenset())).text
        for model in (_sure_of(model, kind) for kind in ("documentation", "forum"))
    ]
    assert [text.count(LINE) for text in texts] == [2, 1]


def _sure_of(model, kind):
    """The model, for which all blocks are text and all pages of one type."""
    kinds = model.kinds
    bias = np.array([30_000 * (name == kind) for name in KINDS], np.int32)
    return type(model)(
        _always(7.5),
        type(kinds)(kinds.feature, kinds.border, np.zeros_like(kinds.leaves), bias),
        model.table,
        model.said,
    )


def test_a_page_that_promises_next_to_nothing_has_no_text():
    menu = "".join(f"<div class=nav><a href=/{n}>Menu</a></div>" for n in range(60))
    found = walked(f"<nav>{menu}</nav>")
    model = the_model()
    rows, numbers = features(found, model.scores)
    hopeless = dataclasses.replace(model, blocks=_always(-7.5))
    judged = judge(hopeless, found, rows, numbers, page_types(model, rows, frozenset()))
    assert judged.text == "" and judged.confidence < 0.2


def _always(odds):
    """The same log odds for each block."""
    return lambda rows, *_: np.full(len(rows), round(odds * SCALE), np.int64)


def test_scores_from_memory_are_those_of_the_table_and_the_memory_has_a_limit(monkeypatch):
    monkeypatch.setattr(tables, "MAX_REMEMBERED", 10)
    asked = {tables.word_hash(f"word{n}"): float(n) for n in range(100)}
    scores = tables.Scores(lambda key: asked.get(key, 0.0))
    for _ in range(2):
        for n in range(100):
            assert scores.of_words(f"Word{n}, word{n}") == [float(n), float(n)]
            assert scores.of_names(f"name{n}", "div", "body") == (0.0, 0.0, 0.0)
            assert scores.of_block(f"Word{n}, other") == (0.0, float(n), n / 2, 0.0, 2, 1 + (n == 0))
    assert len(scores._words) <= 10 and len(scores._names) <= 10 and len(scores._lines) <= 10
