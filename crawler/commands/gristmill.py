"""`gristmill`: every command of this package in any folder, without a Scrapy project. Only the named one is loaded."""

from __future__ import annotations

import crawler.loading  # isort: skip  # noqa: F401  # first of all: Ctrl-C while the rest is loaded is one line
import argparse
import difflib
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from crawler import __version__
from crawler.commands.table import LINES, TASKS

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand
    from scrapy.settings import Settings

OUR_SETTINGS = "crawler.settings"
THEIR_SETTINGS = "SCRAPY_SETTINGS_MODULE"
"""The variable that names a settings module of the person's own, as for Scrapy."""
_ENDING = """\
gristmill COMMAND -h explains a command. Every command takes settings:
  -s NAME=VALUE      One setting; so does CRAWLER_NAME=VALUE in the environment
  --settings MODULE  A Python module of settings; else that of a scrapy.cfg here
"""


def main(words: list[str] | None = None) -> NoReturn:
    """The command line, without the program's name; ends the process with the exit code of the command."""
    words = sys.argv[1:] if words is None else words
    if not words or words[0] in {"-h", "--help", "help"}:
        sys.stdout.write(overview())
        sys.exit(0)
    if words[0] == "--version":
        sys.stdout.write(f"gristmill {__version__}\n")
        sys.exit(0)
    if words[0] not in LINES:
        near = difflib.get_close_matches(words[0], LINES, n=1)
        hint = f"did you mean {near[0]}?" if near else "gristmill --help lists them"
        _fail(f"there is no command {words[0]!r}; {hint}", exitcode=2)
    _run(words[0], words[1:])


def overview() -> str:
    """The help of the program: its commands by task, 80 columns wide."""
    lines = ["gristmill: crawl the web into a text corpus for training language models", "",
             "usage: gristmill COMMAND [options] …"]  # fmt: skip
    for task, commands in TASKS.items():
        lines += ["", f"{task}:", *(f"  {name:<11} {line}" for name, line in commands.items())]
    return "\n".join([*lines, "", _ENDING])


def _run(name: str, words: list[str]) -> NoReturn:
    from scrapy.exceptions import UsageError

    command: ScrapyCommand = import_module(f"crawler.commands.{name}").Command()
    command.settings, words = _settings(words)
    parser = argparse.ArgumentParser(
        usage=f"gristmill {name} {command.syntax()}",
        conflict_handler="resolve",
        description=command.long_desc(),
    )
    command.settings.setdict(command.default_settings, priority="command")
    command.add_options(parser)
    opts, args = parser.parse_known_args(words)
    try:
        command.process_options(args, opts)
        if command.requires_crawler_process:
            from scrapy.crawler import AsyncCrawlerProcess

            command.crawler_process = AsyncCrawlerProcess(command.settings)
        command.run(args, opts)
    except UsageError as error:
        parser.error(str(error) or "wrong arguments")
    sys.exit(command.exitcode)  # from here, as Scrapy does: what the command holds lives until the process ends


def _settings(words: list[str]) -> tuple[Settings, list[str]]:
    """Those of this package, over them a person's own module and the environment; the words without --settings."""
    from scrapy.settings import Settings
    from scrapy.utils.conf import init_env

    from crawler.runtime import apply_environment

    chooser = argparse.ArgumentParser(prog="gristmill", add_help=False, allow_abbrev=False)
    chooser.add_argument("--settings", metavar="MODULE")
    chosen, rest = chooser.parse_known_args(words)
    if chosen.settings:
        os.environ[THEIR_SETTINGS] = chosen.settings  # the workers of `work` read it as well
    init_env(os.environ.get("SCRAPY_PROJECT", "default"))
    settings = Settings()
    settings.setmodule(OUR_SETTINGS, priority="project")
    theirs = os.environ.get(THEIR_SETTINGS, OUR_SETTINGS)
    if theirs != OUR_SETTINGS:
        sys.path.append(str(Path.cwd()))  # `-m` has the current folder there, a console script has not
        try:
            settings.setmodule(theirs, priority="project")
        except ImportError as error:
            _fail(f"the settings module {theirs} cannot be imported: {error}")
    apply_environment(settings)
    return settings, rest


def _fail(problem: str, exitcode: int = 1) -> NoReturn:
    sys.stderr.write(f"error: {problem}\n")
    sys.exit(exitcode)


if __name__ == "__main__":
    main()
