"""The model of main texts is read once a process from a file of numbers beside this module.

docs/extraction-model.md is its card.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crawler.native.words import NativeTable
from crawler.stages.extraction.learned.probe import features_of
from crawler.stages.extraction.learned.tables import Scores
from crawler.stages.models.file import ModelError, Stored, load
from crawler.stages.models.table import Table
from crawler.stages.models.trees import Trees

if TYPE_CHECKING:
    from crawler.stages.models.net import Groups, Net, Values

OWN = f"{__package__}:model.npz"
"""The project's own."""
KIND = "main-text"
KINDS = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""Page types, in the order of the outputs of `Model.kinds`."""


@dataclass(frozen=True)
class Blocks:
    """A net and trees judge each block together: what they know of a page is different (ADR extraction-003)."""

    net: Net
    trees: Trees

    def __call__(self, rows: Values, words: NDArray[np.float64], groups: Groups) -> NDArray[np.int64]:
        """Log odds that each block belongs to the main text, in units of 1 / SCALE: the mean of both."""
        return np.asarray((self.net(rows, words, groups) + self.trees(rows)[:, 0]) // 2)


@dataclass(frozen=True)
class Model:
    """What training made: what judges blocks, the trees of page types and the table of hashes."""

    blocks: Blocks
    kinds: Trees
    """Log odds of each page type, to be compared with each other."""
    table: Mapping[int, int]
    """Score of a hashed name, word or line (`tables.py`), in sixteenths of log odds."""
    said: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """What a hashed statement of a page about itself (`said.py`) says for each page type, in sixteenths of log odds."""

    @cached_property
    def scores(self) -> Scores:
        """The table asked by names and words; 0 for what the training has not seen often enough."""
        return Scores(lambda key: self.table.get(key, 0), NativeTable(self.table))

    def parts(self) -> dict[str, Any]:
        """What stands in the model's file, by the names that `read_model` asks for."""
        table, said = Table.of(self.table), Table.of(self.said, len(KINDS))
        return {"net": self.blocks.net, "blocks": self.blocks.trees, "kinds": self.kinds, "table": table, "said": said}


def read_model(name: str = OWN) -> Model:
    """The model of a file that `python -m bench.extraction train` wrote. Raises: ModelError."""
    return model_of(load(name, KIND, features_of))


def model_of(stored: Stored) -> Model:
    """The model of a file's parts. Raises: ModelError."""
    from crawler.stages.models.net import Net

    table, said = stored.part("table", Table).known, stored.part("said", Table).known
    blocks = Blocks(stored.part("net", Net), stored.part("blocks", Trees))
    return Model(blocks, stored.part("kinds", Trees), table, said)


@cache
def the_model() -> Model:
    """The model of this version, read at the first call. Raises: ModelError."""
    return read_model()


def check_model() -> list[str]:
    """What keeps the learned extractor from working: its file, or features that are not those it was trained on."""
    try:
        load(OWN, KIND, features_of)
    except ModelError as error:
        return [f"EXTRACTOR=learned: {error}"]
    return []
