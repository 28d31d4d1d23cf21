"""The `-a` arguments of `scrapy crawl`: checked before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crawler.frontier.seeds import SeedError, SeedPlan, plan_seeds
from crawler.frontier.sowing import plan_of
from crawler.frontier.tracking import DEFAULT_POLICY, QueryPolicy
from crawler.storage.errors import StorageError
from crawler.storage.expiry import expired_note
from crawler.storage.replay import expand


def read_arguments(arguments: Mapping[str, Any], policy: QueryPolicy = DEFAULT_POLICY) -> SeedPlan:
    """The scope of the crawl and its seeds; empty where no argument is given (a worker that joins, a resumed crawl).

    Raises: SeedError listing unknown arguments and every problem with the known ones.
    """
    return plan_of(arguments, policy) if arguments else plan_seeds(policy=policy)


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
    try:
        expand(str(arguments["archive"]))
    except StorageError as error:
        raise SeedError([str(error)]) from error
    return str(arguments["archive"])


def _unless_expired(arguments: Mapping[str, Any]) -> object:
    """`read_replay_arguments`, which also says where archives are not there because they have expired."""
    pattern = str(arguments.get("archive", ""))
    note = expired_note(pattern)
    if note and not any(sign in pattern for sign in "*?["):
        raise SeedError([note])
    try:
        return read_replay_arguments(arguments)
    except SeedError as error:
        raise SeedError([*error.problems, *([note] if note else [])]) from error


CHECKS: dict[str, Callable[[Mapping[str, Any]], object]] = {"corpus": read_arguments, "replay": _unless_expired}
"""What `scrapy crawl NAME` checks before it starts, by spider name."""
