"""Where the code reads a setting or an option: found in the syntax trees of `crawler/`, without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.places import PROJECT

CRAWLER = PROJECT / "crawler"


class Option(NamedTuple):
    """An argument that a command declares: the module that does, and the name under which it is read."""

    module: Path
    dest: str


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def settings_read(sections: Mapping[str, type], source: ast.Module) -> set[tuple[str, str]]:
    """(section, attribute) of every read, where an expression is known to stand for a section of the configuration.

    Known are `<anything>.<section>`, what that is assigned to, and what is annotated with the section's class.
    """
    classes = {cls.__name__: name for name, cls in sections.items()}
    known: dict[str, str] = {}

    def section_of(node: ast.expr) -> str | None:
        if isinstance(node, ast.BoolOp):  # `config or ExtractionConfig()`
            return next(filter(None, map(section_of, node.values)), None)
        if isinstance(node, ast.Call):
            return classes.get(ast.unparse(node.func))
        if isinstance(node, ast.Attribute) and node.attr in sections:
            return node.attr
        return known.get(ast.unparse(node))

    for _ in range(3):  # a name of a name of a name
        for target, value, annotation in _bindings(source):
            named = next((classes[name] for name in _names(annotation) if name in classes), None)
            if found := named or (section_of(value) if value is not None else None):
                known[ast.unparse(target) if isinstance(target, ast.expr) else target] = found
    reads = (node for node in ast.walk(source) if isinstance(node, ast.Attribute))
    return {(section, node.attr) for node in reads if (section := section_of(node.value))}


def _of_commands() -> list[Path]:
    return [path for room in ("commands", "operations") for path in (CRAWLER / room).rglob("*.py")]


def options_declared() -> Iterator[Option]:
    """Every argument of every command and of the Spark job."""
    for path in [*_of_commands(), CRAWLER / "spark" / "job.py"]:
        for call in ast.walk(tree_of(path)):
            if (
                isinstance(call, ast.Call)
                and getattr(call.func, "attr", "") == "add_argument"
                and (dest := _dest(call))
            ):
                yield Option(path, dest)


def is_read(option: Option) -> bool:
    """True where the declaring module, or one that it has to do with by an import, reads the option by its name."""
    return any(option.dest in _options_read(path) for path in (option.module, *_related(option.module)))


def _bindings(source: ast.Module) -> Iterator[tuple[ast.expr | str, ast.expr | None, ast.expr | None]]:
    for node in ast.walk(source):
        if isinstance(node, ast.arg):
            yield node.arg, None, node.annotation
        elif isinstance(node, ast.AnnAssign):
            yield node.target, node.value, node.annotation
        elif isinstance(node, ast.NamedExpr):
            yield node.target, node.value, None
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from ((a, b, None) for a, b in zip(target.elts, node.value.elts, strict=False))
                else:
                    yield target, node.value, None


def _names(annotation: ast.expr | None) -> list[str]:
    return [] if annotation is None else [n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)]


def _dest(call: ast.Call) -> str | None:
    words = [str(a.value) for a in call.args if isinstance(a, ast.Constant)]
    named = next((k.value.value for k in call.keywords if k.arg == "dest" and isinstance(k.value, ast.Constant)), None)
    long = next((word for word in words if word.startswith("--")), words[0] if words else "")
    return str(named) if named else long.lstrip("-").replace("-", "_") or None


@cache
def _options_read(path: Path) -> frozenset[str]:
    """Attributes that are read, and names in strings (`vars(opts)["reason"]`), but for the declarations themselves."""
    found: set[str] = set()
    nodes: list[ast.AST] = [tree_of(path)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        nodes += ast.iter_child_nodes(node)
    return frozenset(found)


def _related(path: Path) -> list[Path]:
    """Modules of the commands that the module imports, and those that import it."""
    others = [other for other in _of_commands() if other != path]
    return [other for other in others if _imports(path, other) or _imports(other, path)]


def _imports(one: Path, other: Path) -> bool:
    name = ".".join(other.relative_to(PROJECT).with_suffix("").parts)
    return any(isinstance(node, ast.ImportFrom) and node.module == name for node in ast.walk(tree_of(one)))
