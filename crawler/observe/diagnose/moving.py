"""A diagnosis moves a limit: to a value that does what is said of it, once it is set.

The record has what was measured to four places; a rule compares what it measured. So a limit lets a page pass for sure
only where it lies beyond all that is written that way.
"""

from __future__ import annotations

import math
from functools import cache

from crawler.observe.diagnose.thresholds import Threshold

STRICTER = 0.1
"""The other direction is shown for a limit moved by so much of itself."""
_ROUNDED_BY = 0.00005
_PLACES = 3
_MOST_PLACES = 15
_WHOLE = frozenset({"word_count", "gopher_words", "gopher_stop_words", "c4_sentences"})
"""Values that count something: a limit for them is a whole number."""
_AS_DECIDED = _WHOLE | {"quality_score"}
"""Values that are compared as the record has them."""


def lets_pass(limit: Threshold, value: float, bound: float) -> bool:
    """True where the limit, moved to `bound`, is surely not missed by what is written as `value`."""
    return not limit.is_missed_by(_worst(limit, value), bound)


def passing(limit: Threshold, value: float) -> float:
    """The roundest limit that surely lets `value` pass: beyond it by less than a hundredth of what is between."""
    worst = _worst(limit, value)
    if limit.value in _WHOLE:
        return math.ceil(worst) if limit.above else math.floor(worst)
    fewest = _PLACES + (abs(value) < 0.1)
    bounds = (_to_places(worst, places, up=limit.above) for places in range(fewest, _MOST_PLACES))
    return next((bound for bound in bounds if bound != limit.limit and not limit.is_missed_by(worst, bound)), worst)


@cache
def tighter(limit: Threshold) -> float | None:
    """A limit stricter by a tenth, in whole numbers by no less; None where nothing is stricter."""
    moved = round(limit.limit * (1 - STRICTER if limit.above else 1 + STRICTER), 9)
    if limit.value in _WHOLE:
        moved = math.floor(moved) if limit.above else math.ceil(moved)
    if limit.most is not None:
        moved = min(moved, limit.most)
    bound = moved if limit.value in _WHOLE else float(f"{moved:.4g}")
    return bound if limit.is_missed_by(limit.limit, bound) else None


def _worst(limit: Threshold, value: float) -> float:
    """What is written as `value` was at most this, where the limit is one from above; else at least this."""
    if limit.value in _AS_DECIDED:
        return value
    if not limit.above:
        return max(0.0, value - _ROUNDED_BY)
    return value + _ROUNDED_BY if limit.most is None else max(value, min(value + _ROUNDED_BY, limit.most))


def _to_places(value: float, places: int, *, up: bool) -> float:
    scale = 10**places
    exact = round(value * scale, 6)
    return float((math.ceil(exact) if up else math.floor(exact)) / scale)
