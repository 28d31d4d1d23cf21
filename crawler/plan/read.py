"""`crawl.yaml` becomes a plan; every complaint names file, line and column. Format: docs/plan.md."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from crawler.config import declared
from crawler.config.crawl import has_password
from crawler.config.declare import load_section
from crawler.config.frontier import FrontierConfig
from crawler.config.yaml_file import Value, parse
from crawler.plan.model import IN_ALL, LIMITED, RUN, RUN_PLACE, SEED, Crawl, Limits, Plan, Step
from crawler.problems import InputError, did_you_mean
from crawler.seeds.arguments import ARGUMENTS, BEGINNINGS

MAX_FILE_BYTES = 2**20
_SOURCES = tuple(name for name in ARGUMENTS if name != "url")
_CRAWL = ("name", "corpus", *_SOURCES, "workers", "settings", "limits", "gates", "recrawl")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_ELSEWHERE = {
    "CORPUS_DIR": "corpus",
    "RECRAWL": "recrawl",
    "FRONTIER_BUDGET": "limits",
    "FRONTIER_MAX_PAGES": "limits.in_all.fetched",
    "FRONTIER_MAX_PAGES_PER_DOMAIN": "limits.seed.fetched",
}
"""Settings that have a key of their own in a plan."""
_SHELL = re.compile(r"[;&|]+|[0-9&]?(?:>>?|<).*|[^'\":]*;")
"""Words, not in quotes, that a shell would read as its own."""
_PLACES = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")
MOST_WORKERS = 1024
_PARTS = ("hours", "money")
"""Figures that need no whole number."""


def read(path: Path, known: Collection[str], name: str = "") -> Plan:
    """Read a plan. known: names of settings that may be set. name: where the plan gives none; empty = of the file.

    Raises: InputError listing every problem with file, line and column.
    """
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_FILE_BYTES else b""
    except OSError as error:
        raise InputError([f"{path}: expected a plan (docs/plan.md): {error.strerror}"]) from None
    if not data:
        raise InputError([f"{path}: expected a plan of 1 to {MAX_FILE_BYTES:,} bytes (docs/plan.md)"])
    written = hashlib.sha256(data).hexdigest()
    return parse(data, lambda root: _plan(root, path, written, known, name or path.stem), str(path))


def _plan(root: Value, path: Path, written: str, known: Collection[str], usual: str) -> Plan | None:
    keys = [key.value for key, _ in root.node.value] if root.is_mapping else []
    many = "crawls" in keys
    given = root.mapping(("name", "settings", "crawls", "steps") if many else (*_CRAWL, "steps"),
                         "expected a plan with the keys name, corpus and seeds (docs/plan.md)")  # fmt: skip
    name = given["name"].text(_name) if "name" in given else usual
    shared = _settings(given["settings"], known) if many and "settings" in given else {}
    if many:
        listed = given["crawls"].sequence("expected a list of crawls, each with name, corpus and seeds")
        found = [_crawl(one.under(f"crawls[{at}]"), known, shared) for at, one in enumerate(listed)]
        if not listed and given["crawls"].is_list:
            given["crawls"].problem("expected at least one crawl")
    else:
        found = [_crawl(root, known, {}, name or "", given)] if root.is_mapping else []
    crawls = tuple(crawl for crawl in found if crawl is not None)
    _refuse_twice(root, crawls)
    steps = tuple(_steps(given["steps"], {crawl.name for crawl in crawls})) if "steps" in given else ()
    if root.count or name is None:
        return None
    return Plan(name, path.absolute(), crawls, steps, written)


def _crawl(
    value: Value,
    known: Collection[str],
    shared: Mapping[str, str],
    name: str = "",
    given: Mapping[str, Value] | None = None,
) -> Crawl | None:
    before = value.count
    if given is None:
        given = value.mapping((*_CRAWL, "steps"), f"expected a crawl with the keys {', '.join(_CRAWL)}")
        if "steps" in given:
            given.pop("steps").key_problem("steps belong beside crawls, once: they run after all of them")
    if not value.is_mapping:
        return None
    if not name and "name" not in given:
        value.problem("expected a name, as files and tasks are called by it", below="name")
    name = name or (given["name"].text(_name) if "name" in given else "") or ""
    if "corpus" not in given:
        value.problem("expected the folder or URL of the corpus", below="corpus")
    corpus = (given["corpus"].text(_word) if "corpus" in given else "") or ""
    arguments = {("url" if source == "seeds" and one.is_list else source): _joined(one)
                 for source, one in given.items() if source in _SOURCES}  # fmt: skip
    if not set(BEGINNINGS) & set(given):
        value.problem("expected seeds, sitemap, allowlist, api or oai: where the crawl begins", below="seeds")
    if "below" in given:
        arguments["below"] = "yes" if given["below"].text(_flag) else ""
    settings = dict(shared) | (_settings(given["settings"], known) if "settings" in given else {})
    limits = _limits(given["limits"]) if "limits" in given else {}
    settings |= {"CORPUS_DIR": corpus} | _as_settings(limits)
    if "recrawl" in given and given["recrawl"].text(_flag):
        settings["RECRAWL"] = "True"
    workers = int(given["workers"].number(least=1, most=MOST_WORKERS)) if "workers" in given else 1
    gates = given["gates"].text(_word) if "gates" in given else ""
    if value.count > before:
        return None
    arguments = {key: text for key, text in arguments.items() if text}
    return Crawl(name, corpus, arguments, workers, settings, limits, gates or "", _at(value))


def _settings(value: Value, known: Collection[str]) -> dict[str, str]:
    """Texts as they would stand after `-s NAME=`; each is looked at alone, where it stands."""
    found: dict[str, str] = {}
    for name, one in value.items("expected settings by name, such as DOWNLOAD_DELAY: 0.5"):
        if name not in known:
            one.key_problem(f"unknown setting{did_you_mean(name, known)}: docs/settings.md lists them")
        elif name in _ELSEWHERE:
            one.key_problem(f"give the key {_ELSEWHERE[name]} of the crawl instead")
        else:
            text = _joined(one)
            if has_password(text):
                one.problem(f"a password may not be part of a plan: set CRAWLER_{name} in the environment")
                continue
            found[name] = text
            for problem in _problems_of(name, text):
                one.problem(problem)
    return found


def _problems_of(name: str, text: str) -> list[str]:
    from crawler.config.config import sections  # the registry of declared settings, as `load` reads it

    if name not in declared():
        return []
    section = next(s for s in sections() if any(f.metadata["name"] == name for f in s.__dataclass_fields__.values()))
    problems: list[str] = []
    load_section(section, {name: text}.get, problems)
    return [problem.removeprefix(f"{name}={text!r}: ") for problem in problems]


def _limits(value: Value) -> Limits:
    found: dict[str, dict[str, float]] = {}
    for reach, bounds in value.mapping(tuple(LIMITED)).items():
        given = bounds.mapping(LIMITED[reach])
        found[reach] = {
            figure: one.number(above=0) if figure in _PARTS else one.number(least=1) for figure, one in given.items()
        }
        for figure, one in given.items():
            if figure not in _PARTS and found[reach][figure] != int(found[reach][figure]):
                one.problem("expected a whole number")
    return found


def _as_settings(limits: Limits) -> dict[str, str]:
    """The settings by which the workers keep the limits."""
    settings = {}
    if "fetched" in limits.get(SEED, {}):
        settings["FRONTIER_MAX_PAGES_PER_DOMAIN"] = f"{limits[SEED]['fetched']:.0f}"
    if "fetched" in limits.get(IN_ALL, {}):
        settings["FRONTIER_MAX_PAGES"] = f"{limits[IN_ALL]['fetched']:.0f}"
    budget = [f"{name}:{bound:.17g}" for name, bound in limits.get(IN_ALL, {}).items() if name != "fetched"]
    budget += [f"{SEED}.{name}:{bound:.17g}" for name, bound in limits.get(SEED, {}).items() if name != "fetched"]
    if of_run := [f"run.{name}:{bound:.17g}" for name, bound in limits.get(RUN, {}).items()]:
        budget += [*of_run, f"run.name:{RUN_PLACE}"]
    return settings | ({"FRONTIER_BUDGET": ",".join(budget)} if budget else {})


def _steps(value: Value, taken: set[str]) -> Iterator[Step]:
    names = {*taken, *(f"{name}.gates" for name in taken)}
    for at, one in enumerate(value.sequence("expected a list of commands, such as - dataset verify corpus")):
        item = one.under(f"steps[{at}]")
        given = item.mapping(("name", "run"), "expected run, and a name") if item.is_mapping else {"run": item}
        if "run" not in given:
            item.problem("expected the command without gristmill, such as dataset verify corpus", below="run")
            continue
        words = given["run"].text(_words)
        if words is None:
            continue
        name = (
            given["name"].text(_name)
            if "name" in given
            else _free("-".join(w for w in words[:2] if _NAME.fullmatch(w)), names)
        )
        if name in names:
            given["name"].problem(f"another task is called {name!r}, too: give another name")
        elif name is not None:
            names.add(name)
            yield Step(name, words, _at(one))


def _refuse_twice(root: Value, crawls: tuple[Crawl, ...]) -> None:
    for what in ("name", "corpus"):
        values = [crawl.name if what == "name" else _place(crawl.corpus) for crawl in crawls]
        for value in dict.fromkeys(v for v in values if values.count(v) > 1):
            root.problem(f"{values.count(value)} crawls have the {what} {value!r}: give each its own", below="crawls")


def _place(corpus: str) -> str:
    """One spelling of a folder or URL: a and ./a/ are the same."""
    return corpus.rstrip("/") if "://" in corpus else os.path.normpath(corpus)


def _free(name: str, taken: set[str]) -> str:
    name = name or "step"
    return next(n for n in (name, *(f"{name}-{k}" for k in range(2, len(taken) + 3))) if n not in taken)


def _joined(value: Value) -> str:
    """A scalar as it is written, or those of a list with commas."""
    texts = [one.text(_word) for one in value.one_or_more()]
    for one, text in zip(value.one_or_more(), texts, strict=True):
        if value.is_list and text is not None and "," in text:
            one.problem("an entry of a list has no comma")
    return ",".join(text for text in texts if text is not None)


def _word(text: str) -> str:
    if any(ord(c) < 32 for c in text):
        raise ValueError("expected one line of text")
    return text


def _words(text: str) -> tuple[str, ...]:
    try:
        words, written = tuple(shlex.split(text)), shlex.split(text, posix=False)
    except ValueError as error:
        raise ValueError(f"expected a command line ({error})") from None
    if sign := next((word for word in written if _SHELL.fullmatch(word)), None):
        raise ValueError(f"no shell reads a step, so {sign!r} would be a word of the command: write one command a step")
    if other := next((name for word in words for name in _PLACES.findall(word) if name != RUN_PLACE), None):
        raise ValueError(f"{other} has no meaning here: {RUN_PLACE} is the name of the run")
    if words[:1] in (("gristmill",), ("scrapy",)):
        words = words[1:]
    if not words:
        raise ValueError("expected a command, such as dataset verify corpus")
    return words


def _at(value: Value) -> str:
    return f"{value.line}:{value.node.start_mark.column + 1}"


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("expected a name of letters, digits, '.', '_' and '-', at most 64")
    return text


def _flag(text: str) -> bool:
    problems: list[str] = []
    found = load_section(FrontierConfig, {"RECRAWL": text}.get, problems)
    if problems:
        raise ValueError("expected true or false")
    return found.recrawl
