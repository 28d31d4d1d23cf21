"""The `-a` arguments of `gristmill crawl`: checked before anything starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crawler.dataset.expire import expired_note
from crawler.problems import InputError
from crawler.seeds.arguments import plan_of
from crawler.seeds.plan import SeedPlan, plan_seeds
from crawler.storage.archive.names import check_name
from crawler.storage.archive.places import expand
from crawler.storage.files.errors import ArchiveError, StorageError
from crawler.urls.tracking import DEFAULT_POLICY, QueryPolicy


def read_arguments(arguments: Mapping[str, Any], policy: QueryPolicy = DEFAULT_POLICY) -> SeedPlan:
    """The scope of the crawl and its seeds; empty where no argument is given (a worker that joins, a resumed crawl).

    Raises: InputError listing unknown arguments and every problem with the known ones.
    """
    return plan_of(arguments, policy) if arguments else plan_seeds(policy=policy)


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """What to replay: the place of the archives, this process's part of them (1 of 1: all), and how to ask for them.

    anonymous: read object stores without credentials.
    """

    archive: str
    part: int = 1
    parts: int = 1
    anonymous: bool = False
    base: str = ""  # where the relative paths of a list of archives begin

    def share(self, archives: list[str]) -> list[str]:
        """Every `parts`-th archive: the same one for the same list, whoever asks and when."""
        return archives[self.part - 1 :: self.parts]

    @property
    def worker_id(self) -> str:
        """A name that repeats, so that records and files of a repeated replay repeat."""
        return "replay" if self.parts == 1 else f"replay-{self.part}of{self.parts}"


_MOST_SAID = 20
_REPLAY_ARGUMENTS = ("archive", "part", "anonymous", "base")
_PART = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


def read_replay_arguments(arguments: Mapping[str, Any]) -> ReplayPlan:
    """The arguments of `gristmill crawl replay -a archive=PLACE [-a part=K/N] [-a anonymous=yes] [-a base=URL]`.

    Raises: InputError listing everything that is missing, unknown or unusable.
    """
    known = ", ".join(f"-a {name}=…" for name in _REPLAY_ARGUMENTS)
    problems = [f"unknown argument -a {name}=…; known: {known}" for name in arguments if name not in _REPLAY_ARGUMENTS]
    part, anonymous = str(arguments.get("part", "1/1")), str(arguments.get("anonymous", "no")).lower()
    if not arguments.get("archive"):
        problems.append(
            "gristmill crawl replay needs -a archive=GLOB_OR_URL, such as -a archive='corpus/archive/*.warc.gz'"
        )
    found = _PART.fullmatch(part)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        problems.append(f"-a part={part}: expected K/N with K from 1 to N, such as 1/4")
    if anonymous not in {"yes", "no", "true", "false", "1", "0"}:
        problems.append(f"-a anonymous={anonymous}: expected yes or no")
    if problems or found is None:
        raise InputError(problems)
    nobody, base = anonymous in {"yes", "true", "1"}, str(arguments.get("base", ""))
    plan = ReplayPlan(str(arguments["archive"]), int(found[1]), int(found[2]), nobody, base)
    try:
        refused = _refused_names(expand(plan.archive, anonymous=plan.anonymous, base=plan.base))
    except StorageError as error:
        raise InputError([str(error)]) from error
    if refused:
        raise InputError(refused)
    return plan


def _refused_names(archives: list[str]) -> list[str]:
    """Why none of these archives is read, by their names alone; nothing where one may be: each costs itself later."""
    said = []
    for name in archives:
        try:
            check_name(name)
        except ArchiveError as error:
            said.append(str(error))
        else:
            return []
    return said[:_MOST_SAID]


def replay_unless_expired(arguments: Mapping[str, Any]) -> object:
    """`read_replay_arguments`, which also says where archives are not there because they have expired."""
    pattern = str(arguments.get("archive", ""))
    note = expired_note(pattern)
    if note and not any(sign in pattern for sign in "*?["):
        raise InputError([note])
    try:
        return read_replay_arguments(arguments)
    except InputError as error:
        raise InputError([*error.problems, *([note] if note else [])]) from error


def check_of(spider: type[object]) -> Callable[[Mapping[str, Any]], object] | None:
    """What a spider's class checks of its arguments; None for a spider that is none of this project's kind."""
    return getattr(spider, "check_arguments", None)
