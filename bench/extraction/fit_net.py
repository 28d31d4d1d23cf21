"""The net of blocks (`crawler/stages/models/net.py`) is trained with JAX, whole pages at a time.

The same layers in floating point; `rounded` turns what was learned into the whole numbers that the crawl computes with.
Deterministic by `seed` on one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.alike import GROUPINGS
from crawler.stages.models.net import LARGEST, MOST, STEP, UNIT, Binning, Net, block_weights

EPOCHS = 16
WIDTH = 32
"""Values a block."""
REACH = (1, 2, 4, 8, 1)
"""Of each layer: how far before and behind it looks."""
BORDERS = 16
"""Of a feature's range."""
RATE = 3e-3
DECAY = 0.02
"""Of weights (AdamW)."""
FEATURES_DROPPED = 0.2
"""Share of the features that a page is read without."""
VALUES_DROPPED = 0.15
"""Share of what a layer adds that is left out."""
AVERAGED_FROM = 0.7
"""Share of the epochs after which the weights are averaged."""
AVERAGED_OVER = 50
"""Steps that the average goes back, in about."""
MOST_BLOCKS = 512
"""Blocks of a page that are seen in one epoch; they stand side by side, from a place drawn by chance."""
_BITS = 24
"""Whole numbers up to 2 ** 24 are exact in float32."""
_SHORTEST = 32
_BATCH = 4_096
"""Blocks of a batch."""
_SAMPLE = 40_000
"""Blocks from which borders are taken."""

Matrix = NDArray[np.float32]
Parameters = dict[str, Any]


@dataclass(frozen=True)
class Lesson:
    """A page to learn from. `rows` and `wordless` are its features with words and without."""

    rows: Matrix
    wordless: Matrix
    words: NDArray[np.float64]
    groups: tuple[NDArray[np.int64], ...]
    labels: NDArray[np.float32]
    weight: float
    """How likely it is seen in an epoch, 0 to 1."""


def borders_of(rows: list[Matrix], seed: int) -> NDArray[np.float32]:
    """Borders between equal shares of what each feature is on the blocks, padded with infinity."""
    every = np.concatenate(rows)
    chance = np.random.default_rng(seed)
    if len(every) > _SAMPLE:
        every = every[np.sort(chance.choice(len(every), _SAMPLE, replace=False))]
    out = np.full((every.shape[1], BORDERS), np.inf, np.float32)
    points = np.quantile(every, np.linspace(0, 1, BORDERS + 1), axis=0, method="nearest").astype(np.float32)
    for i, column in enumerate(points.T):
        values = np.unique(column)
        middle = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(np.float32)
        out[i, : len(middle)] = middle
    return out


def fit_net(lessons: list[Lesson], seed: int, epochs: int = EPOCHS) -> Net:
    """The net after so many epochs."""
    import jax
    import jax.numpy as jnp
    import optax

    borders = borders_of([one.rows for one in lessons], seed)
    places = Binning(borders)
    inputs = [[np.rint(places(rows) * STEP).astype(np.int8) for rows in (one.rows, one.wordless)] for one in lessons]
    chance = np.random.default_rng(seed)
    steps = epochs * max(1, sum(min(len(one.words), MOST_BLOCKS) * one.weight for one in lessons) // _BATCH)
    rate = optax.warmup_cosine_decay_schedule(0.0, RATE, int(steps // 20) + 1, int(steps * 1.3) + 2)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=DECAY))
    parameters = _first_parameters(lessons[0].rows.shape[1], jax.random.PRNGKey(seed))
    state = optimizer.init(parameters)

    @jax.jit
    def step(parameters: Parameters, state: Any, batch: tuple[Any, ...], key: Any) -> tuple[Parameters, Any]:
        gradient = jax.grad(_loss)(parameters, batch, key)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state

    @jax.jit
    def averaged(mean: Parameters, parameters: Parameters) -> Parameters:
        share = 1 / AVERAGED_OVER
        return jax.tree.map(lambda one, other: (1 - share) * one + share * other, mean, parameters)

    key, mean = jax.random.PRNGKey(seed + 1), None
    for epoch in range(epochs):
        for batch in _batches(lessons, inputs, chance):
            key, own = jax.random.split(key)
            parameters, state = step(parameters, state, tuple(map(jnp.asarray, batch)), own)
            if epoch >= AVERAGED_FROM * epochs:
                mean = parameters if mean is None else averaged(mean, parameters)
    return rounded({name: np.asarray(value) for name, value in (mean or parameters).items()}, borders)


def is_exact(net: Net) -> bool:
    """True where no partial sum of any product can leave float32's whole numbers, whatever the page.

    By the Cauchy–Schwarz inequality: a row of H normed values has a root of squares of at most √H, so has the mean
    of such rows; of rectified values it is at most MOST √H, of the binned features √F.
    """
    most = 2.0**_BITS / (STEP * UNIT)
    features, width = net.first.shape
    w = net.weights
    row = np.sqrt(width)
    bounds: tuple[Any, ...] = (
        np.sqrt(features) * _norms(w["first"]) + abs(w["first_bias"]),
        np.sqrt(6) * row * _norms(w["mix"]) + np.sqrt(width + 1) * row * _norms(w["page"]) + abs(w["bias"]),
        MOST * row * _norms(w["out"]) + LARGEST,
        row * _norms(w["last"]) + np.sqrt(features) * _norms(w["skip"]) + abs(w["last_bias"]),
    )
    return bool(max(bound.max() for bound in bounds) < most)


def _norms(weights: Any) -> Any:
    """The root of the sum of squares of each column."""
    return np.sqrt(np.square(weights.astype(np.float64)).sum(-2 if weights.ndim > 1 else 0))


def rounded(parameters: dict[str, NDArray[Any]], borders: NDArray[np.float32]) -> Net:
    """The net in whole numbers."""
    whole = {name: np.rint(value * UNIT).astype(np.int32) for name, value in parameters.items()}
    net = Net(borders=borders, reach=np.array(REACH, np.int32), **whole)
    if not is_exact(net):
        raise ValueError("weights are too large for sums without rounding: train with more decay")
    return net


def odds(parameters: Parameters, x: Any, weight: Any, groups: Any, key: Any = None) -> Any:
    """Log odds of blocks, (pages, blocks); weight: of each block in means, 0 where there is none.

    With a key it drops by chance what training leaves out.
    """
    import jax
    import jax.numpy as jnp

    there = (weight > 0).astype(x.dtype)[..., None]
    keys = iter(jax.random.split(key, len(REACH) + 1)) if key is not None else None
    if keys is not None:
        x *= _left(next(keys), FEATURES_DROPPED, (x.shape[0], 1, x.shape[2]))
    h = jnp.clip(x @ parameters["first"] + parameters["first_bias"], 0, MOST) * there
    for layer, reach in enumerate(REACH):
        z = _normed(h) * there
        mean = (z * weight[..., None]).sum(1) / weight.sum(1)[:, None]
        most = jnp.where(there > 0, z, -LARGEST).max(1)
        parts = [z, _moved(z, reach), _moved(z, -reach), *(_means(z, weight, groups[..., i]) for i in range(GROUPINGS))]
        y = jnp.concatenate(parts, -1) @ parameters["mix"][layer] + parameters["bias"][layer]
        y += (jnp.concatenate([mean, most], -1) @ parameters["page"][layer])[:, None]
        y = jnp.clip(y, 0, MOST)
        if keys is not None:
            y *= _left(next(keys), VALUES_DROPPED, y.shape)
        h += (y @ parameters["out"][layer]) * there
    return _normed(h) @ parameters["last"] + x @ parameters["skip"] + parameters["last_bias"]


def _loss(parameters: Parameters, batch: tuple[Any, ...], key: Any) -> Any:
    """Cross entropy of labels between 0 and 1; a page weighs with the root of its blocks' sum."""
    import optax

    x, weight, groups, labels = batch
    entropy = optax.sigmoid_binary_cross_entropy(odds(parameters, x, weight, groups, key), labels)
    share = weight / (weight.sum(1, keepdims=True) + 1e-6) ** 0.5
    return (entropy * share).sum() / share.sum()


def _first_parameters(features: int, key: Any) -> Parameters:
    import jax
    import jax.numpy as jnp

    layers = len(REACH)
    keys = iter(jax.random.split(key, 6))

    def drawn(scale: float, *shape: int) -> Any:
        return jax.random.normal(next(keys), shape) * scale

    each = np.repeat([1.0, *[0.5] * 2, *[0.3] * GROUPINGS], WIDTH)[:, None] / WIDTH**0.5
    return {
        "first": drawn((2 / features) ** 0.5, features, WIDTH),
        "first_bias": jnp.zeros(WIDTH),
        "mix": drawn(1.0, layers, (3 + GROUPINGS) * WIDTH, WIDTH) * each,
        "page": drawn(0.3 / (2 * WIDTH) ** 0.5, layers, 2 * WIDTH, WIDTH),
        "bias": jnp.zeros((layers, WIDTH)),
        "out": drawn(0.3 / WIDTH**0.5, layers, WIDTH, WIDTH),
        "last": drawn(1 / WIDTH**0.5, WIDTH),
        "last_bias": jnp.full(1, -0.5),
        "skip": drawn(0.1 / features**0.5, features),
    }


def _left(key: Any, dropped: float, shape: tuple[int, ...]) -> Any:
    import jax

    return jax.random.bernoulli(key, 1 - dropped, shape) / (1 - dropped)


def _normed(values: Any) -> Any:
    apart = values - values.mean(-1, keepdims=True)
    return apart / ((apart * apart).mean(-1, keepdims=True) + 1e-5) ** 0.5


def _moved(values: Any, by: int) -> Any:
    import jax.numpy as jnp

    size = values.shape[1]
    if by > 0:
        return jnp.pad(values, ((0, 0), (by, 0), (0, 0)))[:, :size]
    return jnp.pad(values, ((0, 0), (0, -by), (0, 0)))[:, -by:]


def _means(values: Any, weight: Any, group: Any) -> Any:
    import jax

    size = values.shape[1]

    def of_page(values: Any, weight: Any, group: Any) -> Any:
        sums = jax.ops.segment_sum(values * weight[:, None], group, num_segments=size)
        return (sums / (jax.ops.segment_sum(weight, group, num_segments=size)[:, None] + 1e-6))[group]

    return jax.vmap(of_page)(values, weight, group)


def _length(blocks: int) -> int:
    """To which a page's blocks are filled up: a power of two, so that few shapes are compiled."""
    return max(_SHORTEST, 1 << (min(blocks, MOST_BLOCKS) - 1).bit_length())


def _batches(lessons: list[Lesson], inputs: list[Any], chance: np.random.Generator) -> Iterator[tuple[Any, ...]]:
    """Pages of about the same length side by side, in an order drawn anew."""
    seen = np.flatnonzero(chance.random(len(lessons)) < [one.weight for one in lessons])
    lengths = np.array([_length(len(lessons[i].words)) for i in seen], np.int64)
    batches: list[list[int]] = []
    for length in np.unique(lengths).tolist():
        pages = chance.permutation(seen[lengths == length]).tolist()
        many = _BATCH // length
        batches += [pages[i : i + many] for i in range(0, len(pages), many)]
    for place in chance.permutation(len(batches)).tolist():
        yield _batch([(lessons[i], inputs[i]) for i in batches[place]], chance)


def _batch(pages: list[tuple[Lesson, Any]], chance: np.random.Generator) -> tuple[Any, ...]:
    length = _length(len(pages[0][0].words))
    many = _BATCH // length
    x = np.zeros((many, length, pages[0][0].rows.shape[1]), np.float32)
    weight, labels = np.zeros((many, length), np.float32), np.zeros((many, length), np.float32)
    groups = np.zeros((many, length, GROUPINGS), np.int32)
    for i, (one, inputs) in enumerate(pages):
        size = min(len(one.words), MOST_BLOCKS)
        start = int(chance.integers(len(one.words) - size + 1))
        part = slice(start, start + size)
        x[i, :size] = inputs[int(chance.random() < 0.5)][part].astype(np.float32) / STEP
        weight[i, :size] = block_weights(one.words[part])
        labels[i, :size] = one.labels[part]
        for j, group in enumerate(one.groups):
            groups[i, :size, j] = np.unique(group[part], return_inverse=True)[1].reshape(-1)
    weight[len(pages) :, 0] = 1e-6
    return x, weight, groups, labels
