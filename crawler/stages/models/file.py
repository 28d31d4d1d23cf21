"""One format for every model: arrays of numbers and a card in one npz file, which is read and never run.

A model is called by the path of its file, or by `package:file` where a package carries it; `#` and the first digits of
the file's SHA-256 behind either ask for that very file. Whoever loads it says what kind of model it needs and which
features it computes: a file that is missing, damaged, of another kind or for other features is refused with a sentence.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar
from zipfile import BadZipFile, ZipFile

import numpy as np
import orjson
from numpy.typing import NDArray

from crawler.stages.models.features import Features, complaint, described

T = TypeVar("T")
Compute = Callable[[bytes], Sequence[Features]]
"""The features of an input, as the code computes them today."""
FORMAT = 1
MOST_BYTES = 1 << 31
"""Of a file's arrays, unpacked."""
_NAME = re.compile(r"(?P<place>.+?)(?:#(?P<digest>[0-9a-f]{8,64}))?")
_PACKAGED = re.compile(r"[A-Za-z_][\w.]*:[\w.-]+")
_DAMAGE = (BadZipFile, zlib.error, struct.error, ValueError, LookupError, TypeError, AttributeError, EOFError, OSError,
           RuntimeError, MemoryError, SyntaxError)  # fmt: skip
"""What zipfile, numpy and orjson raise on bytes that are no such file."""


class ModelError(Exception):
    """A model cannot be used: which one, why, and what to do."""


class Card(TypedDict):
    """What people have to know of a model. `features`, `parts` and `format` are written with the file."""

    kind: str
    what: str
    data: str  # that it was trained on
    licence: str
    date: str  # of the training, ISO 8601
    figures: dict[str, float]
    parts: NotRequired[dict[str, str]]  # by name, the runtime of each
    features: NotRequired[list[dict[str, Any]]]
    classifier: NotRequired[dict[str, Any]]  # what a crawl and its reader need of a classifier of texts
    format: NotRequired[int]


@dataclass(frozen=True)
class Stored:
    """A model's file. probe: an input as the model reads it. digest: SHA-256 of the file, 64 hex digits."""

    name: str
    card: Card
    digest: str
    probe: bytes
    arrays: Mapping[str, NDArray[Any]]

    def part(self, name: str, runtime: type[T]) -> T:
        """One part, as the runtime (a dataclass of arrays) that computes with it. Raises: ModelError."""
        has = self.card["parts"].get(name)
        if has != runtime.__name__:
            raise ModelError(f"model {self.name}: its part {name!r} is {has or 'missing'}, not {runtime.__name__}")
        try:
            return runtime(*(self.arrays[f"{name}.{one.name}"] for one in fields(runtime)))  # type: ignore[arg-type]
        except KeyError as error:
            raise _damaged(self.name, error) from error


def load(name: str, kind: str, compute: Compute) -> Stored:
    """A model of this kind that was trained on the features that are computed here. Raises: ModelError."""
    found = read(name)
    if found.card["kind"] != kind:
        raise ModelError(f"model {name}: is of the kind {found.card['kind']!r}, expected {kind!r}")
    try:
        stored = [
            Features(one["group"], one["version"], tuple(one["names"]), found.arrays[f"features.{one['group']}"])
            for one in found.card["features"]
        ]
    except _DAMAGE as error:
        raise _damaged(name, error) from error
    if other := complaint(stored, compute(found.probe)):
        raise ModelError(
            f"model {name}: was trained on other features than this version computes ({other}): "
            "use the version that it was made for, or train it again"
        )
    return found


def read(name: str) -> Stored:
    """A model's file, whatever it is for. Raises: ModelError."""
    data = _bytes(name)
    digest = hashlib.sha256(data).hexdigest()
    if not digest.startswith(_split(name)[1]):
        raise ModelError(f"model {name}: the file has the SHA-256 {digest} instead of the requested one")
    try:
        arrays = _arrays(name, data)
        card: Card = orjson.loads(arrays.pop("card").tobytes())
        probe = arrays.pop("probe").tobytes()
        if card["format"] != FORMAT:
            raise ModelError(f"model {name}: has format {card['format']}, this version reads {FORMAT}: update it")
        missing = [key for key in ("kind", "parts") if key not in card]
        missing += [key for one in card["features"] if (key := f"features.{one['group']}") not in arrays]
    except _DAMAGE as error:
        raise _damaged(name, error) from error
    if missing:
        raise _damaged(name, KeyError(*missing))
    return Stored(name, card, digest, probe, arrays)


def _arrays(name: str, data: bytes) -> dict[str, NDArray[Any]]:
    with ZipFile(BytesIO(data)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MOST_BYTES:
        raise ModelError(f"model {name}: holds {size} bytes, the most is {MOST_BYTES}")
    with np.load(BytesIO(data), allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def write(path: Path, card: Card, parts: Mapping[str, Any], probe: bytes, compute: Compute) -> None:
    """Write a model's file, byte for byte the same for the same model.

    parts: a dataclass of arrays each. probe: an input on which all features differ, so that none can stand for another.
    """
    features = compute(probe)
    whole = card | {
        "format": FORMAT,
        "parts": {name: type(part).__name__ for name, part in parts.items()},
        "features": described(features),
    }
    arrays: dict[str, Any] = {"card": np.frombuffer(orjson.dumps(whole, option=orjson.OPT_SORT_KEYS), np.uint8)}
    arrays |= {"probe": np.frombuffer(probe, np.uint8)}
    arrays |= {
        f"{name}.{one.name}": getattr(part, one.name)
        for name, part in parts.items()
        for one in fields(part)
        if one.init
    }
    arrays |= {f"features.{one.group}": one.probe for one in features}
    np.savez_compressed(path, **arrays)


def _bytes(name: str) -> bytes:
    """What a packaged name or a path leads to; a package may be a zip file (a batch job on Spark)."""
    place = _split(name)[0]
    try:
        if _PACKAGED.fullmatch(place):
            package, _, file = place.partition(":")
            return resources.files(package).joinpath(file).read_bytes()
        return Path(place).read_bytes()
    except (OSError, ModuleNotFoundError) as error:
        why = getattr(error, "strerror", None) or error
        raise ModelError(
            f"model {name}: cannot be read ({why}); give the path of a model's file, or package:file"
        ) from error


def _split(name: str) -> tuple[str, str]:
    found = _NAME.fullmatch(name)
    return (found["place"], found["digest"] or "") if found else (name, "")


def _damaged(name: str, error: Exception) -> ModelError:
    return ModelError(f"model {name}: is damaged, or not a model file ({error}); restore it from a copy")
