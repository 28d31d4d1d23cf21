"""Export formats write records as other tools read them: those of shards, and Dolma, WebDataset, MDS.

Equal records give equal bytes: no clock, no name of a machine, one order.
"""

from __future__ import annotations

import io
import shutil
import struct
import tarfile
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import BUILT_IN, Add, Format, formats, gzip_writer
from crawler.storage.files.records import Record, encode

INDEX_FILE = "index.json"
"""Lists the files beside it, in formats whose readers want that."""


@contextmanager
def _dolma(target: IO[bytes], _: bool) -> Iterator[Add]:
    with gzip_writer(target) as out:
        yield lambda record, line, number: out.write(encode(dolma_of(record)))  # noqa: ARG005


def dolma_of(record: Record) -> Record:
    """A document in Dolma's format: id, text, source, added, created, metadata.

    Source: https://github.com/allenai/dolma/blob/main/docs/data-format.md. `added` is when the page was fetched,
    `created` the date that the page gives itself, or null; metadata: every other field.
    """
    names = ("doc_id", "text", "crawl_id", "crawled_at", "pub_date")
    return {
        "id": record.get("doc_id") or record["url"],
        "text": record.get("text") or "",
        "source": record.get("crawl_id") or "",
        "added": record.get("crawled_at"),
        "created": record.get("pub_date"),
        "metadata": {name: value for name, value in record.items() if name not in names},
    }


@contextmanager
def _webdataset(target: IO[bytes], _: bool) -> Iterator[Add]:
    """Two members a document, `NUMBER.txt` and `NUMBER.json`: https://github.com/webdataset/webdataset."""
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.USTAR_FORMAT) as tar:

        def add(record: Record, _: bytes, number: int) -> None:
            rest = {name: value for name, value in record.items() if name != "text"}
            for end, content in (("txt", (record.get("text") or "").encode()), ("json", orjson.dumps(rest))):
                member = tarfile.TarInfo(f"{number:012d}.{end}")  # mtime, owner and group are 0
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))

        yield add


@contextmanager
def _mds(target: IO[bytes], _: bool) -> Iterator[Add]:
    """A shard of MosaicML Streaming, format 2 of its MDS: number of samples, offset of each, columns, samples.

    Source: `streaming/base/format/mds` of https://github.com/mosaicml/streaming. Numbers have 32 bits, little-endian. A
    sample is the length of each column, then the columns. The samples wait in a file beside the shard that has no name,
    because their offsets stand before them.
    Raises: StorageError where a shard has 4 GiB.
    """
    ends = array("I")
    with tempfile.TemporaryFile(dir=Path(target.name).parent) as samples:

        def add(record: Record, _: bytes, number: int) -> None:  # noqa: ARG001
            rest = {name: value for name, value in record.items() if name not in ("text", "doc_id")}
            texts = (record.get("doc_id") or record["url"], record.get("text") or "")
            columns = (texts[0].encode(), orjson.dumps(rest), texts[1].encode())
            samples.write(struct.pack("<3I", *map(len, columns)))
            samples.writelines(columns)
            if samples.tell() >= _MDS_MOST:
                raise StorageError("a shard in MDS has at most 4 GiB; give a smaller SHARD_MAX_BYTES")
            ends.append(samples.tell())

        yield add
        config = _json(_MDS_COLUMNS)
        first = 4 + 4 * (len(ends) + 1) + len(config)
        target.write(struct.pack(f"<{len(ends) + 2}I", len(ends), first, *(first + end for end in ends)))
        target.write(config)
        samples.seek(0)
        shutil.copyfileobj(samples, target)


def read_mds(shard: IO[bytes]) -> Iterator[Record]:
    """The records of a shard that an export wrote, from a file that stands at its beginning.

    Raises: ValueError, struct.error where it is damaged.
    """
    (number,) = struct.unpack("<I", shard.read(4))
    first, *_ = struct.unpack(f"<{number + 1}I", shard.read(4 * (number + 1)))
    shard.seek(first)
    for _ in range(number):
        lengths = struct.unpack("<3I", shard.read(12))
        doc_id, rest, text = (shard.read(length) for length in lengths)
        yield {**orjson.loads(rest), "doc_id": doc_id.decode(), "text": text.decode()}


def _mds_index(files: list[dict[str, Any]]) -> bytes:
    """`index.json` of an MDS dataset: a line of facts for each shard."""
    shards = [
        {
            **_MDS_COLUMNS,
            "raw_data": {
                "basename": file["path"].rpartition("/")[2],
                "bytes": file["bytes"],
                "hashes": {"sha256": file["sha256"]},
            },
            "samples": file["documents"],
            "zip_data": None,
        }
        for file in files
    ]
    return _json({"version": 2, "shards": shards})


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


_MDS_MOST = 2**32 - 2**26
"""Bytes of the samples of a shard: its offsets have 32 bits, and count what stands before the samples, too."""
_MDS_COLUMNS: dict[str, Any] = {
    "version": 2,
    "format": "mds",
    "compression": None,
    "hashes": ["sha256"],
    "size_limit": None,
    "column_names": ["doc_id", "metadata", "text"],
    "column_encodings": ["str", "json", "str"],
    "column_sizes": [None, None, None],
}
_DOLMA_FEATURES: list[dict[str, Any]] = [
    *({"name": name, "dtype": "string"} for name in ("id", "text", "source", "added", "created")),
    {"name": "metadata", "dtype": "json"},
]
_ONLY_EXPORTS = {
    one.name: one
    for one in (
        Format("dolma", "jsonl.gz", _dolma, folder="documents", features=_DOLMA_FEATURES),
        Format("webdataset", "tar", _webdataset),
        Format("mds", "mds", _mds, index=_mds_index),
    )
}


def export_format(name: str) -> Format:
    """The format that `--to` names. Raises: StorageError where there is none."""
    known = _ONLY_EXPORTS | (BUILT_IN if name in BUILT_IN else formats())
    if name not in known:
        raise StorageError(f"there is no format {name!r}; known: {', '.join(known)}")
    return known[name]
