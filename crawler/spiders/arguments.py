"""The `-a` arguments of `scrapy crawl corpus`: checked before anything starts."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from crawler.frontier.seeds import SeedError, SeedPlan, plan_seeds

ARGUMENTS = ("url", "sitemap", "seeds", "allowlist", "discovery")


def read_arguments(arguments: Mapping[str, Any]) -> SeedPlan:
    """The scope of the crawl and its seeds; empty where no argument is given (a worker that joins, a resumed crawl).

    Raises: SeedError listing unknown arguments and every problem with the known ones.
    """
    unknown = [name for name in arguments if name not in ARGUMENTS]
    if unknown:
        raise SeedError([_unknown(name) for name in unknown])
    return plan_seeds(**arguments)


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, ARGUMENTS, n=1)
    hint = f"did you mean -a {near[0]}=…?" if near else "known: " + ", ".join(f"-a {a}=…" for a in ARGUMENTS)
    return f"unknown argument -a {name}=…; {hint}"


def read_replay_arguments(arguments: Mapping[str, Any]) -> str:
    """The archive pattern or URL of `scrapy crawl replay -a archive=…`.

    Raises: SeedError where it is missing or another argument is given.
    """
    unknown = [f"unknown argument -a {name}=…; known: -a archive=…" for name in arguments if name != "archive"]
    if not arguments.get("archive"):
        unknown.append(
            "scrapy crawl replay needs -a archive=GLOB_OR_URL, such as -a archive='corpus/archive/*.warc.gz'"
        )
    if unknown:
        raise SeedError(unknown)
    return str(arguments["archive"])


CHECKS = {"corpus": read_arguments, "replay": read_replay_arguments}
"""What `scrapy crawl NAME` checks before it starts, by spider name."""
