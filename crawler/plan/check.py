"""What can be known of a plan before anything runs: its settings together, its files, the words of its commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.observe.report import gates
from crawler.observe.report.costs import Prices
from crawler.plan.model import Crawl, Plan
from crawler.plan.tasks import tasks_of
from crawler.problems import InputError
from crawler.seeds.arguments import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.plan.tasks import ConfigOf

Parse = Callable[[Sequence[str]], str]
"""Words of a command → what is wrong with them, empty = nothing."""
_PRICES = "COST_REQUEST, COST_GB, COST_CPU_HOUR or COST_BROWSER_MINUTE"


def problems_of(plan: Plan, parse: Parse, config_of: ConfigOf) -> list[str]:
    """One sentence for each problem, with file and line."""
    found: list[str] = []
    with inside(plan.folder):
        for crawl in plan.crawls:
            found += [f"{plan.path}:{crawl.at}: {crawl.name}: {text}" for text in _of_crawl(crawl, config_of)]
    made: dict[str, str] = {}
    for task in tasks_of(plan):
        if task.kind == "step" and (wrong := parse(task.words)):
            found.append(f"{plan.path}:{task.at}: {task.name}: {wrong}")
        for output in task.outputs:
            if output in made:
                found.append(
                    f"{plan.path}:{task.at}: {task.name}: {made[output]} makes {output}, too: give another --out"
                )
            made.setdefault(output, task.name)
    return found


def _of_crawl(crawl: Crawl, config_of: ConfigOf) -> Iterator[str]:
    for read in (lambda: plan_of(crawl.arguments), lambda: gates.read(Path(crawl.gates)) if crawl.gates else None):
        try:
            read()
        except InputError as error:
            yield from error.problems
    try:
        config = config_of(crawl.settings)
    except InputError as error:
        yield from error.problems
        return
    if any("money" in bounds for bounds in crawl.limits.values()) and not Prices.of(config.report).shown:
        yield f"limits: money is limited, but nothing has a price: set {_PRICES}"


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """With the folder of the plan as the working folder: its paths are relative to it."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
