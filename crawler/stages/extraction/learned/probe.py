"""What the model is given of a page, group by group: as its file has it of the probe, and as it is computed today."""

from __future__ import annotations

import numpy as np
from lxml.html import document_fromstring

from crawler.stages.extraction.learned.alike import groups
from crawler.stages.extraction.learned.numbers import features, page_numbers
from crawler.stages.extraction.learned.said import said
from crawler.stages.extraction.learned.tables import Scores
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.models.features import Features


def features_of(html: bytes) -> tuple[Features, ...]:
    """The columns of a page's blocks, what they weigh, their groups, the page's numbers and its statements.

    The table of the model has no part in it: each hash has a score of its own.
    """
    tree = document_fromstring(html.decode())
    page = walk(tree)
    rows, numbers = features(page, Scores(lambda key: key % 255 - 127), tree.findtext(".//title") or "")
    starts = (0, *(end for _, _, end in numbers.groups))
    of_blocks = [
        Features(group, version, numbers.names[start:end], rows[:, start:end])
        for start, (group, version, end) in zip(starts, numbers.groups, strict=False)
    ]
    of_page = tuple(f"{number} {name}" for number in ("mean", "most") for name in numbers.names)
    return (
        *of_blocks,
        Features("weights", 1, ("words",), numbers.words[:, None]),
        Features("alike", 1, ("two elements", "four elements", "holder"), np.stack(groups(page), 1)),
        Features("whole page", 1, of_page, page_numbers(rows)[None]),
        Features("statements", 1, ("hash",), np.array(sorted(said(tree, page.names)))[:, None]),
    )
