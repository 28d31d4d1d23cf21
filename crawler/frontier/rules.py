"""What holds for a crawl as a whole: its first worker writes it into the frontier, all others keep to it.

Settings are read by each worker for itself. Those that a site feels (delay, concurrency, …) would be as strict as the
least strict worker; those that decide a verdict or what is kept would leave a corpus of two minds. So of the first the
strictest value holds for everybody, and a worker that differs in the others is refused, until somebody says
CRAWL_RULES=replace. `crawler/frontier/owners.py` says of each setting which kind it is.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler.config.address_delays import is_network
from crawler.frontier.member import FORMAT
from crawler.frontier.owners import CAPS, FILES, LATEST, LAYOUT, ORDER, STRICTEST, WORKER_OWN
from crawler.seeds.scope import Scope
from crawler.server.errors import FrontierError

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.frontier.client import Frontier
    from crawler.frontier.model import Limits

log = logging.getLogger(__name__)

Values = dict[str, Any]
"""Settings by name, as JSON has them."""
FOLLOW_SECONDS = 5.0
"""How long a worker that runs may go by a delay that a later worker has made longer."""


_MERGED = {**STRICTEST, **LATEST}
_FIELDS = {name: field for name, (field, _) in _MERGED.items()} | dict(LAYOUT) | dict(CAPS) | dict(ORDER)


class RulesDifferError(FrontierError):
    """A worker wants to work by other rules than the crawl it joins."""


async def join_rules(frontier: Frontier, config: Config, *, tells: bool = True) -> None:
    """Take on the rules of the crawl, or give it this worker's where it has none. tells: log which are not its own.

    The frontier's `limits` are those of the crawl afterwards. Raises: RulesDifferError naming every setting.
    """
    mine = rules_of(frontier.limits, config)
    while True:
        async with frontier.shared.single_flight("rules") as first:
            if not first:
                continue
            stored = await _stored(frontier)
            if stored is None:
                agreed = mine
            elif config.frontier.crawl_rules == "replace":
                agreed = _replaced(stored, mine, frontier.crawl)
            else:
                agreed = _agreed(stored, mine, frontier.crawl)
                if tells:
                    _tell(agreed, mine, config)
            if agreed != stored:
                await frontier.shared.rules_set(json.dumps([FORMAT, agreed], sort_keys=True))
            frontier.limits = _limits(frontier.limits, agreed)
            return


async def adopt_rules(frontier: Frontier) -> None:
    """Go by the rules of a crawl without joining it: for commands, which have settings of their own."""
    stored = await _stored(frontier)
    if stored is not None:
        frontier.limits = _limits(frontier.limits, stored)


async def visit_rules(frontier: Frontier, own: Limits) -> bool:
    """Go by the rules of a crawl beside it, and by `own` where that is stricter; the crawl hears nothing of it.

    False: there are no rules, the server knows no such crawl. Raises: FrontierError.
    """
    stored = await _stored(frontier)
    theirs = own if stored is None else _limits(own, stored)
    stricter = {field: merge(getattr(theirs, field), getattr(own, field)) for field, merge in STRICTEST.values()}
    if (frontier.limits.scope_by, frontier.limits.shards) != (theirs.scope_by, theirs.shards):
        frontier.origin_of.cache_clear()
    frontier.limits = replace(theirs, **stricter)
    return stored is not None


async def follow_rules(frontier: Frontier, config: Config) -> None:
    """Keep to what later workers have made stricter, or somebody has replaced. Never returns."""
    mine, warned = rules_of(frontier.limits, config), False
    while True:
        await asyncio.sleep(FOLLOW_SECONDS)
        stored = await _stored(frontier)
        if stored is None:
            continue
        limits = _limits(frontier.limits, stored, layout=False)
        if limits != frontier.limits:
            log.warning("another worker has changed the rules of this crawl: %s", _politeness(stored))
            frontier.limits = limits
        if not warned and (differences := _differences(stored, mine)):
            warned = True
            log.error("the settings of this crawl were replaced, start this worker again: %s", "; ".join(differences))


async def judge_by(frontier: Frontier, config: Config) -> None:
    """Have the crawl judge by these settings from now on, since its corpus does; every other rule of it stays.

    Nothing in a crawl without rules. Raises: FrontierError.
    """
    stored = await _stored(frontier)
    if stored is not None:
        mine = rules_of(frontier.limits, config)
        agreed = stored | {name: mine[name] for name in {*config.judging(), "STAGES", "REJECTED_TEXT"} & mine.keys()}
        await frontier.shared.rules_set(json.dumps([FORMAT, agreed], sort_keys=True))


def rules_of(limits: Limits, config: Config) -> Values:
    """What this worker would have the crawl keep to."""
    values = {name: getattr(limits, field) for name, field in _FIELDS.items()}
    values["ADDRESS_DELAYS_FILE"] = dict(limits.address_delays)
    values |= {"STAGES": config.stages, **config.deciding()} | {name: read(config) for name, read in FILES.items()}
    found: Values = json.loads(json.dumps(values, default=list))
    return found


def _agreed(stored: Values, mine: Values, crawl: str) -> Values:
    if differences := _differences(stored, mine):
        opened = any(each.startswith("NETWORK_") for each in differences)
        same = " (--allow-local sets them for the URLs of its command)" if opened else ""
        raise RulesDifferError(
            f"this worker's settings differ from those of crawl {crawl!r}: {'; '.join(differences)}. Give "
            f"it the same ones{same}, or start another crawl (another CRAWL_ID and CORPUS_DIR); to change them on "
            "purpose for the whole crawl add -s CRAWL_RULES=replace"
        )
    agreed = {**stored, **{name: mine[name] for name in mine.keys() - stored.keys()}}
    for name, (_, merge) in _MERGED.items():
        agreed[name] = merge(agreed[name], mine[name])
    return agreed


def _tell(agreed: Values, mine: Values, config: Config) -> None:
    """Which rules are not this worker's own. The delay of an address follows from another one where nobody gave it."""
    follows = "ADDRESS_DELAY" if config.frontier.address_delay is None else ""
    for name in _MERGED:
        if agreed[name] != mine[name] and name != follows:
            log.warning(
                "%s=%s holds for this crawl, not %s: %s (CRAWL_RULES=replace changes it)",
                name,
                agreed[name],
                mine[name],
                "the strictest value of all its workers counts" if name in STRICTEST else "this worker was given none",
            )


def _replaced(stored: Values, mine: Values, crawl: str) -> Values:
    if moved := [name for name in LAYOUT if name in stored and stored[name] != mine[name]]:
        raise RulesDifferError(
            f"{' and '.join(moved)} of crawl {crawl!r} cannot be changed any more: its queues are laid out by "
            f"{', '.join(f'{name}={stored[name]}' for name in moved)}. Start another crawl (another CRAWL_ID)"
        )
    if changed := [name for name in mine if stored.get(name) != mine[name]]:
        log.warning("the rules of this crawl are replaced: %s", ", ".join(f"{n}={_shown(mine[n])}" for n in changed))
    return mine


def _differences(stored: Values, mine: Values) -> list[str]:
    """One phrase for each setting that has to be the same and is not."""
    names = sorted((stored.keys() & mine.keys()) - _MERGED.keys() - WORKER_OWN.keys())
    return [
        f"{name}: the crawl has {_shown(stored[name])}, this worker {_shown(mine[name])}"
        for name in names
        if stored[name] != mine[name]
    ]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "(nothing)"
    return str(value) or "(nothing)"


def _politeness(stored: Values) -> str:
    return ", ".join(f"{name}={stored[name]}" for name in _MERGED if name in stored)


def _limits(limits: Limits, rules: Values, *, layout: bool = True) -> Limits:
    taken = {name: field for name, field in _FIELDS.items() if name in rules and (layout or name in _MERGED)}
    return replace(limits, **{field: rules[name] for name, field in taken.items()})


async def _stored(frontier: Frontier) -> Values | None:
    """The rules of the crawl; None in a new one.

    Raises: FrontierError where another version wrote them or began the crawl, because its queues cannot be read, or
    where something else stands there: whoever reaches the server could have written it.
    """
    text = await frontier.shared.rules_get()
    if text is None:
        scope = await frontier.shared.scope_get()
        if scope is not None and Scope.is_older(scope):  # of a version that had no rules
            raise _of_another_version(frontier.crawl, 1)
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    format_ = 1 if isinstance(found, dict) else None
    if isinstance(found, list) and len(found) == 2 and type(found[0]) is int:
        format_, found = found
    if format_ not in (None, FORMAT):
        raise _of_another_version(frontier.crawl, format_)
    if not isinstance(found, dict) or not all(_is_usable(name, found[name]) for name in _FIELDS.keys() & found.keys()):
        raise FrontierError(
            f"the rules of crawl {frontier.crawl!r} on the server cannot be read: start another CRAWL_ID"
        )
    return found


def _of_another_version(crawl: str, format_: int | None) -> FrontierError:
    age = "a newer" if (format_ or 0) > FORMAT else "an older"
    return FrontierError(
        f"crawl {crawl!r} was begun by {age} version (its frontier has format {format_}, this version knows {FORMAT}): "
        "finish it with that version, or start another crawl (another CRAWL_ID). Or remove its frontier, and the next "
        "start rebuilds it from CORPUS_DIR"
    )


def _is_usable(name: str, value: Any) -> bool:
    if name == "POLITENESS_SCOPE":
        return value in {"domain", "host", "address"}
    if name == "ADDRESS_DELAYS_FILE":
        return isinstance(value, dict) and all(map(_is_number, value.values())) and all(map(is_network, value))
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
