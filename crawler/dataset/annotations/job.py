"""The job record says what computed an annotation: software, model, parameters, cost, and what the columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from crawler.problems import InputError, did_you_mean
from crawler.storage.types import JobRecord
from crawler.times import rfc3339

_GIVEN: dict[str, type] = {
    **{"kind": str, "code": str, "started": str, "ended": str},
    **{"model": dict, "parameters": dict, "cost": dict},
}


def job_of(
    columns: Mapping[str, str], meanings: Mapping[str, str], file: Path | None, said: Mapping[str, Any], *, now: float
) -> JobRecord:
    """The record of a job. columns: types by name. file: a JSON object with other parts of it; `said` goes before.

    Raises: InputError where a meaning has no column, or the file is not such an object.
    """
    if strange := [name for name in meanings if name not in columns]:
        raise InputError([f"no column is called {strange[0]!r}{did_you_mean(strange[0], columns)}"])
    job: dict[str, Any] = {name: kind() for name, kind in _GIVEN.items()}
    job |= {"started": rfc3339(now), "ended": rfc3339(now), "corpus": ""} | (_read(file) if file else {})
    job.update(said)
    job["columns"] = {name: {"type": kind, "meaning": meanings.get(name, "")} for name, kind in columns.items()}
    return cast("JobRecord", job)


def _read(file: Path) -> dict[str, Any]:
    try:
        content = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError([f"{file}: cannot be read ({error})"]) from None
    if not isinstance(content, dict):
        raise InputError([f"{file}: expected a JSON object with some of {', '.join(_GIVEN)}"])
    problems = [f"{file}: {name!r} is no part of a job{did_you_mean(name, _GIVEN)}" for name in content.keys() - _GIVEN]
    problems += [
        f"{file}: {name}: expected {'an object' if kind is dict else 'a text'}"
        for name, kind in _GIVEN.items()
        if not isinstance(content.get(name, kind()), kind)
    ]
    if problems:
        raise InputError(sorted(problems))
    return content
