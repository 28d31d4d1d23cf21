"""Inside the extraction stage: when a page says it was published, from places made for saying so.

htmldate's readers in htmldate's order, without those that search running text: on documentation these find the dates of
code examples, of footnotes and of other people's works. No date is better than a wrong one.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from htmldate.core import (
    CLEANING_LIST,
    Extractor,
    date_candidates,
    discard_unwanted,
    examine_abbr_elements,
    examine_elements,
    examine_header,
    examine_time_elements,
    json_search,
)
from htmldate.extractors import extract_url_date
from htmldate.utils import clean_html
from htmldate.validators import get_max_date, get_min_date

_FORMAT = "%Y-%m-%d"


def read_date(tree: Any, url: str, max_date: str | None = None) -> str | None:
    """ISO 8601 date of the page, or None.

    In this order: `<meta>` elements, JSON-LD, the URL, `<abbr>` and elements whose class, id or property speaks of a
    date or a by-line, `<time>`. Dates after `max_date` (ISO 8601) count as mistakes. Raises: whatever broken markup
    makes htmldate raise.
    """
    options = Extractor(False, get_max_date(max_date), get_min_date(None), True, _FORMAT)
    stated = examine_header(tree, options) or json_search(tree, options) or extract_url_date(url, options)
    return stated or examine_abbr_elements(tree, options) or _of_elements(tree, options)


def _of_elements(tree: Any, options: Any) -> str | None:
    """Of the page without comments, related articles and the like; a page without any place is not copied for it."""
    if tree.find(".//time") is None and not date_candidates(tree, False):
        return None
    searched = discard_unwanted(clean_html(deepcopy(tree), CLEANING_LIST))
    for code in list(searched.iter("pre", "code")):
        code.drop_tree()
    found = examine_elements(date_candidates(searched, False), options)
    found = found or examine_time_elements(searched, options)
    return str(found) if found else None
