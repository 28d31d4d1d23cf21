"""The publication date is what a page says about itself in places made for saying so.

The address, the page's linked data and its head, a `<time>` that is called the date of publication or is the first one;
then htmldate's readers in htmldate's order, without those that search running text: on documentation these find the
dates of code examples, of footnotes and of other people's works. No date is better than a wrong one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from datetime import UTC, date, datetime
from functools import cache
from types import ModuleType
from typing import Any

from htmldate import find_date

from crawler.stages.extraction.metadata.excerpt import excerpt_of
from crawler.stages.extraction.metadata.head import Head
from crawler.stages.extraction.metadata.linked import Linked
from crawler.stages.extraction.metadata.shown_date import is_of_another, is_publication, shown_date
from crawler.stages.extraction.selectors import MAX_REMEMBERED

logger = logging.getLogger(__name__)

_FORMAT = "%Y-%m-%d"


_STATED = (
    "article:published_time", "article:published", "og:published_time", "datepublished",
    "dc.date.issued", "dcterms.created", "pubdate", "publishdate", "publish_date", "publication_date",
    "citation_publication_date", "citation_date", "parsely-pub-date", "sailthru.date", "publish-date",
    "originalpublicationdate", "cxenseparse:recs:publishtime", "article.published", "dc.date.created",
    "citation_online_date",
)  # fmt: skip
_VAGUE = ("date", "dc.date", "dcterms.date")
"""What a program may fill with the day on which it made the file, or changed it: a date that is shown says more."""
_DAY = re.compile(
    r"((?:19|20)\d\d)(?:[-/.年](0?[1-9]|1[0-2])[-/.月](0?[1-9]|[12]\d|3[01])(?!\d)"
    r"|(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=T|$))"
)
"""A day that begins with its year, in ISO 8601 (also the basic form) or as it is written in East Asia."""
_IN_ADDRESS = re.compile(r"/(20\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=/|-|$)")
_EARLIEST = "1995-01-01"


def read_date(
    tree: Any,
    url: str,
    stated: Iterable[str],
    max_date: str | None = None,
    *,
    is_whole: bool = False,
    vague: Iterable[str] = (),
) -> str | None:
    """ISO 8601 date of the page, or None. `stated`: what it states in data (`stated_dates`), `vague`: `vague_dates`.

    is_whole: these have all the JSON-LD, so that a date in it which is not among them is something else's.

    In this order: the address, what is stated, the date that it shows where one is stated vaguely, the vague one, then
    htmldate's readers: of `<meta>` in any
    wording, of JSON-LD that is none, of addresses, `<abbr>` and elements whose class, id or property speaks of a date
    or a by-line. Dates after `max_date` (ISO 8601) and before 1995 count as mistakes. Where the installed htmldate has
    other inner parts than these, its own `find_date` answers, without its search through running text. Raises: whatever
    broken markup makes htmldate raise.
    """
    latest = max_date or "9999"
    if day := _first_day(_days(url, stated, latest)):
        return day
    if day := _first_day(_days("", vague, latest)):
        return shown_date(tree, url, latest, updates=False) or day
    return _by_htmldate(tree, url, max_date, is_whole) or shown_date(tree, url, latest)


def _first_day(days: Iterable[tuple[str, str]]) -> str | None:
    return next((day for day, latest in days if _EARLIEST <= day <= latest and _is_in_the_calendar(day)), None)


def stated_dates(times: Sequence[Any], head: Head, linked: Linked) -> Iterator[str]:
    """What a page states in data, the best first: JSON-LD, `<meta>`, these `<time>` elements."""
    said = (head.first(name) for name in _STATED)
    published = (time for time in times if "pubdate" in time.attrib or "datePublished" in (time.get("itemprop") or ""))
    shown = (time.get("datetime") or "" for time in (*published, *times) if is_publication(time))
    yield from (*linked.published, *said, *linked.made, *shown)


def vague_dates(head: Head) -> Iterator[str]:
    """What a page states in `<meta>` as a date, without saying of what."""
    return (head.first(name) for name in _VAGUE)


def _is_in_the_calendar(day: str) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True


def _days(url: str, stated: Iterable[str], latest: str) -> Iterator[tuple[str, str]]:
    """Each day, and the latest that it can be: east of Greenwich the day of the fetch may be over (00:30+02:00)."""
    if address := _IN_ADDRESS.search(url):
        year, month, day = address.groups()
        yield f"{year}-{month:0>2}-{day:0>2}", latest
    for text in stated:
        if found := _DAY.match(text.strip()):
            year, month, day = (part for part in found.groups() if part)
            yield f"{year}-{month:0>2}-{day:0>2}", _latest_there(text.strip(), latest)


def _latest_there(text: str, latest: str) -> str:
    """`latest`, or the day of a time that says its distance to UTC and is no later by UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return latest
    if moment.tzinfo is None or moment.astimezone(UTC).date().isoformat() > latest:
        return latest
    return max(latest, moment.date().isoformat())


def _by_htmldate(tree: Any, url: str, max_date: str | None, is_whole: bool) -> str | None:
    readers = _readers()
    if readers is None:
        found: str | None = find_date(
            deepcopy(tree),
            extensive_search=False,
            original_date=True,
            outputformat=_FORMAT,
            url=url,
            max_date=max_date,
        )
        return found
    options = readers.Extractor(False, readers.get_max_date(max_date), readers.get_min_date(None), True, _FORMAT)
    stated = readers.examine_header(tree, options) or (None if is_whole else readers.json_search(tree, options))
    stated = stated or readers.extract_url_date(url, options)
    stated = stated or readers.examine_abbr_elements(tree, options) or _of_elements(tree, options, readers)
    return str(stated) if stated else None


@cache
def _readers() -> ModuleType | None:
    """htmldate's inner parts; None, with one warning, where the installed version has others."""
    try:
        from crawler.stages.extraction.metadata import date_readers
    except ImportError as error:
        logger.warning("htmldate has changed inside (%s): publication dates come from its public find_date", error)
        return None
    return date_readers


def _is_meant(element: Any) -> bool:
    return is_publication(element) if element.tag == "time" else not is_of_another(element)


IsMeant = Callable[[Any], bool]


def _of_elements(tree: Any, options: Any, readers: ModuleType, *, is_meant: IsMeant = _is_meant) -> str | None:
    """Of the page without comments, related articles and the like: those places are copied that could name a date."""
    found = None
    if places := [place for place in _candidates(tree, readers) if is_meant(place)]:
        found = readers.examine_elements(_candidates(_without_code(places, readers), readers), options)
    if found is None and (times := [time for time in tree.iter("time") if is_meant(time)]):
        found = readers.examine_time_elements(_without_code(times, readers), options)
    return str(found) if found else None


def _candidates(tree: Any, readers: ModuleType) -> list[Any]:
    """htmldate's `date_candidates`; whether attributes speak of a date is remembered, as a site repeats them."""
    found = []
    for element in tree.iterdescendants(*readers.FAST_TAGS, *readers.ALWAYS_TAGS):
        if element.tag in readers.ALWAYS_TAGS:
            found.append(element)
            continue
        names, own = element.get("class"), element.get("id")
        is_first = names is not None and own is not None and _is_before(element, "class", "id")
        key = names, own, element.get("itemprop"), is_first
        if key == _SILENT:
            continue
        answer = _known.get(key)
        if answer is None:
            if len(_known) >= MAX_REMEMBERED:
                _known.clear()
            answer = _known[key] = readers.is_date_candidate(element)
        if answer:
            found.append(element)
    return found


_SILENT = (None, None, None, False)
"""The attributes that `is_date_candidate` reads, and whether the first comes before the second, where none is there."""
_known: dict[tuple[str | None, str | None, str | None, bool], bool] = {}


def _is_before(element: Any, one: str, other: str) -> bool:
    names = element.keys()
    return bool(names.index(one) < names.index(other))


def _without_code(places: list[Any], readers: ModuleType) -> Any:
    searched = readers.discard_unwanted(readers.clean_html(excerpt_of(places), readers.CLEANING_LIST))
    for code in list(searched.iter("pre", "code")):
        code.drop_tree()
    return searched
