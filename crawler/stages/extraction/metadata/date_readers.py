"""Inner parts of htmldate that `dates.py` puts together in its own way; importing this raises where one is missing.

They are no promise of htmldate's: a release may rename them or change what they take, so requirements.txt keeps to one
minor version, and every one is asked here whether it still takes what it is given.
"""

from __future__ import annotations

import inspect

from htmldate.core import (
    ALWAYS_TAGS,
    CLEANING_LIST,
    FAST_TAGS,
    Extractor,
    discard_unwanted,
    examine_abbr_elements,
    examine_elements,
    examine_header,
    examine_time_elements,
    is_date_candidate,
    json_search,
)
from htmldate.extractors import extract_url_date
from htmldate.utils import clean_html
from htmldate.validators import get_max_date, get_min_date

__all__ = [
    "ALWAYS_TAGS",
    "CLEANING_LIST",
    "FAST_TAGS",
    "Extractor",
    "clean_html",
    "discard_unwanted",
    "examine_abbr_elements",
    "examine_elements",
    "examine_header",
    "examine_time_elements",
    "extract_url_date",
    "get_max_date",
    "get_min_date",
    "is_date_candidate",
    "json_search",
]

_ARGUMENTS = {
    Extractor: 5,
    clean_html: 2,
    discard_unwanted: 1,
    examine_abbr_elements: 2,
    examine_elements: 2,
    examine_header: 2,
    examine_time_elements: 2,
    extract_url_date: 2,
    get_max_date: 1,
    get_min_date: 1,
    is_date_candidate: 1,
    json_search: 2,
}
"""How many arguments each is given, by position."""


def _check() -> None:
    for reader, count in _ARGUMENTS.items():
        try:
            inspect.signature(reader).bind(*range(count))
        except TypeError as error:
            raise ImportError(f"{reader.__name__} takes other arguments now: {error}") from error


_check()
