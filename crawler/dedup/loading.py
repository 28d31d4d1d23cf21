"""Texts that are there already go into the duplicate index: those of other files, and those of a resumed replay.

With `gristmill dataset index` new pages are compared with a corpus that the user has. Reading and asking happen here,
fingerprints in worker processes. Loading the same files again changes nothing, so an interrupted load is repeated.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import IO, Any

import fsspec
import orjson

from crawler.config import Config, DedupConfig
from crawler.config.crawl import check_folder
from crawler.dedup.admin import with_index
from crawler.dedup.index import DedupError, DedupIndex
from crawler.document import Document
from crawler.number import number_of
from crawler.pool.forkserver import QuietContext
from crawler.stages.fingerprint import FingerprintStage
from crawler.storage.corpus.bookmarks import kept_texts
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import suffixes
from crawler.storage.files.place import MANIFEST, SHARDS, Place
from crawler.storage.files.shards import read_lines

BATCH = 200
"""Texts a hop to a worker process and back."""
IN_FLIGHT = 16
"""Batches read ahead: what bounds the memory."""

Text = tuple[str, str]
"""(owner, text)."""
Fingerprint = tuple[str, bytes, int, str]
"""The arguments of `DedupIndex.check`."""


class LoadError(DedupError):
    """A file cannot be loaded; the text names file and line."""


@dataclass(slots=True)
class Loaded:
    """What became of the texts. claimed: in the index now, by this load or an earlier one."""

    texts: int = 0
    claimed: int = 0
    exact: int = 0  # the same as a text of another owner
    near: int = 0  # nearly so
    empty: int = 0  # nothing to compare
    withdrawn: int = 0  # left out

    def __str__(self) -> str:
        left_out = f"; {self.withdrawn:,} withdrawn ones were left out" if self.withdrawn else ""
        return (
            f"{number_of(self.texts, 'text')}: {self.claimed:,} in the "
            f"index, {self.exact:,} exact and {self.near:,} near "
            f"duplicates among them or of what it had, {self.empty:,} empty{left_out}"
        )


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a record keeps its text and, unless file and line are to name it, its owner."""

    text: str = "text"
    owner: str | None = None


Hides = Callable[[Any], bool]
"""Says of a record that it must not be read."""


def load(
    config: Config,
    paths: list[str],
    columns: Columns,
    *,
    progress: Callable[[Loaded], None],
    hides: Hides | None = None,
) -> Loaded:
    """Put every text of files and folders (JSON lines or Parquet; local or any fsspec URL) into the configured index.

    An owner is `path:line`, or the value of the owner column: canonical URLs there let the same pages be crawled again.
    hides: asked of each record; those for which it holds are left out, and counted as withdrawn.
    Raises: LoadError, DedupError, ServerError.
    """
    loaded = Loaded()
    batches = _batches(files_of(paths), columns, _counting(hides, loaded))
    return with_index(config, lambda index: _load(config, index, batches, loaded, progress))


async def _load(
    config: Config,
    index: DedupIndex,
    batches: Iterator[list[Text]],
    loaded: Loaded,
    progress: Callable[[Loaded], None],
) -> Loaded:
    waiting, loop = deque[asyncio.Future[list[Fingerprint]]](), asyncio.get_running_loop()
    with executor_of(config.crawl.stage_workers) as executor:
        for batch in batches:
            waiting.append(loop.run_in_executor(executor, fingerprints, config.dedup, batch))
            if len(waiting) > IN_FLIGHT:
                await _claim(index, await waiting.popleft(), loaded)
                progress(loaded)
        for future in waiting:
            await _claim(index, await future, loaded)
            progress(loaded)
    return loaded


async def _claim(index: DedupIndex, prints: list[Fingerprint], loaded: Loaded) -> None:
    loaded.texts += len(prints)
    filled = [arguments for arguments in prints if arguments[2]]
    loaded.empty += len(prints) - len(filled)
    for match in await asyncio.gather(*(index.check(*arguments) for arguments in filled)):
        loaded.claimed += match is None
        loaded.exact += match is not None and match.exact
        loaded.near += match is not None and not match.exact


# --- kept texts ------------------------------------------------------------------------------------------------------
async def remember(index: DedupIndex, config: Config, place: Place) -> int:
    """`claim_kept`, for an index that forgets: a replay fills it with what is there; 0 for one on a server."""
    from crawler.dedup.memory_index import MemoryIndex  # late: it brings NumPy, and Scrapy loads every spider

    return await claim_kept(index, config, place) if isinstance(index, MemoryIndex) else 0


async def claim_kept(index: DedupIndex, config: Config, place: Place) -> int:
    """Claim every kept text of the corpus for its page. Returns how many there are; harmless when repeated."""
    count, texts = 0, kept_texts(place)
    while batch := await asyncio.to_thread(list, islice(texts, BATCH)):
        for doc_id, signature, shingles, owner in await asyncio.to_thread(fingerprints, config.dedup, batch):
            await index.check(doc_id, signature, shingles, owner)
        count += len(batch)
    return count


# --- fingerprints ----------------------------------------------------------------------------------------------------
def executor_of(workers: int) -> Executor:
    """As STAGE_WORKERS says: a process a core by default, 0 = in this process."""
    if workers == 0:
        return ThreadPoolExecutor(1)
    return ProcessPoolExecutor(workers if workers > 0 else None, mp_context=QuietContext())


def fingerprints(config: DedupConfig, batch: list[Text]) -> list[Fingerprint]:
    """Runs in a worker process. A text without anything to compare has no shingles."""
    stage, result = _stage(config), []
    for owner, text in batch:
        doc = Document(url=owner, text=text)
        stage(doc)
        result.append((doc.doc_id, doc.signature, doc.shingle_count, owner))
    return result


@lru_cache(maxsize=1)
def _stage(config: DedupConfig) -> FingerprintStage:
    return FingerprintStage(config)


# --- files -----------------------------------------------------------------------------------------------------------
def files_of(paths: list[str]) -> list[str]:
    """The files behind paths, those of a folder in the order of their names.

    Raises: LoadError for a path that is not there or that nobody here can read.
    """
    found = []
    for path in paths:
        if (complaint := check_folder(path)) is not None:
            raise LoadError(f"{path.partition('://')[0]}://…: {complaint}")
        try:
            fs, inner = fsspec.url_to_fs(path)
            names = [_joined(path, inner, name) for name in sorted(fs.find(inner))] if fs.isdir(inner) else [path]
            there = fs.exists(inner)
        except (OSError, ValueError, ImportError) as error:
            raise LoadError(f"{path}: {error}") from error
        files = [name for name in _kept_ones(path, names) if name.endswith(suffixes())]
        if not there or not files:
            raise LoadError(f"{path}: {_wanted() if there else 'no such file or folder'}")
        found += files
    if any(name.endswith(".parquet") for name in found) and find_spec("pyarrow") is None:
        raise LoadError("Parquet files need pyarrow, which is not installed: pip install pyarrow, or give JSON lines")
    return found


def _kept_ones(path: str, names: list[str]) -> list[str]:
    """Of a corpus of ours its kept documents; of any other folder everything."""
    root = path.rstrip("/")
    if f"{root}/{MANIFEST}" not in names:
        return names
    return [name for name in names if name.startswith(f"{root}/{SHARDS}/")]


def _joined(path: str, inner: str, name: str) -> str:
    return f"{path.rstrip('/')}/{posixpath.relpath(name, inner)}"


def _wanted() -> str:
    return f"expected files that end in {', '.join(suffixes())}"


def _counting(hides: Hides | None, loaded: Loaded) -> Hides | None:
    def counted(record: Any) -> bool:
        found = hides is not None and hides(record)
        loaded.withdrawn += found
        return found

    return counted if hides is not None else None


def _batches(files: list[str], columns: Columns, hides: Hides | None) -> Iterator[list[Text]]:
    batch: list[Text] = []
    for name in files:
        for text in texts_in(name, columns, hides):
            batch.append(text)
            if len(batch) >= BATCH:
                yield batch
                batch = []
    if batch:
        yield batch


def texts_in(name: str, columns: Columns, hides: Hides | None = None) -> Iterator[Text]:
    """Owner and text of every record of a file that nothing hides. Raises: LoadError naming file and line."""
    more = _OF_PAGE if hides is not None else ()
    try:
        with fsspec.open(name, "rb") as file:
            records = _parquet(name, file, columns, more) if name.endswith(".parquet") else _lines(name, file)
            for number, record in enumerate(records, 1):
                if hides is not None and hides(record):
                    continue
                yield _text_of(record, f"{name}:{number}", columns)
    except (OSError, StorageError) as error:
        raise LoadError(str(error)) from error


def _text_of(record: Any, place: str, columns: Columns) -> Text:
    if not isinstance(record, dict) or not isinstance(text := record.get(columns.text, ...), str | None):
        known = ", ".join(sorted(record)[:20]) if isinstance(record, dict) else type(record).__name__
        raise LoadError(f"{place}: no text in {columns.text!r} (there is: {known}); name the field with --field")
    if columns.owner is None:
        return place, text or ""
    owner = record.get(columns.owner)
    if not isinstance(owner, str | int) or owner == "":
        raise LoadError(f"{place}: no owner in {columns.owner!r}; name another field with --id, or leave --id out")
    return str(owner), text or ""


def _lines(name: str, file: IO[bytes]) -> Iterator[Any]:
    for number, line in enumerate(read_lines(file, name), 1):
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise LoadError(f"{name}:{number}: not JSON ({error})") from error


_OF_PAGE = ("url", "canonical_url", "crawled_at")


def _parquet(name: str, file: IO[bytes], columns: Columns, more: Collection[str]) -> Iterator[Any]:
    import pyarrow
    import pyarrow.parquet

    wanted = [column for column in (columns.text, columns.owner) if column]
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            if missing := sorted(set(wanted) - set(table.schema_arrow.names)):
                there = ", ".join(table.schema_arrow.names[:20])
                raise LoadError(f"{name}: no column {missing[0]!r} (there is: {there}); use --field and --id")
            wanted += [column for column in more if column in table.schema_arrow.names and column not in wanted]
            for rows in table.iter_batches(batch_size=BATCH, columns=wanted):
                yield from rows.to_pylist()
    except pyarrow.ArrowException as error:
        raise LoadError(f"{name}: cannot be read as Parquet ({error})") from error
