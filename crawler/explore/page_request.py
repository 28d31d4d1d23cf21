"""What a page of explore is asked: the corpus, the query or the form, and the settings of who looks."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.config import Config
from crawler.explore.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What a page needs to answer one request."""

    catalogue: Catalogue
    number: int
    pairs: list[tuple[str, str]]
    """Names and values of the query, or of the form."""
    config: Config
    """The settings of who looks, or those applied here since: the thresholds that values are shown against."""
    key: int
    """Of a document; 0 where the address names none."""
    held_out: tuple[str, ...] = ()
    """Texts that a trial asks."""
