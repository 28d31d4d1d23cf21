"""The spec of a mixture says which sources there are and how many tokens of what are wanted: YAML, checked key by key.

Whatever is wrong in it is a sentence that names the file and the key, before anything is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml

from crawler.config.yaml_file import load_yaml
from crawler.dataset.records.fields import OF_RECORD
from crawler.dataset.records.filters import Condition, FilterError, read
from crawler.document import RECORD_FIELDS
from crawler.storage.files.errors import StorageError

OTHERS = "*"
"""Stands for every value that a target does not name."""
SOURCE = "source"
"""The field that is no field of a record: the name of the source."""
MAX_BYTES = 2**20
"""Of a spec."""
SUM_SLACK = 1e-6
"""Shares that differ from 1 in sum by less than this are rounded decimals."""
TOLERANCE = 0.01
"""Part of a target by which the mixture may miss it, because documents are whole."""


class SpecError(StorageError):
    """The spec cannot be used; the text names file and key, and says what to write."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source. corpus: CORPUS_DIR, or `DIR@N`; else files of others. epochs: how often its tokens may be used.

    fields: our field -> the field of theirs. constants: fields that every document of the source has. where: holds for
    the documents that are used.
    """

    name: str
    corpus: str | None
    files: tuple[str, ...]
    fields: Mapping[str, str]
    constants: Mapping[str, Any]
    epochs: float
    where: Condition | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Tokens by the values of one field: shares of the budget, tokens, or a temperature.

    bands: edges that make values of a number. epochs: of single values, in place of what their sources say.
    """

    by: str
    shares: Mapping[str, float] = field(default_factory=dict)
    tokens: Mapping[str, float] = field(default_factory=dict)
    temperature: float | None = None
    bands: tuple[float, ...] = ()
    epochs: Mapping[str, float] = field(default_factory=dict)

    @property
    def named(self) -> frozenset[str]:
        """Values that the target tells apart; none = all that there are."""
        if self.temperature is not None:
            return frozenset()
        return frozenset({*self.shares, *self.tokens, *self.epochs}) - {OTHERS}

    def label(self, value: Any) -> str:
        """The value that a document's field counts as. Raises: TypeError for a list or an object."""
        if self.bands:
            return band(self.bands, value)
        text = label(value)
        return text if self.temperature is not None or text in self.named else OTHERS


@dataclass(frozen=True, slots=True)
class Cap:
    """The most tokens of one value of a field, such as one domain, in the whole mixture."""

    by: str
    tokens: float


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """What counts tokens. kind: "tokenizers" (a JSON file) or "tiktoken" (ranks, with the pattern that splits)."""

    kind: str
    path: Path
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Spec:
    """What `load` found to be right. sha256: of the file; budget: tokens."""

    path: Path
    sha256: str
    budget: float
    seed: int
    tolerance: float
    sources: tuple[Source, ...]
    targets: tuple[Target, ...]
    cap: Cap | None
    tokenizer: Tokenizer | None


def label(value: Any) -> str:
    """A value as targets name it: its text, numbers and truth values as JSON has them, "none" where there is none.

    Raises: TypeError for a list or an object.
    """
    if isinstance(value, list | dict):
        raise TypeError("is a list or an object")
    if value is None or value == "":
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def band(edges: tuple[float, ...], value: Any) -> str:
    """The band of a number: "<0.5", "0.5-0.8", ">=0.8"; "none" where there is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "none"
    below = [edge for edge in edges if edge <= value]
    if not below:
        return f"<{edges[0]:g}"
    if len(below) == len(edges):
        return f">={edges[-1]:g}"
    return f"{below[-1]:g}-{edges[len(below)]:g}"


def band_names(edges: tuple[float, ...]) -> list[str]:
    """Every value that `band` answers."""
    return [band(edges, value) for value in (edges[0] - 1, *edges)] + ["none"]


def load(path: Path) -> Spec:
    """Read and check a spec. Raises: SpecError."""
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise SpecError(f"{path}: larger than {MAX_BYTES:,} bytes; a spec is a page of YAML")
        found = load_yaml(content)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SpecError(f"{path}: cannot be read ({why}); give the path of a spec (docs/mixtures.md)") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SpecError(f"{path}: is not YAML ({error}); see docs/mixtures.md for an example") from error
    return _Reader(path).spec(found, hashlib.sha256(content).hexdigest())


class _Reader:
    """Takes the spec apart; `_fail` says where."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def spec(self, raw: Any, sha256: str) -> Spec:
        known = ("tokens", "seed", "tolerance", "epochs", "tokenizer", "sources", "targets", "cap")
        top = self._mapping(raw, "", known)
        epochs = self._number(top.get("epochs", 1), "epochs")
        sources = self._sources(top.get("sources"), epochs)
        targets = tuple(self._target(each, f"targets[{n}]") for n, each in enumerate(self._list(top, "targets")))
        if len({target.by for target in targets}) < len(targets):
            self._fail("targets", "name a field twice; write one target for each field")
        budget = self._budget(top, targets)
        seed = top.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            self._fail("seed", f"expected a whole number, not {seed!r}")
        for n, target in enumerate(targets):
            self._check_sources(target, f"targets[{n}]", {source.name for source in sources})
        return Spec(
            self._path,
            sha256,
            budget,
            seed,
            self._number(top.get("tolerance", TOLERANCE), "tolerance", most=1),
            sources,
            targets,
            self._cap(top.get("cap"), budget),
            self._tokenizer(top.get("tokenizer")),
        )

    # --- parts -------------------------------------------------------------------------------------------------------
    def _sources(self, raw: Any, epochs: float) -> tuple[Source, ...]:
        if not isinstance(raw, dict) or not raw:
            self._fail("sources", "expected at least one source: a name with corpus or files")
        return tuple(self._source(label(name), each, f"sources.{name}", epochs) for name, each in raw.items())

    def _source(self, name: str, raw: Any, key: str, epochs: float) -> Source:
        given = self._mapping(raw, key, ("corpus", "files", "fields", "set", "epochs", "where"))
        corpus, files = given.get("corpus"), given.get("files", ())
        files = (files,) if isinstance(files, str) else files
        if (corpus is None) == (not files):
            self._fail(key, "expected one of corpus (a CORPUS_DIR, or DIR@N) and files (paths, globs or folders)")
        if corpus is not None and not isinstance(corpus, str):
            self._fail(f"{key}.corpus", f"expected a path or URL, not {corpus!r}")
        if not isinstance(files, list | tuple) or not all(isinstance(each, str) for each in files):
            self._fail(f"{key}.files", "expected a path or a list of paths")
        fields, constants = given.get("fields", {}), given.get("set", {})
        for part, mapping in (("fields", fields), ("set", constants)):
            if not isinstance(mapping, dict):
                self._fail(f"{key}.{part}", f"expected a field of the record for each line, not {mapping!r}")
            self._check_fields(mapping, f"{key}.{part}")
        if corpus is not None and fields:
            self._fail(f"{key}.fields", "goes with files: a corpus has the fields of docs/record.md; leave it out")
        if bad := [name for name, theirs in fields.items() if not isinstance(theirs, str)]:
            self._fail(f"{key}.fields.{bad[0]}", "expected the name of their field")
        own = self._number(given.get("epochs", epochs), f"{key}.epochs")
        where = self._where(given["where"], f"{key}.where") if "where" in given else None
        return Source(name, self._place(corpus), tuple(map(self._under, files)), fields, constants, own, where)

    def _where(self, raw: Any, key: str) -> Condition:
        try:
            return read(str(raw), OF_RECORD)
        except FilterError as error:
            self._fail(key, str(error))

    def _target(self, raw: Any, key: str) -> Target:
        given = self._mapping(raw, key, ("by", "shares", "tokens", "temperature", "bands", "epochs"))
        by = given.get("by")
        if by not in (*RECORD_FIELDS, SOURCE) or by == "text":
            self._fail(f"{key}.by", f"expected {SOURCE!r} or a field of the record (docs/record.md), not {by!r}")
        ways = [name for name in ("shares", "tokens", "temperature") if name in given]
        if len(ways) > 1:
            self._fail(key, f"has {' and '.join(ways)}; a target has one of them")
        if not ways and "epochs" not in given:
            self._fail(key, "expected shares, tokens or temperature (or epochs alone)")
        bands = self._bands(given.get("bands", ()), f"{key}.bands")
        found = Target(
            str(by),
            self._numbers(given.get("shares", {}), f"{key}.shares", most=1),
            self._numbers(given.get("tokens", {}), f"{key}.tokens"),
            self._number(given["temperature"], f"{key}.temperature") if "temperature" in given else None,
            bands,
            self._numbers(given.get("epochs", {}), f"{key}.epochs"),
        )
        if bands and (strange := sorted(found.named - set(band_names(bands)))):
            self._fail(key, f"no band is called {strange[0]!r}; these are: {', '.join(band_names(bands))}")
        if zero := [name for name, count in found.epochs.items() if not count or name == OTHERS]:
            self._fail(f"{key}.epochs.{zero[0]}", "expected a named value with a number above 0")
        total = sum(found.shares.values())
        if "shares" in given and abs(total - 1) > SUM_SLACK:
            self._fail(f"{key}.shares", f"sum to {total:g}, not to 1; {OTHERS!r} names the share of all other values")
        return found

    def _cap(self, raw: Any, budget: float) -> Cap | None:
        if raw is None:
            return None
        given = self._mapping(raw, "cap", ("by", "share", "tokens"))
        by = given.get("by", "domain")
        if by not in RECORD_FIELDS or by == "text":
            self._fail("cap.by", f"expected a field of the record (docs/record.md), not {by!r}")
        if ("share" in given) == ("tokens" in given):
            self._fail("cap", "expected one of share (of the budget) and tokens")
        if "share" in given:
            return Cap(by, budget * self._number(given["share"], "cap.share", most=1))
        return Cap(by, self._number(given["tokens"], "cap.tokens"))

    def _tokenizer(self, raw: Any) -> Tokenizer | None:
        if raw is None:
            return None
        if isinstance(raw, str):
            return Tokenizer("tokenizers", Path(self._under(raw)))
        given = self._mapping(raw, "tokenizer", ("tiktoken", "pattern"))
        if not all(isinstance(given.get(name), str) for name in ("tiktoken", "pattern")):
            self._fail("tokenizer", "expected the path of a tokenizer.json, or tiktoken (a file of ranks) and pattern")
        return Tokenizer("tiktoken", Path(self._under(given["tiktoken"])), given["pattern"])

    def _budget(self, top: Mapping[str, Any], targets: tuple[Target, ...]) -> float:
        sums = {t.by: sum(t.tokens.values()) for t in targets if t.tokens}
        if "tokens" in top:
            budget = self._number(top["tokens"], "tokens")
        elif closed := [total for total in sums.values() if total]:
            budget = max(closed)
        else:
            self._fail("tokens", "is missing: how many tokens the mixture has")
        for n, target in enumerate(targets):
            self._check_total(target, f"targets[{n}].tokens", budget)
        return budget

    # --- checks ------------------------------------------------------------------------------------------------------
    def _check_total(self, target: Target, key: str, budget: float) -> None:
        if not target.tokens:
            return
        total = sum(target.tokens.values())
        if total > budget * (1 + SUM_SLACK):
            self._fail(key, f"sum to {total:,.0f}, more than the budget of {budget:,.0f}; raise tokens or lower them")
        if OTHERS in target.tokens and total < budget * (1 - SUM_SLACK):
            self._fail(
                key,
                f"sum to {total:,.0f} with {OTHERS!r}, less than the budget of {budget:,.0f}; leave {OTHERS!r} out: "
                "it is the rest",
            )

    def _check_sources(self, target: Target, key: str, names: set[str]) -> None:
        if target.by == SOURCE and (strange := sorted(target.named - names)):
            self._fail(key, f"no source is called {strange[0]!r}; these are: {', '.join(sorted(names))}")

    def _check_fields(self, given: Mapping[Any, Any], key: str) -> None:
        if strange := [name for name in given if name not in RECORD_FIELDS]:
            self._fail(f"{key}.{strange[0]}", "is no field of the record; docs/record.md lists them")

    def _bands(self, raw: Any, key: str) -> tuple[float, ...]:
        if not isinstance(raw, list | tuple) or any(isinstance(e, bool) or not isinstance(e, int | float) for e in raw):
            self._fail(key, f"expected a list of numbers, the edges between bands, not {raw!r}")
        if list(raw) != sorted(set(raw)):
            self._fail(key, "expected edges in ascending order, each once")
        return tuple(map(float, raw))

    def _numbers(self, raw: Any, key: str, most: float | None = None) -> dict[str, float]:
        if not isinstance(raw, dict):
            self._fail(key, f"expected a number for each value, not {raw!r}")
        return {label(name): self._number(number, f"{key}.{name}", most, zero=True) for name, number in raw.items()}

    def _number(self, raw: Any, key: str, most: float | None = None, *, zero: bool = False) -> float:
        good = not isinstance(raw, bool) and isinstance(raw, int | float) and raw < float("inf")
        if not good or raw < 0 or (raw == 0 and not zero) or (most is not None and raw > most):
            upper = f" and at most {most:g}" if most is not None else ""
            self._fail(key, f"expected a number {'from' if zero else 'above'} 0{upper}, not {raw!r}")
        return float(raw)

    def _mapping(self, raw: Any, key: str, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(raw, dict):
            self._fail(key, f"expected {', '.join(known)}, not {raw!r:.80}")
        if strange := [name for name in raw if name not in known]:
            self._fail(f"{key}.{strange[0]}".lstrip("."), f"is no key here; these are: {', '.join(known)}")
        return raw

    def _list(self, top: Mapping[str, Any], key: str) -> list[Any]:
        found = top.get(key, [])
        if not isinstance(found, list):
            self._fail(key, f"expected a list, not {found!r:.80}")
        return found

    def _under(self, path: str) -> str:
        """Paths are those of the spec's folder."""
        return str(self._path.parent / path)

    def _place(self, corpus: str | None) -> str | None:
        return corpus if corpus is None or "://" in corpus else self._under(corpus)

    def _fail(self, key: str, what: str) -> NoReturn:
        raise SpecError(f"{self._path}: {key + ': ' if key else ''}{what}")
