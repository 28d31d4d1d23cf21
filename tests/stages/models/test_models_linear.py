"""The linear runtime: a classifier of texts over hashed words, the same on every machine."""

import numpy as np
import pytest

from crawler.stages.models.features import Features
from crawler.stages.models.file import load, read, write
from crawler.stages.models.linear import Linear, buckets
from crawler.stages.models.odds import SCALE

BUCKETS, RUNS = 1 << 10, 2
KINDS = ("weather", "kitchen", "harbour")
WORDS = (
    "rain wind cloud storm frost sun dry wet mild warm",
    "salt onion butter pan oven spoon dough stew fry boil",
    "boat quay rope tide anchor ferry crane dock hull sail",
)
COMMON = ["the", "a", "of", "and", "in", "to", "it", "was", "is", "on"]
CARD = {
    "kind": "subject",
    "what": "subjects",
    "data": "made up",
    "licence": "Apache-2.0",
    "date": "2026-11-26",
    "figures": {},
}
PROBE = b"one two one"


def features_of(probe):
    return (Features("words and pairs", 1, ("bucket",), buckets(probe.decode().split(), RUNS, BUCKETS)[:, None]),)


def texts(seed, many=60):
    """Texts of a kind's own words among common ones, and their kinds."""
    chance = np.random.default_rng(seed)
    kinds = chance.integers(0, len(KINDS), many)
    return [
        [str(chance.choice(WORDS[kind].split() if chance.random() < 0.4 else COMMON)) for _ in range(30)]
        for kind in kinds
    ], kinds


@pytest.fixture(scope="module")
def trained():
    """Softmax regression by gradient descent, rounded to the runtime's units."""
    some, kinds = texts(1)
    x = np.stack([np.bincount(buckets(words, RUNS, BUCKETS), minlength=BUCKETS) for words in some]).astype(float)
    x /= x.sum(1, keepdims=True)
    weights, wanted = np.zeros((BUCKETS, len(KINDS))), np.eye(len(KINDS))[kinds]
    for _ in range(300):
        odds = x @ weights
        chances = np.exp(odds - odds.max(1, keepdims=True))
        weights -= 5.0 * x.T @ (chances / chances.sum(1, keepdims=True) - wanted)
    return Linear(np.rint(weights * SCALE).astype(np.int32), np.zeros(len(KINDS), np.int32), np.array([RUNS], np.int32))


def test_a_small_model_that_was_trained_tells_texts_that_it_has_not_seen(trained):
    unseen, kinds = texts(2)
    assert np.mean([trained(words).argmax() for words in unseen] == kinds) >= 0.95


def test_it_answers_the_same_from_its_file(trained, tmp_path):
    write(tmp_path / "subjects.npz", CARD, {"words": trained}, PROBE, features_of)
    back = load(str(tmp_path / "subjects.npz"), "subject", features_of).part("words", Linear)
    for words in texts(3, 10)[0]:
        assert back(words).tolist() == trained(words).tolist()
    assert len(read(str(tmp_path / "subjects.npz")).card["parts"]) == 1


def test_a_text_without_words_has_the_bias_alone(trained):
    biased = Linear(trained.weights, np.array([5, -7, 0], np.int32), trained.runs)
    assert biased([]).tolist() == [5, -7, 0]
    assert trained(["\ud800"]).shape == (3,), "half a character can be hashed, too"


def test_the_answer_is_the_mean_of_the_weights_of_all_runs_however_long_the_text():
    one = Linear(np.arange(16, dtype=np.int32)[:, None] * 100, np.zeros(1, np.int32), np.array([1], np.int32))
    places = buckets(["a", "b", "b"], 1, 16)
    assert one(["a", "b", "b"]).tolist() == [int(places.sum()) * 100 // 3]
    assert one(["a", "b", "b"] * 500).tolist() == one(["a", "b", "b"]).tolist()


def test_runs_are_counted_as_often_as_they_stand_there():
    assert len(buckets(["a", "b", "c", "d"], 3, 1 << 20)) == 4 + 3 + 2
    assert len(buckets(["a"], 3, 1 << 20)) == 1 and not len(buckets([], 3, 1 << 20))
    assert buckets(["a", "b"], 2, 1 << 20)[2] == buckets(["a b"], 1, 1 << 20)[0]
