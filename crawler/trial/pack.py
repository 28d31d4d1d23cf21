"""The transformers of a trial: what they need in one folder, trained here or on another machine, and their answer.

A pack holds the samples by equal size, the held-out texts and `transformer.py`, which needs torch alone: what trains
here and what trains there is one program. An answer names the pack by its hash, so that no other one is read as it.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crawler.problems import InputError
from crawler.storage.files.errors import StorageError
from crawler.trial.difference import Floats

SIZES: Mapping[str, Mapping[str, float]] = {
    "tiny": {"layers": 2, "width": 128, "heads": 4, "context": 256, "batch": 4, "rate": 3e-3},
    "small": {"layers": 4, "width": 256, "heads": 4, "context": 256, "batch": 32, "rate": 1.5e-3},
    "medium": {"layers": 8, "width": 512, "heads": 8, "context": 512, "batch": 64, "rate": 6e-4},
}
"""By name a `transformer.Shape` without its tokens; 0.4, 3 and 25 million parameters."""
TOKENS, FEW_TOKENS = 2_000_000, 1_000_000
"""Bytes that each model reads: the default, and below which it knows little more than syllables."""
MOST_BYTES = 60_000_000
FORMAT = "crawler-trial-pack/1"
SCRIPT, PACK, README = "transformer.py", "pack.json", "README.md"
_ANSWER_FORMAT = "crawler-trial-answer/1"
_MODULE = "crawler.trial.transformer"
_README = """# A trial of corpora, to be trained on another machine

Needs Python 3.11 and torch; no network. Run `python transformer.py` here: with a GPU where there is one.
It may be ended and called again; it writes ANSWER.json, which `gristmill dataset trial … --answer ANSWER.json` reads.
The texts are those of the corpora: delete this folder when it has answered.
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Transformers of these sizes. tokens: bytes that each reads. At most one of the others:

    work: the folder of the pack, where training goes on; pack: the folder to write it to, and train nothing; answer:
    the file to read; none: a folder for the moment.
    """

    sizes: tuple[str, ...]
    tokens: int = TOKENS
    work: Path | None = None
    pack: Path | None = None
    answer: Path | None = None

    def check(self) -> None:
        """Whether what is wanted can be done here. Raises: InputError."""
        if self.pack is None and self.answer is None and importlib.util.find_spec("torch") is None:
            raise InputError(
                [
                    "--transformer needs torch, which is not installed: pip install 'gristmill[trial]', or give --pack "
                    "and train on another machine"
                ]
            )


def asked(
    wanted: Wanted, samples: Sequence[Sequence[Sequence[str]]], held: Sequence[str], tell: Callable[[str], object]
) -> dict[str, Floats]:
    """Bits by size: sides × seeds × texts; nothing where only a pack is wanted.

    samples: texts of each side and seed; held: the texts that are asked. Raises: InputError, StorageError.
    """
    files = _files(wanted, samples, held)
    if wanted.answer is not None:
        return read(wanted.answer, files, len(held))
    if wanted.pack is not None:
        if (size := sum(map(len, files.values()))) > MOST_BYTES:
            raise InputError(
                [
                    f"--pack: {size / 1e6:.1f} MB are wanted, and a pack has {MOST_BYTES / 1e6:.0f} MB at most; give "
                    "a smaller --size, fewer --seeds or fewer sides"
                ]
            )
        write(wanted.pack, files)
        return {}
    if wanted.work is not None:
        return _trained(wanted.work, files, len(held), tell)
    with tempfile.TemporaryDirectory() as folder:
        return _trained(Path(folder), files, len(held), tell)


def sizes(texts: Sequence[str]) -> Floats:
    """The bytes that a transformer predicts of each text: its own, and that it ends."""
    return np.array([len(_encoded(text)) + 1 for text in texts], np.float64)


def _trained(folder: Path, files: Mapping[str, bytes], texts: int, tell: Callable[[str], object]) -> dict[str, Floats]:
    from crawler.trial import transformer

    write(folder, files)
    try:
        return read(transformer.work(folder, tell), files, texts)
    except (transformer.PackError, OSError) as error:
        raise StorageError(str(error)) from None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _files(
    wanted: Wanted, samples: Sequence[Sequence[Sequence[str]]], held: Sequence[str]
) -> dict[str, bytes]:  # fmt: skip
    """Contents by name, the same bytes for the same trial."""
    spec = importlib.util.find_spec(_MODULE)
    assert spec is not None and spec.origin is not None
    script = Path(spec.origin).read_bytes()
    texts = {f"sample-{side}-{seed}.json.gz": some for side, own in enumerate(samples) for seed, some in enumerate(own)}
    plain = {name: json.dumps(some).encode() for name, some in (texts | {"held-out.json.gz": held}).items()}
    plan = {
        "format": FORMAT, "sizes": {size: {**SIZES[size], "tokens": wanted.tokens} for size in wanted.sizes},
        "sides": len(samples), "seeds": len(samples[0]),
        "files": {name: hashlib.sha256(some).hexdigest() for name, some in (plain | {SCRIPT: script}).items()},
    }  # fmt: skip
    packed = {name: gzip.compress(some, mtime=0) for name, some in plain.items()}
    return packed | {SCRIPT: script, README: _README.encode(), PACK: json.dumps(plan, sort_keys=True).encode()}


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """The pack into an empty folder, or one that holds this pack or the begin of it. Raises: InputError, StorageError.

    Its plan comes last: a folder that has it is whole.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = folder / PACK
        if there.exists():
            if there.read_bytes() != files[PACK]:
                raise InputError(
                    [
                        f"{folder}: holds the pack of another trial: other sides, texts, options or another version; "
                        "give another folder, or delete this one"
                    ]
                )
        elif others := sorted(one.name for one in folder.iterdir() if one.name not in files):
            raise InputError([f"{folder}: has other files, such as {others[0]}; give an empty folder"])
        for name, content in files.items():
            if name != PACK or not there.exists():
                (folder / name).write_bytes(content)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written ({error.strerror}); give another folder") from None


def read(path: Path, files: Mapping[str, bytes], texts: int) -> dict[str, Floats]:
    """An answer to this pack, whole: every size, side and seed. Raises: StorageError, InputError."""
    plan = json.loads(files[PACK])
    try:
        answer = json.loads(path.read_bytes())
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise InputError([f"{path}: is damaged, no JSON; copy it again, or run {SCRIPT} again"]) from None
    if not isinstance(answer, dict) or answer.get("format") != _ANSWER_FORMAT:
        raise InputError([f"{path}: is no answer of a trial ({_ANSWER_FORMAT}); give the ANSWER.json of its pack"])
    rest = {name: value for name, value in answer.items() if name != "sha256"}
    if answer.get("sha256") != hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest():
        raise InputError([f"{path}: is damaged or was edited; copy it again, or run {SCRIPT} again"])
    if answer.get("pack") != hashlib.sha256(files[PACK]).hexdigest():
        raise InputError(
            [
                f"{path}: answers another pack: other sides, held-out texts, options or another version; give those "
                "that the pack was made with"
            ]
        )
    bits, shape = answer.get("bits"), (plan["sides"], plan["seeds"], texts)
    given = bits if isinstance(bits, dict) else {}
    return {size: _bits(path, size, given.get(size), shape) for size in plan["sizes"]}


def _bits(path: Path, size: str, given: Any, shape: tuple[int, ...]) -> Floats:
    try:
        found = np.asarray(given, np.float64)
    except (ValueError, TypeError):
        found = np.empty(0)
    if found.shape != shape or not (np.isfinite(found).all() and (found > 0).all()):
        raise InputError(
            [f"{path}: {size}: wants bits of {' × '.join(map(str, shape))} sides, seeds and texts; run {SCRIPT} again"]
        )
    return found
