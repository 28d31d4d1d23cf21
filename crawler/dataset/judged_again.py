"""A replay in a folder of its own judges what a corpus has archived; its records are found by the place in an archive.

The replay is the command, in a process of its own, so that its records are a replay's by construction. The folder is
`.rejudge` in the corpus, or in the spool of one in a store. Where the process was killed, the same settings go on with
it; others begin anew.
"""

from __future__ import annotations

import ctypes
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import orjson

from crawler.config import Config
from crawler.dataset.pages import KEY_BYTES, page_key
from crawler.dataset.rewrite import records_in
from crawler.storage.archive.places import expand
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import replace_file
from crawler.storage.files.place import ARCHIVE, MANIFEST, PAGES, REJUDGE, Place
from crawler.storage.files.records import Record, encode, held_kind

_SEED = "as-it-was"
"""`worker_id` of records that a replay finds in its folder and leaves alone."""
_END_WITH_PARENT = 1  # prctl(2), PR_SET_PDEATHSIG
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_NOT_TAKEN = frozenset({"CORPUS_DIR", "CRAWL_ID", "WORKER_ID", "REDIS_URL", "DEDUP_REDIS_URL", "CORPUS_SPOOL_DIR"})
_TAKEN = frozenset({"STAGE_WORKERS", "STAGE_TIMEOUT_SECONDS", "REJECTED_TEXT"})
_WITH_FILES = ("quality", "decontamination", "classify")
"""What the replay gets although no part of the digest: these, and all of the sections whose files are part of it."""


def capture_of(record: Record) -> bytes | None:
    """What tells the archived page of a record from all others; None where nothing of it is in an archive."""
    file, offset = record.get("warc_file"), record.get("warc_offset")
    if not file or offset is None:
        return None
    return f"{str(file).rpartition('/')[2]}\n{offset}\n{record.get('warc_record_id') or ''}".encode()


def visit_of(record: Record) -> bytes:
    """What tells the visit of a record from all others: its page, and when it was fetched."""
    return page_key(record) + str(record.get("crawled_at")).encode()


class Replay:
    """The folder of one replay. state: what it depends on beside the settings; another one makes it begin anew."""

    def __init__(self, place: Place, config: Config, state: str) -> None:
        self._folder = place.root / REJUDGE
        self._source, self._config = place, config
        self._place = Place(str(self._folder / "corpus"))
        self._mark = {"state": state, "config_digest": config.digest}
        self._results: sqlite3.Connection | None = None

    def prepare(self, as_they_are: Iterable[Record]) -> None:
        """Put records into it that are not to be judged: rejected pages that cannot change, and kept texts without an
        archive, which other pages are compared with. Nothing where a replay is to be continued. Raises: StorageError.
        """
        marked = self._folder / "state.json"
        if marked.exists() and orjson.loads(marked.read_bytes()) == self._mark:
            return
        self.remove()
        self._folder.mkdir(parents=True)
        crawl = replace(self._config.crawl, corpus_dir=self._place.url, crawl_id=_SEED, worker_id=_SEED)
        storage = replace(self._config.storage, spool_dir=None, index_at_seal=False)
        corpus = Corpus(replace(self._config, crawl=crawl, storage=storage))
        corpus.kind = "replay"
        corpus.open()
        names = {name.rpartition("/")[2]: name for name in self._archives()}
        for record in as_they_are:
            file = str(record.get("warc_file") or "").rpartition("/")[2]
            _put(corpus, record | {"worker_id": _SEED, "warc_file": names.get(file, record.get("warc_file"))})
        corpus.close()
        replace_file(marked, orjson.dumps(self._mark))  # last: without it the next call begins anew

    def run(self, *, quiet: bool) -> None:
        """Judge. quiet: no live progress. Raises: StorageError where it could not judge all."""
        command = [sys.executable, "-m", "crawler.commands.gristmill", "replay", self._where()]
        for name, value in self._settings(quiet).items():
            command += ["-s", f"{name}={value}"]
        log = self._folder / "replay.log"
        with log.open("wb") as said:
            process = subprocess.Popen(  # noqa: S603  # our own command
                command,
                stdout=subprocess.DEVNULL,
                stderr=said if quiet else None,
                preexec_fn=_end_with_parent,  # noqa: PLW1509  # it takes no lock
            )
            try:
                code = process.wait()
            except BaseException:
                process.terminate()
                process.wait()
                raise
        if code:
            last = log.read_text(errors="replace").strip().splitlines()[-1:]
            why = f": {last[0].removeprefix('error: ')}" if last else "; see the messages above"
            raise StorageError(
                f"{self._source.url}: the archive could not be judged again, and nothing was changed{why}"
            )
        digests = {run["config_digest"] for run in self._place.manifest()["runs"]}
        if digests != {self._config.digest}:
            raise StorageError(
                f"{self._source.url}: the replay had other settings than this command; nothing was changed"
            )

    def results(self) -> Iterator[Record]:
        """Every record that the replay made."""
        return (record for record in records_in(self._place, PAGES) if record.get("worker_id") != _SEED)

    def collect(self) -> int:
        """Make the results findable by `find`, on the disk; of how many pages they are, whatever the visits to each."""
        path = self._folder / "results.sqlite"
        path.unlink(missing_ok=True)
        self._results = sqlite3.connect(path)
        self._results.execute("PRAGMA journal_mode=OFF")
        self._results.execute("CREATE TABLE results (capture BLOB PRIMARY KEY, visit BLOB, record BLOB) WITHOUT ROWID")
        rows = (
            (capture, visit_of(record), encode(record)) for record in self.results() if (capture := capture_of(record))
        )
        self._results.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)
        self._results.execute("CREATE INDEX visits ON results (visit)")
        pages = f"SELECT count(DISTINCT substr(visit, 1, {KEY_BYTES})) FROM results"  # noqa: S608  # our own number
        count: int = self._results.execute(pages).fetchone()[0]
        return count

    def find(self, record: Record) -> Record | None:
        """The record that the replay made of the archived page of a record; or of the same visit, where the crawl named
        another place of it: that of the page as it was before, for one that is gone.
        """
        assert self._results is not None, "collect first"
        for column, key in (("capture", capture_of(record)), ("visit", visit_of(record))):
            query = f"SELECT record FROM results WHERE {column} = ?"  # noqa: S608  # our own columns
            with closing(self._results.execute(query, [key])) as found:
                if (row := found.fetchone()) is not None:
                    return dict(orjson.loads(row[0]))
        return None

    def remove(self) -> None:
        """Leave nothing of it."""
        if self._results is not None:
            self._results.close()
            self._results = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _where(self) -> str:
        folder = self._source.path_of(ARCHIVE)
        return f"{folder}/*.warc.*" if self._source.remote else str(Path(folder).resolve())

    def _archives(self) -> list[str]:
        return expand(self._where())

    def _settings(self, quiet: bool) -> dict[str, str]:
        whole = [getattr(self._config, name) for name in _WITH_FILES]
        found = {
            name: getattr(section, f.name)
            for section in self._config.all_sections()
            for f in fields(section)
            if (name := f.metadata["name"]) not in _NOT_TAKEN
            and (f.metadata["digest"] or name in _TAKEN or any(section is one for one in whole))
        }
        texts = {name: _text(value) for name, value in found.items() if value is not None}
        own = {"CORPUS_DIR": self._place.url, "REDIS_URL": "", "DEDUP_REDIS_URL": "", "INDEX_AT_SEAL": "0"}
        return texts | own | {"PROGRESS": "off" if quiet else "auto", "METRICS_PORT": "0", "LOG_LEVEL": "WARNING"}


def state_of(place: Place) -> str:
    """What the archive and the records of a corpus are now, in one word."""
    import hashlib

    return hashlib.sha256(place.content(MANIFEST)).hexdigest()


def _put(corpus: Corpus, record: Record) -> None:
    reason = record.get("reason")
    if reason is None:
        corpus.keep(record)
    elif reason.startswith("held_"):
        corpus.hold(record, held_kind(reason))
    else:
        corpus.reject(record)


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _end_with_parent() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_END_WITH_PARENT, signal.SIGTERM)
