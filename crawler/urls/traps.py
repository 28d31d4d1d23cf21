"""Which URLs are made without end by a machine: asked before a link enters the frontier.

Rules on the URL alone, so that every worker says the same; the pages-per-domain cap is the frontier's own. Each rule
names itself, so that a false positive can be found in the counters.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from crawler.urls.canonicalize import MAX_URL_LENGTH

MAX_PATH_SEGMENTS = 20
MAX_QUERY_PARAMETERS = 12
MAX_REPEAT_DISTANCE = 4
MAX_DATE_SEGMENTS = 6
CALENDAR_WINDOW_DAYS = 366

_CALENDAR_WORDS = frozenset(
    ["calendar", "calendario", "calendrier", "kalender", "agenda", "events", "event", "events-calendar", "cal"]
)
_CALENDAR_PARAMETERS = re.compile(r"(?:^|[&?])(?:month|week|day|date|tribe-bar-date|eventdate|cal_month)=", re.ASCII)
_VIEW_WORDS = frozenset(["month", "week", "day", "list", "today", "photo", "map", "summary"])
_DATE = re.compile(r"(?<![0-9])([0-9]{4})[-/]?(0[1-9]|1[0-2]|[1-9](?![0-9]))(?:[-/]?[0-9]{1,2})?(?![0-9])", re.ASCII)
_MONTH = re.compile(r"(?:^|[&?])(?:month|monat|mois|mes|m)=(0?[1-9]|1[0-2])(?![0-9])", re.ASCII)
_YEAR = re.compile(r"(?:^|[&?])(?:year|yr|y|jahr|annee|ano)=([0-9]{4})(?![0-9])", re.ASCII)


def trap_reason(url: str, *, today: date | None = None) -> str | None:
    """Name of the rule that calls this canonical URL a trap, or None.

    "too_long", "too_deep", "repeated_segment", "too_many_parameters", "calendar". `today` is for the calendar rule:
    views within a year of it are let through, because real pages hang on them.
    """
    if len(url) > MAX_URL_LENGTH:
        return "too_long"
    path, _, query = url.partition("://")[2].partition("?")
    segments = [segment for segment in path.split("/")[1:] if segment]
    if len(segments) > MAX_PATH_SEGMENTS:
        return "too_deep"
    if _repeats(segments):
        return "repeated_segment"
    if query.count("&") >= MAX_QUERY_PARAMETERS:
        return "too_many_parameters"
    return "calendar" if _is_far_calendar_view(segments, query, today) else None


def _repeats(segments: list[str]) -> bool:
    """A relative link that climbs its own tree: few names, many segments, whatever their arrangement.

    That is the same folder three times at equal distance, or a third of the segments and two at least repeat others.
    Neither tells of a source tree, in which the names of a project stand two or three times among many, nor of one tree
    within another (`/docs/en/docs/en/`). Numbers may be dates, two of them at most.
    """
    if len(set(segments)) > len(segments) - 2:
        return False
    numbers = sum(one.isdigit() for one in segments)
    words = segments if numbers > MAX_DATE_SEGMENTS else [one for one in segments if not one.isdigit()]
    repeated = len(words) - len(set(words))
    if repeated >= 2 and 3 * repeated >= len(words) and not _is_tree_in_tree(words):
        return True
    return any(
        first == second == third and not first.isdigit()
        for step in range(1, MAX_REPEAT_DISTANCE + 1)
        for first, second, third in zip(segments, segments[step:], segments[2 * step :], strict=False)
    )


def _is_tree_in_tree(words: list[str]) -> bool:
    """True where nothing repeats but one run of segments, right behind itself."""
    for size in range(2, len(words) // 2 + 1):
        for at in range(len(words) - 2 * size + 1):
            if words[at : at + size] == words[at + size : at + 2 * size]:
                rest = words[:at] + words[at + size :]
                return len(rest) == len(set(rest))
    return False


def _is_far_calendar_view(segments: list[str], query: str, today: date | None) -> bool:
    """A month, week or day of a calendar more than a year away; never an article that only carries its date.

    Without a calendar in the path only the future counts: archives by date are finite and real.
    """
    words = [segment.lower() for segment in segments]
    if not query and _CALENDAR_WORDS.isdisjoint(words):
        return False
    named = next((at for at, word in enumerate(words, 1) if word in _CALENDAR_WORDS), 0)
    if not named:
        return bool(_CALENDAR_PARAMETERS.search(query)) and _days_away(_month_of(query), today) > CALENDAR_WINDOW_DAYS
    in_path = _DATE.fullmatch("/".join(word for word in words[named:] if word not in _VIEW_WORDS))
    month = (int(in_path[1]), int(in_path[2])) if in_path else _month_of(query)
    return abs(_days_away(month, today)) > CALENDAR_WINDOW_DAYS


def _month_of(query: str) -> tuple[int, int] | None:
    """Year and month a query names, as a date or as two parameters."""
    if match := _DATE.search(query):
        return int(match[1]), int(match[2])
    if year := _YEAR.search(query):
        month = _MONTH.search(query)
        return int(year[1]), int(month[1]) if month else 6
    return None


def _days_away(month: tuple[int, int] | None, today: date | None) -> int:
    """Days from today to the middle of the month; 0 where there is none."""
    if month is None or not date.min.year < month[0] < date.max.year:
        return 0
    return (date(*month, 15) - (today or datetime.now(UTC).date())).days
