"""Would a test notice if a line of a change were wrong?

`python -m bench.faults.mutation --base COMMIT [--until COMMIT] [--head COMMIT] [--lines 60] [--seed 1] [--only 3,17]`

Draws lines at random from those that the product's code gained between base and head (with `--until`: those alone that
have not changed since that commit), spoils each in a checkout of its own (a comparison turned round, a condition
negated, a number one larger, a call or a `raise` left out; never a text for people), and runs the tests that are
nearest to it first: those that name the module, those of its room, those of whole crawls (not with `--near`: whether
others notice a line that is left, try by hand). Prints one line for each, and the diff of each that no test noticed.
Exit code 1 where more than one in twenty survived.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.places import PROJECT

MOST_SURVIVORS = 0.05
"""Share of the drawn lines."""
SECONDS = 600
"""A run of tests that takes longer has noticed: the line keeps the program from ending."""
WIDER = ("tests/crawl", "tests/e2e")
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
Spot = ast.expr | ast.stmt
"""What can be spoiled."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One spoiled line. path: relative to the project; line: from 1; source: of the whole spoiled module."""

    path: str
    line: int
    what: str
    source: str


def main(arguments: Sequence[str]) -> int:
    """Run the campaign; answers the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", required=True)
    parser.add_argument("--head", default="HEAD")
    parser.add_argument("--until", default="", help="the last commit of the change; later lines are not drawn")
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="numbers of the drawn lines, by comma")
    parser.add_argument("--near", action="store_true", help="leave the tests of whole crawls out")
    options = parser.parse_args(arguments)
    wider = () if options.near else WIDER
    with tempfile.TemporaryDirectory(prefix="mut-") as folder:
        tree = Path(folder) / "t"
        _git("worktree", "add", "--detach", str(tree), options.head)
        (tree / ".venv").symlink_to(PROJECT / ".venv")  # where tests find what runs the job on Spark
        try:
            drawn = list(
                enumerate(draw(tree, options.base, options.lines, random.Random(options.seed), options.until), 1)
            )
            wanted = {int(number) for number in options.only.split(",") if number}
            drawn = [(number, mutant) for number, mutant in drawn if not wanted or number in wanted]
            survived = sum(not _is_noticed(tree, Path(folder), number, mutant, wider) for number, mutant in drawn)
        finally:
            _git("worktree", "remove", "--force", str(tree))
    print(f"{len(drawn)} lines, {survived} unnoticed")
    return 1 if survived > MOST_SURVIVORS * len(drawn) else 0


def draw(tree: Path, base: str, count: int, chance: random.Random, until: str = "") -> Iterator[Mutant]:
    """Mutants of so many different lines of `crawler/` that the checkout has, and `until` if given, and `base` not."""
    lines = [(path, line) for path, found in sorted(_gained(tree, base).items()) for line in found]
    chance.shuffle(lines)
    old: dict[str, set[int]] = {}
    for path, line in lines:
        if until and line not in (old[path] if path in old else old.setdefault(path, _unchanged(tree, until, path))):
            continue
        if count and (mutant := mutated((tree / path).read_text("utf-8"), path, line, chance)):
            count -= 1
            yield mutant


def _gained(tree: Path, base: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    path = ""
    for line in _git("diff", "-U0", "--no-renames", base, "--", "crawler/*.py", cwd=tree).splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif (hunk := _HUNK.match(line)) and path != "+++ /dev/null":
            begin = int(hunk[1])
            found.setdefault(path, []).extend(range(begin, begin + int(hunk[2] or 1)))
    return {path: lines for path, lines in found.items() if (tree / path).exists()}


def _unchanged(tree: Path, since: str, path: str) -> set[int]:
    """The lines that a file has had since a commit."""
    told = _git("blame", "-s", f"{since}..HEAD", "--", path, cwd=tree).splitlines()
    return {number for number, line in enumerate(told, 1) if line.startswith("^")}


def mutated(source: str, path: str, line: int, chance: random.Random) -> Mutant | None:
    """The module with one expression or statement of this line spoiled; None where nothing on it decides anything."""
    tree = ast.parse(source)
    texts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Expr | ast.JoinedStr) for part in _texts(node)}
    spots = [node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt) and id(node) not in texts]
    nodes = [node for node in spots if node.lineno == line]
    choices = [(node, *change) for node in nodes for change in _changes(node)]
    if not choices:
        return None
    node, what, new = chance.choice(choices)
    lines = source.encode().splitlines(keepends=True)
    begin = sum(len(before) for before in lines[: node.lineno - 1]) + node.col_offset
    end = sum(len(before) for before in lines[: (node.end_lineno or 0) - 1]) + (node.end_col_offset or 0)
    text = ast.unparse(new)
    text = f"({text})" if isinstance(new, ast.expr) else text
    spoiled = (source.encode()[:begin] + text.encode() + source.encode()[end:]).decode()
    try:
        ast.parse(spoiled)
    except SyntaxError:
        return None
    return Mutant(path, line, what, spoiled)


def _texts(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        yield from ast.walk(node)


def _changes(node: Spot) -> Iterator[tuple[str, Spot]]:
    """What may be done to a node: a name for it and the new node."""
    yield from _of_expression(copy.deepcopy(node)) if isinstance(node, ast.expr) else _of_statement(node)


def _of_expression(new: ast.expr) -> Iterator[tuple[str, Spot]]:
    match new:
        case ast.Compare(ops=[op]) if type(op) in TURNED:
            new.ops = [TURNED[type(op)]()]
            yield "comparison turned round", new
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and for or", new
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not left out", operand
        case ast.IfExp(body=body, orelse=orelse):
            new.body, new.orelse = orelse, body
            yield "branches exchanged", new
        case ast.Constant(value=bool(value)):
            yield "the other truth value", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "a number one larger", ast.Constant(value + 1)
        case ast.BinOp(op=ast.Add() | ast.Sub() as op):
            new.op = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
            yield "plus for minus", new


def _of_statement(node: ast.stmt) -> Iterator[tuple[str, Spot]]:
    match node:
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "nothing returned", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.AugAssign() | ast.Delete():
            yield "left out", ast.Pass()
        case ast.Continue():
            yield "break for continue", ast.Break()
        case ast.Break():
            yield "continue for break", ast.Continue()


def _is_noticed(tree: Path, folder: Path, number: int, mutant: Mutant, wider: Sequence[str] = WIDER) -> bool:
    path = tree / mutant.path
    before = path.read_text("utf-8")
    by = ""
    try:
        for tests in _nearest(tree, mutant.path, wider):
            if by := _noticed_by(tree, folder, tests, path, (before, mutant.source)):
                break
        print(f"{number:3} {mutant.path}:{mutant.line} {mutant.what}: {'noticed by ' + by if by else 'UNNOTICED'}")
        if not by:
            path.write_text(mutant.source, "utf-8")
            print(_git("diff", "-U2", cwd=tree))
        sys.stdout.flush()
        return bool(by)
    finally:
        path.write_text(before, "utf-8")


def _noticed_by(tree: Path, folder: Path, tests: Sequence[str], path: Path, sources: tuple[str, str]) -> str:
    """Which of these tests fails with the spoiled module, and not with the module as it was; "" where none does.

    "time": with the spoiled one they do not come to an end, and with the other one they do.
    """
    before, spoiled = sources
    left_out: list[str] = []
    while True:
        path.write_text(spoiled, "utf-8")
        if (failed := _failing(tree, folder, [*tests, *(f"--deselect={one}" for one in left_out)])) is None:
            return ""
        path.write_text(before, "utf-8")
        without = _failing(tree, folder, [failed] if failed else tests)
        if without is None or (not failed and without):
            return failed or "time"
        print(f"{failed or 'a run of tests'} fails without a fault, too: left out")
        if not failed or failed in left_out:
            return ""
        left_out.append(failed)


def _nearest(tree: Path, path: str, wider: Sequence[str] = WIDER) -> Iterator[list[str]]:
    """Lists of tests for a module, the nearest first, none twice."""
    module, seen = path.removesuffix(".py").removesuffix("/__init__").replace("/", "."), set[str]()
    files = sorted(tree.glob("tests/**/test_*.py"))
    name = module.rpartition(".")[2]
    naming = [
        f
        for f in files
        if module in (text := f.read_text("utf-8")) or f"{module.rpartition('.')[0]} import {name}" in text
    ]
    room = path.split("/")[1].removesuffix(".py")
    of_room = [f for f in files if f.is_relative_to(tree / "tests" / room)]
    alike = [f for f in of_room if name in f.name]
    for group in (alike, naming, of_room, *([f for f in files if f.is_relative_to(tree / wide)] for wide in wider)):
        tests = [str(f.relative_to(tree)) for f in group if str(f) not in seen]
        seen.update(map(str, group))
        if tests:
            yield tests


def _failing(tree: Path, folder: Path, tests: Sequence[str]) -> str | None:
    """The first test that fails, "" where they do not come to an end, None where all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--no-header", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "TMPDIR": str(folder)}
    process = subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, start_new_session=True)  # fmt: skip
    try:
        said, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ""
    if process.returncode in {0, 5}:  # 5: none of them is selected here
        return None
    found = _FAILED.search(said)
    return found[1] if found else ""


def _git(*words: str, cwd: Path = PROJECT) -> str:
    return subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
