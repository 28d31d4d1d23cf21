"""The model is read once a process from a file of numbers beside this module (card: docs/extraction-model.md)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.alike import Groups
from crawler.stages.extraction.learned.forest import Forest
from crawler.stages.extraction.learned.net import Net, Values
from crawler.stages.extraction.learned.tables import Scores

PATH = Path(__file__).with_name("model.npz")
KINDS = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""Page types, in the order of the outputs of `Model.kinds`."""


@dataclass(frozen=True)
class Blocks:
    """A net and a forest judge each block together: what they know of a page is different (ADR extraction-003)."""

    net: Net
    trees: Forest

    def __call__(self, rows: Values, words: NDArray[np.float64], groups: Groups) -> NDArray[np.int64]:
        """Log odds that each block belongs to the main text, in units of 1 / SCALE: the mean of both."""
        return np.asarray((self.net(rows, words, groups) + self.trees(rows)[:, 0]) // 2)


@dataclass(frozen=True)
class Model:
    """What training made: what judges blocks, the forest of page types and the table of hashes."""

    blocks: Blocks
    kinds: Forest
    """Log odds of each page type, to be compared with each other."""
    table: dict[int, int]
    """Score of a hashed name, word or line (`tables.py`), in sixteenths of log odds."""
    columns: int
    """Features that net and trees were trained on."""
    said: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """What a hashed statement of a page about itself (`said.py`) says for each page type, in sixteenths of log odds."""

    @cached_property
    def scores(self) -> Scores:
        """The table asked by names and words; 0 for what the training has not seen often enough."""
        return Scores(lambda key: self.table.get(key, 0))


def read_model(path: Path | None = None) -> Model:
    """The model of a file that `python -m bench.extraction train` wrote (None: the project's own).

    Numbers only, nothing in it is run.
    """
    with np.load(BytesIO(path.read_bytes() if path else _own()), allow_pickle=False) as stored:
        found: dict[str, Any] = {name: stored[name] for name in stored.files}
    table = dict(zip(found["hashes"].tolist(), found["scores"].tolist(), strict=True))
    said = dict(zip(found["said"].tolist(), map(tuple, found["said_scores"].tolist()), strict=True))
    net = Net(*(found[f"net_{part.name}"] for part in fields(Net)))
    trees, kinds = (Forest(*(found[f"{name}_{part.name}"] for part in fields(Forest))) for name in ("blocks", "kinds"))
    return Model(Blocks(net, trees), kinds, table, int(found["columns"]), said)


def _own() -> bytes:
    """The project's own file, also where the project is a zip file (a batch job on Spark)."""
    return resources.files(__package__).joinpath(PATH.name).read_bytes()


@cache
def the_model() -> Model:
    """The model of this version, read at the first call."""
    return read_model()


@cache
def model_version() -> str:
    """What names the model in a manifest: the first 16 hex digits of the file's SHA-256."""
    return hashlib.sha256(_own()).hexdigest()[:16]
