"""Training makes the model's file from labelled pages: table of hashes, net and trees of blocks, trees of page types.

JAX trains the net (`fit_net.py`). CatBoost grows the trees because its trees are symmetric, which numpy descends all at
once; the crawl itself needs neither library. Deterministic by `SEED`.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.extraction.data import Example
from bench.extraction.fit_net import Lesson, fit_net
from bench.extraction.odds import Odds
from crawler.stages.extraction.learned.alike import groups
from crawler.stages.extraction.learned.model import KIND, KINDS, Blocks, Model
from crawler.stages.extraction.learned.numbers import Numbers, features, page_numbers
from crawler.stages.extraction.learned.probe import features_of
from crawler.stages.extraction.learned.tables import Scores, first_words
from crawler.stages.models.file import Card, write
from crawler.stages.models.net import Net
from crawler.stages.models.odds import SCALE
from crawler.stages.models.trees import Trees

SEED = 1
MOST_BLOCKS = 150
"""Blocks of a page that trees are grown from, drawn by chance: a page of thousands is not worth a hundred others."""
WEIGHT = {"labelled": 1.0, "packages": 0.3, "agreement": 0.6}
"""Of a page by its source: packages are eight sites with 150 pages each, agreement is another extractor's opinion."""
BLOCKS = {"iterations": 700, "depth": 6, "learning_rate": 0.07, "border_count": 48, "l2_leaf_reg": 8, "rsm": 0.25}
TYPES = {"iterations": 200, "depth": 4, "learning_rate": 0.08, "border_count": 32, "l2_leaf_reg": 6}
CARD = Path(__file__).with_name("card.json")
"""What people have to know of the model; to be written anew with each training (docs/extraction-model.md has more)."""
PROBE = Path(__file__).with_name("probe.html")
"""A page with one of everything, on which no two features are the same: it goes into the model's file."""
STATED = 4
"""Sites that must make a statement for the page type to depend on it."""
_PRIOR_PAGES = 1.0
"""Pages of the usual types that each statement is counted with."""

Matrix = NDArray[np.float32]


UNKNOWN = 0.5
"""Share of the pages that the trees of blocks learn from as if the table knew none of their words: they then lean less
on them (F1 of `wcxb-dev` + .004 by cross-validation), and have seen what a page in another language looks like."""


class Wordless(Scores):
    """A table that knows names and no word."""

    def of_words(self, text: str) -> list[float]:
        """0.0 for each word that is looked up."""
        return [0.0] * len(first_words(text))

    def of_line(self, _text: str) -> float:
        """0.0"""
        return 0.0


def seen(one: Example, odds: Odds, kind: type[Scores] = Scores) -> tuple[Matrix, Numbers]:
    """Features of a page, with the table as it is without the page's own site."""
    return features(one.walked, kind(odds.without(one.site)), one.title)


def matrices(examples: list[Example], odds: Odds) -> list[Matrix]:
    """The features of every page."""
    return [seen(one, odds)[0] for one in examples]


def fit_trees(examples: list[Example], rows: list[Matrix], odds: Odds, threads: int = 2) -> Trees:
    """The trees that tells how much of a block is main text."""
    from catboost import CatBoostClassifier

    chance = np.random.default_rng(SEED)
    wordless = chance.random(len(examples)) < UNKNOWN
    read = [
        seen(one, odds, Wordless)[0] if no_words else matrix
        for one, matrix, no_words in zip(examples, rows, wordless.tolist(), strict=True)
    ]
    parts = [_sampled(one, matrix, chance) for one, matrix in zip(examples, read, strict=True)]
    x, y, weight = (np.concatenate([part[i] for part in parts]) for i in range(3))
    model = CatBoostClassifier(
        loss_function="CrossEntropy", bootstrap_type="Bernoulli", subsample=0.8, **_common(threads), **BLOCKS
    )
    model.fit(x, y, sample_weight=weight)
    return forest_of(model, 1)


def fit_lessons(examples: list[Example], rows: list[Matrix], odds: Odds) -> Net:
    """The net that tells the same of whole pages.

    Every second time it sees a page as if the table knew none of its words, and as often in an epoch as it weighs.
    """
    return fit_net([_lesson(one, matrix, odds) for one, matrix in zip(examples, rows, strict=True)], SEED)


def _lesson(example: Example, rows: Matrix, odds: Odds) -> Lesson:
    wordless, numbers = seen(example, odds, Wordless)
    labels = np.array(example.labels, np.float32)
    return Lesson(rows, wordless, numbers.words, groups(example.walked), labels, WEIGHT[example.page.group])


def statements(examples: list[Example]) -> dict[int, tuple[int, ...]]:
    """For each page type, how much likelier a page of it says something of itself than any page; hashed.

    In sixteenths of log odds, of what pages on `STATED` sites and more say. A site has one voice.
    """
    of_site: dict[str, list[Example]] = defaultdict(list)
    for one in filter(_has_type, examples):
        of_site[one.site].append(one)
    said: dict[int, NDArray[np.float64]] = defaultdict(lambda: np.zeros(len(KINDS)))
    sites = Counter(key for pages in of_site.values() for key in {key for one in pages for key in one.said})
    every = np.zeros(len(KINDS))
    for pages in of_site.values():
        for one in pages:
            kind = KINDS.index(one.page.kind)
            every[kind] += 1 / len(pages)
            for key in one.said:
                said[key][kind] += 1 / len(pages)
    usual = (every + _PRIOR_PAGES) / (every + _PRIOR_PAGES).sum()
    found = {}
    for key in sorted(key for key, count in sites.items() if count >= STATED):
        likely = (said[key] + _PRIOR_PAGES * usual) / (said[key].sum() + _PRIOR_PAGES)
        found[key] = tuple(np.clip(np.rint(16 * np.log(likely / usual)), -127, 127).astype(int).tolist())
    return found


def fit_kinds(examples: list[Example], rows: list[Matrix], threads: int = 2) -> Trees:
    """The trees that tells the page type."""
    from catboost import CatBoostClassifier

    typed = [(page_numbers(m), KINDS.index(e.page.kind)) for e, m in zip(examples, rows, strict=True) if _has_type(e)]
    model = CatBoostClassifier(loss_function="MultiClass", **_common(threads), **TYPES)
    model.fit(np.stack([x for x, _ in typed]), np.array([y for _, y in typed]))
    return forest_of(model, len(KINDS))


def _has_type(example: Example) -> bool:
    return example.page.group == "labelled"


def _common(threads: int) -> dict[str, Any]:
    return {"random_seed": SEED, "thread_count": threads, "verbose": 0, "allow_writing_files": False}


def _sampled(example: Example, matrix: Matrix, chance: Any) -> tuple[Matrix, NDArray[Any], NDArray[Any]]:
    """Rows, labels and weights of at most MOST_BLOCKS blocks; a page weighs with the root of its blocks' sum."""
    index = np.arange(len(matrix))
    if len(index) > MOST_BLOCKS:
        index = np.sort(chance.choice(len(index), MOST_BLOCKS, replace=False))
    size = np.array([len(example.walked.texts[i].split()) for i in index])
    weight = np.log2(1.0 + size)
    weight *= WEIGHT[example.page.group] / np.sqrt(weight.sum())
    return matrix[index], np.array(example.labels)[index], weight


def forest_of(model: Any, outputs: int) -> Trees:
    """CatBoost's trees as arrays of one depth, leaves rounded to 1 / SCALE."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        stored = json.loads(path.read_text("utf-8"))
    trees = stored["oblivious_trees"]
    depth = max(len(tree["splits"] or ()) for tree in trees)
    feature = np.zeros((len(trees), depth), np.int16)
    border = np.full((len(trees), depth), np.inf, np.float32)
    leaves = np.zeros((len(trees), 1 << depth, outputs), np.int32)
    for i, tree in enumerate(trees):
        for level, split in enumerate(tree["splits"] or ()):
            feature[i, level], border[i, level] = split["float_feature_index"], split["border"]
        values = np.array(tree["leaf_values"]).reshape(-1, outputs)
        leaves[i, : len(values)] = np.rint(values * SCALE)
    bias = np.rint(np.array(stored["scale_and_bias"][1], float).reshape(-1) * SCALE).astype(np.int32)
    return Trees(feature, border, leaves, bias)


def write_model(model: Model, path: Path) -> None:
    """The file that `read_model` reads, byte for byte the same for the same model, with the card that lies here."""
    card: Card = json.loads(CARD.read_text("utf-8"))
    write(path, card | {"kind": KIND}, model.parts(), PROBE.read_bytes(), features_of)


def train(examples: list[Example], threads: int = 2) -> Model:
    """The model of all examples that are for training."""
    chosen = [one for one in examples if one.is_for_training]
    odds = Odds(chosen)
    return fit(chosen, matrices(chosen, odds), odds, threads)


def fit(examples: list[Example], rows: list[Matrix], odds: Odds, threads: int = 2) -> Model:
    """The model of these examples, with their features and the table made of them."""
    blocks = Blocks(fit_lessons(examples, rows, odds), fit_trees(examples, rows, odds, threads))
    kinds = fit_kinds(examples, rows, threads)
    return Model(blocks, kinds, odds.table, statements(examples))
