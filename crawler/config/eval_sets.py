"""Which evaluation sets EVAL_SETS names: their files, their names, and a digest of what is in them.

Files only, no content: the standard library is enough. `stages/contamination/read.py` reads them.
"""

from __future__ import annotations

import glob
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PLAIN = (".jsonl", ".json", ".txt", ".md")
SUFFIXES = (*(kind + packed for kind in PLAIN for packed in ("", ".gz", ".zst")), ".parquet")
EXPECTED = "expected .jsonl, .json, .txt or .md (each also .gz or .zst) or .parquet"


@dataclass(frozen=True, slots=True)
class EvalSet:
    """One evaluation set. fields: the columns that count, all with text where empty."""

    name: str
    files: tuple[Path, ...]
    fields: tuple[str, ...] = ()


def find_sets(specs: tuple[str, ...]) -> list[EvalSet]:
    """The sets behind `PATH`, `GLOB` or `FOLDER`, each also with `#column+column` behind it.

    A `#` in the name of a file or folder belongs to it: what exists under the longest name is meant. A file is a set
    named after itself, a folder is one set of all files below it. Equal names become whole paths.

    Raises: ValueError saying which path is wrong and what is expected.
    """
    found = [made for spec in specs for made in _sets_of(spec)]
    times = Counter(made.name for made in found)
    return [
        made if times[made.name] == 1 else EvalSet(str(_common(made.files)), made.files, made.fields) for made in found
    ]


def problem_of(specs: tuple[str, ...]) -> str | None:
    """What is wrong with EVAL_SETS as far as names can tell; None where nothing is."""
    try:
        sets = find_sets(specs)
    except (OSError, ValueError) as error:
        return str(error)
    if find_spec("pyarrow") is None and any(path.suffix == ".parquet" for made in sets for path in made.files):
        return "Parquet files need pyarrow, which is not installed (pip install pyarrow); or give JSON lines"
    return None


def digest_of(specs: tuple[str, ...], **parameters: int) -> str:
    """ "sha256:" and 64 hex digits over the content of all sets and how they are compared; empty without sets.

    Raises: OSError where a file cannot be read; ValueError as `find_sets`.
    """
    if not specs:
        return ""
    total = hashlib.sha256(repr(sorted(parameters.items())).encode())
    for made in find_sets(specs):
        total.update(repr((made.name, made.fields)).encode())
        for path in made.files:
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return "sha256:" + total.hexdigest()


def _sets_of(spec: str) -> list[EvalSet]:
    for where, columns in _readings(spec):
        fields = tuple(column.strip() for column in columns.split("+") if column.strip())
        matches = glob.glob(where, recursive=True)  # noqa: PTH207  # Path.glob refuses absolute patterns
        paths = [Path(where)] if Path(where).exists() else [Path(name) for name in sorted(matches)]
        if paths:
            return [EvalSet(_name(path), _files(path), fields) for path in paths]
    raise ValueError(f"{spec!r} does not exist; expected a file, a folder or a glob of evaluation sets")


def _readings(spec: str) -> Iterator[tuple[str, str]]:
    """Path and columns as a `#` may part them: at none, at the last one, and so on to the first."""
    yield spec, ""
    parts = spec.split("#")
    for number in range(len(parts) - 1, 0, -1):
        if where := "#".join(parts[:number]):
            yield where, "#".join(parts[number:])


def _files(path: Path) -> tuple[Path, ...]:
    if path.is_file():
        if not path.name.lower().endswith(SUFFIXES):
            raise ValueError(f"{str(path)!r}: {EXPECTED}")
        return (path,)
    files = tuple(sorted(p for p in path.rglob("*") if p.is_file() and p.name.lower().endswith(SUFFIXES)))
    if not files:
        raise ValueError(f"{str(path)!r} holds no evaluation set; {EXPECTED}")
    return files


def _name(path: Path) -> str:
    name = path.name
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if path.is_file() and name.lower().endswith(suffix):
            return name[: -len(suffix)] or name
    return name


def _common(files: tuple[Path, ...]) -> Path:
    return files[0] if len(files) == 1 else files[0].parent
