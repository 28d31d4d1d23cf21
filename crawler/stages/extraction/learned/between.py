"""Is the main text what stands between links: teasers of a home page or a section, boards of a forum, results?

By structure, not by words, so in any language: in an index each entry is a link and at most a few sentences, whereas
in a text many words stand together, however many links are in its sentences. Only blocks that are a link as a whole
part the text. How many words stand between them decides (`stages/quality/no_content.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.numbers import Numbers
from crawler.stages.text.words import count_words

NAMES = ("linked_blocks", "words_between_links")
LINKED = 0.7
"""Share of its characters in links from which a block is a link: dates and names of authors stand beside titles."""


def link_signals(kept: NDArray[np.bool_], numbers: Numbers) -> dict[str, float]:
    """What the quality stage judges an index by, of the kept blocks; empty where there are none.

    `linked_blocks`: blocks that are a link. `words_between_links`: how many words stand together between two of them,
    the mean over all words of the text; a word in such a block stands with none.
    """
    words = np.array([count_words(numbers.page.texts[block]) for block in np.flatnonzero(kept)], np.float64)
    if not words.sum():
        return {}
    is_link = numbers.linked[kept] >= LINKED * numbers.chars[kept]
    between = np.bincount(np.cumsum(is_link), np.where(is_link, 0.0, words))
    return {
        "linked_blocks": int(is_link.sum()),
        "words_between_links": round(float(between @ between / words.sum()), 2),
    }
