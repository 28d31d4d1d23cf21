"""The tasks of a plan: which commands, in which order, what each reads and makes. `plan steps --json` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.plan.model import AGAIN, NEVER, RUN_PLACE, Crawl, Plan, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawler.config import Config

    ConfigOf = Callable[[Mapping[str, str]], Config]

CODES = {"done": [0], "again": list(AGAIN), "never": list(NEVER)}


def tasks_of(plan: Plan) -> list[Task]:
    """In the order in which they run: each crawl, then its gates; the steps one after the other, behind all of them."""
    found: list[Task] = []
    for crawl in plan.crawls:
        found.append(Task(crawl.name, "crawl", crawl_words(crawl), (), (crawl.corpus,), (), crawl.at))
        if crawl.gates:
            words = ("report", "--check", crawl.gates, crawl.corpus, *_options({
                name: value for name, value in crawl.settings.items() if name.startswith(("COST_", "TARGET_"))
            }))  # fmt: skip
            found.append(Task(f"{crawl.name}.gates", "gates", words, (crawl.corpus,), (), (crawl.name,), crawl.at))
    before = tuple(task.name for task in found)
    for step in plan.steps:
        made = [output for task in found for output in task.outputs]
        outputs = out_of(step.words)
        inputs = tuple(dict.fromkeys(word for word in step.words if word in made and word not in outputs))
        found.append(Task(step.name, "step", step.words, inputs, outputs, before, step.at))
        before = (step.name,)
    return found


def crawl_words(crawl: Crawl) -> tuple[str, ...]:
    """The command of a crawl, without the program's name."""
    words = ["work", "corpus", "--workers", str(crawl.workers)] if crawl.workers > 1 else ["crawl", "corpus"]
    for name, value in crawl.arguments.items():
        words += ["-a", f"{name}={value}"]
    return (*words, *_options(crawl.settings))


def _options(settings: Any) -> list[str]:
    return [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]


def out_of(words: Sequence[str]) -> tuple[str, ...]:
    """What a command makes: the value of its --out."""
    for at, word in enumerate(words):
        if word == "--out" and at + 1 < len(words):
            return (words[at + 1],)
        if word.startswith("--out="):
            return (word.removeprefix("--out="),)
    return ()


def named(words: Sequence[str], run: str) -> tuple[str, ...]:
    """The words with the name of the run in its place."""
    return tuple(word.replace(RUN_PLACE, run) for word in words)


def as_facts(plan: Plan, config_of: ConfigOf) -> dict[str, Any]:
    """What `plan steps --json` answers. `call` is the command a scheduler gives: it may be run twice, and at once."""
    digests = {crawl.name: config_of(crawl.settings).digest for crawl in plan.crawls}
    return {
        "plan": plan.name,
        "file": str(plan.path),
        "digest": f"sha256:{plan.written}",
        "codes": CODES,
        "tasks": [
            {
                "name": task.name,
                "kind": task.kind,
                "command": ["gristmill", *task.words],
                "call": ["gristmill", "plan", "run", str(plan.path), "--only", task.name, "--wait", "--run", RUN_PLACE],
                "inputs": list(task.inputs),
                "outputs": list(task.outputs),
                "after": list(task.after),
                "config_digest": digests.get(task.name) if task.kind == "crawl" else None,
            }
            for task in tasks_of(plan)
        ],
    }
