"""The plan says how many workers and stage processes a machine carries."""

from __future__ import annotations

import math
from dataclasses import dataclass

CORES_PER_WORKER = 4
"""Cores that one worker keeps busy: with links only it takes a fifth of the CPU a page that it takes with all stages
(`python -m bench.speed.links` beside `make bench` in docs/benchmarks.md), so one Scrapy process feeds four stage
processes. Computed, not measured on a machine with so many cores."""


@dataclass(frozen=True, slots=True)
class Plan:
    """workers: processes of `gristmill crawl`; stage_workers: STAGE_WORKERS of each."""

    workers: int
    stage_workers: int


def plan(cores: int, workers: int | None = None, stage_workers: int | None = None) -> Plan:
    """Share `cores` out; what is given stays as it is. Every worker has at least one stage process."""
    count = workers or max(1, math.ceil(cores / CORES_PER_WORKER))
    return Plan(count, stage_workers if stage_workers is not None else max(1, cores // count))
