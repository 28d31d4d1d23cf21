"""What is made of a corpus lies outside of it, and of every other one: a corpus says of each of its files what it is.

Inside it would be read by whoever reads `shards/*.jsonl.zst`, and be lost with the corpus that it was made to outlive.
"""

from __future__ import annotations

import os
from pathlib import Path

from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import LEDGERS, MANIFEST, SHARDS, Place


def check_outside(out: Path) -> None:
    """A folder on this machine that is about to be made. Raises: StorageError where it would lie in a corpus."""
    for folder in out.resolve().parents:
        ours = (folder / name for name in (MANIFEST, SHARDS))
        if os.path.isdir(folder / LEDGERS) and any(map(os.path.exists, ours)):  # noqa: PTH112  # False where forbidden
            raise _inside(out, folder)


def check_apart(target: Place, source: Place) -> None:
    """A corpus to be made of another one. Raises: StorageError where it would lie in that one or in any other."""
    if not target.remote:
        check_outside(Path(target.url))
    elif target.is_in(source):
        raise _inside(target.url, source.url)


def _inside(out: object, corpus: object) -> StorageError:
    return StorageError(
        f"{out}: lies in the corpus {corpus}, which holds its own files only; give a folder outside of it"
    )
