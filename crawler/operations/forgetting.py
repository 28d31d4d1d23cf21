"""The settings of an operation that takes pages out of a corpus, and makes frontier and duplicate index forget them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.config import ConfigError

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.operations.declared import Load


def load_with_frontier(load: Load, corpus: str) -> Config:
    """Frontier and index are on a server, or beside a corpus on a disk, or in the spool of one in a store.

    Raises: ConfigError, also where nothing says where they are.
    """
    config = load()
    if config.crawl.redis_url is not None:
        return config
    if "://" in corpus and config.storage.spool_dir is None:
        raise ConfigError([
            f"{corpus} is in a store: name the frontier and the duplicate index that have to forget these "
            "pages, with -s REDIS_URL=… or, where the crawl had none, with its -s CORPUS_SPOOL_DIR=FOLDER"
        ])  # fmt: skip
    return load(CORPUS_DIR=corpus)
