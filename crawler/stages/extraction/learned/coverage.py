"""Coverage says of every block of a page how much of it stands in a text: in that of another extractor, 0 to 1.

A long block is compared by its runs of five words; a short one ("Reply", a heading) counts where its words stand in
the text between the places of the long blocks around it, and each place counts once. Training labels blocks with it.
"""

from __future__ import annotations

import re
from collections import defaultdict

WORD = re.compile(r"\w+")
RUN = 5
"""Words that are unlikely to follow each other twice by chance."""
SLACK = 25
"""Words by which a short block may stand off its place: annotators leave lines out, pages order columns differently."""
REACH = 150
"""Words from the nearest long block beyond which a short one is not looked for."""


def coverage(blocks: list[str], text: str) -> list[float]:
    """Share of each block's words that stand in the text, at its place."""
    truth = WORD.findall(text.lower())
    words = [WORD.findall(block.lower()) for block in blocks]
    runs, starts = _places(truth)
    found = [0.0] * len(blocks)
    anchors: list[tuple[int, int, int]] = []
    for i, own in enumerate(words):
        if len(own) >= RUN:
            found[i], first, last = _covered(own, runs)
            if found[i] >= 0.5:
                anchors.append((i, first, last))
    _label_short(words, found, anchors, truth, starts)
    return found


def _places(truth: list[str]) -> tuple[dict[tuple[str, ...], int], dict[str, list[int]]]:
    runs: dict[tuple[str, ...], int] = {}
    starts: dict[str, list[int]] = defaultdict(list)
    for i, word in enumerate(truth):
        runs.setdefault(tuple(truth[i : i + RUN]), i)
        starts[word].append(i)
    return runs, starts


def _covered(own: list[str], runs: dict[tuple[str, ...], int]) -> tuple[float, int, int]:
    hit, first, last = bytearray(len(own)), -1, -1
    for i in range(len(own) - RUN + 1):
        place = runs.get(tuple(own[i : i + RUN]))
        if place is not None:
            hit[i : i + RUN] = b"\1" * RUN
            first, last = (place if first < 0 else first), place + RUN
    return sum(hit) / len(own), first, last


def _label_short(
    words: list[list[str]],
    found: list[float],
    anchors: list[tuple[int, int, int]],
    truth: list[str],
    starts: dict[str, list[int]],
) -> None:
    used: set[int] = set()
    following = iter([*anchors, (len(words), len(truth), len(truth))])
    before, behind = (-1, 0, 0), next(following)
    for i, own in enumerate(words):
        while i >= behind[0] and behind[0] < len(words):
            before, behind = behind, next(following)
        if not own or len(own) >= RUN:
            continue
        low, high = before[2] - SLACK, behind[1] + SLACK
        if behind[0] < len(words) and before[0] < 0:
            low = behind[1] - REACH
        if behind[0] == len(words) and before[0] >= 0:
            high = before[2] + REACH
        for place in starts.get(own[0], ()):
            if low <= place <= high and place not in used and truth[place : place + len(own)] == own:
                found[i] = 1.0
                used.update(range(place, place + len(own)))
                break
