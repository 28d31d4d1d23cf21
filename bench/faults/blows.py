"""First step of a fault run: who is killed, and when. Drawn from a seed, placed by progress, never by the clock."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

MOST_TORN = 50_000  # bytes of the append-only file: about what a second of these crawls writes
LOSSES = ("frontier", "manifest", "torn manifest")
"""What may be gone when a crawl goes on: all keys of the server, manifest.json, or the end of it."""
FLEETS = (3, 3, 3, 4, 4, 5, 6, 8)  # how many workers a run may have


@dataclass(frozen=True, slots=True)
class Blow:
    """One SIGKILL, when the site has seen so many requests. `victim` and `same_name` are drawn per blow."""

    at: int
    server: bool
    victim: float = 0.0  # 0 to 1: which of the living workers
    same_name: bool = False  # the replacement takes the dead worker's WORKER_ID
    away: float = 0.0  # seconds until the server is started again
    torn: int = 0  # bytes missing at the end of its append-only file, as after a power failure
    loss: str = ""  # out of LOSSES: every worker is killed, this is lost, and the same number starts again
    gone: bool = False  # the victim's spool goes with it
    term: bool = False  # SIGTERM, and nobody replaces it: a scale-down
    living: bool = False  # nobody is killed for the loss: it happens under the workers, which go on or end
    trouble: str = ""  # out of `troubles.TROUBLES`: nobody is killed


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run does, drawn from its seed. `lives`: what the lives of its workers are drawn from; "" = no clock."""

    workers: int
    stage_workers: int
    blows: tuple[Blow, ...]
    lives: str = ""


SHORTEST_LIFE, MEAN_REST, LONGEST_LIFE = 5.0, 6.0, 60.0
"""Seconds: a life lasts the shortest and an exponential rest, as on machines that are taken away at any moment."""


@dataclass(frozen=True, slots=True)
class Life:
    """How long a worker lives, whether its spool goes with it, and whether its successor bears its name."""

    seconds: float
    gone: bool
    same_name: bool


def lives_of(seed: str, *, spools: bool = False) -> Iterator[Life]:
    """Lives of one run, without end. spools: as in `draw`, every successor has the dead worker's name."""
    rng = random.Random(seed)
    while True:
        seconds = min(LONGEST_LIFE, SHORTEST_LIFE + rng.expovariate(1 / MEAN_REST))
        gone, same_name = rng.random() < 0.5, rng.random() < 0.5
        yield Life(seconds, spools and gone, spools or same_name)


def draw(seed: str, expected: int, *, losses: str = "", spools: bool = False) -> Plan:
    """The plan of a seed; `expected` requests reach the site when nothing goes wrong.

    losses: one of LOSSES happens besides, between the tenth and the ninth tenth of them; "between" two generations of
    workers, or under "living" ones. spools: workers have spools, so that every replacement has the dead worker's name,
    as a pod has; half of the spools are gone; and one worker is taken away.
    """
    rng = random.Random(seed)
    blows = [Blow(rng.randint(1, expected), False, rng.random(), rng.random() < 0.5) for _ in range(rng.randint(1, 4))]
    blows += [_server_blow(rng, expected) for _ in range(rng.choice((1, 1, 2)))]
    if spools:
        blows = [replace(blow, same_name=True, gone=rng.random() < 0.5) if not blow.server else blow for blow in blows]
        blows.append(Blow(rng.randint(1, expected), False, rng.random(), term=True))
    workers, stage_workers = rng.choice(FLEETS), int(rng.random() < 0.1)
    if losses:
        at = rng.randint(expected // 10, expected * 9 // 10)
        blows.append(Blow(at, False, loss=rng.choice(LOSSES), living=losses == "living"))
    return Plan(workers, stage_workers, tuple(sorted(blows, key=lambda blow: blow.at)))


def draw_troubles(seed: str, expected: int, kinds: Sequence[str]) -> Plan:
    """A plan without a death: four troubles, of different kinds, before the last tenth of the requests."""
    rng = random.Random(seed)
    drawn = rng.sample(kinds, min(4, len(kinds)))
    at = sorted(rng.randint(expected // 20, expected * 9 // 10) for _ in drawn)
    blows = [Blow(when, False, rng.random(), trouble=what) for when, what in zip(at, drawn, strict=True)]
    return Plan(rng.choice(FLEETS), 0, tuple(blows))


def _server_blow(rng: random.Random, expected: int) -> Blow:
    torn = rng.choice((0, rng.randint(1, MOST_TORN)))
    return Blow(rng.randint(1, expected), True, away=rng.choice((0.5, 2.0) if torn else (0.0, 0.5, 2.0)), torn=torn)
