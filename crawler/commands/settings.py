"""`gristmill settings --get NAME`: Scrapy's, with the settings of this project as a crawl would have them."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.config import Config, declared
from crawler.operations.answer import Answer, Fields

FORMS = ("get", "getbool", "getint", "getfloat", "getlist")


class Command(ProjectCommand, ScrapyCommand):
    """In the place of Scrapy's own, which answers None for a setting that nobody changed."""

    example = "settings --get CORPUS_DIR"
    usage = "--get NAME"
    fields: ClassVar[Fields] = {
        "name": ("string", "the setting"),
        "value": ("value", "its value"),
    }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """The forms of Scrapy, one of which has to be chosen."""
        group = parser.add_mutually_exclusive_group(required=True)
        for form in FORMS:
            what = "as it is" if form == "get" else f"read as {form.removeprefix('get')}"
            group.add_argument(f"--{form}", metavar="NAME", help=f"the value, {what}")

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Raises: UsageError, ConfigError."""
        if args:
            raise UsageError(f"unexpected {args[0]!r}")
        form = next(form for form in FORMS if getattr(opts, form))
        name = getattr(opts, form)
        if name in declared():
            self.settings.set(name, _value(self.load(), name), priority="cmdline")
        elif name not in self.settings:
            return Answer(problems=[f"there is no setting {name}; docs/settings.md lists those of this project"])
        value = getattr(self.settings, form)(name)
        return Answer({"name": name, "value": value}, [str(value)])


def _value(config: Config, name: str) -> Any:
    sections = config.all_sections()
    return next(
        getattr(section, field.name)
        for section in sections
        for field in fields(section)
        if field.metadata["name"] == name
    )
