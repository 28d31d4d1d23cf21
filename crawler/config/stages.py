"""Which stages does a text pass? Each is one declared object: ours are named here, those of others by entry points.

Chain, item pipelines, settings, digest, reasons, start checks, what the fork server loads and the columns of a record
are all read from these declarations. A module that holds one is imported by every command: it imports what is large in
the function that builds the stage. A package of its own adds a stage by an entry point of group `gristmill.stages`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from crawler import plugins
from crawler.document import RECORD_FIELDS, Document, Drop, Reason, register
from crawler.problems import InputError

if TYPE_CHECKING:
    from crawler.config.config import Config

OURS = (
    "crawler.stages.parse:STAGE",
    "crawler.stages:OPTOUT",
    "crawler.stages.extraction:STAGE",
    "crawler.stages.language:STAGE",
    "crawler.stages.quality:STAGE",
    "crawler.stages.pii:STAGE",
    "crawler.stages.contamination:STAGE",
    "crawler.stages.classify:STAGE",
    "crawler.stages:FINGERPRINT",
)
"""Where this project's stages are declared, in flow order."""
KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "int64": (int,),
    "double": (float, int),
    "bool": (bool,),
    "list<string>": (list,),
}
"""What a declared column may hold, and the values that are such."""
_RESERVED = frozenset({*RECORD_FIELDS, "stage", "reason", "detail", "extra", "state", "profile", "id", "file", "line"})
"""Names of the record, of its verdict, and of the columns that tables of records have beside them."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")

Step = Callable[[Document], Document | Drop]
"""What a stage does: it fills in the document and answers it, or a `Drop` with the measurements left on the document."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the record that a stage fills in, in `Document.extra`; null where it left nothing.

    kind: of `KINDS`. meaning: one sentence, with the unit.
    """

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the chain: what it is called, where it stands, and all that others have to know of it.

    name: as records, counters and the entry point have it. build: what makes the step, once a process, of the section
    `settings`, or of the whole configuration where the stage has none: a class or function, or as "module:name" what the
    stage processes alone have to import. after: of another package's stage, the stage that it follows; ours stand in
    the order of `OURS`. number: among `ITEM_PIPELINES`; None: right behind the stage before it; 0: it has no pipeline,
    because pages pass it before or after all others. settings: a frozen dataclass of `setting(…)`. reasons: those of its
    verdicts. columns: what it adds to the record. modules: what the fork server loads for all processes; models:
    likewise, as the settings ask. problems: sentences that keep the crawl from starting.
    """

    name: str
    build: str | Callable[[Any], Step]
    after: str = ""
    number: int | None = None
    settings: type[Any] | None = None
    reasons: tuple[Reason, ...] = ()
    columns: tuple[Column, ...] = ()
    modules: tuple[str, ...] = ()
    models: Callable[[Config], Iterable[str]] = lambda _: ()
    problems: Callable[[Config], list[str]] = lambda _: []

    def step(self, config: Config) -> Step:
        """The stage as it runs; models are loaded here."""
        build = resolve_name(self.build) if isinstance(self.build, str) else self.build
        made: Step = build(config if self.settings is None else config.section(self.settings))
        return made

    def preload(self, config: Config) -> list[str]:
        """The modules that a fork server loads for all its processes, as many as `stage_workers` says."""
        own = [self.build.partition(":")[0]] if isinstance(self.build, str) else []
        return [*own, *self.modules, *self.models(config)]


def stages() -> dict[str, Stage]:
    """Every stage by name, in flow order; ours alone where there are `stage_problems`."""
    return _found()[0]


def stage_problems() -> list[str]:
    """Why stages of other packages cannot be used, a sentence each: nothing starts before that is put right."""
    return _found()[1]


def added_stages() -> tuple[str, ...]:
    """The names of the stages of other packages, in flow order."""
    return tuple(name for name, stage in stages().items() if stage.after)


def columns() -> dict[str, Column]:
    """The columns that stages add to the record, by name, in the order they are written."""
    return {column.name: column for stage in stages().values() for column in stage.columns}


def pipeline_numbers() -> dict[str, int]:
    """Where each stage stands among `ITEM_PIPELINES`; without those that have no pipeline."""
    numbers, last = {}, 0
    for name, stage in stages().items():
        last = numbers[name] = last + 1 if stage.number is None else stage.number
    return {name: number for name, number in numbers.items() if number}


@cache
def _found() -> tuple[dict[str, Stage], list[str]]:
    ours = {stage.name: stage for stage in map(resolve_name, OURS)}
    problems = [problem for stage in ours.values() for problem in register(stage.reasons)]
    assert not problems, problems
    try:
        added: dict[str, Stage] = plugins.added("stages", Stage, frozenset(ours))
    except InputError as error:
        return ours, error.problems
    taken = set(_RESERVED).union(column.name for stage in ours.values() for column in stage.columns)
    problems = [f"stage {name}: {it}" for name, stage in added.items() for it in _complaints(name, stage, taken)]
    placed = _placed(ours, added)
    problems += [
        f"stage {name}: after={stage.after!r} is not a stage with a pipeline; expected one of "
        f"{', '.join(one.name for one in ours.values() if one.number != 0)}"
        for name, stage in added.items()
        if name not in placed
    ]
    return (ours, problems) if problems else (placed, [])


def _complaints(name: str, stage: Stage, taken: set[str]) -> Iterable[str]:
    """What is wrong with a stage of another package; its columns are taken from then on."""
    if not _NAME.fullmatch(name):
        yield f"{name!r} is not a name of a stage: lower-case letters, digits and _"
    if stage.number is not None:
        yield "number= is for stages of gristmill: give the place with after="
    own = stage.settings
    if own is not None and not (is_dataclass(own) and all("name" in f.metadata for f in fields(own))):
        yield f"settings={own!r} is not a dataclass whose fields are each made by setting(…)"
    yield from register(stage.reasons)
    for column in stage.columns:
        if not _NAME.fullmatch(column.name) or column.kind not in KINDS:
            yield f"column {column.name!r} of kind {column.kind!r}: expected a name, and one of {', '.join(KINDS)}"
        if column.name in taken:
            yield f"the record has a column {column.name} already; give yours another name"
        taken.add(column.name)


def _placed(ours: Mapping[str, Stage], added: Mapping[str, Stage]) -> dict[str, Stage]:
    """All stages in flow order: one of another package right behind its `after`, several there by their names."""
    order = list(ours.values())
    followers: dict[str, list[Stage]] = {}
    for stage in added.values():
        followers.setdefault(stage.after, []).append(stage)
    for stage in order:  # grows on the way, so that a stage may follow one of another package
        if stage.number != 0:
            place = order.index(stage) + 1
            order[place:place] = followers.pop(stage.name, [])
    return {stage.name: stage for stage in order}
