"""The project's settings, with a corpus whose disk is full while the file that FULL_DISK names is there."""

from __future__ import annotations

import os
from pathlib import Path

from crawler.scheduler import ending
from crawler.settings import *  # noqa: F403
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import unwritten

_commit = Corpus.commit


def commit(corpus: Corpus) -> None:
    if Path(os.environ["FULL_DISK"]).exists():
        raise unwritten("shards", OSError(28, "No space left on device"))
    _commit(corpus)


Corpus.commit = commit  # type: ignore[method-assign]
ending.PATIENCE_SECONDS = 0.5
