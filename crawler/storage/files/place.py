"""Place is where a corpus lives: a local folder, or a spool folder whose sealed files are uploaded to an fsspec URL.

Files always grow on a local disk. For a local CORPUS_DIR that is the corpus itself; for a URL it is CORPUS_SPOOL_DIR,
and `publish` moves each finished file to the URL. Reading (`open`, `listing`) goes to the corpus, not to the spool.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import fsspec
import orjson
from fsspec.utils import tokenize

from crawler.storage.files.errors import StorageError, refuse_password, unmade
from crawler.storage.files.journal import create_file, indented, replace_file
from crawler.storage.files.locks import WriterLock
from crawler.storage.types import Manifest

logger = logging.getLogger(__name__)

UPLOAD_PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try of an upload, on top of what the client of the store tries by itself."""
DRIVERS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "az": "azure", "abfs": "azure", "abfss": "azure"}
"""Which extra of the distribution brings the driver of a URL scheme."""
SHARDS, REJECTED, ARCHIVE, LEDGERS = "shards", "rejected", "archive", "manifest.d"
HELD = "held"
"""Holds a folder for each kind of held page, `held/pii/` for example: its record waits there for a person."""
HELD_KINDS = ("pii", "yield", "classifier", "safety")
PAGES = (SHARDS, REJECTED, HELD)
"""The kinds of files with records of pages. What was held is neither kept nor rejected."""
REPLACED = "replaced"
"""Holds `shards/…` and `rejected/…` of older versions of the corpus, where a rewrite kept them."""
INDEX = "index"
"""Holds the fields of records without their texts (`crawler/storage/files/record_index.py`)."""
REGISTRY = "registry"
"""Holds one file a version, tags, and the places of derived folders (`crawler/storage/corpus/registry.py`)."""
ANNOTATIONS = "annotations"
"""Holds a folder for each annotation (`crawler/dataset/annotations/`)."""
LLM = "llm"
"""Holds the ledger of what language models were asked about the corpus (`crawler/storage/corpus/answers.py`)."""
LLM_SPENT = "llm-spent.json"
"""What each of these jobs has cost, in case the ledger is lost (`crawler/storage/corpus/spending.py`)."""
MODELS = "models"
"""Holds the classifiers that were learned from the corpus' labels, each under a name that its content has given it."""
FOLDERS = (SHARDS, REJECTED, *(f"{HELD}/{kind}" for kind in HELD_KINDS), ARCHIVE)
MANIFEST = "manifest.json"
REJUDGE = ".rejudge"
"""Where a corpus is judged again; gone when that is done."""
UNFINISHED = "unfinished.txt"
"""Names, in a folder that a corpus is made in of others, the operation at work; it goes once the manifest is there."""
FORMAT = "crawler-corpus/1"
_PARTS = ("files", "runs", "crawls")  # of the manifest, all of them lists
_OURS = {*(SHARDS, REJECTED, HELD, ARCHIVE, LEDGERS, MANIFEST, REPLACED, INDEX, REGISTRY, ANNOTATIONS, LLM, MODELS),
         LLM_SPENT, UNFINISHED}  # fmt: skip
DERIVED = {
    "export.json": "dataset export", "mix.json": "dataset mix", "images.json": "dataset images",
    "synthetic.json": "llm questions", "across.json": "dataset across", "chunks.json": "dataset chunks",
}  # fmt: skip
"""Manifests of folders that are derived of corpora, and the operation that writes each, where they do not say it;
`across.json` only older versions had."""
_NEUTRAL = {"frontier", "lost+found", "report.html", "stats.json"}
"""Entries that do not make a folder somebody else's: the embedded server's data, and what the report writes."""


def identity_of(url: str) -> str:
    """What tells a folder, by its path or URL, from another one, however either is spelled."""
    return url.rstrip("/") if "://" in url else str(Path(url).resolve())


class Place:
    """One corpus. `root` is the local folder in which this process writes.

    Raises: StorageError where the URL names no known file system, or the folder has a name that is not UTF-8.
    """

    def __init__(self, corpus_dir: str, spool_dir: str | None = None) -> None:
        refuse_password(corpus_dir)
        _check_characters(corpus_dir)
        self.url = corpus_dir
        self.remote = "://" in corpus_dir
        if self.remote:
            self.root = Path(spool_dir) if spool_dir else Path()
        else:
            self.root = Path(corpus_dir)
        try:
            self._fs, self._base = fsspec.core.url_to_fs(corpus_dir)
        except ImportError as error:
            scheme = corpus_dir.partition("://")[0]
            extra = DRIVERS.get(scheme)
            way = f"run `pip install 'gristmill[{extra}]'`" if extra else "install its driver"
            raise StorageError(f"CORPUS_DIR={corpus_dir!r}: the driver of {scheme}:// is missing: {way}") from error
        except (ValueError, OSError) as error:
            raise StorageError(f"CORPUS_DIR={corpus_dir!r}: {error}; expected a path or an fsspec URL") from error

    def is_in(self, other: Place) -> bool:
        """True where this place lies in a folder of the other one, or is the same, by their URLs."""
        return type(self._fs) is type(other._fs) and f"{self._base}/".startswith(f"{other._base.rstrip('/')}/")

    # --- becoming ours -----------------------------------------------------------------------------------------------
    def claim(self) -> None:
        """Create the folders and the marker (`manifest.json`).

        Raises: StorageError where the folder holds somebody else's files, another format, or cannot be written.
        """
        self._check_foreign()
        try:
            for folder in (LEDGERS, *FOLDERS):  # first what tells another worker, who begins meanwhile, whose they are
                (self.root / folder).mkdir(parents=True, exist_ok=True)
            _check_writable(self.root)
        except OSError as error:
            raise unmade("CORPUS_SPOOL_DIR=" if self.remote else "CORPUS_DIR=", self.root, error) from error
        if self.remote:
            with self._errors("create"):
                self._fs.makedirs(self._base, exist_ok=True)

    def _check_foreign(self) -> None:
        try:
            names = {name for name in self.listing("") if not name.startswith(".")}
        except NotADirectoryError:
            raise StorageError(f"CORPUS_DIR={self.url!r} is a file; give a folder that is empty or new") from None
        if MANIFEST in names:
            self.manifest()
        elif strangers := names - _NEUTRAL - (_OURS if LEDGERS in names or LEDGERS in self.listing("") else set()):
            some = ", ".join(sorted(strangers)[:3])
            raise StorageError(
                f"CORPUS_DIR={self.url!r} holds other files ({some}) and no {MANIFEST} of a corpus; "
                "give a folder that is empty or new"
            )

    def manifest(self) -> Manifest:
        """The merged manifest.

        Raises: StorageError where there is none, or it is not one of ours.
        """
        content = self.load_json(MANIFEST)
        if content is None:
            self.check_finished()
            if not self.remote and any(WriterLock(path).is_held() for path in (self.root / LEDGERS).glob("*.lock")):
                raise StorageError(f"{self.url}: no {MANIFEST} yet, a worker is just beginning: try again in a moment")
            if self.is_bare():
                raise StorageError(f"{self.url}: no {MANIFEST} yet, and nothing else: no crawl has written here so far")
            if not self.remote and self.root.is_file():
                raise StorageError(self.no_corpus("a file, no folder"))
            if made := sorted(DERIVED.keys() & set(self.listing(""))):
                raise StorageError(
                    f"{self.url}: made by `gristmill {DERIVED[made[0]]}`, no corpus: its figures are in {made[0]}; "
                    "give the corpus that it was made of, or make one of it: `gristmill dataset dedup --out NEW DIR`"
                )
            lost = not self.remote and any((self.root / folder).is_dir() for folder in (LEDGERS, SHARDS))
            if not lost:
                raise StorageError(self.no_corpus(f"no {MANIFEST}"))
            raise StorageError(f"{self.url}: no {MANIFEST}; {self._way(MANIFEST)}")
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            found = content.get("format") if isinstance(content, dict) else None
            raise StorageError(
                f"{self.path_of(MANIFEST)}: format {found!r} instead of {FORMAT!r}; "
                "give another folder, or use the version of the project that wrote it"
            )
        if lacking := [name for name in _PARTS if not isinstance(content.get(name), list)]:
            raise StorageError(f"{self.path_of(MANIFEST)}: lacks {', '.join(lacking)}; restore the file from a copy")
        return cast("Manifest", content)

    def begin(self, command: str) -> None:
        """Claim the folder for a command that makes a corpus of others: until `finish` it is none.

        Raises: StorageError as `claim`, and where another command has begun on this machine's folder.
        """
        self.claim()
        said = f"{command} makes a corpus here\n".encode()
        if self.remote:
            self.put(UNFINISHED, said)
            return
        try:
            with (self.root / UNFINISHED).open("xb") as file:
                file.write(said)
        except FileExistsError:
            self.check_finished()
            raise StorageError(f"{self.url}: another command makes a corpus here: give another folder") from None
        except OSError as error:
            raise unmade("CORPUS_DIR=", self.root, error) from error

    def finish(self) -> None:
        """The manifest stands. Raises: StorageError."""
        self.remove(UNFINISHED)

    def check_finished(self) -> None:
        """Raises: StorageError where an operation that made a corpus here did not come to its end."""
        try:
            names = self.listing("")
        except NotADirectoryError:
            return
        if UNFINISHED in names and MANIFEST not in names:
            said = self.content(UNFINISHED).decode("utf-8", "replace").partition(" makes ")[0]
            raise StorageError(
                f"{self.url}: `{said}` is at work or was cut off here: remove the folder, and run it again"
            )

    def no_corpus(self, lacking: str) -> str:
        """A sentence where this is no corpus. lacking: what is not there, although the folder is."""
        is_missing = not self.remote and not self.root.exists()
        return f"{self.url}: {'there is no such folder' if is_missing else lacking}; expected the CORPUS_DIR of a crawl"

    def is_bare(self) -> bool:
        """True for the empty folders of a corpus on this machine: a crawl has just begun, or never got further."""
        folders = [self.root / name for name in (LEDGERS, *FOLDERS)]
        return (
            not self.remote
            and folders[0].is_dir()
            and not any(path.is_file() and path.suffix != ".lock" for folder in folders for path in _files(folder))
        )

    # --- reading -----------------------------------------------------------------------------------------------------
    def path_of(self, relative: str) -> str:
        """Path or URL of a file of the corpus, for messages and readers."""
        return f"{self.url.rstrip('/')}/{relative}"

    def open(self, relative: str) -> IO[bytes]:
        """Open a file of the corpus for reading. Raises: OSError."""
        return cast("IO[bytes]", self._fs.open(self._full(relative), "rb"))

    def content(self, relative: str) -> bytes:
        """The whole of a small file, as it was at one moment: in one request, between which nobody can replace it.

        Raises: OSError.
        """
        return cast("bytes", self._fs.cat_file(self._full(relative)))

    def open_listed(self, relative: str) -> IO[bytes]:
        """Open a file that the manifest lists. Raises: StorageError where it is not there or cannot be opened."""
        try:
            return self.open(relative)
        except FileNotFoundError:
            raise StorageError(
                f"{self.path_of(relative)}: listed in the manifest, but missing; restore it from a copy"
            ) from None
        except OSError as error:
            raise StorageError(
                f"{self.path_of(relative)}: cannot be opened ({error.strerror or error}); check its permissions"
            ) from error

    def listing(self, folder: str) -> list[str]:
        """Names in a folder of the corpus, sorted; empty where it does not exist."""
        path = self._full(folder)
        self._fs.invalidate_cache()
        if not self._fs.exists(path):
            return []
        if self._fs.isfile(path):
            raise NotADirectoryError(path)
        return sorted(str(info["name"]).rstrip("/").rpartition("/")[2] for info in self._fs.ls(path, detail=True))

    def folders(self) -> tuple[str, ...]:
        """The folders of files that a manifest may list: those of every corpus, and one for each annotation."""
        return (*FOLDERS, *(f"{ANNOTATIONS}/{name}" for name in self.listing(ANNOTATIONS) if "." not in name))

    def load_json(self, relative: str) -> Any:
        """Content of a JSON file of the corpus; None where there is none.

        Raises: StorageError where it is not JSON.
        """
        try:
            return orjson.loads(self.content(relative))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except orjson.JSONDecodeError as error:
            raise StorageError(f"{self.path_of(relative)}: not JSON ({error}); {self._way(relative)}") from None
        except OSError as error:
            raise StorageError(f"{self.path_of(relative)}: cannot be read ({error})") from error

    def states(self, folder: str) -> dict[str, str]:
        """What tells one content of each file in a remote folder from another, by name (entity tag, time, size)."""
        with self._errors("list"):
            self._fs.invalidate_cache()
            infos = self._fs.ls(self._full(folder), detail=True) if self._fs.exists(self._full(folder)) else []
        return {str(info["name"]).rpartition("/")[2]: tokenize(info) for info in infos if info["type"] == "file"}

    def load_all(self, folder: str, names: list[str]) -> list[Any]:
        """Contents of JSON files of a remote folder, fetched side by side; without those that have gone meanwhile."""
        paths = {self._full(f"{folder}/{name}"): name for name in names}
        with self._errors("read"):
            found = self._fs.cat(list(paths), on_error="omit") if paths else {}
        return [self._parsed(f"{folder}/{key.rpartition('/')[2]}", content) for key, content in sorted(found.items())]

    def _parsed(self, relative: str, content: bytes) -> Any:
        try:
            return orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise StorageError(f"{self.path_of(relative)}: not JSON ({error}); {self._way(relative)}") from None

    def _way(self, relative: str) -> str:
        """What to do about a manifest or a ledger that cannot be read."""
        if not (relative == MANIFEST or relative.startswith(f"{LEDGERS}/")):
            return "restore it or give another folder"
        if self.remote and relative == MANIFEST:
            return f"`gristmill dataset verify --fix {self.url}` writes it again from {LEDGERS}/"
        if self.remote:
            return (
                "restore it from an older version of the object; or copy the corpus to a disk, run `gristmill dataset "
                f"repair` there, and bring {LEDGERS}/ and {MANIFEST} back"
            )
        if any((self.root / folder).is_dir() for folder in (LEDGERS, *FOLDERS)):
            return f"`gristmill dataset repair {self.url}` writes it again from the files"
        return "restore it or give another folder"

    # --- signs of life -----------------------------------------------------------------------------------------------
    def modified(self, relative: str) -> float:
        """When a file was written, by the clock of the store; seconds since the epoch. Raises: StorageError."""
        with self._errors("ask"):
            self._fs.invalidate_cache()
            return float(self._fs.modified(self._full(relative)).timestamp())

    def age(self, relative: str) -> float:
        """Seconds since a file was written. Both moments are the store's, so that no clock has to agree with it.

        Raises: StorageError where the store cannot be written or does not say when a file was.
        """
        probe = f"{LEDGERS}/.clock.{uuid.uuid4().hex}"
        self.put(probe, b"now\n")
        try:
            return self.modified(probe) - self.modified(relative)
        finally:
            self.remove(probe)

    def fetch(self, relative: str) -> Path:
        """Copy a file of a remote corpus to its place in the spool. Raises: StorageError."""
        local = self.root / relative
        with self._errors("read"):
            self._fs.get_file(self._full(relative), str(local))
        return local

    # --- writing -----------------------------------------------------------------------------------------------------
    def save_json(self, relative: str, content: Any) -> None:
        """Write a JSON file atomically, sorted and indented, so that equal content has equal bytes."""
        replace_file(self.root / relative, indented(content))
        self.publish(relative)

    def put(self, relative: str, content: bytes) -> None:
        """Write a small file into the corpus, wherever it is. Raises: StorageError."""
        if not self.remote:
            replace_file(self.root / relative, content)
            return
        with self._errors("write to"), self._fs.open(self._full(relative), "wb") as file:
            file.write(content)

    def create(self, relative: str, content: bytes) -> bool:
        """Write a small file that must be new; False where there is one of this name. Of two writers one succeeds.

        Raises: StorageError.
        """
        if not self.remote:
            return create_file(self.root / relative, content)
        with self._errors("write to"):
            try:
                self._fs.makedirs(self._full(relative).rpartition("/")[0], exist_ok=True)
                self._fs.pipe_file(self._full(relative), content, mode="create")
            except FileExistsError:
                return False
            return True

    def publish(self, relative: str) -> None:
        """Bring a finished file to the corpus; nothing to do where it grew there."""
        if not self.remote:
            return
        local = self.root / relative
        with self._errors("upload to"):
            for seconds in UPLOAD_PAUSES:
                try:
                    self._upload(local, self._full(relative))
                except (FileNotFoundError, PermissionError):
                    raise
                except Exception as error:  # client libraries of object stores raise errors of their own
                    logger.warning("upload to %s failed (%s): again in %g s", self.url, error, seconds)
                    time.sleep(seconds)
                else:
                    return
            self._upload(local, self._full(relative))

    def _upload(self, local: Path, target: str) -> None:
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        self._fs.put_file(str(local), target)
        self._fs.invalidate_cache()
        if target == self._full(MANIFEST):
            return  # another worker may have replaced it by now
        if (size := self._fs.size(target)) != local.stat().st_size:
            raise OSError(f"{target} has {size} bytes after the upload instead of {local.stat().st_size}")

    def forget_local(self, relative: str) -> None:
        """Remove the spool's copy of a published file."""
        if self.remote:
            (self.root / relative).unlink(missing_ok=True)

    def discard_local(self, relative: str) -> None:
        """Remove a file that grew here and is not wanted."""
        (self.root / relative).unlink(missing_ok=True)

    def move(self, relative: str, to: str) -> None:
        """Give a file of the corpus another place; nothing to do where it has moved already. Raises: StorageError."""
        with self._errors("move a file in"):
            source, target = self._full(relative), self._full(to)
            if self._fs.exists(source):
                self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._fs.mv(source, target)
                self._fs.invalidate_cache()

    def remove(self, relative: str) -> bool:
        """Remove a file from the corpus and from the spool; False where there was none. Raises: StorageError."""
        with self._errors("remove from"):
            local = self.root / relative
            existed = local.exists()
            local.unlink(missing_ok=True)
            if self.remote and self._fs.exists(self._full(relative)):
                self._fs.rm_file(self._full(relative))
                self._fs.invalidate_cache()
                existed = True
            return existed

    def remove_folder(self, relative: str) -> None:
        """Remove a folder of the corpus with all that is in it; none there is no error. Raises: StorageError."""
        with self._errors("remove from"):
            if self._fs.exists(self._full(relative)):
                self._fs.rm(self._full(relative), recursive=True)
                self._fs.invalidate_cache()

    def _full(self, relative: str) -> str:
        return f"{self._base.rstrip('/')}/{relative}".rstrip("/") or "/"

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except StorageError:
            raise
        except Exception as error:  # remote file systems raise whatever their client library raises
            raise StorageError(
                f"cannot {doing} CORPUS_DIR={self.url!r}: {error}; check the path, its permissions and free space"
            ) from error


def _check_characters(corpus_dir: str) -> None:
    try:
        corpus_dir.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(corpus_dir).decode("utf-8", "backslashreplace")
        raise StorageError(
            f"CORPUS_DIR={shown}: a name that is not UTF-8, which no manifest can carry; give the folder another name"
        ) from None


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from folder.iterdir()


def _check_writable(root: Path) -> None:
    probe = root / LEDGERS / f".probe.{os.getpid()}"
    probe.write_bytes(b"")
    probe.unlink()


def index_path(shard: str) -> str:
    """The path of the index file of a shard or of a file of rejected records."""
    return f"{INDEX}/{shard}.parquet"
