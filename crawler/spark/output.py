"""The end of the batch job: two folders of JSON lines and, last of all, the manifest that says they are complete.

Everything is written through Spark's own file systems, so DIR may be a local path, hdfs://… or s3a://….
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crawler.spark.partition import FOLDERS
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import indented

FORMAT = "crawler-spark/1"
MANIFEST = "manifest.json"
WORK = ".duplicates"
"""Folder of the tables that duplicates are found with; it goes at the end of the job."""
_GZIP = "org.apache.hadoop.io.compress.GzipCodec"


class Output:
    """The folder DIR of one job."""

    def __init__(self, context: Any, folder: str) -> None:
        self._jvm = context._jvm
        self.folder = folder.rstrip("/") or "/"
        self._fs = self._path("").getFileSystem(context._jsc.hadoopConfiguration())

    def refuse_existing(self) -> None:
        """Raises: StorageError where an earlier job, complete or not, has left something here."""
        taken = [name for name in (*FOLDERS, WORK, MANIFEST) if self._fs.exists(self._path(name))]
        if taken:
            raise StorageError(f"{self.folder}: {taken[0]} exists already; give an empty folder, or remove it")

    def save(self, lines: Any, kind: str) -> None:
        """Write the JSON lines (bytes) of an RDD as `kind/part-NNNNN.jsonl.gz`, one file for each partition."""
        lines.saveAsTextFile(f"{self.folder}/{kind}", _GZIP)
        for status in self._fs.listStatus(self._path(kind)):
            name = str(status.getPath().getName())
            if name.startswith("part-"):
                self._rename(f"{kind}/{name}", f"{kind}/{name.removesuffix('.gz')}.jsonl.gz")

    def files(self) -> list[dict[str, Any]]:
        """What `save` has written: path and compressed bytes, sorted by path."""
        return [file for kind in FOLDERS for file in self._files_of(kind)]

    def save_manifest(self, content: dict[str, Any]) -> None:
        """Write `manifest.json` under another name and rename it: it is there completely, or not at all."""
        growing = self._path(f".{MANIFEST}.part")
        stream = self._fs.create(growing, True)
        try:
            stream.write(bytearray(indented(content)))
        finally:
            stream.close()
        self._rename(f".{MANIFEST}.part", MANIFEST)

    def remove(self, path: str) -> None:
        """Delete a folder below DIR, given by its name there or its whole path; none there is no error."""
        inner = path.removeprefix(f"{self.folder}/")
        self._fs.delete(self._path(inner), True)

    def _rename(self, before: str, name: str) -> None:
        if not self._fs.rename(self._path(before), self._path(name)):
            raise StorageError(f"{self.folder}/{name}: cannot be written; check the folder and its permissions")

    def _files_of(self, kind: str) -> Iterable[dict[str, Any]]:
        found = {str(s.getPath().getName()): int(s.getLen()) for s in self._fs.listStatus(self._path(kind))}
        return [{"path": f"{kind}/{name}", "bytes": found[name]} for name in sorted(found) if name.startswith("part-")]

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.folder}/{name}" if name else self.folder)
