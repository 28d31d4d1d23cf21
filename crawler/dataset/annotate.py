"""The annotations of a corpus: write, read, list and drop them. Each change is a version of the corpus.

Files of annotations are listed in the manifest like shards, so they are hashed, verified and versioned with them, and
a rewrite (`crawler/dataset/rewrite.py`) takes the rows of a document out in the same step as the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.dataset.annotations.listed import annotations_in
from crawler.dataset.annotations.tables import KEYS, TYPES, Row, annotation_files, key_of, name_of, read_table
from crawler.dataset.query import query
from crawler.dataset.records.fields import OF_RECORD
from crawler.dataset.records.view import TABLES
from crawler.dataset.rewrite import RewriteJob, Rewritten, rewrite
from crawler.dataset.versions import Cause
from crawler.problems import InputError, did_you_mean
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.columns import EXTRA, arrow
from crawler.storage.files.place import Place
from crawler.storage.types import Entry, JobRecord

ANNOTATE = "dataset annotate"
"""The operation of a version with new annotations."""
NAMED = 20
"""Refused rows that are named; the others are counted."""
_ANNOTATED = f"""
SELECT {", ".join(KEYS)} FROM documents UNION ALL
SELECT canonical_url, content_hash FROM rejected WHERE warc_file IS NOT NULL AND content_hash <> ''
"""  # noqa: S608  # our own words
"""The keys of `annotations.tables.document_of`."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_TAKEN = {*OF_RECORD, *TABLES.values(), *KEYS, EXTRA, "records", "files", "index_files", "id", "file", "line"}


@dataclass(slots=True)
class Refused:
    """Rows that were not written. unknown: of no document of the corpus; changed: of another text than the document
    has now; repeated: of a document that has a row already. names: canonical URLs of some of them.
    """

    unknown: int = 0
    changed: int = 0
    repeated: int = 0
    names: dict[str, list[str]] = field(default_factory=dict)

    def count(self, what: str, row: Row) -> None:
        """Count a row. what: "unknown", "changed" or "repeated"."""
        setattr(self, what, getattr(self, what) + 1)
        some = self.names.setdefault(what, [])
        if len(some) < NAMED:
            some.append(str(row["canonical_url"]))


class Annotations:
    """The annotations of a corpus. A remote one needs a spool to be written (`rewrite.corpus_place`)."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def names(self) -> list[str]:
        """What there is. Raises: StorageError where there is no corpus."""
        return [each.name for each in annotations_in(self._place.manifest()["files"])]

    def read(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows, a few in memory at a time. Raises: InputError where there is no such annotation; StorageError."""
        self._check_known(name)
        for entry in annotation_files(self._place.manifest()["files"]):
            if name_of(entry["path"]) == name:
                yield from read_table(self._place, entry["path"])

    def write(self, name: str, job: JobRecord, rows: Iterable[Row], *, now: float) -> tuple[Rewritten, Refused]:
        """Add rows, each in place of an earlier one of its document; what was done, and which rows were not taken.

        `job["corpus"]` may be empty: then it is the version that stands. now: seconds since the epoch. Needs about
        0.2 kB of memory a document of the corpus.

        Raises: InputError where name, columns or a value cannot be taken; StorageError as `rewrite`, and where pyarrow
        or duckdb is not installed. Then nothing has changed.
        """
        arrow()
        check_name(name)
        kinds = {column: each["type"] for column, each in job["columns"].items()}
        check_columns(kinds)
        refused = Refused()

        def annotate(made: RewriteJob) -> None:
            earlier = self._files(made, name)
            check_same(name, kinds, [entry["job"] for entry in earlier.values() if "job" in entry])
            taken: set[bytes] = set()
            said = job | {"corpus": job["corpus"] or manifest_hash(self._place)}
            made.annotate(name, said, self._taken(rows, taken, refused))
            made.filter_annotations(lambda path, document: path not in earlier or document not in taken)

        return self._change(annotate, Cause(ANNOTATE, name, now)), refused

    def drop(self, name: str, *, now: float) -> Rewritten:
        """Make a version without it; earlier versions keep it. Raises: InputError, StorageError as `write`."""
        self._check_known(name)

        def without(made: RewriteJob) -> None:
            files = self._files(made, name)
            made.filter_annotations(lambda path, _: path not in files)

        return self._change(without, Cause(f"{ANNOTATE} --drop", name, now))

    def prune(self, cause: Cause) -> Rewritten:
        """Take out rows of documents that the corpus does not have. Raises: StorageError as `write`."""
        documents, _ = self._documents()
        return self._change(lambda made: made.filter_annotations(lambda _, document: document in documents), cause)

    def _change(self, annotate: Any, cause: Cause) -> Rewritten:
        return rewrite(self._place, lambda record: record, cause, folders=(), annotate=annotate)

    def _files(self, made: RewriteJob, name: str) -> dict[str, Entry]:
        return {entry["path"]: entry for entry in annotation_files(made.files) if name_of(entry["path"]) == name}

    def _taken(self, rows: Iterable[Row], taken: set[bytes], refused: Refused) -> Iterator[Row]:
        documents, urls = self._documents()
        for number, row in enumerate(rows, 1):
            if not all(isinstance(row.get(name), str) for name in KEYS):
                raise InputError([f"row {number}: expected the texts {' and '.join(KEYS)} of a document"])
            if (document := key_of(row)) not in documents:
                refused.count("changed" if row["canonical_url"] in urls else "unknown", row)
            elif document in taken:
                refused.count("repeated", row)
            else:
                taken.add(document)
                yield row

    def _documents(self) -> tuple[set[bytes], set[str]]:
        """What rows may be about, by key and by canonical URL; without those whose withdrawal was cut off."""
        documents, urls = set(), set()
        with query(self._place, _ANNOTATED) as (_, rows):
            for row in rows:
                documents.add(key_of(dict(zip(KEYS, row, strict=True))))
                urls.add(row[0])
        return documents, urls

    def _check_known(self, name: str) -> None:
        if name not in (known := self.names()):
            raise InputError([f"{self._place.url}: no annotation is called {name!r}{did_you_mean(name, known)}"])


def check_same(name: str, kinds: Mapping[str, str], earlier: Iterable[JobRecord]) -> None:
    """Raises: InputError where the files of an annotation would have different columns. kinds: types by name."""
    for other in earlier:
        before = {column: each["type"] for column, each in other["columns"].items()}
        if kinds != before:
            had, has = (", ".join(f"{name} {kind}" for name, kind in sorted(each.items())) for each in (before, kinds))
            raise InputError([f"{name} has the columns {had}, and not {has}; drop it first, or give another name"])


def check_name(name: str) -> None:
    """Raises: InputError where an annotation cannot be called so: its name is a column of every table of records."""
    if not _NAME.fullmatch(name) or name in _TAKEN:
        raise InputError(
            [f"an annotation called {name!r}: expected a-z, then up to 63 of a-z, 0-9 and _, and no field of a record"]
        )


def check_columns(columns: Mapping[str, str]) -> None:
    """Raises: InputError where there is no column, or one has no possible name or type. columns: types by name."""
    wrong = [name for name in columns if not _NAME.fullmatch(name) or name in KEYS]
    problems = [f"column {name!r}: expected a-z, then up to 63 of a-z, 0-9 and _, and no key" for name in wrong]
    problems += [
        f"column {name}: type {kind!r} instead of one of {', '.join(TYPES)}"
        for name, kind in columns.items()
        if kind not in TYPES
    ]
    if not columns:
        problems = [f"no column with values beside {' and '.join(KEYS)}"]
    if problems:
        raise InputError(problems)
