"""The learned extractor takes a parsed page to its main text: walk, features, odds, second opinion, choice, lines.

It leaves the tree as it is and never fails on a page: what has no blocks has no text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.config.text import COMMENTS
from crawler.stages.extraction.learned.alike import groups
from crawler.stages.extraction.learned.banners import without_banners
from crawler.stages.extraction.learned.between import link_signals
from crawler.stages.extraction.learned.choice import choose, hoped
from crawler.stages.extraction.learned.copies import without_copies
from crawler.stages.extraction.learned.coverage import coverage
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.model import KINDS, Model, the_model
from crawler.stages.extraction.learned.numbers import Numbers, features, page_numbers
from crawler.stages.extraction.learned.opinion import is_asked, moved, strangeness
from crawler.stages.extraction.learned.rows import with_captions, with_whole_rows
from crawler.stages.extraction.learned.said import said
from crawler.stages.extraction.learned.threads import comments_of, labeller_of, with_speakers
from crawler.stages.extraction.learned.walk import Walked, walk
from crawler.stages.extraction.written import Written
from crawler.stages.models.odds import SCALE

REPEATING = frozenset({"documentation"})
"""Page types that say the same of several things on purpose ("Availability: Unix"): nothing there is a copy."""
LEAST_EXPECTED = 0.2
"""Expected F1 under which a page has no main text (taken from a prototype that was measured on wcxb-dev)."""

SAID_WEIGHT = SCALE // 16 // 4
"""Of a sixteenth of log odds of what a page says of itself: a quarter (docs/extraction-model.md)."""


@dataclass(frozen=True, slots=True)
class Found:
    """The main text of a page, and how sure the model is of it."""

    written: Written = field(default_factory=Written)
    confidence: float = 0.0
    """F1 that the model expects of the text, 0 to 1."""
    page_type: str | None = None
    """One of `KINDS`; None where the page has no block of text."""
    page_type_score: float | None = None
    """Probability of that type, 0 to 1."""
    is_second: bool = False
    """True where the second opinion was asked."""
    page: Walked = field(default_factory=Walked)
    comments: str = ""
    """What readers wrote below the text, where it is asked for: COMMENTS=separate."""
    letters: int = 0
    """Letters and digits of all blocks of the page, menus and all."""
    links: dict[str, float] = field(default_factory=dict)
    """Of `link_signals`."""

    @property
    def text(self) -> str:
        """The main text alone."""
        return self.written.text


def extract(
    tree: Any,
    *,
    text_format: str = "text",
    comments: str = COMMENTS[0],
    model: Model | None = None,
    opinion: Callable[[], str] | None = None,
) -> Found:
    """The main text of a parsed page; `text_format` is text or markdown.

    `opinion` gives the text of another extractor; it is asked on what looks like an article and does not promise a
    nearly perfect text, and may use the tree up.
    """
    model = model or the_model()
    page = walk(tree)
    if not page.texts:
        return Found()
    rows, numbers = features(page, model.scores, tree.findtext(".//title") or "")
    chances = page_types(model, rows, said(tree, page.names))
    return judge(model, page, rows, numbers, chances, text_format=text_format, comments=comments, opinion=opinion)


def judge(
    model: Model,
    page: Walked,
    rows: NDArray[np.float32],
    numbers: Numbers,
    chances: dict[str, float],
    *,
    text_format: str = "text",
    comments: str = COMMENTS[0],
    opinion: Callable[[], str] | None = None,
) -> Found:
    """The main text of a walked page, from what `features` and `page_types` answer."""
    sums = without_banners(page, model.blocks(rows, numbers.words, groups(page)))
    is_second = opinion is not None and _is_doubtful(sums, numbers, chances["article"])
    if opinion is not None and is_second:
        taken = coverage(page.texts, opinion())
        sums = moved(sums, taken, chances["article"], strangeness(numbers.known))
    sums = with_captions(page, with_whole_rows(page, sums, numbers.words))
    kind = max(chances, key=chances.__getitem__)
    if kind not in REPEATING:
        sums = without_copies(page, sums)
    labeller = labeller_of(page, sums, numbers.words, kind)
    sums = with_speakers(page, sums, numbers.words, labeller, comments)
    kept, expected = choose(sums, numbers.words)
    if expected < LEAST_EXPECTED:
        kept[:] = False
    said_below = comments_of(page, labeller) if comments == "separate" else ""
    written = write(page, kept.tolist(), text_format, labeller)
    return Found(
        written,
        round(expected, 3),
        kind,
        round(chances[kind], 3),
        is_second,
        page,
        said_below,
        numbers.letters,
        link_signals(kept, numbers),
    )


def _is_doubtful(sums: NDArray[np.int64], numbers: Numbers, article: float) -> bool:
    return is_asked(article, numbers.size, hoped(sums, numbers.words), strangeness(numbers.known))


def page_types(model: Model, rows: NDArray[np.float32], statements: Iterable[int]) -> dict[str, float]:
    """The probability of each page type, in the order of `KINDS`; they add up to 1.

    statements: what the page says of itself (`said`). Each is evidence beside the forest's, as if independent of it,
    but of less weight, because pages that say one thing of themselves say others that mean the same.
    """
    sums = model.kinds(page_numbers(rows)[None])[0]
    for key in sorted(statements):
        if (scores := model.said.get(key)) is not None:
            sums = sums + np.array(scores, np.int64) * SAID_WEIGHT
    weights = np.exp((sums - sums.max()) / SCALE)
    return dict(zip(KINDS, (weights / weights.sum()).tolist(), strict=True))
