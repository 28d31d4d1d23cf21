"""The folder of a data set of images: which file is where, and who is at work in it.

images.json             the manifest: counts by outcome, limits, sources, every file with its digest
images/00000.tar …      samples: KEY.jpg (png, webp), KEY.json, KEY.txt
rows/00000.parquet …    one row for each image that a page names, whatever became of it
fit/00000.parquet       how well captions fit, where `gristmill llm caption` has asked; llm/ has its ledger
.work/                  what is to be asked, what was answered, bytes that wait for a tar
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from crawler.dataset.outside import check_outside
from crawler.images.ledger import Fate, Ledger
from crawler.storage.files.errors import StorageError, unmade
from crawler.storage.files.journal import PART, disk, indented, rename_durably, replace_file, sync_folder
from crawler.storage.files.locks import WriterLock

if TYPE_CHECKING:
    from crawler.images.references import Reference

FORMAT = "crawler-images/1"
MANIFEST = "images.json"
TARS, ROWS, FIT = "images", "rows", "fit"
FETCHING = "fetching"
"""Name of the lock of the process that asks; it may outlive who started it."""


class Folder:
    """One such folder on this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / ".work"
        self.references = self.work / "references.jsonl"
        self.files = self.work / "files"
        self.ledger = Ledger(self.work / "outcomes.jsonl", self.files)

    @property
    def manifest_path(self) -> Path:
        """Of `images.json`."""
        return self.root / MANIFEST

    def manifest(self) -> dict[str, Any] | None:
        """None where the folder is new. Raises: StorageError."""
        if not self.manifest_path.exists():
            return None
        with disk(self.manifest_path):
            raw = self.manifest_path.read_bytes()
        try:
            content = orjson.loads(raw)
            if content["format"] != FORMAT:
                raise StorageError(f"{self.manifest_path}: format {content['format']!r} instead of {FORMAT!r}")
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise StorageError(f"{self.manifest_path}: cannot be read ({error}); restore it from a copy") from error
        found: dict[str, Any] = content
        return found

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Make the folder where it is new, and keep others out. Raises: StorageError."""
        is_new = not self.root.exists() or not any(self.root.iterdir())
        if not is_new and not (self.work.is_dir() or self.manifest_path.exists()):
            raise StorageError(f"{self.root}: expected a new or empty folder, or one of `dataset images`")
        check_outside(self.root)
        try:
            for folder in (self.work, self.root / TARS, self.root / ROWS):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unmade("--out ", self.root, error) from error
        lock = WriterLock(self.work / "lock")
        if not lock.acquire():
            raise StorageError(f"{self.root}: another process is at work there; wait for its end")
        try:
            self.recover()
            yield
        finally:
            lock.release()

    # --- files that change together ----------------------------------------------------------------------------------
    def commit(self, manifest: dict[str, Any]) -> None:
        """Make `manifest` the one that stands: each file that it lists lies there, or whole as `.part`.

        The manifest is the moment: whoever comes after a death behind it finishes, before it starts over.
        """
        for folder in (self.root / name for name in (TARS, ROWS, FIT)):
            with disk(folder):
                if folder.is_dir():
                    sync_folder(folder)
        replace_file(self.manifest_path, indented(manifest))
        self.recover()

    def recover(self) -> None:
        """Name the parts that the manifest lists, and remove every file that it does not list. Raises: StorageError."""
        manifest = self.manifest()
        listed = {each["path"]: each["sha256"] for each in (manifest or {}).get("files", ())}
        for folder in (TARS, ROWS, FIT):
            for path in sorted((self.root / folder).glob("*")) if (self.root / folder).is_dir() else ():
                name = f"{folder}/{path.name.removesuffix(PART)}"
                if path.name.endswith(PART) and listed.get(name) == sha256_of(path):
                    rename_durably(path, path.with_name(path.name.removesuffix(PART)))
                elif path.name.endswith(PART) or name not in listed:
                    with disk(path):
                        path.unlink()

    # --- what waits --------------------------------------------------------------------------------------------------
    def write_references(self, references: Iterator[Reference]) -> None:
        """Note what the corpus names now. Raises: StorageError."""
        part = self.references.with_name(f"{self.references.name}{PART}")
        with disk(part), part.open("wb") as file:
            for one in references:
                file.write(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE))
        rename_durably(part, self.references)

    def read_references(self) -> Iterator[Reference]:
        """Raises: StorageError."""
        from crawler.images.references import Reference  # a crawl that starts looks at every spider

        with disk(self.references), self.references.open("rb") as file:
            for line in file:
                yield Reference(**orjson.loads(line))

    def unasked(self, known: Mapping[str, Fate]) -> Iterator[Reference]:
        """Those that are to be asked for. known: as the ledger has it. Raises: StorageError."""
        for one in self.read_references():
            if not one.refusal and not ((fate := known.get(one.name)) and fate.is_final):
                yield one

    def forget_waiting(self) -> None:
        """Remove texts and bytes that wait: all of them are in tars and rows, or are not wanted."""
        with disk(self.work):
            self.references.unlink(missing_ok=True)
            shutil.rmtree(self.files, ignore_errors=True)


def entry_of(path: str, part: Path, samples: int) -> dict[str, Any]:
    """The entry of a file in the manifest. path: in the folder; part: where its bytes lie. Raises: StorageError."""
    return {"path": path, "documents": samples, "bytes": part.stat().st_size, "sha256": sha256_of(part)}


def sha256_of(path: Path) -> str:
    """Hexadecimal. Raises: StorageError."""
    with disk(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
