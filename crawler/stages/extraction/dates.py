"""The publication date is what a page says about itself in places made for saying so.

htmldate's readers in htmldate's order, without those that search running text: on documentation these find the dates of
code examples, of footnotes and of other people's works. No date is better than a wrong one.
"""

from __future__ import annotations

import logging
from copy import deepcopy
from functools import cache
from types import ModuleType
from typing import Any

from htmldate import find_date

from crawler.stages.extraction.excerpt import excerpt_of
from crawler.stages.extraction.selectors import MAX_REMEMBERED

logger = logging.getLogger(__name__)

_FORMAT = "%Y-%m-%d"


def read_date(tree: Any, url: str, max_date: str | None = None) -> str | None:
    """ISO 8601 date of the page, or None.

    In this order: `<meta>` elements, JSON-LD, the URL, `<abbr>` and elements whose class, id or property speaks of a
    date or a by-line, `<time>`. Dates after `max_date` (ISO 8601) count as mistakes. Where the installed htmldate has
    other inner parts than these, its own `find_date` answers, without its search through running text. Raises: whatever
    broken markup makes htmldate raise.
    """
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
    stated = readers.examine_header(tree, options) or readers.json_search(tree, options)
    stated = stated or readers.extract_url_date(url, options)
    return stated or readers.examine_abbr_elements(tree, options) or _of_elements(tree, options, readers)


@cache
def _readers() -> ModuleType | None:
    """htmldate's inner parts; None, with one warning, where the installed version has others."""
    try:
        from crawler.stages.extraction import date_readers
    except ImportError as error:
        logger.warning("htmldate has changed inside (%s): publication dates come from its public find_date", error)
        return None
    return date_readers


def _of_elements(tree: Any, options: Any, readers: ModuleType) -> str | None:
    """Of the page without comments, related articles and the like: those places are copied that could name a date."""
    found = None
    if places := _candidates(tree, readers):
        found = readers.examine_elements(_candidates(_without_code(places, readers), readers), options)
    if found is None and (times := list(tree.iter("time"))):
        found = readers.examine_time_elements(_without_code(times, readers), options)
    return str(found) if found else None


def _candidates(tree: Any, readers: ModuleType) -> list[Any]:
    """htmldate's `date_candidates`; whether attributes speak of a date is remembered, as a site repeats them."""
    found = []
    for element in tree.iterdescendants(*readers.FAST_TAGS, *readers.ALWAYS_TAGS):
        if element.tag in readers.ALWAYS_TAGS:
            found.append(element)
        elif key := tuple([item for item in element.items() if item[0] in _SPEAKING]):
            answer = _known.get(key)
            if answer is None:
                if len(_known) >= MAX_REMEMBERED:
                    _known.clear()
                answer = _known[key] = readers.is_date_candidate(element)
            if answer:
                found.append(element)
    return found


_SPEAKING = frozenset({"id", "class", "itemprop"})
"""The attributes that `is_date_candidate` reads."""
_known: dict[tuple[tuple[str, str], ...], bool] = {}


def _without_code(places: list[Any], readers: ModuleType) -> Any:
    searched = readers.discard_unwanted(readers.clean_html(excerpt_of(places), readers.CLEANING_LIST))
    for code in list(searched.iter("pre", "code")):
        code.drop_tree()
    return searched
