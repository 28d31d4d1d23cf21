"""The stage `rivers` drops a text that speaks of rivers too often: with a setting, a reason and a column of its own."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.config import Column, Config, Stage, setting
from crawler.document import Document, Drop, Reason


@dataclass(frozen=True, slots=True)
class RiverConfig:
    """How many rivers may a text have?"""

    most: int = setting("RIVER_MOST", 3, "more rivers than this are too_many_rivers", minimum=0)
    words: tuple[str, ...] = setting("RIVER_WORDS", ("river",), "words that count as a river")


TOO_MANY = Reason("too_many_rivers", "The text has more rivers than RIVER_MOST.", group="rivers", keeps_text=True)


class RiverStage:
    """Leaves the number of rivers in the column `river_count`, then decides."""

    def __init__(self, config: RiverConfig) -> None:
        self._config = config

    def __call__(self, doc: Document) -> Document | Drop:
        """The document, or the Drop with the number."""
        text = doc.text.lower()
        rivers = doc.extra["river_count"] = sum(text.count(word) for word in self._config.words)
        return Drop("rivers", TOO_MANY, f"{rivers} rivers") if rivers > self._config.most else doc


def _problems(config: Config) -> list[str]:
    words = config.section(RiverConfig).words
    return [] if words else ["RIVER_WORDS is empty: name a word that counts as a river"]


STAGE = Stage(
    "rivers",
    RiverStage,
    after="quality",
    settings=RiverConfig,
    reasons=(TOO_MANY,),
    columns=(Column("river_count", "int64", "Rivers in the text."),),
    problems=_problems,
)
