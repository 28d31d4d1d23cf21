"""`gristmill plan OPERATION crawl.yaml`: crawls, limits, gates and what follows, from one file (docs/plan.md)."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.operation import OperationsCommand
from crawler.commands.plan_words import wrong_with
from crawler.number import duration, number_of, size
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Operation, Work, WrongCall, by_name
from crawler.plan.check import inside, problems_of
from crawler.plan.diff import changes, estimate, raised_caps
from crawler.plan.kubernetes import manifests
from crawler.plan.model import Plan
from crawler.plan.read import read
from crawler.plan.run import run
from crawler.plan.seeds import seeds_of
from crawler.plan.state import Runs
from crawler.plan.status import as_run, standing, versions
from crawler.plan.tasks import as_facts, tasks_of
from crawler.problems import InputError
from crawler.runtime import known_settings
from crawler.runtime import load as load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.config import Config


_CUT_OFF = ": its process, or the run, was killed; `gristmill plan run` goes on with it"


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN", type=Path, help="the file, such as crawl.yaml")


def _checked(opts: argparse.Namespace) -> Plan:
    """The plan, with which nothing is wrong that can be known. Raises: InputError."""
    plan = read(opts.plan, known_settings())
    if problems := problems_of(plan, wrong_with, opts.config_of):
        raise InputError(problems)
    return plan


def _check(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # a crawl's settings stand in the plan
    plan = _checked(opts)
    tasks = tasks_of(plan)
    facts = {"plan": plan.name, "crawls": [crawl.name for crawl in plan.crawls], "tasks": [task.name for task in tasks]}
    for sentence in raised_caps(plan, known_settings()):
        _say(sentence)
    counts = f"{number_of(len(plan.crawls), 'crawl')}, {number_of(len(tasks), 'task')}"
    return Answer(facts, [f"{opts.plan}: {counts}: {', '.join(facts['tasks'])}"])


def _declare_steps(parser: argparse.ArgumentParser) -> None:
    _declare(parser)
    parser.add_argument("--kubernetes", metavar="IMAGE", help="print a Job for Kubernetes instead, of this image")
    parser.add_argument("--schedule", metavar="CRON", default="", help="make it a CronJob, such as '15 3 * * *'")
    parser.add_argument("--run", metavar="NAME", default="", help="make it a Job for each task, all of this run")


def _steps(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # a crawl's settings stand in the plan
    if (opts.schedule or opts.run) and not opts.kubernetes:
        raise WrongCall(f"--{'schedule' if opts.schedule else 'run'} goes with --kubernetes IMAGE")
    if opts.schedule and opts.run:
        raise WrongCall("--run names one run, and --schedule begins one after the other: give one of the two")
    plan = _checked(opts)
    facts = as_facts(plan, opts.config_of) | {"kubernetes": None}
    if opts.kubernetes:
        facts["kubernetes"] = manifests(plan, opts.kubernetes, opts.schedule, opts.run and Runs(plan).chosen(opts.run))
        return Answer(facts, [yaml.safe_dump_all(facts["kubernetes"], sort_keys=False).rstrip()])
    return Answer(facts, [f"{task['name']}: {' '.join(task['command'])}" for task in facts["tasks"]])


def _declare_run(parser: argparse.ArgumentParser) -> None:
    _declare(parser)
    parser.add_argument("--run", metavar="NAME", help="of the run (default: the one that is not finished, else a new)")
    parser.add_argument("--only", metavar="TASK", help="this task alone, for a scheduler; those before it are done")
    parser.add_argument("--wait", action="store_true", help="where another process is at work on it, wait for its end")
    parser.add_argument("--after", action="store_true", help="with --only: wait until the tasks before it are done")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _run(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # a crawl's settings stand in the plan
    plan = _checked(opts)
    for sentence in raised_caps(plan, known_settings()):
        _say(sentence)
    with inside(plan.folder):
        ended = run(
            plan,
            asked=opts.run,
            only=opts.only,
            wait=opts.wait,
            after=opts.after,
            say=_say,
        )
        found = versions(opts.only, plan, ended.run)
    facts = {"run": ended.run, "codes": ended.codes, "versions": found}
    said = [f"run {ended.run}: {number_of(len(ended.codes), 'task')} ran, the others were done"] * (not ended.problems)
    return Answer(facts, [*said, json.dumps(found, sort_keys=True)], ended.problems, ended.code)


def _status(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # a crawl's settings stand in the plan
    plan = _checked(opts)
    with inside(plan.folder):
        found = standing(plan, opts.run)
        begun = (found["run"] and as_run(plan, found["run"], known_settings())) or plan
        found["crawls"] = [
            {"name": one.name, **seeds_of(one, opts.config_of(one.settings), found["run"] or "")}
            for one in begun.crawls
        ]
    lines = [f"run {found['run']}: {'finished' if found['finished'] else 'not finished'}"] if found["run"] else []
    lines += [f"{task['name']}: {task['state']}{_CUT_OFF * (task['state'] == 'cut off')}" for task in found["tasks"]]
    for crawl in found["crawls"]:
        lines += [f"{crawl['name']}: {crawl['cut_off']}"] * bool(crawl["cut_off"])
        lines += [f"{crawl['name']}: spent {_spent(name, value)}" for name, value in crawl["spent"].items()]
        lines += [f"{crawl['name']}: stopped by {crawl['limit']}"] * bool(crawl["limit"])
        lines += [f"{crawl['name']}: {one['seed']}: {one['state']} ({one['done']:,} done, {one['waiting']:,} wait)"
                  for one in crawl["seeds"]]  # fmt: skip
    return Answer(found, lines or ["no run has begun"])


def _spent(name: str, value: float) -> str:
    """A figure of a budget, as people read it."""
    if name == "hours":
        return f"time: {duration(value * 3600)}"
    return f"{name}: {size(value) if name == 'bytes' else f'{value:,.4f}' if name == 'money' else f'{value:,.0f}'}"


def _diff(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # a crawl's settings stand in the plan
    plan = _checked(opts)
    for sentence in raised_caps(plan, known_settings()):
        _say(sentence)
    with inside(plan.folder):
        changed = changes(plan, known_settings())
        crawls = [{"name": one.name, **estimate(one, opts.config_of(one.settings))} for one in plan.crawls]
    lines = [f"{one['key']}: {one['before'] or '-'} -> {one['after'] or '-'}" for one in changed] or ["nothing changed"]
    for one in crawls:
        if one["fetch"] is None:
            lines.append(f"{one['name']}: has not begun, so nothing can be estimated")
            continue
        end = f"until {one['by']}" if one["by"] else "and what links lead to"
        pages = number_of(one["fetch"], "page")
        again = f"({one['due']:,} of them again) " * bool(one["due"])
        lines.append(
            f"{one['name']}: would fetch {pages} {again}{end}, keep {one['keep']:,}, receive {one['bytes']:,} "
            f"bytes, cost {one['money']:g}"
        )
        lines += [f"{one['name']}: {count:,} kept pages are not admitted any more: {reason}; `gristmill dataset "
                  "exclude` withdraws pages, a run does not" for reason, count in one["left_out"].items()]  # fmt: skip
    return Answer({"changes": changed, "crawls": crawls}, lines)


def _declare_status(parser: argparse.ArgumentParser) -> None:
    _declare(parser)
    parser.add_argument("--run", metavar="NAME", help="of the run (default: the latest)")


CHECK = Work(
    "check crawl.yaml",
    _declare,
    _check,
    {
        "plan": ("string", "the plan's name"),
        "crawls": ("list of string", "names of its crawls"),
        "tasks": ("list of string", "names of its tasks, in the order in which they run"),
    },
)
STEPS = Work(
    "steps --json crawl.yaml",
    _declare_steps,
    _steps,
    {
        "plan": ("string", "the plan's name"),
        "file": ("string", "the path of the plan"),
        "digest": ("string", "SHA-256 of the file"),
        "codes": ("object", "exit codes: done; again: a task may be run again after it; never: that changes nothing"),
        "tasks": (
            "list of object",
            "in the order in which they run: name; kind (crawl, gates, step); command; call, which a scheduler gives, "
            "with {run} for the name of the run; inputs; outputs; after; config_digest of a crawl",
        ),
        "kubernetes": ("list of object or null", "with --kubernetes: the claim of the volume and the Jobs or CronJob"),
    },
)

RUN = Work(
    "run crawl.yaml",
    _declare_run,
    _run,
    {
        "run": ("string", "name of the run"),
        "codes": ("object", "exit code of each task that ran now, by its name"),
        "versions": ("object", "SHA-256 of the manifest of each corpus that the tasks read and made, by its path"),
    },
)
STATUS = Work(
    "status crawl.yaml",
    _declare_status,
    _status,
    {
        "run": ("string or null", "name of the run; null where none has begun"),
        "finished": ("boolean", "every task of it is done"),
        "crawls": (
            "list of object",
            "name; spent, by figure, over all runs; limit of all runs, or of this one, that is reached; "
            "cut_off: of a killed run; "
            "seeds: seed (domain), state (complete, not begun, not finished, stopped by …), done, waiting of each; "
            "spent, by figure, where seeds are limited",
        ),
        "tasks": ("list of object", "name, kind, state (waiting, running, cut off, failed, done), code and at of each"),
    },
)
DIFF = Work(
    "diff crawl.yaml",
    _declare,
    _diff,
    {
        "changes": ("list of object", "key, before and after of what differs from the plan of the latest run"),
        "crawls": (
            "list of object",
            "name; fetch, keep, bytes, money: estimates for the next run, null before the first; due: of fetch, pages "
            "whose next visit has come; by: the limit that ends it, or empty; left_out: "
            "kept pages that the seeds do not admit any more, by reason",
        ),
    },
)

OPERATIONS = by_name(
    Operation("check", "say what is wrong with a plan, with line and column", CHECK),
    Operation("steps", "list its tasks: commands, inputs, outputs, exit codes", STEPS),
    Operation("diff", "say what changed, and what the next run would fetch, keep and cost", DIFF),
    Operation("run", "run its tasks; a run that was killed goes on where it was", RUN),
    Operation("status", "say how far a run is", STATUS),
)


class Command(OperationsCommand, ScrapyCommand):
    """Plans, for a person and for schedulers: docs/plan.md."""

    example = "plan check crawl.yaml"
    operations = OPERATIONS

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError for settings, which would not reach the commands of the plan."""
        super().process_options(args, opts)
        if opts.set:
            raise UsageError("-s does not reach the commands of a plan: write the setting into it")
        opts.config_of = self._config_of

    def _config_of(self, values: Mapping[str, str]) -> Config:
        """What a command of the plan makes of these settings after `-s`. Raises: ConfigError."""
        settings = self.settings.copy()
        for name, value in values.items():
            settings.set(name, value, priority="cmdline")
        return load_settings(settings)
