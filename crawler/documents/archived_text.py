"""The text of a page whose record has none: its archived exchange goes through the stages once more.

A record of a page that was rejected early has no text, nor has any where REJECTED_TEXT was off. What comes out is what
the pages of these settings have: extracted, and free of personal data. Where policy says no there is no text.
"""

from __future__ import annotations

from collections.abc import Callable

from crawler.config import Config
from crawler.dataset.exchange import exchange_of
from crawler.documents.from_archive import document_from_archive
from crawler.stages.chain import STAGES, Chain
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record

_LATER = frozenset({"contamination", "classify", "fingerprint"})
"""Stages that change no text, and need files of their own."""


class ArchivedTexts:
    """Answers for one set of settings. load: gives them; asked, as the models are, once a text is needed."""

    def __init__(self, load: Callable[[], Config]) -> None:
        self._load = load
        self._ready: tuple[Config, Chain] | None = None

    def __call__(self, place: Place, record: Record) -> str:
        """The text; empty where nothing of the page is in an archive, or its text may not be kept."""
        try:
            exchange = exchange_of(place, record)
        except StorageError:
            return ""
        if self._ready is None:
            config = self._load()
            self._ready = config, Chain(config, [name for name in STAGES if name not in _LATER])
        config, chain = self._ready
        return chain.run(document_from_archive(exchange, config), [name for name in STAGES if name not in _LATER]).text
