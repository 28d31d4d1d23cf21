"""Two formats: JSON lines compressed by xz, for shards and exports, and a table with tabs, for exports only."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO

from crawler.storage.files.formats import Add, Format, lines

XZ = Format(
    "jsonl-xz",
    "jsonl.xz",
    lines(partial(lzma.LZMAFile, mode="wb")),
    lzma.LZMAFile,
    damaged=(lzma.LZMAError,),
    media_type="application/x-xz",
)


@contextmanager
def _table(target: IO[bytes], _rejected: bool) -> Iterator[Add]:
    target.write(b"url\tlanguage\n")
    yield lambda record, _line, _number: target.write(f"{record['url']}\t{record['language']}\n".encode())


TSV = Format("tsv", "tsv", _table, media_type="text/tab-separated-values")
