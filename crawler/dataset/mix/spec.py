"""The spec of a mixture says which sources there are and how many tokens of what are wanted: YAML, checked key by key.

Whatever is wrong in it is a sentence that names file, line and key, before anything is read.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler.config import yaml_file
from crawler.config.yaml_file import Value
from crawler.dataset.annotations.joined import fields_of
from crawler.dataset.diff import side_of
from crawler.dataset.records.fields import OF_RECORD, Field
from crawler.dataset.records.filters import Condition, read
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import SYNTHETIC, record_fields

OTHERS = "*"
"""Stands for every value that a target does not name."""
SOURCE = "source"
"""The field that is no field of a record: the name of the source."""
MAX_BYTES = 2**20
"""Of a spec."""
SUM_SLACK = 1e-6
"""Shares that differ from 1 in sum by less than this are rounded decimals."""
SYNTHETIC_SHARE = 0.1
"""Most share of the budget of texts that language models wrote, where a spec does not say it."""
TOLERANCE = 0.01
"""Part of a target by which the mixture may miss it, because documents are whole."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source. corpus: CORPUS_DIR, or `DIR@N`; else files of others. epochs: how often its tokens may be used.

    fields: our field -> the field of theirs. constants: fields that every document of the source has. where: holds for
    the documents that are used. is_named: by a mixture; else the name is the path that somebody gave.
    """

    name: str
    corpus: str | None
    files: tuple[str, ...]
    fields: Mapping[str, str]
    constants: Mapping[str, Any]
    epochs: float
    where: Condition | None = None
    is_named: bool = True

    def at(self, key: str) -> str:
        """Begins what is said of one of its keys, in the words of a mixture; nothing where none names it."""
        return f"sources.{self.name}.{key}: " if self.is_named else ""


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
    """What `load` found to be right. sha256: of the file; budget: tokens; synthetic: most share that models wrote."""

    path: Path
    sha256: str
    budget: float
    seed: int
    tolerance: float
    sources: tuple[Source, ...]
    targets: tuple[Target, ...]
    cap: Cap | None
    tokenizer: Tokenizer | None
    synthetic: float = SYNTHETIC_SHARE


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
    """Read and check a spec. Raises: InputError that lists every problem."""
    what = "a readable spec (docs/mixtures.md)"
    return yaml_file.read(path, lambda root: _spec(root, path), most=MAX_BYTES, what=what)


_TOP = ("tokens", "seed", "tolerance", "epochs", "tokenizer", "sources", "targets", "cap", "synthetic")


def _spec(root: Value, path: Path) -> Spec | None:
    top = root.mapping(_TOP)
    if root.count:
        return None
    epochs = top["epochs"].number(above=0) if "epochs" in top else 1.0
    sources = _sources(top["sources"], epochs, path.parent) if "sources" in top else ()
    if not sources:
        root.problem("expected at least one source: a name with corpus or files", "sources")
    listed = top["targets"].sequence("expected a list") if "targets" in top else []
    targets = tuple(_target(each.under(f"targets[{n}]")) for n, each in enumerate(listed))
    if len({target.by for target in targets}) < len(targets):
        top["targets"].problem("name a field twice; write one target for each field")
    budget = _budget(root, top, targets)
    for n, (target, listed_at) in enumerate(zip(targets, listed, strict=True)):
        each = listed_at.under(f"targets[{n}]")
        _check_total(target, each, budget)
        names = sorted(source.name for source in sources)
        if target.by == SOURCE and (strange := sorted(target.named - set(names))):
            each.problem(f"there is no source {strange[0]!r}; known: {', '.join(names)}")
    return Spec(
        path,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        budget,
        top["seed"].text(_whole) or 0 if "seed" in top else 0,
        top["tolerance"].number(above=0, most=1) if "tolerance" in top else TOLERANCE,
        sources,
        targets,
        _cap(top["cap"], budget) if "cap" in top else None,
        _tokenizer(top["tokenizer"], path.parent) if "tokenizer" in top else None,
        top["synthetic"].number(least=0, most=1) if "synthetic" in top else SYNTHETIC_SHARE,
    )


# --- sources ---------------------------------------------------------------------------------------------------------
def _sources(value: Value, epochs: float, folder: Path) -> tuple[Source, ...]:
    named = value.items("expected names with corpus or files")
    return tuple(_source(name, each, epochs, folder) for name, each in named)


def _source(name: str, value: Value, epochs: float, folder: Path) -> Source:
    given = value.mapping(("corpus", "files", "fields", "set", "epochs", "where"))
    files = tuple(filter(None, (each.text(str) for each in given["files"].one_or_more()))) if "files" in given else ()
    corpus = given["corpus"].text(str) if "corpus" in given else None
    if value.is_mapping and (corpus is None) == (not files):
        value.problem("expected one of corpus (a CORPUS_DIR, or DIR@N) and files (paths, globs or folders)")
    fields = {ours: theirs.text(str) or "" for ours, theirs in _by_field(given.get("fields"))}
    if corpus is not None and fields:
        given["fields"].problem("goes with files: a corpus has the fields of docs/record.md; leave it out")
    constants = {ours: constant.plain() for ours, constant in _by_field(given.get("set"))}
    own = given["epochs"].number(above=0) if "epochs" in given else epochs
    place = corpus if corpus is None or "://" in corpus else str(folder / corpus)
    where = given["where"].text(lambda text: read(text, _fields(place))) if "where" in given else None
    return Source(name, place, tuple(str(folder / each) for each in files), fields, constants, own, where)


def _fields(corpus: str | None) -> dict[str, Field]:
    """What `where` may name: fields of the record, and annotations of a corpus that is there."""
    try:
        return OF_RECORD | fields_of(side_of(corpus).place) if corpus else OF_RECORD
    except StorageError:  # told when the source is opened
        return OF_RECORD


def _by_field(value: Value | None) -> Iterator[tuple[str, Value]]:
    for name, each in value.items("expected a field of the record for each line") if value else ():
        if name in record_fields():
            yield name, each
        else:
            each.key_problem("is not a field of the record; docs/record.md lists them")


# --- targets ---------------------------------------------------------------------------------------------------------
def _target(value: Value) -> Target:
    given = value.mapping(("by", "shares", "tokens", "temperature", "bands", "epochs"))
    by = _field(given["by"], SOURCE, SYNTHETIC) if "by" in given else ""
    if not by and value.is_mapping:
        value.problem(f"expected {SOURCE!r} or a field of the record (docs/record.md)", "by")
    ways = [name for name in ("shares", "tokens", "temperature") if name in given]
    if len(ways) > 1:
        value.problem(f"has {' and '.join(ways)}; a target has one of them")
    if not ways and "epochs" not in given:
        value.problem("expected shares, tokens or temperature (or epochs alone)")
    found = Target(
        by,
        _numbers(given.get("shares"), most=1),
        _numbers(given.get("tokens")),
        given["temperature"].number(above=0) if "temperature" in given else None,
        _bands(given["bands"]) if "bands" in given else (),
        _numbers(given.get("epochs")),
    )
    if found.bands and (strange := sorted(found.named - set(band_names(found.bands)))):
        value.problem(f"there is no band {strange[0]!r}; known: {', '.join(band_names(found.bands))}")
    if zero := [name for name, count in found.epochs.items() if not count or name == OTHERS]:
        given["epochs"].problem("expected a named value with a number above 0", zero[0])
    total = sum(found.shares.values())
    if "shares" in given and abs(total - 1) > SUM_SLACK:
        given["shares"].problem(f"sum to {total:g}, not to 1; {OTHERS!r} names the share of all other values")
    return found


def _field(value: Value, *others: str) -> str:
    """The name of a field other than text; empty where it is none."""
    name = value.text(str)
    return name if name in (*record_fields(), *others) and name is not None and name != "text" else ""


def _bands(value: Value) -> tuple[float, ...]:
    edges = tuple(each.number() for each in value.sequence("expected a list of numbers, the edges between bands"))
    if list(edges) != sorted(set(edges)):
        value.problem("expected edges in ascending order, each once")
    return edges


def _numbers(value: Value | None, most: float = math.inf) -> dict[str, float]:
    named = value.items("expected a number for each value") if value else ()
    return {_named(name): each.number(least=0, most=most) for name, each in named}


def _named(text: str) -> str:
    """A key as `label` writes the value that it names."""
    return text.lower() if text.lower() in ("true", "false") else text


# --- the whole -------------------------------------------------------------------------------------------------------
def _budget(root: Value, top: Mapping[str, Value], targets: tuple[Target, ...]) -> float:
    sums = [sum(target.tokens.values()) for target in targets]
    if "tokens" in top:
        return top["tokens"].number(above=0)
    if any(sums):
        return max(sums)
    root.problem("is missing: how many tokens the mixture has", "tokens")
    return 1.0


def _check_total(target: Target, value: Value, budget: float) -> None:
    total = sum(target.tokens.values())
    if total > budget * (1 + SUM_SLACK):
        more = f"sum to {total:,.0f}, more than the budget of {budget:,.0f}; raise tokens or lower them"
        value.problem(more, "tokens")
    if OTHERS in target.tokens and total < budget * (1 - SUM_SLACK):
        value.problem(
            f"sum to {total:,.0f} with {OTHERS!r}, less than the budget of {budget:,.0f}; leave {OTHERS!r} out: "
            "it is the rest",
            "tokens",
        )


def _cap(value: Value, budget: float) -> Cap:
    given = value.mapping(("by", "share", "tokens"))
    by = _field(given["by"]) if "by" in given else "domain"
    if not by:
        given["by"].problem("expected a field of the record (docs/record.md)")
    if value.is_mapping and ("share" in given) == ("tokens" in given):
        value.problem("expected one of share (of the budget) and tokens")
    if "share" in given:
        return Cap(by, budget * given["share"].number(above=0, most=1))
    return Cap(by, given["tokens"].number(above=0) if "tokens" in given else budget)


def _tokenizer(value: Value, folder: Path) -> Tokenizer:
    if not value.is_mapping:
        return Tokenizer("tokenizers", folder / (value.text(str) or ""))
    given = value.mapping(("tiktoken", "pattern"))
    texts = {name: each.text(str) or "" for name, each in given.items()}
    if not all(texts.get(name) for name in ("tiktoken", "pattern")):
        value.problem("expected the path of a tokenizer.json, or tiktoken (a file of ranks) and pattern")
    return Tokenizer("tiktoken", folder / texts.get("tiktoken", ""), texts.get("pattern", ""))


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("expected a whole number") from None
