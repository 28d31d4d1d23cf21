"""What can go wrong with the corpus folder: one exception for people, used by every file of this room."""

from __future__ import annotations


class StorageError(Exception):
    """The corpus cannot be written or read. The message says what, where and what to do."""
