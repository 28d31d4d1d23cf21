"""The quality rules recognise speech that is written down: subtitles and transcripts with times, plays, interviews.

Times and names of speakers stand between the sentences, repeat, have few letters and end no sentence. They are told by
their form, in every language: a time at the beginning of a line, the same few names before a colon or, in capitals or
with a mark behind them, on lines of their own. What is left is judged like any other text, so that a menu stays one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from crawler.stages.quality.punctuation import ends_a_sentence

LEAST_TIMES, TIMES_SHARE = 5, 0.15
"""Lines that begin with a time, and their share of all, from which a text has times."""
GOING_ON = 0.8
"""Share of the times that are later than the one before."""
LEAST_TURNS, TURNS_SHARE = 6, 0.15
"""The same of lines that name a speaker."""
LEAST_OF_A_NAME = 2
"""How often a name is said: one that stands once is a label."""
FEWEST_NAMES, MOST_NAMES = 2, 40
_TIME = re.compile(
    r"\s*[\[(<]?((?:\d{1,2}:)?\d{1,3}:\d{2})(?:[.,]\d{1,3})?[\])>]?(?:\s*(?:-->|[-–—])\s*(?:\d{1,2}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?)?[\])>]?"
)
_CUE_NUMBER = re.compile(r"\s*\d{1,5}\s*")
_LABEL = re.compile(r"\s*([^\W\d_][^\n:：.?!;,]{0,39}?)\s*[:：]\s*(?=\S)")
_ALONE = re.compile(r"\s*([^\W\d_][^\n:：?!;,]{0,39}?)\s*([.:：]?)\s*")


@dataclass(frozen=True, slots=True)
class Speech:
    """form: "transcript" (times) or "dialogue" (names). text: what is said, a line a sentence or a turn."""

    form: str
    text: str


def speech_in(text: str, language: str = "") -> Speech | None:
    """What is said in a text of one of these forms; None for any other text."""
    lines = [line for line in text.split("\n") if line.strip()]
    times = [_TIME.match(line) for line in lines]
    if _are_enough(sum(map(bool, times)), len(lines), LEAST_TIMES, TIMES_SHARE) and _go_on(filter(None, times)):
        said = [line[match.end() :] if match else line for line, match in zip(lines, times, strict=True)]
        left = [line for line in said if line.strip() and not _CUE_NUMBER.fullmatch(line)]
        return Speech("transcript", _joined(_without_names(left) or left, language))
    turns = _without_names(lines)
    return Speech("dialogue", "\n".join(turns)) if turns else None


def _go_on(times: Iterable[re.Match[str]]) -> bool:
    """True where nearly every time is later than the one before: hours of opening are not."""
    numbers = [list(map(int, match[1].split(":"))) for match in times]
    later = sum(one < following for one, following in pairwise(numbers))
    return later >= GOING_ON * (len(numbers) - 1)


def _without_names(lines: list[str]) -> list[str]:
    """The lines without the names of speakers; empty where there are none."""
    labels = [_name_before(line) or _name_alone(line) for line in lines]
    names = {name for name, times in Counter(filter(None, labels)).items() if times >= LEAST_OF_A_NAME}
    turns = sum(name in names for name in labels)
    if not FEWEST_NAMES <= len(names) <= MOST_NAMES or not _are_enough(turns, len(lines), LEAST_TURNS, TURNS_SHARE):
        return []
    kept = (_LABEL.sub("", line, count=1) if name in names else line for line, name in zip(lines, labels, strict=True))
    alone = [name in names and _name_alone(line) == name for line, name in zip(lines, labels, strict=True)]
    return [line for line, is_alone in zip(kept, alone, strict=True) if not is_alone]


def _name_before(line: str) -> str:
    match = _LABEL.match(line)
    return match[1] if match else ""


def _name_alone(line: str) -> str:
    """The name that is all of a line: in capitals, or with a mark behind it; of two or more letters."""
    match = _ALONE.fullmatch(line)
    if match is None or len(match[1]) < 2 or len(match[1].split()) > 4:
        return ""
    return match[1] if match[1].isupper() or match[2] else ""


def _are_enough(number: int, lines: int, least: int, share: float) -> bool:
    return number >= least and number >= share * lines


def _joined(lines: list[str], language: str) -> str:
    """The lines of subtitles as sentences: one goes on until its mark."""
    found, open_line = [], ""
    for line in map(str.strip, lines):
        open_line = f"{open_line} {line}".strip()
        if ends_a_sentence(open_line, language) or len(open_line) > _LONGEST:
            found.append(open_line)
            open_line = ""
    return "\n".join([*found, open_line] if open_line else found)


_LONGEST = 400
"""Characters after which a line ends anyway: speech that is written down by a machine has no marks."""
