"""Entries of a thread are kept as a whole, and comments as COMMENTS asks: no half of what somebody wrote.

The model judges blocks, and short ones in the middle of a post look like the labels around it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crawler.stages.extraction.learned.choice import IMPOSSIBLE
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.parts import Labeller
from crawler.stages.extraction.learned.walk import Kind, Walked
from crawler.stages.models.odds import SCALE

SURE = 4 * SCALE
"""Log odds of what somebody wrote in an entry that is kept."""
BESIDE = 2 * SCALE
"""Log odds that a block in an entry loses which stands beside what was written: its number, its title said again."""
BODY = 0.7
"""Share of what is likely text in an entry, that the element around what was written holds."""
LIKED = 0.25
"""Share of an entry's words, or of those of all entries, that are likely text, from which it is kept as a whole."""
FEW = 60, 120
"""Words up to which a page has no text but its comments: then it is a thread that names no entry; the second number
where the model takes it for one."""

MOST_BELOW = 4
"""Times as many words below a text as in it, from which a page that the model takes for a forum's is a thread."""


def labeller_of(page: Walked, sums: NDArray[np.int64], words: NDArray[np.float64], kind: str) -> Labeller:
    """What the page's elements are; a page that is nothing but comments is a thread."""
    found = Labeller(page)
    if found.speakers.is_thread or not (found.speakers.comments or found.speakers.posts_named):
        return found
    said = np.array([found.place(holder).speaker is not None for holder in page.holders])
    likely = words * (sums > 0)
    few, beside, below = FEW[kind == "forum"], likely[~said].sum(), likely[said].sum()
    is_forum = kind == "forum" and (found.speakers.posts_named or below > MOST_BELOW * beside)
    is_thread = beside <= few < below or is_forum
    return Labeller(page, is_thread=True) if is_thread else found


def with_speakers(
    page: Walked, sums: NDArray[np.int64], words: NDArray[np.float64], labeller: Labeller, comments: str
) -> NDArray[np.int64]:
    """Log odds of the blocks, where entries are whole, and comments are kept, dropped or separate as they are asked."""
    speakers = labeller.speakers
    if not speakers.entries and not speakers.sections:
        return sums
    left = sums.copy()
    is_dropped = comments != "keep" and not speakers.is_thread  # what answers an entry is of the thread
    bodies = dict[int, list[int]]()
    for block, holder in enumerate(page.holders):
        place = labeller.place(holder)
        if place.speaker is None:
            continue
        is_other = place.other >= 0 or page.kinds[block] == Kind.CONTROL
        if is_other or (is_dropped and place.speaker.name == "comment"):
            left[block] = IMPOSSIBLE
        elif place.speaker.name == "comment" and place.user < 0 and place.speaker.key in speakers.comments:
            if comments == "keep":  # they are asked for, whatever the model thinks of them
                left[block] = max(left[block], SURE)
        elif place.user < 0 and place.speaker.key in speakers.posts:
            bodies.setdefault(place.speaker.key, []).append(block)
    return _with_whole(page, left, words, bodies)


def _with_whole(
    page: Walked, left: NDArray[np.int64], words: NDArray[np.float64], entries: dict[int, list[int]]
) -> NDArray[np.int64]:
    likely = words * (left > 0)
    bodies = [_body(page, entry, blocks, likely) for entry, blocks in entries.items()]
    if not bodies:
        return left
    everything = np.concatenate(bodies)
    all_liked = likely[everything].sum() >= LIKED * words[everything].sum()
    beside = np.setdiff1d(np.concatenate([*map(np.array, entries.values())]), everything)
    left[beside] -= BESIDE
    for body in bodies:
        if all_liked or likely[body].sum() >= LIKED * words[body].sum():
            left[body] = np.maximum(left[body], SURE)
    return left


def _body(page: Walked, entry: int, blocks: list[int], likely: NDArray[np.float64]) -> NDArray[np.int64]:
    """The blocks of an entry that are what was written: those in the innermost element that holds most of its text."""
    weights = dict[int, float]()
    for block in blocks:
        up = page.holders[block]
        while up > entry:
            weights[up] = weights.get(up, 0.0) + likely[block]
            up = page.parents[up]
    total = sum(likely[block] for block in blocks)
    inner = max((e for e, weight in weights.items() if weight >= BODY * total), default=entry) if total else entry
    return np.array([b for b in blocks if page.starts[inner] <= b < page.ends[inner]], np.int64)


def comments_of(page: Walked, labeller: Labeller) -> str:
    """What readers wrote below a text, without their names: an empty line between two of them."""
    speakers = labeller.speakers
    kept = [False] * len(page.texts)
    for block, holder in enumerate(page.holders):
        place = labeller.place(holder)
        is_said = (
            place.speaker is not None and place.speaker.name == "comment" and place.speaker.key in speakers.comments
        )
        kept[block] = is_said and place.user < 0 and place.other < 0 and page.kinds[block] != Kind.CONTROL
    written = write(page, kept, labeller=labeller)
    return "\n\n".join(written.text[start:end] for start, end, label in written.parts if label == "comment")
