"""The project's settings, with a corpus whose writer thread fails in a way that nobody expects."""

from __future__ import annotations

from crawler.settings import *  # noqa: F403
from crawler.storage.corpus.corpus import Corpus


def commit(_: Corpus) -> None:
    raise ValueError("nobody expected this")


Corpus.commit = commit  # type: ignore[method-assign]
