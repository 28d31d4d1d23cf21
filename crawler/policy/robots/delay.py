"""How long a robots.txt asks to wait between two requests: Crawl-delay and Request-rate, as people write them.

Neither is in RFC 9309. A number alone is seconds; a unit behind it counts in whatever language it is begun (`1 minute`,
`1 Min.`, `2 segundos`, `500ms`, `1m30s`, `5 分`), and one that nobody knows is none.
"""

from __future__ import annotations

import re

_NUMBER = r"(?:\d{1,9}(?:[.,]\d{0,9})?|[.,]\d{1,9})(?:e\d{1,3}(?!\d))?"
_PART = re.compile(rf"[\s,;+&]{{0,9}}(?:and|und|et|y|e)?\s{{0,9}}({_NUMBER})\s{{0,9}}([^\W\d_]{{0,20}})", re.IGNORECASE)
_FIRST = re.compile(r"(?<![\w.,-])[\d.,]", re.ASCII)
_WITHIN = 200
"""Characters of a value that are read."""
_RATE = re.compile(r"(\d{1,6})\s*/\s*(?=\d)", re.ASCII)
_UNITS = (
    (0.001, ("ms", "milli", "mili", "мс", "毫秒", "ミリ秒")),
    (1.0, ("s", "с", "秒", "초")),
    (60.0, ("m", "м", "分", "분")),
    (3_600.0, ("h", "hr", "std", "stunde", "ora", "ore", "ч", "小时", "小時", "时", "時", "시간")),
    (86_400.0, ("d", "tag", "jour", "giorn", "д", "天", "日", "일")),
)
"""Beginnings of units, in the order in which they are compared, and their seconds."""
_SHORT = {"std": 3_600.0, "stunde": 3_600.0, "stunden": 3_600.0, "mois": None, "month": None, "months": None}


def seconds_of(value: str) -> float | None:
    """Seconds that a Crawl-delay asks for; None where there is no number, or one below zero or without end."""
    begin = _FIRST.search(value[:_WITHIN])
    at, total, is_first = (begin.start() if begin else 0), 0.0, True
    while begin and (part := _PART.match(value[:_WITHIN], at)) and (is_first or part[2]):
        unit = _unit(part[2].lower())
        if not is_first and unit is None:
            break
        total += float(part[1].replace(",", ".")) * (unit or 1.0)
        at, is_first = part.end(), False
        if unit is None:
            break
    return total if not is_first and total < float("inf") else None


def request_rate(value: str) -> float | None:
    """Seconds between requests for a Request-rate value such as `10/1m`; None where it cannot be read."""
    match = _RATE.match(value)
    if not match or int(match[1]) == 0:
        return None
    span = seconds_of(value[match.end() :])
    return None if span is None else span / int(match[1])


def _unit(word: str) -> float | None:
    """Seconds of the unit that a word begins; None where it is none."""
    if word in _SHORT:
        return _SHORT[word]
    found = (seconds for seconds, begins in _UNITS if word.startswith(begins))
    return next(found, None) if word else None
