"""What can go wrong with the corpus folder: one exception for people, used by every file of this room."""

from __future__ import annotations

import errno

from crawler.config.crawl import check_folder
from crawler.trouble import of_this_machine

_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)


class StorageError(Exception):
    """The corpus cannot be written or read. The message says what, where and what to do."""


class AtWorkError(StorageError):
    """Somebody else is at work on the corpus: what was asked has to wait for them."""


class ArchiveError(StorageError):
    """One archive cannot be read, or not to its end: it costs itself, and all others are read."""


class RemovedError(StorageError):
    """A file that is being written is gone, by itself or with its folder. path: where it was."""

    def __init__(self, path: object, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path

    def but_not_acknowledged(self) -> StorageError:
        """What people are told where no page counts as done before its record is elsewhere."""
        return StorageError(
            f"{self.path}: it was removed, or a folder above it, before it was in the store; no page is lost: the "
            "same command makes the folder again and fetches what was not in the store"
        )


def refuse_password(url: str) -> None:
    """Raises: StorageError, without the secret, where a URL of files holds one: it would be logged and recorded."""
    if (complaint := check_folder(url)) is not None:
        scheme, _, rest = url.partition("://")
        raise StorageError(f"{scheme}://…@{rest.rpartition('@')[2]}: {complaint}")


def unwritten(path: object, error: OSError) -> StorageError:
    """A file that could not be written: what people are told, with the way out."""
    if error.errno in _NO_DESCRIPTOR:
        return StorageError(f"{path}: {of_this_machine(error)}")
    if isinstance(error, NotADirectoryError):
        return StorageError(f"{path}: a file stands where a folder is needed; give another path")
    if isinstance(error, FileNotFoundError):
        way = "It was removed, or a folder above it, while it was in use: restore it from a copy"
    else:
        way = "What was committed stays readable; free space or fix permissions on that disk"
    said = f"{error.strerror or error}. {way}, then run the same command again to resume"
    return RemovedError(path, said) if isinstance(error, FileNotFoundError) else StorageError(f"{path}: {said}")


def unmade(name: str, folder: object, error: BaseException | None) -> StorageError:
    """A folder that cannot be made or written where it was asked for. name: what gave it, such as `--out `."""
    if isinstance(error, OSError) and error.errno in _NO_DESCRIPTOR:
        return StorageError(f"{folder}: {of_this_machine(error)}")
    said = getattr(error, "strerror", None) or error
    return StorageError(f"{name}{str(folder)!r} cannot be written ({said}): give a folder that "
                        "this user may make and write to, on a disk with free space")  # fmt: skip


def denied(error: PermissionError) -> str:
    """What a person is told of a file or folder that this user may not use."""
    return f"{error.filename or error}: permission denied: check who may use it, and the folders above it"
