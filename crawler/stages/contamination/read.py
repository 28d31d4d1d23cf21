"""Decontamination reads the texts of an evaluation set here, example by example, whatever its format."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from crawler.config.eval_sets import EvalSet
from crawler.problems import InputError
from crawler.stages.text.normal import normalise

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def examples(made: EvalSet) -> Iterator[list[str]]:
    """The texts of each example of a set: the strings of a JSON record or row, or a paragraph. Raises: InputError."""
    for path in made.files:
        try:
            yield from _examples(path, made.fields)
        except (OSError, ValueError, EOFError, zstd.ZstdError) as error:
            raise InputError([f"the evaluation set {str(path)!r} cannot be read: {error}"]) from error


def _examples(path: Path, fields: tuple[str, ...]) -> Iterator[list[str]]:
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    if name.endswith(".parquet"):
        records = _parquet(path)
    elif name.endswith((".txt", ".md")):
        yield from ([normalise(text)] for text in _paragraphs(path))
        return
    else:
        records = _json_lines(path) if name.endswith(".jsonl") else _json(path)
    for record in records:
        wanted = [record.get(name) for name in fields] if fields and isinstance(record, dict) else record
        if parts := [normalise(text) for text in _strings(wanted) if text.strip()]:
            yield parts


def _strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, in its order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)


def _opened(path: Path) -> io.TextIOWrapper:
    open_file: Any = {".gz": gzip.open, ".zst": zstd.open}.get(path.suffix.lower(), open)
    return io.TextIOWrapper(open_file(path, "rb"), encoding="utf-8-sig", errors="replace")


def _json_lines(path: Path) -> Iterator[Any]:
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise ValueError(f"line {number} is not JSON ({error})") from None


def _json(path: Path) -> Iterator[Any]:
    with _opened(path) as file:
        content = orjson.loads(file.read())
    yield from content if isinstance(content, list) else [content]


def _paragraphs(path: Path) -> Iterator[str]:
    with _opened(path) as file:
        lines: list[str] = []
        for line in file:
            if line.strip():
                lines.append(line)
            elif lines:
                yield "".join(lines)
                lines = []
        if lines:
            yield "".join(lines)


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1_000):
            yield from batch.to_pylist()
