"""The settings that matter are options: `--delay 0.5` is `-s DOWNLOAD_DELAY=0.5`. Their meaning is said in `config`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError
from scrapy.utils.conf import arglist_to_dict

from crawler.config import declared

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

OPTIONS = {
    "CORPUS_DIR": "--out",
    "CRAWLER_CONTACT": "--contact",
    "REDIS_URL": "--redis-url",
    "DOWNLOAD_DELAY": "--delay",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "--concurrency",
    "STAGE_WORKERS": "--stage-workers",
    "OPTOUT_PROFILE": "--optout-profile",
    "EXTRACTOR": "--extractor",
    "LANGUAGES": "--languages",
    "QUALITY_RULES": "--quality-rules",
    "PII_PERSON": "--pii-person",
    "NEARDUP_THRESHOLD": "--neardup-threshold",
    "EVAL_SETS": "--eval-sets",
    "RECRAWL": "--recrawl",
    "SHARD_FORMAT": "--shard-format",
}
"""Setting → option: those of the table in README.md."""
PLACE = ("CORPUS_DIR", "REDIS_URL")
"""Of commands that look after a crawl."""
ASKING = ("CRAWLER_CONTACT", "OPTOUT_PROFILE")
"""Of commands that ask a site and keep nothing."""


def declare(parser: argparse.ArgumentParser, names: tuple[str, ...]) -> None:
    """Add the options of these settings, each with the sentence of its declaration; no name, no heading."""
    if not names:
        return
    group = parser.add_argument_group("Settings that matter")
    for name in names:
        field = declared()[name]
        choices = field.metadata["choices"]
        metavar = f"{{{','.join(choices)}}}" if choices else "VALUE"
        how: dict[str, Any] = (
            {"action": "store_const", "const": "1"} if field.default is False else {"metavar": metavar}
        )
        usual = "" if field.default in ((), "", None, False) else f"; default {_text(field.default)}"
        said = field.metadata["doc"].partition(": ")[0].replace("%", "%%")  # details: docs/settings.md
        group.add_argument(OPTIONS[name], dest=name, help=f"{said}{usual} ({name})", **how)


def take(settings: BaseSettings, opts: argparse.Namespace, names: tuple[str, ...]) -> None:
    """Set what was given, as `-s` does. Raises: UsageError where `-s` says something else."""
    for name in names:
        if (value := getattr(opts, name)) is not None:
            refuse_another(opts, name, OPTIONS[name], value)
            settings.set(name, value, priority="cmdline")


def refuse_another(opts: argparse.Namespace, name: str, option: str, value: object) -> None:
    """Raises: UsageError where `-s` gives the setting of an option another value than the option does."""
    said = arglist_to_dict(opts.set).get(name, str(value))
    if not _is_same(said.strip(), str(value)):
        raise UsageError(f"{option} and -s {name}={said} give one setting two values: leave one of them out")


def _is_same(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other or {one.lower(), other} == {"true", "1"}


def _text(default: object) -> str:
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
