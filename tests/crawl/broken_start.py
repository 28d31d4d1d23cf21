"""The project's settings, with a corpus that cannot be opened once the frontier is there."""

from __future__ import annotations

from crawler.settings import *  # noqa: F403
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError


def refuse(_: Corpus) -> None:
    raise StorageError("this corpus cannot be opened")


Corpus.open = refuse  # type: ignore[assignment,method-assign]
